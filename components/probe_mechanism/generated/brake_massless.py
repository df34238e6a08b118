"""Magnetic brake, R U S with massless links.

Made by components.codegen, not to be edited. Spec/01 8, spec/02 6 to 8 and 10, with their errata.
All together 151 multiplications, 82 additions, 1 divisions; 26 values kept between the kernels.
"""

from components.core.kernel import kernel

KEPT = 26


@kernel
def follow(c, node):
    """Rate of the active joint, and what the later kernels need, from the node's motion.

    62 multiplications, 32 additions, 1 divisions.
    """
    c_length = c.length
    c_rod_length = c.rod_length
    c_cosine_0 = c.cosine[0]
    c_sine_0 = c.sine[0]
    c_cosine_1 = c.cosine[1]
    c_sine_1 = c.sine[1]
    c_cosine_2 = c.cosine[2]
    c_sine_2 = c.sine[2]
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
    v39 = alpha_N_11 * l_N_1 + alpha_N_21 * l_N_2 + alpha_N_31 * l_N_3
    v44 = alpha_N_12 * l_N_1 + alpha_N_22 * l_N_2 + alpha_N_32 * l_N_3
    v49 = alpha_N_13 * l_N_1 + alpha_N_23 * l_N_2 + alpha_N_33 * l_N_3
    lever_1 = gamma_11 * v39 + gamma_12 * v44 + gamma_13 * v49
    lever_2 = gamma_21 * v39 + gamma_22 * v44 + gamma_23 * v49
    lever_3 = gamma_31 * v39 + gamma_32 * v44 + gamma_33 * v49
    v69 = gamma_11 * omega_N_1 + gamma_12 * omega_N_2 + gamma_13 * omega_N_3
    v74 = gamma_21 * omega_N_1 + gamma_22 * omega_N_2 + gamma_23 * omega_N_3
    v79 = gamma_31 * omega_N_1 + gamma_32 * omega_N_2 + gamma_33 * omega_N_3
    v104 = c_rod_length * c_cosine_2
    v105 = c_rod_length * c_sine_2
    v106 = c_cosine_1 * v104
    v107 = c_sine_1 * v104
    v108 = c_length + v106
    v109 = c_cosine_0 * v107
    v111 = c_sine_0 * v108 + v109
    v112 = c_sine_0 * v107
    v114 = v112 - c_cosine_0 * v108
    v116 = c_sine_0 * v106 + v109
    v118 = v112 - c_cosine_0 * v106
    v119 = c_cosine_1 * v105
    v120 = c_sine_1 * v105
    v123 = c_cosine_0 * v119 - c_sine_0 * v120
    v126 = c_sine_0 * v119 + c_cosine_0 * v120
    v133 = v104 * v118
    v138 = v104 * v114
    v148 = v111 * v133 - v116 * v138
    v149 = 1.0 / v148
    v150 = v133 * v149
    v151 = v104 * v116 * v149
    v152 = (v118 * v123 - v116 * v126) * v149
    v159 = lever_3 * v151 - lever_2 * v152
    v162 = lever_3 * v150 + lever_1 * v152
    v165 = lever_2 * v150 + lever_1 * v151
    minus_qd_1 = v69 * v159 + v74 * v162 - v79 * v165
    c.determinant = -v148
    c.rate = -minus_qd_1
    c.kept[0] = lever_1
    c.kept[1] = lever_2
    c.kept[2] = lever_3
    c.kept[3] = v69
    c.kept[4] = v74
    c.kept[5] = v79
    c.kept[6] = v104
    c.kept[7] = v111
    c.kept[8] = v114
    c.kept[9] = v116
    c.kept[10] = v118
    c.kept[11] = v123
    c.kept[12] = v126
    c.kept[13] = v138
    c.kept[14] = v149
    c.kept[15] = v150
    c.kept[16] = v151
    c.kept[17] = v152
    c.kept[18] = v159
    c.kept[19] = v162
    c.kept[20] = v165
    c.kept[21] = minus_qd_1


@kernel
def reduce(c, omega0, epsilon0, acceleration0, inertia, torque):
    """inertia += H^T A H, torque += H^T (b - A h), frame 0.

    86 multiplications, 47 additions.
    """
    c_length = c.length
    c_rod_length = c.rod_length
    c_cosine_0 = c.cosine[0]
    c_sine_0 = c.sine[0]
    c_cosine_1 = c.cosine[1]
    c_sine_1 = c.sine[1]
    c_cosine_2 = c.cosine[2]
    c_sine_2 = c.sine[2]
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
    v69 = c.kept[3]
    v74 = c.kept[4]
    v79 = c.kept[5]
    v104 = c.kept[6]
    v111 = c.kept[7]
    v114 = c.kept[8]
    v116 = c.kept[9]
    v118 = c.kept[10]
    v123 = c.kept[11]
    v126 = c.kept[12]
    v138 = c.kept[13]
    v149 = c.kept[14]
    v150 = c.kept[15]
    v151 = c.kept[16]
    v152 = c.kept[17]
    v159 = c.kept[18]
    v162 = c.kept[19]
    v165 = c.kept[20]
    minus_qd_1 = c.kept[21]
    A_1 = c.damping
    c_force = c.force
    v80 = v69 * v69
    v81 = v74 * v74
    v82 = v79 * v79
    v83 = v69 * v74
    v84 = v69 * v79
    v85 = v74 * v79
    v153 = v138 * v149
    v154 = v104 * v111 * v149
    v155 = (v114 * v123 - v111 * v126) * v149
    v156 = (v114 * v116 - v111 * v118) * v149
    v184 = (lever_3 * v154 - lever_2 * v155) * v69 + (lever_3 * v153 + lever_1 * v155) * v74
    qd_3 = lever_2 * v156 * v69 - lever_1 * v156 * v74
    minus_H_11 = gamma_11 * v159 + gamma_21 * v162 - gamma_31 * v165
    minus_H_12 = gamma_12 * v159 + gamma_22 * v162 - gamma_32 * v165
    minus_H_13 = gamma_13 * v159 + gamma_23 * v162 - gamma_33 * v165
    v229 = minus_qd_1 - (v184 - (lever_2 * v153 + lever_1 * v154) * v79)
    v230 = c_sine_2 * v229
    v231 = c_cosine_2 * v229
    v243 = (qd_3 * qd_3 + v231 * v231) * c_rod_length
    v244 = qd_3 * v230 * 2.0 * c_rod_length
    v245 = v230 * v231 * c_rod_length
    v248 = c_cosine_2 * v243 + c_sine_2 * v245
    v258 = c_sine_1 * v248 - c_cosine_1 * v244
    v261 = c_cosine_1 * v248 + c_sine_1 * v244 + minus_qd_1 * minus_qd_1 * c_length
    v268 = (v81 + v82) * lever_1 - lever_2 * v83 - lever_3 * v84 - (c_cosine_0 * v261 - c_sine_0 * v258)
    v269 = lever_1 * v83 - (v80 + v82) * lever_2 + lever_3 * v85 + (c_sine_0 * v261 + c_cosine_0 * v258)
    v270 = lever_1 * v84 + lever_2 * v85 - (v80 + v81) * lever_3 - (c_sine_2 * v243 - c_cosine_2 * v245)
    h_1 = v150 * v268 + v151 * v269 + v152 * v270
    b_less_Ah_1 = c_force - h_1 * A_1
    v516 = minus_H_12 * A_1
    v517 = minus_H_13 * A_1
    inertia[0, 0] += minus_H_11 * A_1 * minus_H_11
    inertia[0, 1] += minus_H_11 * v516
    inertia[0, 2] += minus_H_11 * v517
    inertia[1, 1] += minus_H_12 * v516
    inertia[1, 2] += minus_H_12 * v517
    inertia[2, 2] += minus_H_13 * v517
    torque[0] += -(minus_H_11 * b_less_Ah_1)
    torque[1] += -(minus_H_12 * b_less_Ah_1)
    torque[2] += -(minus_H_13 * b_less_Ah_1)
    c.kept[22] = minus_H_11
    c.kept[23] = minus_H_12
    c.kept[24] = minus_H_13
    c.kept[25] = h_1


@kernel
def accelerate(c, turning):
    """Acceleration of the active joint from the node's, relative to the base, frame 0.

    3 multiplications, 3 additions.
    """
    minus_H_11 = c.kept[22]
    minus_H_12 = c.kept[23]
    minus_H_13 = c.kept[24]
    h_1 = c.kept[25]
    turning_0 = turning[0]
    turning_1 = turning[1]
    turning_2 = turning[2]
    c.acceleration = h_1 - (minus_H_11 * turning_0 + minus_H_12 * turning_1 + minus_H_13 * turning_2)
