"""Spring mechanism, U P S with massless links.

Made by `python -m components.codegen`; not to be edited. Spec/01 8, spec/02 6 to 8 and 10, with their errata.
All together 157 multiplications, 84 additions, 1 divisions; 27 values kept between the kernels.
"""

# ruff: noqa: E501

from components.core.kernel import kernel

KEPT = 27

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
    v96 = c_length + c_stroke
    v97 = c_cosine_1 * v96
    v98 = c_sine_1 * v96
    v99 = c_sine_0 * v97
    v100 = c_cosine_0 * v97
    v101 = c_cosine_0 * v98
    v102 = c_sine_0 * v98
    v103 = c_cosine_0 * c_cosine_1
    v104 = c_sine_0 * c_cosine_1
    v107 = c_sine_1 * v102 + v97 * v104
    v114 = c_sine_1 * v100
    v119 = v97 * v100
    v128 = v99 * v107 + v101 * v114 + v103 * v119
    v129 = 1.0 / v128
    v136 = v119 * v129
    v137 = (v100 * v101 + v99 * v102) * v129
    v138 = v97 * v99 * v129
    v159 = lever_3 * v137 + lever_2 * v138
    v162 = lever_3 * v136 + lever_1 * v138
    v165 = lever_2 * v136 - lever_1 * v137
    minus_qd_3 = v67 * v159 - v72 * v162 + v77 * v165
    c.determinant = v128
    c.rate = -minus_qd_3
    c.kept[0] = lever_1
    c.kept[1] = lever_2
    c.kept[2] = lever_3
    c.kept[3] = v67
    c.kept[4] = v72
    c.kept[5] = v77
    c.kept[6] = v97
    c.kept[7] = v99
    c.kept[8] = v100
    c.kept[9] = v101
    c.kept[10] = v102
    c.kept[11] = v103
    c.kept[12] = v104
    c.kept[13] = v107
    c.kept[14] = v114
    c.kept[15] = v129
    c.kept[16] = v136
    c.kept[17] = v137
    c.kept[18] = v138
    c.kept[19] = v159
    c.kept[20] = v162
    c.kept[21] = v165
    c.kept[22] = minus_qd_3


@kernel
def reduce(c, omega0, epsilon0, acceleration0, inertia, torque):
    """inertia += H^T A H, torque += H^T (b - A h), frame 0.

    97 multiplications, 53 additions.
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
    lever_1 = c.kept[0]
    lever_2 = c.kept[1]
    lever_3 = c.kept[2]
    v67 = c.kept[3]
    v72 = c.kept[4]
    v77 = c.kept[5]
    v97 = c.kept[6]
    v99 = c.kept[7]
    v100 = c.kept[8]
    v101 = c.kept[9]
    v102 = c.kept[10]
    v103 = c.kept[11]
    v104 = c.kept[12]
    v107 = c.kept[13]
    v114 = c.kept[14]
    v129 = c.kept[15]
    v136 = c.kept[16]
    v137 = c.kept[17]
    v138 = c.kept[18]
    v159 = c.kept[19]
    v162 = c.kept[20]
    v165 = c.kept[21]
    minus_qd_3 = c.kept[22]
    A_6 = c.damping
    b_3 = c.force
    v80 = lever_3 * v72 - lever_2 * v77
    v83 = lever_1 * v77 - lever_3 * v67
    v86 = lever_2 * v67 - lever_1 * v72
    v130 = v107 * v129
    v131 = (v102 * v103 - v101 * v104) * v129
    v132 = (v97 * v103 + c_sine_1 * v101) * v129
    v133 = v114 * v129
    v134 = (v100 * v103 + v99 * v104) * v129
    v135 = c_sine_1 * v99 * v129
    v168 = (lever_3 * v131 + lever_2 * v132) * v67 + (lever_3 * v130 - lever_1 * v132) * v72
    minus_qd_1 = v168 - (lever_2 * v130 + lever_1 * v131) * v77
    v173 = (lever_3 * v134 - lever_2 * v135) * v67 + (lever_3 * v133 + lever_1 * v135) * v72
    minus_qd_2 = v173 - (lever_2 * v133 + lever_1 * v134) * v77
    minus_H_31 = gamma_11 * v159 - gamma_21 * v162 + gamma_31 * v165
    minus_H_32 = gamma_12 * v159 - gamma_22 * v162 + gamma_32 * v165
    minus_H_33 = gamma_13 * v159 - gamma_23 * v162 + gamma_33 * v165
    v226 = c_sine_1 * minus_qd_1
    v227 = c_cosine_1 * minus_qd_1
    v229 = minus_qd_2 * v226
    v231 = c_stroke * minus_qd_2
    v232 = c_stroke * v227
    v247 = c_length * minus_qd_2
    v248 = c_length * v227
    v254 = v227 * v232 + minus_qd_2 * v231 + (v227 * v248 + minus_qd_2 * v247)
    v255 = v226 * v232 + minus_qd_2 * minus_qd_3 * 2.0 + v226 * v248
    v256 = c_stroke * v229 + v226 * v231 - minus_qd_3 * v227 * 2.0 + c_length * v229 + v226 * v247
    v259 = c_cosine_1 * v254 + c_sine_1 * v255
    v284 = (v72 * v86 - v77 * v83 + (c_cosine_0 * v259 - c_sine_0 * v256)) * v136 + (v77 * v80 - v67 * v86 + (c_sine_1 * v254 - c_cosine_1 * v255)) * v137
    h_3 = v284 - (v67 * v83 - v72 * v80 - (c_sine_0 * v259 + c_cosine_0 * v256)) * v138
    v462 = minus_H_32 * A_6
    v463 = minus_H_33 * A_6
    v471 = b_3 - h_3 * A_6
    inertia[0, 0] += minus_H_31 * A_6 * minus_H_31
    inertia[0, 1] += minus_H_31 * v462
    inertia[0, 2] += minus_H_31 * v463
    inertia[1, 1] += minus_H_32 * v462
    inertia[1, 2] += minus_H_32 * v463
    inertia[2, 2] += minus_H_33 * v463
    torque[0] += -(minus_H_31 * v471)
    torque[1] += -(minus_H_32 * v471)
    torque[2] += -(minus_H_33 * v471)
    c.kept[23] = minus_H_31
    c.kept[24] = minus_H_32
    c.kept[25] = minus_H_33
    c.kept[26] = h_3


@kernel
def accelerate(c, turning):
    """Acceleration of the active joint from the node's, relative to the base, frame 0.

    3 multiplications, 3 additions.
    """
    minus_H_31 = c.kept[23]
    minus_H_32 = c.kept[24]
    minus_H_33 = c.kept[25]
    h_3 = c.kept[26]
    turning_0 = turning[0]
    turning_1 = turning[1]
    turning_2 = turning[2]
    c.acceleration = h_3 - (minus_H_31 * turning_0 + minus_H_32 * turning_1 + minus_H_33 * turning_2)
