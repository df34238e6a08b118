"""Contacts on the tree, linearly implicit: their damping and friction act with rates of the end of the micro-step.

Regularised friction is a damper of k_Fr f_N / v_eps, up to 1e6 N s/m on a head of a few kilograms: explicit, it
chatters at any step above some microseconds. Here the Jacobian of the class-1 contacts (normal damping, and the secant
of friction) joins the inertia of the tree: friction as in backward Euler, normal damping as in the trapezoidal rule.
Losses are booked from the forces so applied and the mean rates, so that they close the energy balance.
"""

from math import sqrt

from components.contact.force import point_velocity
from components.contact.probe_cone import tip
from components.contact.probe_cone.pairs import HEAD_BOTTOM, HEAD_CONE, LATCH_STOP, LATCH_WALL, PAD_CONE, ROLLER_CONE
from components.core.kernel import kernel
from components.core.rotation import apply, apply_transposed, load_matrix
from components.core.spatial import lower, upper
from components.core.vector import ZERO, accumulate, add, axpy, cross, dot, load, scale, store, subtract
from components.probe_mechanism.tree import HOUSING, PROBE, mean_twist, reach


@kernel
def add_damper(D, r, n, along, across):
    """D <- D + the damper of a point at r (m): coefficients `along` the unit vector n and `across` it.

    D maps a twist [angular, linear] about the origin to the wrench [torque, force] that resists it; of the symmetric
    matrix the upper triangle is kept.
    """
    moment = cross(r, n)
    extra = along - across
    square = dot(r, r)
    for i in range(3):
        D[i, i] += across * square
        D[3 + i, 3 + i] += across
        for k in range(i, 3):
            D[i, k] += extra * moment[i] * moment[k] - across * r[i] * r[k]
            D[3 + i, 3 + k] += extra * n[i] * n[k]
        for k in range(3):
            D[i, 3 + k] += extra * moment[i] * n[k]
        # the cross-product matrix of r
        after = (i + 1) % 3
        last = (i + 2) % 3
        D[last, 3 + after] += across * r[i]
        D[after, 3 + last] -= across * r[i]


@kernel
def _law(parameters, pair):
    if pair == HEAD_CONE:
        return parameters.law_head
    if pair == HEAD_BOTTOM:
        return parameters.law_bottom
    if pair in (LATCH_STOP, LATCH_WALL):
        return parameters.law_latch
    return parameters.law_limiter


@kernel
def _roller(unit, point):
    """Number of the roller that touches at `point` (M), or -1."""
    reach = 2.0 * unit.parameters.roller.radius
    for k in range(len(unit.input.roller)):
        away = subtract(point, load(unit.input.roller[k].position))
        if dot(away, away) < reach * reach:
            return k
    return -1


@kernel
def _note_loss(touch, k, r, force):
    torque = cross(r, force)
    for i in range(3):
        touch.loss_wrench[k, i] += torque[i]
        touch.loss_wrench[k, 3 + i] += force[i]


@kernel
def _contact(unit, item, h, length, touch, damping):
    """One listed class-1 contact; returns the torque of its spring on the latches about the head's centre, H axes."""
    pair = item.pair
    law = _law(unit.parameters, pair)
    j = HOUSING if pair in (PAD_CONE, ROLLER_CONE) else PROBE
    link = unit.work.link[j]
    A = load_matrix(link.rotation)
    point = apply(A, subtract(load(item.position), load(link.position)))
    n = apply(A, load(item.normal))
    v = apply(A, point_velocity(link, load(item.position)))
    roller = _roller(unit, point) if pair == ROLLER_CONE else -1
    if roller >= 0:
        v = add(v, load(unit.input.roller[roller].velocity))
    rate = dot(n, v)
    slip = axpy(-rate, n, v)
    drag = law.friction * item.normal_force / sqrt(dot(slip, slip) + law.slip_velocity * law.slip_velocity)
    along = 0.5 * h * law.damping if item.normal_force > 0.0 else 0.0
    spring = law.stiffness * item.penetration
    lost = axpy(-drag, slip, scale(spring - item.normal_force, n))
    r = point
    if j == PROBE:
        r = add(point, (length, 0.0, 0.0))
        touch.axial_damping += h * drag + (along - h * drag) * n[0] * n[0]
    add_damper(damping[j], r, n, along, h * drag)
    _note_loss(touch, j, r, lost)
    if roller >= 0:
        accumulate(lost, touch.roller[roller].force)
    if pair in (LATCH_STOP, LATCH_WALL):
        return cross(point, scale(-spring, n))
    return ZERO


@kernel
def _sensors(unit, h, length, touch, damping):
    """Friction of the capture sensors along the socket, at the centre of the head."""
    sensor = unit.parameters.sensor
    head = unit.work.link[0]
    v = head.velocity[0]
    force = unit.tally.sensor_friction
    drag = sensor.friction / sensor.slip_velocity
    if v * v > 1e-6 * sensor.slip_velocity * sensor.slip_velocity:
        drag = force / v
    x = apply(load_matrix(head.rotation), (1.0, 0.0, 0.0))
    r = (length, 0.0, 0.0)
    add_damper(damping[PROBE], r, x, h * drag, 0.0)
    _note_loss(touch, PROBE, r, scale(-force, x))
    touch.axial_damping += h * drag * x[0] * x[0]


@kernel
def linearise(unit, touch, damping, length, slope, h):
    """Dampers of the contacts of the last evaluation, for a micro-step h; call after `accept`, before the tree.

    `length` L_H of the probe; `slope` of its tip, whose work since the last call is booked.
    """
    for k in range(2):
        for i in range(6):
            touch.loss_wrench[k, i] = 0.0
            for j in range(i, 6):
                damping[k, i, j] = 0.0
    touch.axial_damping = 0.0
    for k in range(len(touch.roller)):
        store(ZERO, touch.roller[k].force)
    torque = apply(load_matrix(unit.work.link[0].rotation), load(unit.work.held_head.torque))
    for k in range(int(unit.tally.class_1)):
        torque = add(torque, _contact(unit, unit.tally.contact[k], h, length, touch, damping))
    if unit.state.captured > 0.0:
        _sensors(unit, h, length, touch, damping)
    tip.book(touch.tip, torque, slope)


@kernel
def head_force(t):
    """Axial force on the head of the tree `t` with the accelerations found, N."""
    return t.load[PROBE].force[0] + t.implicit[PROBE, 3]


@kernel
def settle(unit, touch, t, epsilon0, acceleration0, axial_force, rate, h):
    """Book the losses of the micro-step, and return what its implicit part adds to the wrench on the passive unit:
    (force, torque about the origin of PU), PU axes.

    `t` is the tree, `axial_force` (N) what the axial damper's reaction to contact damping added to the
    head's load, `rate` the mean rate of compression.
    """
    base = unit.input.base
    A = load_matrix(base.rotation)
    w = axpy(-0.5 * h, apply_transposed(A, epsilon0), load(base.angular_velocity))
    v = axpy(-0.5 * h, apply_transposed(A, acceleration0), load(base.velocity))
    target_force = ZERO
    target_torque = ZERO
    for k in range(2):
        link = unit.work.link[k]
        spin, speed = mean_twist(t, k, link, load(base.position), w, v, h)
        torque = upper(t.implicit[k])
        force = lower(t.implicit[k])
        if k == PROBE:
            force = add(force, (axial_force, 0.0, 0.0))
            speed = subtract(speed, (rate, 0.0, 0.0))
        lost = touch.loss_wrench[k]
        touch.dissipated -= h * (dot(spin, add(torque, upper(lost))) + dot(speed, add(force, lower(lost))))
        # about the origin of the link
        torque = subtract(torque, cross((reach(t, k), 0.0, 0.0), force))
        A = load_matrix(link.rotation)
        force = apply_transposed(A, force)
        target_force = subtract(target_force, force)
        target_torque = subtract(target_torque, apply_transposed(A, torque))
        target_torque = subtract(target_torque, cross(load(link.position), force))
    return target_force, target_torque
