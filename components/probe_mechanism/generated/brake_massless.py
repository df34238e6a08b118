"""Magnetic brake, R U S with massless links.

Made by `python -m components.codegen`; not to be edited. Spec/01 8, spec/02 6 to 8 and 10, with their errata.
All together 152 multiplications, 82 additions, 1 divisions; 26 values kept between the kernels.
"""

# ruff: noqa: E501

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
    v98 = c_rod_length * c_cosine_2
    v99 = c_rod_length * c_sine_2
    v100 = c_cosine_1 * v98
    v101 = c_sine_1 * v98
    v102 = c_length + v100
    v103 = c_cosine_0 * v101
    v105 = c_sine_0 * v102 + v103
    v106 = c_sine_0 * v101
    v108 = v106 - c_cosine_0 * v102
    v110 = c_sine_0 * v100 + v103
    v112 = v106 - c_cosine_0 * v100
    v113 = c_cosine_1 * v99
    v114 = c_sine_1 * v99
    v117 = c_cosine_0 * v113 - c_sine_0 * v114
    v120 = c_sine_0 * v113 + c_cosine_0 * v114
    v127 = v98 * v112
    v132 = v98 * v108
    v142 = v105 * v127 - v110 * v132
    v143 = 1.0 / v142
    v144 = v127 * v143
    v145 = v98 * v110 * v143
    v146 = (v112 * v117 - v110 * v120) * v143
    v153 = lever_3 * v145 - lever_2 * v146
    v156 = lever_3 * v144 + lever_1 * v146
    v159 = lever_2 * v144 + lever_1 * v145
    minus_qd_1 = v69 * v153 + v74 * v156 - v79 * v159
    c.determinant = -v142
    c.rate = -minus_qd_1
    c.kept[0] = lever_1
    c.kept[1] = lever_2
    c.kept[2] = lever_3
    c.kept[3] = v69
    c.kept[4] = v74
    c.kept[5] = v79
    c.kept[6] = v98
    c.kept[7] = v105
    c.kept[8] = v108
    c.kept[9] = v110
    c.kept[10] = v112
    c.kept[11] = v117
    c.kept[12] = v120
    c.kept[13] = v132
    c.kept[14] = v143
    c.kept[15] = v144
    c.kept[16] = v145
    c.kept[17] = v146
    c.kept[18] = v153
    c.kept[19] = v156
    c.kept[20] = v159
    c.kept[21] = minus_qd_1


@kernel
def reduce(c, omega0, epsilon0, acceleration0, inertia, torque):
    """inertia += H^T A H, torque += H^T (b - A h), frame 0.

    87 multiplications, 47 additions.
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
    v98 = c.kept[6]
    v105 = c.kept[7]
    v108 = c.kept[8]
    v110 = c.kept[9]
    v112 = c.kept[10]
    v117 = c.kept[11]
    v120 = c.kept[12]
    v132 = c.kept[13]
    v143 = c.kept[14]
    v144 = c.kept[15]
    v145 = c.kept[16]
    v146 = c.kept[17]
    v153 = c.kept[18]
    v156 = c.kept[19]
    v159 = c.kept[20]
    minus_qd_1 = c.kept[21]
    A_1 = c.damping
    b_1 = c.force
    v82 = lever_3 * v74 - lever_2 * v79
    v85 = lever_1 * v79 - lever_3 * v69
    v88 = lever_2 * v69 - lever_1 * v74
    v147 = v132 * v143
    v148 = v98 * v105 * v143
    v149 = (v108 * v117 - v105 * v120) * v143
    v150 = (v108 * v110 - v105 * v112) * v143
    v178 = (lever_3 * v148 - lever_2 * v149) * v69 + (lever_3 * v147 + lever_1 * v149) * v74
    qd_3 = lever_2 * v150 * v69 - lever_1 * v150 * v74
    minus_H_11 = gamma_11 * v153 + gamma_21 * v156 - gamma_31 * v159
    minus_H_12 = gamma_12 * v153 + gamma_22 * v156 - gamma_32 * v159
    minus_H_13 = gamma_13 * v153 + gamma_23 * v156 - gamma_33 * v159
    v224 = c_length * minus_qd_1 * minus_qd_1
    v225 = c_cosine_1 * v224
    v227 = minus_qd_1 - (v178 - (lever_2 * v147 + lever_1 * v148) * v79)
    v228 = c_sine_2 * v227
    v229 = c_cosine_2 * v227
    v236 = c_rod_length * v229
    v237 = c_rod_length * qd_3
    v243 = c_cosine_2 * v225 + (qd_3 * v237 + v229 * v236)
    v244 = c_sine_1 * v224 + qd_3 * v228 * c_rod_length + v228 * v237
    v245 = c_sine_2 * v225 + v228 * v236
    v248 = c_cosine_2 * v243 + c_sine_2 * v245
    v254 = c_cosine_1 * v248 + c_sine_1 * v244
    v257 = c_sine_1 * v248 - c_cosine_1 * v244
    v269 = (v74 * v88 - v79 * v85 + (c_cosine_0 * v254 - c_sine_0 * v257)) * v144 - (v79 * v82 - v69 * v88 + (c_sine_0 * v254 + c_cosine_0 * v257)) * v145
    minus_h_1 = v269 - (v69 * v85 - v74 * v82 - (c_sine_2 * v243 - c_cosine_2 * v245)) * v146
    v482 = minus_H_12 * A_1
    v483 = minus_H_13 * A_1
    v491 = minus_h_1 * A_1 + b_1
    inertia[0, 0] += minus_H_11 * A_1 * minus_H_11
    inertia[0, 1] += minus_H_11 * v482
    inertia[0, 2] += minus_H_11 * v483
    inertia[1, 1] += minus_H_12 * v482
    inertia[1, 2] += minus_H_12 * v483
    inertia[2, 2] += minus_H_13 * v483
    torque[0] += -(minus_H_11 * v491)
    torque[1] += -(minus_H_12 * v491)
    torque[2] += -(minus_H_13 * v491)
    c.kept[22] = minus_H_11
    c.kept[23] = minus_H_12
    c.kept[24] = minus_H_13
    c.kept[25] = minus_h_1


@kernel
def accelerate(c, turning):
    """Acceleration of the active joint from the node's, relative to the base, frame 0.

    3 multiplications, 3 additions.
    """
    minus_H_11 = c.kept[22]
    minus_H_12 = c.kept[23]
    minus_H_13 = c.kept[24]
    minus_h_1 = c.kept[25]
    turning_0 = turning[0]
    turning_1 = turning[1]
    turning_2 = turning[2]
    minus_qdd_1 = minus_H_11 * turning_0 + minus_H_12 * turning_1 + minus_H_13 * turning_2 + minus_h_1
    c.acceleration = -minus_qdd_1
