"""Loads at sections of elastic bodies by mode acceleration (flexible 3.2, `ElasticSections`), axes of their frames E.

The wrench on each node that is used is what the recursion passes through it: the load beyond the node less what its
articulated inertia resists; with cut joints, their pushes are part of it. What holds the inner node is what the whole
body needs beside the other nodes. Accelerations are less the field of gravity, which acts on every mass alike.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, load, scale, subtract
from dockfmu.components.physics.tree import elastic_bodies
from dockfmu.components.physics.tree.articulated import passed_wrench
from dockfmu.components.physics.tree.links import FRAME


@kernel
def _passed(b, pushed):
    """Return `passed_wrench` of a link, with the pushes of cut joints on it and on all beyond."""
    f, t = passed_wrench(b)
    if pushed:
        f = add(f, load(b.push_force))
        t = add(t, load(b.push_torque))
    return f, t


@kernel
def _held(frame, link, flex, pushed):
    """Return the wrench (force, torque), axes I, on the inner node of a body, about the node."""
    elastic, mode = flex.body, flex.mode
    o = elastic[int(frame.flex)]
    f, t = _passed(frame, pushed)
    for j in range(int(o.count)):
        m = mode[int(o.first_mode) + j]
        change = link[int(o.modes) + j].qdd
        f = axpy(-change, load(m.coupled_force), f)
        t = axpy(-change, load(m.coupled_torque), t)
    moved, _, _, _ = elastic_bodies.deflected(link, flex, o, int(frame.first_shape))
    d = apply_transposed(load_matrix(frame.rotation), add(load(o.place), moved))
    return scale(-1.0, f), scale(-1.0, subtract(t, cross(d, f)))


@kernel
def _add(section, matrix, v, w, size):
    """Add `size` times a matrix (6, 6) times the vectors v, w to the load of a section."""
    for i in range(3):
        a, b = matrix[i], matrix[3 + i]
        section.force[i] += size * (a[0] * v[0] + a[1] * v[1] + a[2] * v[2] + a[3] * w[0] + a[4] * w[1] + a[5] * w[2])
        section.torque[i] += size * (b[0] * v[0] + b[1] * v[1] + b[2] * v[2] + b[3] * w[0] + b[4] * w[1] + b[5] * w[2])


@kernel
def publish(link, sections, flex, run):
    """Set the loads at all sections; the links are accelerated. `sections` is (outputs, bodies, nodes, modes)."""
    section, cut, node, shape = sections
    elastic, mode = flex.body, flex.mode
    pushed = run.rows > 0.0
    for k in range(int(run.sections)):
        c = cut[k]
        o = elastic[int(c.body)]
        frame = link[int(o.frame)]
        E = load_matrix(frame.rotation)
        s = section[k]
        for i in range(3):
            s.force[i] = 0.0
            s.torque[i] = 0.0
        _add(s, c.inertia, apply(E, load(frame.acceleration)), apply(E, load(frame.angular_acceleration)), -1.0)
        w = apply(E, load(frame.angular_velocity))
        squares = (w[0] * w[0], w[1] * w[1], w[2] * w[2])
        products = (w[0] * w[1], w[0] * w[2], w[1] * w[2])
        _add(s, c.spin, squares, products, -1.0)
        for n in range(int(c.first_node), int(c.first_node + c.nodes)):
            b = link[int(node[n].link)]
            if b.kind == FRAME:
                f, t = _held(b, link, flex, pushed)
            else:
                f, t = _passed(b, pushed)
            _add(s, node[n].load, apply(E, f), apply(E, t), 1.0)
        for j in range(int(o.count)):
            x = link[int(o.modes) + j]
            u = x.qdd + mode[int(o.first_mode) + j].damping * x.rate
            own = shape[int(c.first_mode) + j].load
            for i in range(3):
                s.force[i] -= u * own[i]
                s.torque[i] -= u * own[3 + i]
