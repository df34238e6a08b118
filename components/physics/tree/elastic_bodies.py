"""Elastic bodies: places of their frames and nodes, inertia, forces of their modes (flexible 3.3 and 3.4, variant B).

An elastic body is a link of the kind FRAME, its floating frame E, on a node that the inner joint moves; a link of the
kind MODE for each shape; and a link of the kind NODE for each other interface node that something is attached to. With
modal coordinates w, node k is displaced by H_k w and turned by the rotation vector phi = H'_k w, both in axes of E. Its
rotation is exp(phi), its angular velocity relative to E is J(phi) H'_k w', J being the left Jacobian of exp: to first
order in w that of the source, and exactly the rate of the rotation, so that forces and motions of the nodes do the same
work.

Equations (11), variant B: all vectors in axes of E, accelerations absolute. *Errata (11): the dot of the rate of
J_phiphi is lost in its second line.*
"""

from __future__ import annotations

from typing import Any, NamedTuple

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, compose, load_matrix, transpose
from dockfmu.components.physics.mechanics.vector import (
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    scale,
    store,
    subtract,
)
from dockfmu.components.physics.tree.articulated import times

TERMS = 10
"""Of the series of the rotation: to rounding up to 1.5 rad."""
STIFF = 1.0
"""Circular frequency times micro-step above which a mode follows its load: backward Euler, else implicit midpoint."""
RIGID = 1e12
"""Inertia added to a mode that is held, of a unit modal mass."""
SLUGGISH = 1e2
"""The same of the slowest mode that is to settle: it goes 99 % of the way to its static deflection at once.

More would be enlarged rounding: deflections are found from accelerations that it makes small beside that of gravity.
"""


class Flex(NamedTuple):
    """Hold elastic bodies: modes, the couplings of these, shapes at nodes, and the factors of their modal matrices."""

    body: Any
    mode: Any
    pair: Any
    shape: Any
    factor: Any


@kernel
def _series(square):
    """Return sin(a)/a, (1 - cos a)/a^2, (a - sin a)/a^3 and the derivatives of the last two, by a^2 = `square`."""
    one = 0.0
    two = 0.0
    three = 0.0
    slope_two = 0.0
    slope_three = 0.0
    term = 1.0
    last = 0.0
    for k in range(TERMS):
        one += term
        two += term / (2.0 * k + 2.0)
        three += term / ((2.0 * k + 2.0) * (2.0 * k + 3.0))
        # the derivative of square^k is k square^(k-1)
        slope_two -= k * last / (2.0 * k * (2.0 * k + 1.0) * (2.0 * k + 2.0)) if k > 0 else 0.0
        slope_three -= k * last / (2.0 * k * (2.0 * k + 1.0) * (2.0 * k + 2.0) * (2.0 * k + 3.0)) if k > 0 else 0.0
        last = term
        term *= -square / ((2.0 * k + 2.0) * (2.0 * k + 3.0))
    return one, two, three, slope_two, slope_three


@kernel
def _rotation(phi, one, two):
    """Return exp(phi): components in the turned axes to those in the fixed ones."""
    x, y, z = phi
    square = x * x + y * y + z * z
    diagonal = 1.0 - two * square
    return (
        (diagonal + two * x * x, two * x * y - one * z, two * x * z + one * y),
        (two * x * y + one * z, diagonal + two * y * y, two * y * z - one * x),
        (two * x * z - one * y, two * y * z + one * x, diagonal + two * z * z),
    )


@kernel
def _turned(phi, two, three, v):
    """Return J(phi) v: the angular velocity of a rotation vector that changes by v."""
    first = cross(phi, v)
    return add(v, axpy(two, first, scale(three, cross(phi, first))))


@kernel
def _turned_rate(phi, rate, three, slope_two, slope_three):
    """Return the angular acceleration that a rotation vector has by its rate alone."""
    first = cross(phi, rate)
    change = 2.0 * dot(phi, rate)
    gyration = axpy(change * slope_two, first, scale(change * slope_three, cross(phi, first)))
    return axpy(three, cross(rate, first), gyration)


@kernel
def deflected(link, flex, o, first):
    """Return (displacement, rotation vector, their rates) of a node in axes of E, its shapes from index `first`."""
    shape = flex.shape
    moved = (0.0, 0.0, 0.0)
    phi = (0.0, 0.0, 0.0)
    moving = (0.0, 0.0, 0.0)
    turning = (0.0, 0.0, 0.0)
    for j in range(int(o.count)):
        h = shape[first + j].value
        m = link[int(o.modes) + j]
        r = (h[0], h[1], h[2])
        t = (h[3], h[4], h[5])
        moved = axpy(m.q, r, moved)
        phi = axpy(m.q, t, phi)
        moving = axpy(m.rate, r, moving)
        turning = axpy(m.rate, t, turning)
    return moved, phi, moving, turning


@kernel
def place_node(b, p, link, flex):
    """Set pose, rates and velocity terms of a node on the frame p of its body. Returns (rotation, angular velocity)."""
    o = flex.body[int(b.flex)]
    shape = flex.shape
    first = int(b.first_shape)
    moved, phi, moving, turning = deflected(link, flex, o, first)
    one, two, three, slope_two, slope_three = _series(dot(phi, phi))
    E = load_matrix(p.rotation)
    w = load(p.angular_velocity)
    A = compose(transpose(_rotation(phi, one, two)), E)
    d = apply_transposed(E, add(load(b.arm), moved))
    flow = apply_transposed(E, moving)
    spin = (0.0, 0.0, 0.0)
    for j in range(int(o.count)):
        s = shape[first + j]
        h = s.value
        t = apply_transposed(E, _turned(phi, two, three, (h[3], h[4], h[5])))
        store(apply_transposed(E, (h[0], h[1], h[2])), s.moved)
        store(t, s.turned)
        spin = axpy(link[int(o.modes) + j].rate, t, spin)
    own = apply_transposed(E, _turned_rate(phi, turning, three, slope_two, slope_three))
    store(d, b.reach)
    store(flow, b.flow)
    store(add(cross(w, spin), own), b.angular)
    store(cross(w, axpy(2.0, flow, cross(w, d))), b.linear)
    return A, add(w, spin)


@kernel
def place_frame(b, p, link, flex):
    """Set pose, rates and velocity terms of the frame E of a body on its node p. Returns (rotation, angular velocity).

    The shapes of the node become the motion of E relative to the node.
    """
    o = flex.body[int(b.flex)]
    shape = flex.shape
    first = int(b.first_shape)
    moved, phi, moving, turning = deflected(link, flex, o, first)
    one, two, three, slope_two, slope_three = _series(dot(phi, phi))
    mount = load_matrix(b.mount)
    node = compose(mount, load_matrix(p.rotation))
    E = compose(_rotation(phi, one, two), node)
    place = load(o.place)
    # the node's link may have its reference point beside the node
    beside = apply_transposed(node, scale(-1.0, add(place, apply(mount, load(b.arm)))))
    d = apply_transposed(E, add(place, moved))
    flow = (0.0, 0.0, 0.0)
    spin = (0.0, 0.0, 0.0)
    for j in range(int(o.count)):
        s = shape[first + j]
        h = s.value
        t = apply_transposed(E, _turned(phi, two, three, (h[3], h[4], h[5])))
        slide = subtract(cross(t, d), apply_transposed(E, (h[0], h[1], h[2])))
        rate = link[int(o.modes) + j].rate
        store(slide, s.moved)
        store(scale(-1.0, t), s.turned)
        flow = axpy(rate, slide, flow)
        spin = axpy(-rate, t, spin)
    before = load(p.angular_velocity)
    w = add(before, spin)
    own = apply_transposed(E, _turned_rate(phi, turning, three, slope_two, slope_three))
    angular = subtract(cross(w, spin), own)
    linear = subtract(cross(d, angular), cross(before, cross(before, beside)))
    moving = apply_transposed(E, moving)
    linear = subtract(linear, cross(w, axpy(2.0, moving, cross(w, d))))
    store(scale(-1.0, add(beside, d)), b.reach)
    store(flow, b.flow)
    store(angular, b.angular)
    store(linear, b.linear)
    return E, w


@kernel
def deform_inertia(b, link, flex):
    """Set static moment and inertia of a deformed body, its modal momenta, and the coupling with its modes, axes E."""
    elastic, mode, pair = flex.body, flex.mode, flex.pair
    o = elastic[int(b.flex)]
    count = int(o.count)
    begin = int(o.modes)
    first = int(o.first_mode)
    moment = load(o.moment)
    sway = (0.0, 0.0, 0.0)
    swing = (0.0, 0.0, 0.0)
    energy = 0.0
    for i in range(6):
        b.inertia[i] = o.inertia[i]
    for j in range(count):
        m = mode[first + j]
        w = link[begin + j].q
        rate = link[begin + j].rate
        for i in range(6):
            m.bulge[i] = m.slope[i]
        lever = load(m.rotation)
        g = (0.0, 0.0, 0.0)
        for a in range(count):
            k = int(o.first_pair) + j * count + a
            other = int(o.first_pair) + a * count + j
            x = link[begin + a].q
            v = link[begin + a].rate
            curve = pair[k].curvature
            for i in range(6):
                m.bulge[i] += 2.0 * x * curve[i]
            lever = axpy(x, load(pair[other].gyration), lever)
            g = axpy(v, subtract(load(pair[k].gyration), load(pair[other].gyration)), g)
        # the quadratic part counts half of its slope
        for i in range(6):
            b.inertia[i] += 0.5 * w * (m.bulge[i] + m.slope[i])
        store(lever, m.lever)
        store(g, m.gyro)
        moment = axpy(w, load(m.translation), moment)
        sway = axpy(rate, load(m.translation), sway)
        swing = axpy(rate, lever, swing)
        energy += 0.5 * rate * rate
    store(moment, b.moment)
    store(sway, b.sway)
    store(swing, b.swing)
    b.jiggle = energy


@kernel
def load_frame(b, A, w, link, flex):
    """Add the inertial loads of the modal rates to a body and its modes, and set the coupling in axes of I.

    `links` has set inertia and load of the deformed body as a rigid one. A is the rotation I -> E, w the angular
    velocity in I.
    """
    elastic, mode, pair, factor = flex.body, flex.mode, flex.pair, flex.factor
    o = elastic[int(b.flex)]
    count = int(o.count)
    begin = int(o.modes)
    first = int(o.first_mode)
    spin = apply(A, w)
    force = scale(-2.0, cross(spin, load(b.sway)))
    torque = scale(-1.0, cross(spin, load(b.swing)))
    for j in range(count):
        m = mode[first + j]
        x = link[begin + j]
        swelling = times(m.bulge, spin)
        torque = axpy(-x.rate, swelling, torque)
        for a in range(count):
            k = int(o.first_pair) + a * count + j
            torque = axpy(-x.rate * link[begin + a].rate, load(pair[k].gyration), torque)
        x.force[0] = 0.5 * dot(spin, swelling) + dot(spin, load(m.gyro))
        store(apply_transposed(A, load(m.translation)), m.coupled_force)
        store(apply_transposed(A, load(m.lever)), m.coupled_torque)
        x.drive = 0.0
        x.armature = 0.0
        base = int(o.factor) + j * count
        for i in range(j):
            factor[base + i] = 0.0
        factor[base + j] = 1.0
    accumulate(apply_transposed(A, force), b.force)
    accumulate(apply_transposed(A, torque), b.torque)


@kernel
def bend(link, flex, run, h):
    """Set the elastic forces and the dampers of all modes for a micro-step h, placed in its middle; h = 0: at present.

    A mode that moves much in a micro-step follows its load (STIFF): no mode limits the micro-step.
    """
    elastic, mode = flex.body, flex.mode
    for e in range(int(run.elastic)):
        o = elastic[e]
        for j in range(int(o.count)):
            m = mode[int(o.first_mode) + j]
            x = link[int(o.modes) + j]
            k = m.frequency * m.frequency
            x.drive = -k * x.q - m.damping * x.last_rate
            x.armature = 0.25 * h * h * k + 0.5 * h * m.damping
            if m.frequency * h > STIFF:
                x.drive -= 0.5 * h * k * x.last_rate
                x.armature = h * h * k + h * m.damping


@kernel
def account(link, flex, run, h):
    """Add what the modes lose in a micro-step h, after the kick, to the dampers; move stiff modes to their end."""
    elastic, mode = flex.body, flex.mode
    for e in range(int(run.elastic)):
        o = elastic[e]
        for j in range(int(o.count)):
            m = mode[int(o.first_mode) + j]
            x = link[int(o.modes) + j]
            k = m.frequency * m.frequency
            mean = 0.5 * (x.last_rate + x.rate)
            if m.frequency * h > STIFF:
                start = x.q - 0.5 * h * x.last_rate
                end = start + h * x.rate
                force = -k * end - m.damping * x.rate
                run.dampers -= h * force * mean + 0.5 * k * (end * end - start * start)
                x.q += 0.5 * h * (x.rate - x.last_rate)
            else:
                run.dampers += h * m.damping * mean * mean


@kernel
def _strain(o, link, mode):
    """Return the strain energy of one elastic body, J."""
    energy = 0.0
    for j in range(int(o.count)):
        strain = mode[int(o.first_mode) + j].frequency * link[int(o.modes) + j].q
        energy += 0.5 * strain * strain
    return energy


@kernel
def strain_energy(link, flex, run):
    """Return the strain energy of all elastic bodies, J."""
    energy = 0.0
    for e in range(int(run.elastic)):
        energy += _strain(flex.body[e], link, flex.mode)
    return energy


@kernel
def hold(link, run, flex):
    """Hold all modes, to find their static deflections; for links that are placed.

    Modes that start at rest are held by a large inertia. Those that are to settle get one in proportion to their
    stiffness, s K, and their elastic forces: s times their accelerations are the changes of their coordinates that
    balance the loads, K^-1 (f - K w + G^T lambda), but for their own mass. The changes keep the rows G of cut joints,
    whose reactions lambda are so those of elastic bodies; with equal inertias they would be those of their masses.
    """
    elastic, mode = flex.body, flex.mode
    lowest = 0.0
    for e in range(int(run.elastic)):
        o = elastic[e]
        if o.settled != 0.0:
            for j in range(int(o.count)):
                f = mode[int(o.first_mode) + j].frequency
                if lowest == 0.0 or f < lowest:
                    lowest = f
    for e in range(int(run.elastic)):
        o = elastic[e]
        for j in range(int(o.count)):
            x = link[int(o.modes) + j]
            x.drive = 0.0
            x.armature = RIGID
            if o.settled != 0.0:
                f = mode[int(o.first_mode) + j].frequency
                x.drive = -f * f * x.q
                x.armature = SLUGGISH * (f / lowest) * (f / lowest)


@kernel
def settle(link, flex, run):
    """Change the modal coordinates towards static equilibrium, at rest. Returns their largest relative change.

    The links are accelerated with their modes held by `hold`.
    """
    elastic, mode = flex.body, flex.mode
    change = 0.0
    size = 0.0
    for e in range(int(run.elastic)):
        o = elastic[e]
        for j in range(int(o.count)):
            x = link[int(o.modes) + j]
            f = mode[int(o.first_mode) + j].frequency
            more = x.armature * x.qdd / (f * f)
            x.qdd = 0.0
            if o.settled == 0.0:
                continue
            x.q += more
            x.rate = 0.0
            change = max(change, abs(more))
            size = max(size, abs(x.q))
    return change / size if size > 0.0 else 0.0


@kernel
def publish(link, elastic_output, flex, deflection, modal, run):
    """Set energies of the elastic bodies, the deflections of their nodes, and the modal coordinates."""
    elastic, mode = flex.body, flex.mode
    for e in range(int(run.elastic)):
        o = elastic[e]
        energy = _strain(o, link, mode)
        elastic_output[e].strain_energy = energy
        elastic_output[e].modal_energy = energy + link[int(o.frame)].jiggle
    for k in range(int(run.modes)):
        x = link[int(modal[k].link)]
        modal[k].coordinate = x.q
        modal[k].rate = x.rate
    for k in range(int(run.deflections)):
        d = deflection[k]
        b = link[int(d.link)]
        moved, phi, moving, _ = deflected(link, flex, elastic[int(b.flex)], int(b.first_shape))
        store(moved, d.displacement)
        store(phi, d.rotation)
        store(moving, d.rate)
