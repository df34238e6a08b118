"""Ring on struts: its own motion, and the solution of all.

Made by dockfmu.components.codegen, not to be edited. dynamics 4.4, 7.
All together 188 multiplications, 158 additions, 6 divisions; 6 values kept between the kernels.
"""

# ruff: noqa: E501

from dockfmu.components.core.kernel import kernel

KEPT = 6


@kernel
def start(ring, omega0, epsilon0, acceleration0, inertia, force):
    """Inertia (upper half) and force of the ring alone.

    75 multiplications, 69 additions.
    """
    ring_principal_0_0 = ring.principal[0, 0]
    ring_principal_0_1 = ring.principal[0, 1]
    ring_principal_0_2 = ring.principal[0, 2]
    ring_principal_1_1 = ring.principal[1, 1]
    ring_principal_1_2 = ring.principal[1, 2]
    ring_principal_2_2 = ring.principal[2, 2]
    omega0_0 = omega0[0]
    omega0_1 = omega0[1]
    omega0_2 = omega0[2]
    epsilon0_0 = epsilon0[0]
    epsilon0_1 = epsilon0[1]
    epsilon0_2 = epsilon0[2]
    acceleration0_0 = acceleration0[0]
    acceleration0_1 = acceleration0[1]
    acceleration0_2 = acceleration0[2]
    ring_mass = ring.mass
    ring_position_0 = ring.position[0]
    ring_position_1 = ring.position[1]
    ring_position_2 = ring.position[2]
    ring_rotation_0_0 = ring.rotation[0, 0]
    ring_rotation_0_1 = ring.rotation[0, 1]
    ring_rotation_0_2 = ring.rotation[0, 2]
    ring_rotation_1_0 = ring.rotation[1, 0]
    ring_rotation_1_1 = ring.rotation[1, 1]
    ring_rotation_1_2 = ring.rotation[1, 2]
    ring_rotation_2_0 = ring.rotation[2, 0]
    ring_rotation_2_1 = ring.rotation[2, 1]
    ring_rotation_2_2 = ring.rotation[2, 2]
    ring_velocity_0 = ring.velocity[0]
    ring_velocity_1 = ring.velocity[1]
    ring_velocity_2 = ring.velocity[2]
    ring_angular_velocity_0 = ring.angular_velocity[0]
    ring_angular_velocity_1 = ring.angular_velocity[1]
    ring_angular_velocity_2 = ring.angular_velocity[2]
    ring_force_0 = ring.force[0]
    ring_force_1 = ring.force[1]
    ring_force_2 = ring.force[2]
    ring_torque_0 = ring.torque[0]
    ring_torque_1 = ring.torque[1]
    ring_torque_2 = ring.torque[2]
    v47 = omega0_0 * ring_rotation_0_0 + omega0_1 * ring_rotation_0_1 + omega0_2 * ring_rotation_0_2
    v52 = omega0_0 * ring_rotation_1_0 + omega0_1 * ring_rotation_1_1 + omega0_2 * ring_rotation_1_2
    v57 = omega0_0 * ring_rotation_2_0 + omega0_1 * ring_rotation_2_1 + omega0_2 * ring_rotation_2_2
    v58 = omega0_0 * omega0_0
    v59 = omega0_1 * omega0_1
    v60 = omega0_2 * omega0_2
    v61 = omega0_0 * omega0_1
    v62 = omega0_0 * omega0_2
    v63 = omega0_1 * omega0_2
    v77 = (v59 + v60) * ring_position_0 + (epsilon0_2 - v61) * ring_position_1 - (epsilon0_1 + v62) * ring_position_2
    v82 = (epsilon0_2 + v61) * ring_position_0 - (v58 + v60) * ring_position_1 - (epsilon0_0 - v63) * ring_position_2
    v87 = (epsilon0_1 - v62) * ring_position_0 - (epsilon0_0 + v63) * ring_position_1 + (v58 + v59) * ring_position_2
    v103 = acceleration0_0 - v77 + (omega0_1 * ring_velocity_2 - omega0_2 * ring_velocity_1) * 2.0
    v104 = acceleration0_1 + v82 + (omega0_2 * ring_velocity_0 - omega0_0 * ring_velocity_2) * 2.0
    v105 = acceleration0_2 - v87 + (omega0_0 * ring_velocity_1 - omega0_1 * ring_velocity_0) * 2.0
    v110 = epsilon0_0 * ring_rotation_0_0 + epsilon0_1 * ring_rotation_0_1 + epsilon0_2 * ring_rotation_0_2
    v115 = epsilon0_0 * ring_rotation_1_0 + epsilon0_1 * ring_rotation_1_1 + epsilon0_2 * ring_rotation_1_2
    v120 = epsilon0_0 * ring_rotation_2_0 + epsilon0_1 * ring_rotation_2_1 + epsilon0_2 * ring_rotation_2_2
    v130 = v110 - (ring_angular_velocity_1 * v57 - ring_angular_velocity_2 * v52)
    v131 = v115 - (ring_angular_velocity_2 * v47 - ring_angular_velocity_0 * v57)
    v132 = v120 - (ring_angular_velocity_0 * v52 - ring_angular_velocity_1 * v47)
    v140 = ring_principal_0_0 * v130 + ring_principal_0_1 * v131 + ring_principal_0_2 * v132
    v145 = ring_principal_0_1 * v130 + ring_principal_1_1 * v131 + ring_principal_1_2 * v132
    v150 = ring_principal_0_2 * v130 + ring_principal_1_2 * v131 + ring_principal_2_2 * v132
    v151 = ring_angular_velocity_0 + v47
    v152 = ring_angular_velocity_1 + v52
    v153 = ring_angular_velocity_2 + v57
    v158 = ring_principal_0_0 * v151 + ring_principal_0_1 * v152 + ring_principal_0_2 * v153
    v163 = ring_principal_0_1 * v151 + ring_principal_1_1 * v152 + ring_principal_1_2 * v153
    v168 = ring_principal_0_2 * v151 + ring_principal_1_2 * v152 + ring_principal_2_2 * v153
    v181 = ring_force_0 - ring_mass * v103
    v182 = ring_force_1 - ring_mass * v104
    v183 = ring_force_2 - ring_mass * v105
    v184 = ring_torque_0 - (v152 * v168 - v153 * v163 + v140)
    v185 = ring_torque_1 - (v153 * v158 - v151 * v168 + v145)
    v186 = ring_torque_2 - (v151 * v163 - v152 * v158 + v150)
    force[0] = v181
    force[1] = v182
    force[2] = v183
    force[3] = v184
    force[4] = v185
    force[5] = v186
    inertia[0, 0] = ring_mass
    inertia[0, 1] = 0.0
    inertia[0, 2] = 0.0
    inertia[0, 3] = 0.0
    inertia[0, 4] = 0.0
    inertia[0, 5] = 0.0
    inertia[1, 1] = ring_mass
    inertia[1, 2] = 0.0
    inertia[1, 3] = 0.0
    inertia[1, 4] = 0.0
    inertia[1, 5] = 0.0
    inertia[2, 2] = ring_mass
    inertia[2, 3] = 0.0
    inertia[2, 4] = 0.0
    inertia[2, 5] = 0.0
    inertia[3, 3] = ring_principal_0_0
    inertia[3, 4] = ring_principal_0_1
    inertia[3, 5] = ring_principal_0_2
    inertia[4, 4] = ring_principal_1_1
    inertia[4, 5] = ring_principal_1_2
    inertia[5, 5] = ring_principal_2_2
    ring.kept[0] = v181
    ring.kept[1] = v182
    ring.kept[2] = v183
    ring.kept[3] = v184
    ring.kept[4] = v185
    ring.kept[5] = v186


@kernel
def accelerate(ring, inertia, force):
    """du/dt by L D L^T; base_force and base_torque of the ring, frame 0 about O_0.

    113 multiplications, 89 additions, 6 divisions.
    """
    ring_principal_0_0 = ring.principal[0, 0]
    ring_principal_0_1 = ring.principal[0, 1]
    ring_principal_0_2 = ring.principal[0, 2]
    ring_principal_1_1 = ring.principal[1, 1]
    ring_principal_1_2 = ring.principal[1, 2]
    ring_principal_2_2 = ring.principal[2, 2]
    ring_mass = ring.mass
    ring_position_0 = ring.position[0]
    ring_position_1 = ring.position[1]
    ring_position_2 = ring.position[2]
    ring_rotation_0_0 = ring.rotation[0, 0]
    ring_rotation_0_1 = ring.rotation[0, 1]
    ring_rotation_0_2 = ring.rotation[0, 2]
    ring_rotation_1_0 = ring.rotation[1, 0]
    ring_rotation_1_1 = ring.rotation[1, 1]
    ring_rotation_1_2 = ring.rotation[1, 2]
    ring_rotation_2_0 = ring.rotation[2, 0]
    ring_rotation_2_1 = ring.rotation[2, 1]
    ring_rotation_2_2 = ring.rotation[2, 2]
    v181 = ring.kept[0]
    v182 = ring.kept[1]
    v183 = ring.kept[2]
    v184 = ring.kept[3]
    v185 = ring.kept[4]
    v186 = ring.kept[5]
    inertia_0_0 = inertia[0, 0]
    inertia_0_1 = inertia[0, 1]
    inertia_0_2 = inertia[0, 2]
    inertia_0_3 = inertia[0, 3]
    inertia_0_4 = inertia[0, 4]
    inertia_0_5 = inertia[0, 5]
    inertia_1_1 = inertia[1, 1]
    inertia_1_2 = inertia[1, 2]
    inertia_1_3 = inertia[1, 3]
    inertia_1_4 = inertia[1, 4]
    inertia_1_5 = inertia[1, 5]
    inertia_2_2 = inertia[2, 2]
    inertia_2_3 = inertia[2, 3]
    inertia_2_4 = inertia[2, 4]
    inertia_2_5 = inertia[2, 5]
    inertia_3_3 = inertia[3, 3]
    inertia_3_4 = inertia[3, 4]
    inertia_3_5 = inertia[3, 5]
    inertia_4_4 = inertia[4, 4]
    inertia_4_5 = inertia[4, 5]
    inertia_5_5 = inertia[5, 5]
    force_0 = force[0]
    force_1 = force[1]
    force_2 = force[2]
    force_3 = force[3]
    force_4 = force[4]
    force_5 = force[5]
    v229 = 1.0 / inertia_0_0
    v230 = inertia_0_1 * v229
    v231 = inertia_0_2 * v229
    v232 = inertia_0_3 * v229
    v233 = inertia_0_4 * v229
    v234 = inertia_0_5 * v229
    v238 = inertia_1_2 - inertia_0_2 * v230
    v240 = inertia_1_3 - inertia_0_3 * v230
    v242 = inertia_1_4 - inertia_0_4 * v230
    v244 = inertia_1_5 - inertia_0_5 * v230
    v245 = 1.0 / (inertia_1_1 - inertia_0_1 * v230)
    v246 = v238 * v245
    v247 = v240 * v245
    v248 = v242 * v245
    v249 = v244 * v245
    v257 = inertia_2_3 - inertia_0_3 * v231 - v240 * v246
    v261 = inertia_2_4 - inertia_0_4 * v231 - v242 * v246
    v265 = inertia_2_5 - inertia_0_5 * v231 - v244 * v246
    v266 = 1.0 / (inertia_2_2 - inertia_0_2 * v231 - v238 * v246)
    v267 = v257 * v266
    v268 = v261 * v266
    v269 = v265 * v266
    v281 = inertia_3_4 - inertia_0_4 * v232 - v242 * v247 - v261 * v267
    v287 = inertia_3_5 - inertia_0_5 * v232 - v244 * v247 - v265 * v267
    v288 = 1.0 / (inertia_3_3 - inertia_0_3 * v232 - v240 * v247 - v257 * v267)
    v289 = v281 * v288
    v290 = v287 * v288
    v306 = inertia_4_5 - inertia_0_5 * v233 - v244 * v248 - v265 * v268 - v287 * v289
    v307 = 1.0 / (inertia_4_4 - inertia_0_4 * v233 - v242 * v248 - v261 * v268 - v281 * v289)
    v308 = v306 * v307
    v318 = inertia_5_5 - inertia_0_5 * v234 - v244 * v249 - v265 * v269 - v287 * v290 - v306 * v308
    v319 = 1.0 / v318
    v321 = force_1 - force_0 * v230
    v325 = force_2 - force_0 * v231 - v246 * v321
    v331 = force_3 - force_0 * v232 - v247 * v321 - v267 * v325
    v339 = force_4 - force_0 * v233 - v248 * v321 - v268 * v325 - v289 * v331
    v355 = (force_5 - force_0 * v234 - v249 * v321 - v269 * v325 - v290 * v331 - v308 * v339) * v319
    v357 = v307 * v339 - v308 * v355
    v361 = v288 * v331 - v289 * v357 - v290 * v355
    v367 = v266 * v325 - v267 * v361 - v268 * v357 - v269 * v355
    v375 = v245 * v321 - v246 * v367 - v247 * v361 - v248 * v357 - v249 * v355
    v385 = force_0 * v229 - v230 * v375 - v231 * v367 - v232 * v361 - v233 * v357 - v234 * v355
    v393 = ring_principal_0_0 * v361 + ring_principal_0_1 * v357 + ring_principal_0_2 * v355
    v398 = ring_principal_0_1 * v361 + ring_principal_1_1 * v357 + ring_principal_1_2 * v355
    v403 = ring_principal_0_2 * v361 + ring_principal_1_2 * v357 + ring_principal_2_2 * v355
    v404 = v181 - ring_mass * v385
    v405 = v182 - ring_mass * v375
    v406 = v183 - ring_mass * v367
    v407 = v184 - v393
    v408 = v185 - v398
    v409 = v186 - v403
    v434 = ring_rotation_0_0 * v407 + ring_rotation_1_0 * v408 + ring_rotation_2_0 * v409 + (ring_position_1 * v406 - ring_position_2 * v405)
    v435 = ring_rotation_0_1 * v407 + ring_rotation_1_1 * v408 + ring_rotation_2_1 * v409 + (ring_position_2 * v404 - ring_position_0 * v406)
    v436 = ring_rotation_0_2 * v407 + ring_rotation_1_2 * v408 + ring_rotation_2_2 * v409 + (ring_position_0 * v405 - ring_position_1 * v404)
    ring.acceleration[0] = v385
    ring.acceleration[1] = v375
    ring.acceleration[2] = v367
    ring.acceleration[3] = v361
    ring.acceleration[4] = v357
    ring.acceleration[5] = v355
    ring.base_force[0] = v404
    ring.base_force[1] = v405
    ring.base_force[2] = v406
    ring.base_torque[0] = v434
    ring.base_torque[1] = v435
    ring.base_torque[2] = v436
