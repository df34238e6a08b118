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
    matrix the upper triangle is kept. Element by element: loops over a triangle are not unrolled.
    """
    x, y, z = r
    a, b, c = n
    u, v, w = cross(r, n)
    s = across
    e = along - across
    D[0, 0] += e * u * u + s * (y * y + z * z)
    D[0, 1] += e * u * v - s * x * y
    D[0, 2] += e * u * w - s * x * z
    D[0, 3] += e * u * a
    D[0, 4] += e * u * b - s * z
    D[0, 5] += e * u * c + s * y
    D[1, 1] += e * v * v + s * (x * x + z * z)
    D[1, 2] += e * v * w - s * y * z
    D[1, 3] += e * v * a + s * z
    D[1, 4] += e * v * b
    D[1, 5] += e * v * c - s * x
    D[2, 2] += e * w * w + s * (x * x + y * y)
    D[2, 3] += e * w * a - s * y
    D[2, 4] += e * w * b + s * x
    D[2, 5] += e * w * c
    D[3, 3] += e * a * a + s
    D[3, 4] += e * a * b
    D[3, 5] += e * a * c
    D[4, 4] += e * b * b + s
    D[4, 5] += e * b * c
    D[5, 5] += e * c * c + s


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
def _damp(touch, damping, k, r, n, along, across, lost):
    """A point of link k at r from its joint, link axes: its damper (`add_damper`), and the force `lost` to it."""
    add_damper(damping[k], r, n, along, across)
    if k == PROBE:
        touch.axial_damping += across + (along - across) * n[0] * n[0]
    torque = cross(r, lost)
    for i in range(3):
        touch.loss_wrench[k, i] += torque[i]
        touch.loss_wrench[k, 3 + i] += lost[i]


@kernel
def _couple(touch, s, r, n, along, across):
    """The damper of a roller at r from the hinge, M axes, where the cam moves it by `s` per travel of the probe.

    What the nut feels of it: with the travel's rate itself, and with the twist of the housing.
    """
    resisting = axpy((along - across) * dot(n, s), n, scale(across, s))
    touch.cam_damping += dot(s, resisting)
    torque = cross(r, resisting)
    for i in range(3):
        touch.cam_coupling[i] += torque[i]
        touch.cam_coupling[3 + i] += resisting[i]


@kernel
def _contact(unit, item, h, length, touch, damping, levers):
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
    r = add(point, (length, 0.0, 0.0)) if j == PROBE else point
    _damp(touch, damping, j, r, n, along, h * drag, lost)
    if roller >= 0:
        accumulate(lost, touch.roller[roller].force)
        _couple(touch, load(levers.slope[roller]), r, n, along, h * drag)
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
    _damp(touch, damping, PROBE, (length, 0.0, 0.0), x, h * drag, 0.0, scale(-force, x))


@kernel
def linearise(unit, touch, damping, length, slope, levers, h):
    """Dampers of the contacts of the last evaluation, for a micro-step h; call after `accept`, before the tree.

    `length` L_H of the probe; `slope` of its tip, whose work since the last call is booked; `levers` with the slopes
    of the rollers' paths.
    """
    for k in range(2):
        for i in range(6):
            touch.loss_wrench[k, i] = 0.0
            for j in range(6):
                damping[k, i, j] = 0.0
    touch.axial_damping = 0.0
    touch.cam_damping = 0.0
    for i in range(6):
        touch.cam_coupling[i] = 0.0
    for k in range(len(touch.roller)):
        store(ZERO, touch.roller[k].force)
    torque = apply(load_matrix(unit.work.link[0].rotation), load(unit.work.held_head.torque))
    for k in range(int(unit.tally.class_1)):
        torque = add(torque, _contact(unit, unit.tally.contact[k], h, length, touch, damping, levers))
    if unit.state.captured > 0.0:
        _sensors(unit, h, length, touch, damping)
    tip.book(touch.tip, torque, slope)


@kernel
def head_force(t):
    """Axial force on the head of the tree `t` with the accelerations found, N."""
    return t.load[PROBE].force[0] + t.implicit[PROBE, 3]


@kernel
def cam_force(touch, t):
    """Force in N on the probe's travel that the accelerations found add through rollers, levers and cam."""
    force = 0.0
    for i in range(6):
        force -= touch.cam_coupling[i] * t.acceleration[HOUSING, i]
    return force


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
