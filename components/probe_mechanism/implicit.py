"""Contacts on the tree, linearly implicit: their damping and friction act with rates of the end of the micro-step.

Regularised friction is a damper of k_Fr f_N / v_eps, up to 1e6 N s/m on a head of a few kilograms: explicit, it
chatters at any step above some microseconds. Here the Jacobian of the class-1 contacts (normal damping, and the secant
of friction) joins the articulated inertia: friction as in backward Euler, normal damping as in the trapezoidal rule.
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
from components.probe_mechanism.tree import HOUSING, PROBE


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
    """Number of the roller that touches at `point` (PU), or -1."""
    limiter = unit.work.link[1]
    local = apply(load_matrix(limiter.rotation), subtract(point, load(limiter.position)))
    reach = 2.0 * unit.parameters.roller.radius
    for k in range(len(unit.input.roller)):
        away = subtract(local, load(unit.input.roller[k].position))
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
def _contact(unit, item, h, axis, touch, damping):
    """One listed class-1 contact; returns the torque of its spring on the latches about the head's centre, PU axes."""
    pair = item.pair
    law = _law(unit.parameters, pair)
    j = PROBE
    if pair in (PAD_CONE, ROLLER_CONE):
        j = HOUSING
    point = load(item.position)
    n = load(item.normal)
    link = unit.work.link[j]
    v = point_velocity(link, point)
    roller = _roller(unit, point) if pair == ROLLER_CONE else -1
    to_housing = load_matrix(unit.work.link[1].rotation)
    if roller >= 0:
        v = add(v, apply_transposed(to_housing, load(unit.input.roller[roller].velocity)))
    rate = dot(n, v)
    slip = axpy(-rate, n, v)
    drag = law.friction * item.normal_force / sqrt(dot(slip, slip) + law.slip_velocity * law.slip_velocity)
    along = 0.0
    if item.normal_force > 0.0:
        along = 0.5 * h * law.damping
    A = load_matrix(unit.input.base.rotation)
    r = apply(A, subtract(point, load(unit.input.base.position)))
    n0 = apply(A, n)
    add_damper(damping[j], r, n0, along, h * drag)
    lost = scale(law.stiffness * item.penetration - item.normal_force, n)
    lost = axpy(-drag, slip, lost)
    _note_loss(touch, j, r, apply(A, lost))
    if roller >= 0:
        accumulate(apply(to_housing, lost), touch.roller[roller].force)
    if j == PROBE:
        cosine = dot(n0, axis)
        touch.axial_damping += h * drag + (along - h * drag) * cosine * cosine
    if pair in (LATCH_STOP, LATCH_WALL):
        return cross(subtract(point, load(link.position)), scale(-law.stiffness * item.penetration, n))
    return ZERO


@kernel
def _sensors(unit, h, axis, touch, damping):
    """Friction of the capture sensors along the socket, at the centre of the head."""
    sensor = unit.parameters.sensor
    head = unit.work.link[0]
    v = head.velocity[0]
    force = unit.tally.sensor_friction
    drag = sensor.friction / sensor.slip_velocity
    if v * v > 1e-6 * sensor.slip_velocity * sensor.slip_velocity:
        drag = force / v
    A = load_matrix(unit.input.base.rotation)
    r = apply(A, subtract(load(head.position), load(unit.input.base.position)))
    x = apply(A, (1.0, 0.0, 0.0))
    add_damper(damping[PROBE], r, x, h * drag, 0.0)
    _note_loss(touch, 0, r, scale(-force, x))
    cosine = dot(x, axis)
    touch.axial_damping += h * drag * cosine * cosine


@kernel
def linearise(unit, touch, damping, axis, slope, h):
    """Dampers of the contacts of the last evaluation, for a micro-step h; call after `accept`, before the tree.

    `axis`: the head's x in frame 0; `slope`: tip slope of the probe, whose work since the last call is booked.
    """
    for k in range(2):
        for i in range(6):
            touch.loss_wrench[k, i] = 0.0
            for j in range(i, 6):
                damping[k, i, j] = 0.0
    touch.axial_damping = 0.0
    for k in range(len(touch.roller)):
        store(ZERO, touch.roller[k].force)
    torque = load(unit.work.held_head.torque)
    for k in range(int(unit.tally.class_1)):
        torque = add(torque, _contact(unit, unit.tally.contact[k], h, axis, touch, damping))
    if unit.state.captured > 0.0:
        _sensors(unit, h, axis, touch, damping)
    tip.book(touch.tip, apply(load_matrix(unit.work.link[0].rotation), torque), slope)


@kernel
def head_force(t):
    """Axial force on the head of the tree `t` with the accelerations found, N."""
    return t.load[PROBE].force[0] + dot(lower(t.implicit[PROBE]), load(t.link[PROBE].rotation[0]))


@kernel
def settle(unit, touch, t, epsilon0, acceleration0, axial_force, rate, h):
    """Book the losses of the micro-step, and return what its implicit part adds to the wrench on the passive unit:
    (force, torque about the origin of PU), PU axes.

    `t` is the tree, `axial_force` (N) what the axial damper's reaction to contact damping added to the
    head's load, `rate` the mean rate of compression.
    """
    A = load_matrix(unit.input.base.rotation)
    w = apply(A, load(unit.input.base.angular_velocity))
    v = apply(A, load(unit.input.base.velocity))
    head = t.link[PROBE]
    axis = load(head.rotation[0])
    total_torque = ZERO
    total_force = ZERO
    for k in range(2):
        torque = upper(t.implicit[k])
        force = lower(t.implicit[k])
        spin = axpy(0.5 * h, subtract(upper(t.acceleration[k]), epsilon0), add(w, upper(t.twist[k])))
        speed = axpy(0.5 * h, subtract(lower(t.acceleration[k]), acceleration0), add(v, lower(t.twist[k])))
        if k == PROBE:
            force = axpy(axial_force, axis, force)
            torque = axpy(axial_force, cross(load(head.position), axis), torque)
            speed = axpy(-rate, axis, speed)
        lost = touch.loss_wrench[k]
        touch.dissipated -= h * (dot(spin, add(torque, upper(lost))) + dot(speed, add(force, lower(lost))))
        total_torque = add(total_torque, torque)
        total_force = add(total_force, force)
    force = apply_transposed(A, scale(-1.0, total_force))
    torque = apply_transposed(A, scale(-1.0, total_torque))
    return force, add(torque, cross(load(unit.input.base.position), force))
