"""Kinematics and dynamics of linkages: trees of rigid bodies and the parallel chains that close loops on them.

`bodies`     bodies in a row or tree with one-axis joints: placement, velocities, inertia (spec/01 5, 8.1)
`closure`    closed-form joint coordinates of each type of dependent chain (spec/01 9)
`chain`      one dependent chain: its rates from the node's, its reduction to the node (spec/01 8; spec/02 6-8, 10)
`tree`       articulated-body algorithm for a tree that carries a node body (spec/02 9)

Everything is resolved in the axes of frame 0, the base; twists and wrenches are taken at its origin O_0. There a
spatial vector is a row of six: a twist (angular velocity, velocity of the body's point at O_0), a wrench (torque about
O_0, force). Bodies add without any transfer between poles, so the recursions of the source in body axes (1.3, 2.2-2.5)
become sums, with equal results. Velocities are relative to the base; accelerations are absolute, and need of the base
only omega_0, epsilon_0 (its angular velocity and acceleration) and w_0 (the acceleration of O_0).

A new chain type needs its joints here and its closed form in `closure`; the rest is common to all. `components.codegen`
writes the same algorithms out for one mechanism; components run on that, and are tested against this.
"""
