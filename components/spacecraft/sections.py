"""Loads at sections of the elastic craft by mode acceleration (flexible 3.2), axes S, about the node of each section.

With the forces f on ports and nozzles, the acceleration A of C, the products ww of its angular velocity, and for each
mode the modal force u, with the inertial coupling, and the elastic one,

    load = L_f f - L_a A - L_s ww - L_w (u - w^2 q),

where u - w^2 q is what accelerates and damps the mode. Forces and accelerations are those held over the step, the
coordinates q those at its end. In a whole structure in mean axes L_a is zero: L_f holds the inertia relief.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, dot, load, scale
from dockfmu.components.spacecraft import elastic


@kernel
def reset(sections):
    """Set the loads of held forces and motions to zero."""
    for s in range(len(sections)):
        for i in range(6):
            sections[s].held[i] = 0.0


@kernel
def rigid_acceleration(p, r, h):
    """Return (acceleration, angular acceleration, angular velocity at mid-step) of a craft by `r.force`, `r.torque`.

    These are the loads on it about its centre of mass, axes C; the results are in axes S.
    """
    A_CS = load_matrix(r.frame)
    w_C = axpy(0.5 * h, load(r.angular_acceleration), load(r.angular_velocity))
    if p.fixed != 0.0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    gyroscopic_C = cross(apply(load_matrix(r.inertia), w_C), w_C)
    turn_C = apply(load_matrix(r.inverse), add(load(r.torque), gyroscopic_C))
    move_C = scale(1.0 / p.mass, load(r.force))
    return apply_transposed(A_CS, move_C), apply_transposed(A_CS, turn_C), apply_transposed(A_CS, w_C)


@kernel
def hold(sections, cuts, mount, thruster, p, r, actuation, e, motion, n):
    """Set the parts of the loads that are held over the step; `motion` is that of C, as `rigid_acceleration` gives it.

    `e.force` holds the modal forces of all loads, and of the inertial coupling.
    """
    a, b, w = motion
    f_S, m_S = elastic.control_wrench(p, r, actuation)
    for s in range(len(sections)):
        cut = cuts[s]
        for i in range(6):
            move = cut.inertia[i]
            total = -(move[0] * a[0] + move[1] * a[1] + move[2] * a[2])
            total -= move[3] * b[0] + move[4] * b[1] + move[5] * b[2]
            turn = cut.spin[i]
            total -= turn[0] * w[0] * w[0] + turn[1] * w[1] * w[1] + turn[2] * w[2] * w[2]
            total -= turn[3] * w[0] * w[1] + turn[4] * w[0] * w[2] + turn[5] * w[1] * w[2]
            total += dot(load(cut.control[i]), f_S)
            for k in range(3):
                total += cut.control[i, 3 + k] * m_S[k]
            for k in range(len(mount)):
                for j in range(6):
                    total += cut.port[k, i, j] * mount[k].load[j]
            for k in range(len(thruster)):
                thrust = thruster[k].thrust
                if thrust != 0.0:
                    total += thrust * dot(load(cut.thruster[k, i]), load(p.thruster[k].direction))
            sections[s].held[i] = total
        for j in range(n):
            modal = cut.modal[j]
            u = e.force[j]
            for i in range(6):
                sections[s].held[i] -= modal[i] * u


@kernel
def publish(sections, cuts, modes, e, n):
    """Set the loads at the end of the step: the held parts, and those of the modal coordinates."""
    for s in range(len(sections)):
        cut = cuts[s]
        section = sections[s]
        for i in range(3):
            section.force[i] = section.held[i]
            section.torque[i] = section.held[3 + i]
        for j in range(n):
            modal = cut.modal[j]
            restoring = modes.frequency[j] * modes.frequency[j] * e.coordinate[j]
            for i in range(3):
                section.force[i] += modal[i] * restoring
                section.torque[i] += modal[3 + i] * restoring
