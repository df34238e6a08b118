"""Spring mechanism, U P S with massless links.

Made by components.codegen, not to be edited. Spec/01 8, spec/02 6 to 8 and 10, with their errata.
All together 153 multiplications, 81 additions, 1 divisions; 28 values kept between the kernels.
"""

from components.core.kernel import kernel

KEPT = 28


@kernel
def follow(c, node):
    """Rate of the active joint, and what the later kernels need, from the node's motion.

    57 multiplications, 28 additions, 1 divisions.
    """
    c_length = c.length
    c_cosine_0 = c.cosine[0]
    c_sine_0 = c.sine[0]
    c_cosine_1 = c.cosine[1]
    c_sine_1 = c.sine[1]
    c_stroke = c.stroke
    gamma_11 = c.base_axes[0, 0]
    gamma_12 = c.base_axes[0, 1]
    gamma_13 = c.base_axes[0, 2]
    gamma_21 = c.base_axes[1, 0]
    gamma_22 = c.base_axes[1, 1]
    gamma_23 = c.base_axes[1, 2]
    gamma_31 = c.base_axes[2, 0]
    gamma_32 = c.base_axes[2, 1]
    gamma_33 = c.base_axes[2, 2]
    omega_N_1 = node.angular_velocity[0]
    omega_N_2 = node.angular_velocity[1]
    omega_N_3 = node.angular_velocity[2]
    alpha_N_11 = node.rotation[0, 0]
    alpha_N_12 = node.rotation[0, 1]
    alpha_N_13 = node.rotation[0, 2]
    alpha_N_21 = node.rotation[1, 0]
    alpha_N_22 = node.rotation[1, 1]
    alpha_N_23 = node.rotation[1, 2]
    alpha_N_31 = node.rotation[2, 0]
    alpha_N_32 = node.rotation[2, 1]
    alpha_N_33 = node.rotation[2, 2]
    l_N_1 = c.node_point[0]
    l_N_2 = c.node_point[1]
    l_N_3 = c.node_point[2]
    v37 = alpha_N_11 * l_N_1 + alpha_N_21 * l_N_2 + alpha_N_31 * l_N_3
    v42 = alpha_N_12 * l_N_1 + alpha_N_22 * l_N_2 + alpha_N_32 * l_N_3
    v47 = alpha_N_13 * l_N_1 + alpha_N_23 * l_N_2 + alpha_N_33 * l_N_3
    lever_1 = gamma_11 * v37 + gamma_12 * v42 + gamma_13 * v47
    lever_2 = gamma_21 * v37 + gamma_22 * v42 + gamma_23 * v47
    lever_3 = gamma_31 * v37 + gamma_32 * v42 + gamma_33 * v47
    v67 = gamma_11 * omega_N_1 + gamma_12 * omega_N_2 + gamma_13 * omega_N_3
    v72 = gamma_21 * omega_N_1 + gamma_22 * omega_N_2 + gamma_23 * omega_N_3
    v77 = gamma_31 * omega_N_1 + gamma_32 * omega_N_2 + gamma_33 * omega_N_3
    v102 = c_length + c_stroke
    v103 = c_cosine_1 * v102
    v104 = c_sine_1 * v102
    v105 = c_sine_0 * v103
    v106 = c_cosine_0 * v103
    v107 = c_cosine_0 * v104
    v108 = c_sine_0 * v104
    v109 = c_cosine_0 * c_cosine_1
    v110 = c_sine_0 * c_cosine_1
    v113 = c_sine_1 * v108 + v103 * v110
    v120 = c_sine_1 * v106
    v125 = v103 * v106
    v134 = v105 * v113 + v107 * v120 + v109 * v125
    v135 = 1.0 / v134
    v142 = v125 * v135
    v143 = (v106 * v107 + v105 * v108) * v135
    v144 = v103 * v105 * v135
    v165 = lever_3 * v143 + lever_2 * v144
    v168 = lever_3 * v142 + lever_1 * v144
    v171 = lever_2 * v142 - lever_1 * v143
    minus_qd_3 = v67 * v165 - v72 * v168 + v77 * v171
    c.determinant = v134
    c.rate = -minus_qd_3
    c.kept[0] = lever_1
    c.kept[1] = lever_2
    c.kept[2] = lever_3
    c.kept[3] = v67
    c.kept[4] = v72
    c.kept[5] = v77
    c.kept[6] = v102
    c.kept[7] = v103
    c.kept[8] = v105
    c.kept[9] = v106
    c.kept[10] = v107
    c.kept[11] = v108
    c.kept[12] = v109
    c.kept[13] = v110
    c.kept[14] = v113
    c.kept[15] = v120
    c.kept[16] = v135
    c.kept[17] = v142
    c.kept[18] = v143
    c.kept[19] = v144
    c.kept[20] = v165
    c.kept[21] = v168
    c.kept[22] = v171
    c.kept[23] = minus_qd_3


@kernel
def reduce(c, omega0, epsilon0, acceleration0, inertia, torque):
    """inertia += H^T A H, torque += H^T (b - A h), frame 0.

    93 multiplications, 50 additions.
    """
    c_cosine_0 = c.cosine[0]
    c_sine_0 = c.sine[0]
    c_cosine_1 = c.cosine[1]
    c_sine_1 = c.sine[1]
    gamma_11 = c.base_axes[0, 0]
    gamma_12 = c.base_axes[0, 1]
    gamma_13 = c.base_axes[0, 2]
    gamma_21 = c.base_axes[1, 0]
    gamma_22 = c.base_axes[1, 1]
    gamma_23 = c.base_axes[1, 2]
    gamma_31 = c.base_axes[2, 0]
    gamma_32 = c.base_axes[2, 1]
    gamma_33 = c.base_axes[2, 2]
    lever_1 = c.kept[0]
    lever_2 = c.kept[1]
    lever_3 = c.kept[2]
    v67 = c.kept[3]
    v72 = c.kept[4]
    v77 = c.kept[5]
    v102 = c.kept[6]
    v103 = c.kept[7]
    v105 = c.kept[8]
    v106 = c.kept[9]
    v107 = c.kept[10]
    v108 = c.kept[11]
    v109 = c.kept[12]
    v110 = c.kept[13]
    v113 = c.kept[14]
    v120 = c.kept[15]
    v135 = c.kept[16]
    v142 = c.kept[17]
    v143 = c.kept[18]
    v144 = c.kept[19]
    v165 = c.kept[20]
    v168 = c.kept[21]
    v171 = c.kept[22]
    minus_qd_3 = c.kept[23]
    A_6 = c.damping
    c_force = c.force
    v78 = v67 * v67
    v79 = v72 * v72
    v80 = v77 * v77
    v81 = v67 * v72
    v82 = v67 * v77
    v83 = v72 * v77
    v136 = v113 * v135
    v137 = (v108 * v109 - v107 * v110) * v135
    v138 = (v103 * v109 + c_sine_1 * v107) * v135
    v139 = v120 * v135
    v140 = (v106 * v109 + v105 * v110) * v135
    v141 = c_sine_1 * v105 * v135
    v174 = (lever_3 * v137 + lever_2 * v138) * v67 + (lever_3 * v136 - lever_1 * v138) * v72
    minus_qd_1 = v174 - (lever_2 * v136 + lever_1 * v137) * v77
    v179 = (lever_3 * v140 - lever_2 * v141) * v67 + (lever_3 * v139 + lever_1 * v141) * v72
    minus_qd_2 = v179 - (lever_2 * v139 + lever_1 * v140) * v77
    minus_H_31 = gamma_11 * v165 - gamma_21 * v168 + gamma_31 * v171
    minus_H_32 = gamma_12 * v165 - gamma_22 * v168 + gamma_32 * v171
    minus_H_33 = gamma_13 * v165 - gamma_23 * v168 + gamma_33 * v171
    v232 = c_sine_1 * minus_qd_1
    v233 = c_cosine_1 * minus_qd_1
    v249 = (v233 * v233 + minus_qd_2 * minus_qd_2) * v102
    v252 = minus_qd_2 * minus_qd_3 * 2.0 + v232 * v233 * v102
    v253 = minus_qd_3 * v233 * 2.0 - minus_qd_2 * v232 * 2.0 * v102
    v256 = c_cosine_1 * v249 + c_sine_1 * v252
    v267 = (v79 + v80) * lever_1 - lever_2 * v81 - lever_3 * v82 - (c_cosine_0 * v256 + c_sine_0 * v253)
    v268 = lever_1 * v81 - (v78 + v80) * lever_2 + lever_3 * v83 + (c_sine_1 * v249 - c_cosine_1 * v252)
    v269 = lever_1 * v82 + lever_2 * v83 - (v78 + v79) * lever_3 - (c_sine_0 * v256 - c_cosine_0 * v253)
    minus_h_3 = v142 * v267 - v143 * v268 + v144 * v269
    b_less_Ah_3 = minus_h_3 * A_6 + c_force
    v484 = minus_H_32 * A_6
    v485 = minus_H_33 * A_6
    inertia[0, 0] += minus_H_31 * A_6 * minus_H_31
    inertia[0, 1] += minus_H_31 * v484
    inertia[0, 2] += minus_H_31 * v485
    inertia[1, 1] += minus_H_32 * v484
    inertia[1, 2] += minus_H_32 * v485
    inertia[2, 2] += minus_H_33 * v485
    torque[0] += -(minus_H_31 * b_less_Ah_3)
    torque[1] += -(minus_H_32 * b_less_Ah_3)
    torque[2] += -(minus_H_33 * b_less_Ah_3)
    c.kept[24] = minus_H_31
    c.kept[25] = minus_H_32
    c.kept[26] = minus_H_33
    c.kept[27] = minus_h_3


@kernel
def accelerate(c, turning):
    """Acceleration of the active joint from the node's, relative to the base, frame 0.

    3 multiplications, 3 additions.
    """
    minus_H_31 = c.kept[24]
    minus_H_32 = c.kept[25]
    minus_H_33 = c.kept[26]
    minus_h_3 = c.kept[27]
    turning_0 = turning[0]
    turning_1 = turning[1]
    turning_2 = turning[2]
    minus_qdd = minus_H_31 * turning_0 + minus_H_32 * turning_1 + minus_H_33 * turning_2 + minus_h_3
    c.acceleration = -minus_qdd
