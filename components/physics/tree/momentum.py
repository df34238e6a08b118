"""Momentum of a system, and its exact balance for one that flies freely.

In joint coordinates a method of finite order keeps momentum to its order only. A system whose only joint to the base is
free has six coordinates that carry it as a whole: after each micro-step the place and twist of the root are
corrected so that momentum and angular momentum have changed by exactly the impulses of the outer forces, and the centre
of mass has moved with the mean momentum. The corrections are of third order in a micro-step.

Momenta are seen from a frame that moves with the velocity that the root had at the start of the micro-step, and about
its place then, so that nothing depends on a velocity or a distance that all bodies have in common.
"""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.inertia import invert
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    negate,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree.articulated import times
from dockfmu.components.physics.tree.links import FRAME, mounted


@kernel
def momenta(link, velocity, origin):
    """Return (kinetic energy, momentum, angular momentum about the origin, moment of mass about it), axes I.

    `velocity` is added to that of all bodies relative to the base; `origin` is a point from that of the base.
    Rotors have energy, but no momentum.
    """
    energy = 0.0
    momentum = (0.0, 0.0, 0.0)
    angular = (0.0, 0.0, 0.0)
    moment = (0.0, 0.0, 0.0)
    for k in range(1, len(link)):
        b = link[k]
        energy += 0.5 * b.rotor * b.rate * b.rate
        if b.mass == 0.0:
            continue
        A = load_matrix(b.rotation)
        s = apply_transposed(A, load(b.moment))
        w = load(b.angular_velocity)
        v = add(velocity, load(b.velocity))
        own = apply_transposed(A, times(b.inertia, apply(A, w)))
        p = add(scale(b.mass, v), cross(w, s))
        spin = add(own, cross(s, v))
        energy += 0.5 * (dot(v, p) + dot(w, spin))
        if b.kind == FRAME:
            sway = apply_transposed(A, load(b.sway))
            swing = apply_transposed(A, load(b.swing))
            energy += dot(v, sway) + dot(w, swing) + b.jiggle
            p = add(p, sway)
            spin = add(spin, swing)
        arm = subtract(load(b.position), origin)
        momentum = add(momentum, p)
        angular = add(angular, add(spin, cross(arm, p)))
        moment = add(moment, add(s, scale(b.mass, arm)))
    return energy, momentum, angular, moment


@kernel
def total_mass(link):
    """Return the mass of all bodies, kg."""
    mass = 0.0
    for k in range(1, len(link)):
        mass += link[k].mass
    return mass


@kernel
def static_moment(link, origin):
    """Return (mass, moment of mass about a point from the origin of the base, axes I) of all bodies."""
    mass = 0.0
    moment = (0.0, 0.0, 0.0)
    for k in range(1, len(link)):
        b = link[k]
        if b.mass == 0.0:
            continue
        mass += b.mass
        s = apply_transposed(load_matrix(b.rotation), load(b.moment))
        moment = add(moment, add(s, scale(b.mass, subtract(load(b.position), origin))))
    return mass, moment


@kernel
def keep(link, run):
    """Store momentum and angular momentum of a free system that is placed with its velocities."""
    root = link[1]
    store(load(root.position), run.place)
    store(load(root.velocity), run.speed)
    _, momentum, angular, moment = momenta(link, negate(load(root.velocity)), load(root.position))
    store(moment, run.moment)
    store(momentum, run.momentum)
    store(angular, run.angular_momentum)


@kernel
def begin(link, run, h):
    """Clear the outer impulses, and set the point about which they act: in the middle of a micro-step h."""
    store(ZERO, run.outer_force)
    store(ZERO, run.outer_torque)
    store(axpy(0.5 * h, load(run.speed), load(run.place)), run.pivot)


@kernel
def add_outer(run, force, torque, position):
    """Add a wrench from outside on the system at a point from the origin of the base, axes I."""
    accumulate(force, run.outer_force)
    accumulate(add(torque, cross(subtract(position, load(run.pivot)), force)), run.outer_torque)


@kernel
def add_field(link, run, gravity):
    """Add the wrench of gravity on the system, placed in the middle of the micro-step."""
    g = load(gravity)
    if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
        return
    mass, moment = static_moment(link, load(run.pivot))
    accumulate(scale(mass, g), run.outer_force)
    accumulate(cross(moment, g), run.outer_torque)


@kernel
def _column(A, i):
    """Return column i of a matrix."""
    return (A[0][i], A[1][i], A[2][i])


@kernel
def composite(link, origin):
    """Return (mass, moment, inertia as rows) of all bodies about a point, axes I, as one rigid body."""
    mass = 0.0
    moment = (0.0, 0.0, 0.0)
    xx = 0.0
    xy = 0.0
    xz = 0.0
    yy = 0.0
    yz = 0.0
    zz = 0.0
    for k in range(1, len(link)):
        b = link[k]
        m = b.mass
        if m == 0.0:
            continue
        A = load_matrix(b.rotation)
        s = apply_transposed(A, load(b.moment))
        r = subtract(load(b.position), origin)
        mass += m
        moment = add(moment, add(s, scale(m, r)))
        x = apply_transposed(A, times(b.inertia, _column(A, 0)))
        y = apply_transposed(A, times(b.inertia, _column(A, 1)))
        z = apply_transposed(A, times(b.inertia, _column(A, 2)))
        # parallel axes with the moment s about the reference point
        square = 2.0 * dot(r, s) + m * dot(r, r)
        xx += x[0] + square - 2.0 * r[0] * s[0] - m * r[0] * r[0]
        yy += y[1] + square - 2.0 * r[1] * s[1] - m * r[1] * r[1]
        zz += z[2] + square - 2.0 * r[2] * s[2] - m * r[2] * r[2]
        xy += x[1] - r[0] * s[1] - s[0] * r[1] - m * r[0] * r[1]
        xz += x[2] - r[0] * s[2] - s[0] * r[2] - m * r[0] * r[2]
        yz += y[2] - r[1] * s[2] - s[1] * r[2] - m * r[1] * r[2]
    return mass, moment, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))


@kernel
def restore(link, run, h):
    """Correct the twist of the root after a micro-step h, so that the momenta have changed by the outer impulses.

    The links are placed at its end with their velocities, which are corrected too.
    """
    root = link[1]
    speed = load(run.speed)
    origin = axpy(h, speed, load(run.place))
    _, momentum, angular, moment = momenta(link, negate(speed), origin)
    force = load(run.outer_force)
    lost = subtract(axpy(h, force, load(run.momentum)), momentum)
    mass = total_mass(link)
    # the centre of mass moves with the mean momentum
    path = axpy(0.5 * h * h, force, axpy(h, load(run.momentum), load(run.moment)))
    shift = scale(1.0 / mass, subtract(path, moment))
    for k in range(1, len(link)):
        accumulate(shift, link[k].position)
    frame = mounted(root, link[0])
    accumulate(apply(frame, shift), root.place)
    angular = add(angular, cross(shift, momentum))
    turned = subtract(axpy(h, load(run.outer_torque), load(run.angular_momentum)), angular)
    at = load(root.position)
    turned = subtract(turned, cross(subtract(at, origin), lost))
    _, moment, inertia = composite(link, at)
    c = scale(1.0 / mass, moment)
    square = dot(c, c)
    central = (
        (inertia[0][0] - mass * (square - c[0] * c[0]), inertia[0][1] + mass * c[0] * c[1],
         inertia[0][2] + mass * c[0] * c[2]),
        (inertia[0][1] + mass * c[0] * c[1], inertia[1][1] - mass * (square - c[1] * c[1]),
         inertia[1][2] + mass * c[1] * c[2]),
        (inertia[0][2] + mass * c[0] * c[2], inertia[1][2] + mass * c[1] * c[2],
         inertia[2][2] - mass * (square - c[2] * c[2])),
    )  # fmt: skip
    inverse, good = invert(central)
    w = (0.0, 0.0, 0.0)
    if good:
        w = apply(inverse, subtract(turned, cross(c, lost)))
    v = subtract(scale(1.0 / mass, lost), cross(w, c))
    accumulate(apply(frame, v), root.speed)
    accumulate(apply(load_matrix(root.rotation), w), root.spin)
    for k in range(1, len(link)):
        b = link[k]
        accumulate(add(v, cross(w, subtract(load(b.position), at))), b.velocity)
        accumulate(w, b.angular_velocity)
