"""Revolute joint about z with the link that it carries.

Made by dockfmu.components.codegen, not to be edited. manipulator 3.1, 3.2, 3.5 and E31.
All together 281 multiplications, 262 additions; 0 values kept between the kernels.
"""

# ruff: noqa: E501

from dockfmu.components.core.kernel import kernel

KEPT = 0


@kernel
def follow(j, p):
    """Place and rates of the link, velocity terms, and what it is and feels alone.

    86 multiplications, 55 additions.
    """
    p_reach_0 = p.reach[0]
    p_reach_1 = p.reach[1]
    p_reach_2 = p.reach[2]
    j_moment_0 = j.moment[0]
    j_moment_1 = j.moment[1]
    j_moment_2 = j.moment[2]
    j_inertia_0_0 = j.inertia[0, 0]
    j_inertia_0_1 = j.inertia[0, 1]
    j_inertia_0_2 = j.inertia[0, 2]
    j_inertia_1_1 = j.inertia[1, 1]
    j_inertia_1_2 = j.inertia[1, 2]
    j_inertia_2_2 = j.inertia[2, 2]
    j_cosine = j.cosine
    j_sine = j.sine
    j_rate = j.rate
    p_rotation_0_0 = p.rotation[0, 0]
    p_rotation_0_1 = p.rotation[0, 1]
    p_rotation_0_2 = p.rotation[0, 2]
    p_rotation_1_0 = p.rotation[1, 0]
    p_rotation_1_1 = p.rotation[1, 1]
    p_rotation_1_2 = p.rotation[1, 2]
    p_rotation_2_0 = p.rotation[2, 0]
    p_rotation_2_1 = p.rotation[2, 1]
    p_rotation_2_2 = p.rotation[2, 2]
    p_angular_velocity_0 = p.angular_velocity[0]
    p_angular_velocity_1 = p.angular_velocity[1]
    p_angular_velocity_2 = p.angular_velocity[2]
    p_position_0 = p.position[0]
    p_position_1 = p.position[1]
    p_position_2 = p.position[2]
    p_velocity_0 = p.velocity[0]
    p_velocity_1 = p.velocity[1]
    p_velocity_2 = p.velocity[2]
    omega_1 = j_cosine * p_angular_velocity_0 + j_sine * p_angular_velocity_1
    minus_omega_2 = j_sine * p_angular_velocity_0 - j_cosine * p_angular_velocity_1
    omega_3 = j_rate + p_angular_velocity_2
    v40 = p_angular_velocity_0 * p_angular_velocity_0
    v41 = p_angular_velocity_1 * p_angular_velocity_1
    v42 = p_angular_velocity_2 * p_angular_velocity_2
    v43 = p_angular_velocity_0 * p_angular_velocity_1
    v44 = p_angular_velocity_0 * p_angular_velocity_2
    v45 = p_angular_velocity_1 * p_angular_velocity_2
    v53 = (v41 + v42) * p_reach_0 - p_reach_1 * v43 - p_reach_2 * v44
    v58 = p_reach_0 * v43 - (v40 + v42) * p_reach_1 + p_reach_2 * v45
    v95 = p_reach_0 * p_rotation_0_0 + p_reach_1 * p_rotation_1_0 + p_reach_2 * p_rotation_2_0
    v100 = p_reach_0 * p_rotation_0_1 + p_reach_1 * p_rotation_1_1 + p_reach_2 * p_rotation_2_1
    v105 = p_reach_0 * p_rotation_0_2 + p_reach_1 * p_rotation_1_2 + p_reach_2 * p_rotation_2_2
    v121 = p_reach_2 * p_angular_velocity_1 - p_reach_1 * p_angular_velocity_2 + p_velocity_0
    v122 = p_reach_0 * p_angular_velocity_2 - p_reach_2 * p_angular_velocity_0 + p_velocity_1
    v123 = p_reach_1 * p_angular_velocity_0 - p_reach_0 * p_angular_velocity_1 + p_velocity_2
    v130 = omega_1 * omega_1
    v131 = minus_omega_2 * minus_omega_2
    v132 = omega_3 * omega_3
    v133 = omega_1 * minus_omega_2
    v134 = omega_1 * omega_3
    v135 = minus_omega_2 * omega_3
    v158 = j_inertia_0_0 * omega_1 - j_inertia_0_1 * minus_omega_2 + j_inertia_0_2 * omega_3
    v163 = j_inertia_0_1 * omega_1 - j_inertia_1_1 * minus_omega_2 + j_inertia_1_2 * omega_3
    v168 = j_inertia_0_2 * omega_1 - j_inertia_1_2 * minus_omega_2 + j_inertia_2_2 * omega_3
    j.rotation[0, 0] = j_cosine * p_rotation_0_0 + j_sine * p_rotation_1_0
    j.rotation[0, 1] = j_cosine * p_rotation_0_1 + j_sine * p_rotation_1_1
    j.rotation[0, 2] = j_cosine * p_rotation_0_2 + j_sine * p_rotation_1_2
    j.rotation[1, 0] = -(j_sine * p_rotation_0_0 - j_cosine * p_rotation_1_0)
    j.rotation[1, 1] = -(j_sine * p_rotation_0_1 - j_cosine * p_rotation_1_1)
    j.rotation[1, 2] = -(j_sine * p_rotation_0_2 - j_cosine * p_rotation_1_2)
    j.rotation[2, 0] = p_rotation_2_0
    j.rotation[2, 1] = p_rotation_2_1
    j.rotation[2, 2] = p_rotation_2_2
    j.position[0] = p_position_0 + v95
    j.position[1] = p_position_1 + v100
    j.position[2] = p_position_2 + v105
    j.velocity[0] = j_cosine * v121 + j_sine * v122
    j.velocity[1] = -(j_sine * v121 - j_cosine * v122)
    j.velocity[2] = v123
    j.angular_velocity[0] = omega_1
    j.angular_velocity[1] = -minus_omega_2
    j.angular_velocity[2] = omega_3
    j.linear[0] = -(j_cosine * v53 - j_sine * v58)
    j.linear[1] = j_sine * v53 + j_cosine * v58
    j.linear[2] = p_reach_0 * v44 + p_reach_1 * v45 - (v40 + v41) * p_reach_2
    j.angular[0] = -(j_rate * minus_omega_2)
    j.angular[1] = -(j_rate * omega_1)
    j.angular[2] = 0.0
    j.force[0] = (v131 + v132) * j_moment_0 + j_moment_1 * v133 - j_moment_2 * v134
    j.force[1] = j_moment_0 * v133 + (v130 + v132) * j_moment_1 + j_moment_2 * v135
    j.force[2] = -(j_moment_0 * v134 - j_moment_1 * v135 - (v130 + v131) * j_moment_2)
    j.torque[0] = minus_omega_2 * v168 + omega_3 * v163
    j.torque[1] = -(omega_3 * v158 - omega_1 * v168)
    j.torque[2] = -(omega_1 * v163 + minus_omega_2 * v158)


@kernel
def reduce(j, p):
    """Add the articulated inertia and the force of this link and all beyond to the one before.

    174 multiplications, 183 additions.
    """
    p_reach_0 = p.reach[0]
    p_reach_1 = p.reach[1]
    p_reach_2 = p.reach[2]
    j_cosine = j.cosine
    j_sine = j.sine
    j_tt_0_0 = j.tt[0, 0]
    j_tt_0_1 = j.tt[0, 1]
    j_tt_0_2 = j.tt[0, 2]
    j_tt_1_1 = j.tt[1, 1]
    j_tt_1_2 = j.tt[1, 2]
    j_tt_2_2 = j.tt[2, 2]
    j_tr_0_0 = j.tr[0, 0]
    j_tr_0_1 = j.tr[0, 1]
    j_tr_0_2 = j.tr[0, 2]
    j_tr_1_0 = j.tr[1, 0]
    j_tr_1_1 = j.tr[1, 1]
    j_tr_1_2 = j.tr[1, 2]
    j_tr_2_0 = j.tr[2, 0]
    j_tr_2_1 = j.tr[2, 1]
    j_tr_2_2 = j.tr[2, 2]
    j_rr_0_0 = j.rr[0, 0]
    j_rr_0_1 = j.rr[0, 1]
    j_rr_0_2 = j.rr[0, 2]
    j_rr_1_1 = j.rr[1, 1]
    j_rr_1_2 = j.rr[1, 2]
    j_rr_2_2 = j.rr[2, 2]
    j_linear_0 = j.linear[0]
    j_linear_1 = j.linear[1]
    j_linear_2 = j.linear[2]
    j_angular_0 = j.angular[0]
    j_angular_1 = j.angular[1]
    j_angular_2 = j.angular[2]
    j_force_0 = j.force[0]
    j_force_1 = j.force[1]
    j_force_2 = j.force[2]
    j_torque_0 = j.torque[0]
    j_torque_1 = j.torque[1]
    j_torque_2 = j.torque[2]
    j_mobility = j.mobility
    j_drive_torque = j.drive_torque
    a = (j_torque_2 + j_drive_torque) * j_mobility
    v221 = j_tr_0_2 * j_mobility
    v222 = j_tr_1_2 * j_mobility
    v223 = j_tr_2_2 * j_mobility
    v224 = j_rr_0_2 * j_mobility
    v225 = j_rr_1_2 * j_mobility
    v228 = j_tt_0_0 - j_tr_0_2 * v221
    v230 = j_rr_0_0 - j_rr_0_2 * v224
    v232 = j_tr_0_0 - j_rr_0_2 * v221
    v234 = j_tt_0_1 - j_tr_1_2 * v221
    v236 = j_rr_0_1 - j_rr_1_2 * v224
    v238 = j_tr_0_1 - j_rr_1_2 * v221
    v240 = j_tt_0_2 - j_tr_2_2 * v221
    v242 = j_rr_0_2 - j_rr_2_2 * v224
    v244 = j_tr_0_2 - j_rr_2_2 * v221
    v246 = j_tr_1_0 - j_rr_0_2 * v222
    v248 = j_tt_1_1 - j_tr_1_2 * v222
    v250 = j_rr_1_1 - j_rr_1_2 * v225
    v252 = j_tr_1_1 - j_rr_1_2 * v222
    v254 = j_tt_1_2 - j_tr_2_2 * v222
    v256 = j_rr_1_2 - j_rr_2_2 * v225
    v258 = j_tr_1_2 - j_rr_2_2 * v222
    v260 = j_tr_2_0 - j_rr_0_2 * v223
    v262 = j_tr_2_1 - j_rr_1_2 * v223
    v264 = j_tt_2_2 - j_tr_2_2 * v223
    v266 = j_rr_2_2 - j_rr_2_2 * j_mobility * j_rr_2_2
    v268 = j_tr_2_2 - j_rr_2_2 * v223
    v299 = j_linear_0 * v228 + j_linear_1 * v234 + j_linear_2 * v240 + (j_angular_0 * v232 + j_angular_1 * v238 + j_angular_2 * v244)
    v300 = j_linear_0 * v234 + j_linear_1 * v248 + j_linear_2 * v254 + (j_angular_0 * v246 + j_angular_1 * v252 + j_angular_2 * v258)
    v301 = j_linear_0 * v240 + j_linear_1 * v254 + j_linear_2 * v264 + (j_angular_0 * v260 + j_angular_1 * v262 + j_angular_2 * v268)
    v332 = j_linear_0 * v232 + j_linear_1 * v246 + j_linear_2 * v260 + (j_angular_0 * v230 + j_angular_1 * v236 + j_angular_2 * v242)
    v333 = j_linear_0 * v238 + j_linear_1 * v252 + j_linear_2 * v262 + (j_angular_0 * v236 + j_angular_1 * v250 + j_angular_2 * v256)
    v334 = j_linear_0 * v244 + j_linear_1 * v258 + j_linear_2 * v268 + (j_angular_0 * v242 + j_angular_1 * v256 + j_angular_2 * v266)
    v341 = j_force_0 - (j_tr_0_2 * a + v299)
    v342 = j_force_1 - (j_tr_1_2 * a + v300)
    v343 = j_force_2 - (j_tr_2_2 * a + v301)
    v346 = j_cosine * v341 - j_sine * v342
    v349 = j_sine * v341 + j_cosine * v342
    v356 = j_torque_0 - (j_rr_0_2 * a + v332)
    v357 = j_torque_1 - (j_rr_1_2 * a + v333)
    v377 = j_cosine * j_cosine
    v378 = j_sine * j_sine
    v379 = j_cosine * j_sine
    v381 = v234 * 2.0 * v379
    v386 = j_cosine * v240 - j_sine * v254
    v389 = j_cosine * v254 + j_sine * v240
    v393 = v381 - (v228 * v377 + v248 * v378)
    v397 = v248 * v377 + v228 * v378 + v381
    v398 = v377 - v378
    v400 = (v228 - v248) * v379 + v234 * v398
    v402 = v236 * 2.0 * v379
    v422 = (v238 + v246) * v379
    v424 = (v232 - v252) * v379
    v427 = j_cosine * v260 - j_sine * v262
    v430 = j_cosine * v262 + j_sine * v260
    v434 = v422 - (v232 * v377 + v252 * v378)
    v438 = v252 * v377 + v232 * v378 + v422
    v442 = v238 * v377 - v246 * v378 + v424
    v445 = j_cosine * v244 - j_sine * v258
    v448 = j_cosine * v258 + j_sine * v244
    v452 = v246 * v377 - v238 * v378 + v424
    v453 = p_reach_2 * v400
    v454 = p_reach_1 * v386
    v458 = p_reach_2 * v393 + p_reach_0 * v386
    v461 = p_reach_1 * v393 + p_reach_0 * v400
    v464 = p_reach_2 * v397 - p_reach_1 * v389
    v465 = p_reach_0 * v389
    v466 = v453 - v465
    v469 = p_reach_1 * v400 - p_reach_0 * v397
    v472 = p_reach_2 * v389 - p_reach_1 * v264
    v475 = p_reach_2 * v386 - p_reach_0 * v264
    v476 = v454 - v465
    v506 = p_reach_2 * v452 - p_reach_1 * v427
    v518 = p_reach_2 * v442 - p_reach_0 * v430
    v530 = p_reach_1 * v445 - p_reach_0 * v448
    v533 = v402 - (v230 * v377 + v250 * v378) + (v506 - (p_reach_2 * v464 - p_reach_1 * v472 - v506))
    v535 = p_reach_2 * v438 - p_reach_1 * v430 + (p_reach_2 * v466 - p_reach_1 * v475 + (p_reach_2 * v434 + p_reach_0 * v427))
    v538 = p_reach_2 * v448 - p_reach_1 * v268 - (p_reach_2 * v469 - p_reach_1 * v476 + (p_reach_1 * v434 + p_reach_0 * v452))
    v542 = v250 * v377 + v230 * v378 + v402 + (v518 - (p_reach_2 * v458 + p_reach_0 * v475 - v518))
    v544 = p_reach_2 * v445 - p_reach_0 * v268 + (p_reach_2 * v461 + p_reach_0 * v476 - (p_reach_1 * v442 - p_reach_0 * v438))
    p.tt[0, 0] += -v393
    p.tt[0, 1] += v400
    p.tt[0, 2] += v386
    p.tt[1, 1] += v397
    p.tt[1, 2] += v389
    p.tt[2, 2] += v264
    p.rr[0, 0] += -v533
    p.rr[0, 1] += (v230 - v250) * v379 + v236 * v398 - v535
    p.rr[0, 2] += j_cosine * v242 - j_sine * v256 - v538
    p.rr[1, 1] += v542
    p.rr[1, 2] += j_cosine * v256 + j_sine * v242 + v544
    p.rr[2, 2] += v266 - (p_reach_1 * v461 + p_reach_0 * v469 + v530 + v530)
    p.tr[0, 0] += -(v453 - v454 + v434)
    p.tr[0, 1] += v442 - v458
    p.tr[0, 2] += v445 + v461
    p.tr[1, 0] += v452 - v464
    p.tr[1, 1] += v438 + v466
    p.tr[1, 2] += v448 - v469
    p.tr[2, 0] += v427 - v472
    p.tr[2, 1] += v430 + v475
    p.tr[2, 2] += v268 - v476
    p.force[0] += v346
    p.force[1] += v349
    p.force[2] += v343
    p.torque[0] += j_cosine * v356 - j_sine * v357 + (p_reach_1 * v343 - p_reach_2 * v349)
    p.torque[1] += j_sine * v356 + j_cosine * v357 + (p_reach_2 * v346 - p_reach_0 * v343)
    p.torque[2] += j_torque_2 - (j_rr_2_2 * a + v334) + (p_reach_0 * v349 - p_reach_1 * v346)


@kernel
def accelerate(j, p):
    """Acceleration of the joint (8.2.3), and of the link from that of the one before.

    21 multiplications, 24 additions.
    """
    p_reach_0 = p.reach[0]
    p_reach_1 = p.reach[1]
    p_reach_2 = p.reach[2]
    j_cosine = j.cosine
    j_sine = j.sine
    j_tr_0_2 = j.tr[0, 2]
    j_tr_1_2 = j.tr[1, 2]
    j_tr_2_2 = j.tr[2, 2]
    j_rr_0_2 = j.rr[0, 2]
    j_rr_1_2 = j.rr[1, 2]
    j_rr_2_2 = j.rr[2, 2]
    j_linear_0 = j.linear[0]
    j_linear_1 = j.linear[1]
    j_linear_2 = j.linear[2]
    j_angular_0 = j.angular[0]
    j_angular_1 = j.angular[1]
    j_angular_2 = j.angular[2]
    j_torque_2 = j.torque[2]
    j_mobility = j.mobility
    j_drive_torque = j.drive_torque
    p_angular_acceleration_0 = p.angular_acceleration[0]
    p_angular_acceleration_1 = p.angular_acceleration[1]
    p_angular_acceleration_2 = p.angular_acceleration[2]
    p_acceleration_0 = p.acceleration[0]
    p_acceleration_1 = p.acceleration[1]
    p_acceleration_2 = p.acceleration[2]
    v573 = p_reach_2 * p_angular_acceleration_1 - p_reach_1 * p_angular_acceleration_2 + p_acceleration_0
    v574 = p_reach_0 * p_angular_acceleration_2 - p_reach_2 * p_angular_acceleration_0 + p_acceleration_1
    v575 = p_reach_1 * p_angular_acceleration_0 - p_reach_0 * p_angular_acceleration_1 + p_acceleration_2
    v582 = j_cosine * v573 + j_sine * v574 + j_linear_0
    v583 = j_linear_1 - (j_sine * v573 - j_cosine * v574)
    v584 = j_linear_2 + v575
    v591 = j_cosine * p_angular_acceleration_0 + j_sine * p_angular_acceleration_1 + j_angular_0
    v592 = j_angular_1 - (j_sine * p_angular_acceleration_0 - j_cosine * p_angular_acceleration_1)
    v593 = j_angular_2 + p_angular_acceleration_2
    v604 = j_tr_0_2 * v582 + j_tr_1_2 * v583 + j_tr_2_2 * v584 + (j_rr_0_2 * v591 + j_rr_1_2 * v592 + j_rr_2_2 * v593)
    v605 = j_torque_2 - v604
    qdd = (j_drive_torque + v605) * j_mobility
    j.load = v605
    j.qdd = qdd
    j.acceleration[0] = v582
    j.acceleration[1] = v583
    j.acceleration[2] = v584
    j.angular_acceleration[0] = v591
    j.angular_acceleration[1] = v592
    j.angular_acceleration[2] = v593 + qdd
