"""Linearly implicit contacts on the tree: their damping and friction act with the rates at the end of the micro-step.

Regularised friction is a damper of k_Fr f_N / v_eps, up to 1e6 N s/m on a head of a few kilograms: explicit, it
chatters at any step above some microseconds. Here the Jacobian of the class-1 contacts (normal damping, and the secant
of friction) joins the inertia of the tree: friction as in backward Euler, normal damping as in the trapezoidal rule. A
contact whose linearised force leaves its law is held to the force of its law, and the tree is evaluated once more.
Losses are computed from these applied forces and the mean rates, so that they close the energy balance.

Arguments throughout: `unit` is the probe-cone unit, `state` the group `implicit_contact` of the mechanism, `t` its
tree, `levers` its alignment levers with the slopes of the rollers' paths, `h` the micro-step in s.
"""

from math import fabs, sqrt, tanh

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import normal_damping, point_velocity
from dockfmu.components.physics.contact.pairs import kind_of
from dockfmu.components.physics.contact.probe_cone import tip_slope
from dockfmu.components.physics.contact.probe_cone.pairs import ROLLER_CONE, SLOTS
from dockfmu.components.physics.mechanics.rotation import apply, apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.spatial import lower, upper
from dockfmu.components.physics.mechanics.vector import (
    ZERO,
    accumulate,
    add,
    axpy,
    cross,
    dot,
    load,
    norm,
    scale,
    store,
    subtract,
)
from dockfmu.components.probe_mechanism.tree import LIMITER, PROBE, mean_twist, reach

# index of the capture sensors in the table of held forces, after the contacts
SENSORS = SLOTS
# relative excess of friction that counts as rounding
SLACK = 1e-9


@kernel
def add_damper(D, r, n, along, across):
    """Add to D the damper of a point at r (m): coefficients `along` the unit vector n and `across` it.

    D maps a twist [angular, linear] about the origin to the wrench [torque, force] that resists it; only the upper
    triangle of the symmetric matrix is kept. It is written out because loops over a triangle are not unrolled.
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
def _roller(item):
    """Return the number of the roller of a contact from 0, or -1 for other contacts."""
    return int(item.index) - 1 if item.pair == ROLLER_CONE else -1


@kernel
def _set_motion(unit, item, held):
    """Set link, point, normal and velocity of a listed contact."""
    j = int(item.link)
    link = unit.work.link[j]
    A = load_matrix(link.rotation)
    point = apply(A, subtract(load(item.position), load(link.position)))
    v = apply(A, point_velocity(link, load(item.position)))
    roller = _roller(item)
    if roller >= 0:
        v = add(v, load(unit.input.roller[roller].velocity))
    held.link = j
    store(point, held.point)
    store(apply(A, load(item.normal)), held.normal)
    store(v, held.velocity)


@kernel
def _motion(held, t):
    """Return (link, point from its joint, normal, velocity relative to PU) of a contact, link axes."""
    j = int(held.link)
    return j, add(load(held.point), (reach(t, j), 0.0, 0.0)), load(held.normal), load(held.velocity)


@kernel
def _drag(law, normal_force, slip):
    """Return friction per sliding speed, N s/m."""
    return law.friction * normal_force / sqrt(dot(slip, slip) + law.slip_velocity * law.slip_velocity)


@kernel
def _damp(state, t, k, r, n, along, across):
    """Add the damper (`add_damper`) of a point of link k at r from its joint, link axes."""
    add_damper(t.load_damping[k], r, n, along, across)
    if k == PROBE:
        state.axial_damping += across + (along - across) * n[0] * n[0]


@kernel
def _add_loss(state, k, r, force):
    """Add a dissipative force at r from the joint of link k, link axes, to the sum of forces whose work is lost."""
    torque = cross(r, force)
    for i in range(3):
        state.loss_wrench[k, i] += torque[i]
        state.loss_wrench[k, 3 + i] += force[i]


@kernel
def _correct(state, k, r, force):
    """Add a force at r from the joint of link k, link axes, to the correction of the evaluated contact forces."""
    torque = cross(r, force)
    for i in range(3):
        state.correction[k, i] += torque[i]
        state.correction[k, 3 + i] += force[i]


@kernel
def _couple(state, s, r, n, along, across):
    """Add the damper of a roller at r from the hinge, M axes, where the cam moves it by `s` per travel of the probe.

    The nut feels it through the rate of the travel itself and through the twist of the housing.
    """
    resisting = axpy((along - across) * dot(n, s), n, scale(across, s))
    state.cam_damping += dot(s, resisting)
    torque = cross(r, resisting)
    for i in range(3):
        state.cam_coupling[i] += torque[i]
        state.cam_coupling[3 + i] += resisting[i]


@kernel
def _contact(unit, state, t, levers, k, h):
    """Add the damper and the losses of the listed class-1 contact k, or the force that it is held to."""
    item = unit.tally.contact[k]
    held = state.held[k]
    law = kind_of(unit.kind, item.pair)
    j, r, n, v = _motion(held, t)
    state.loaded[j] = 1.0
    rate = dot(n, v)
    slip = axpy(-rate, n, v)
    drag = _drag(law, item.normal_force, slip)
    spring = item.spring
    lost = axpy(-drag, slip, scale(spring - item.normal_force, n))
    roller = _roller(item)
    if held.active > 0.0:
        force = axpy(spring, n, load(held.force))
        _correct(state, j, r, subtract(force, lost))
        if roller >= 0:
            state.cam_correction += dot(load(levers.slope[roller]), subtract(force, lost))
        lost = force
    else:
        along = 0.5 * h * normal_damping(law, item.gain) if item.normal_force > 0.0 else 0.0
        _damp(state, t, j, r, n, along, h * drag)
        if roller >= 0:
            _couple(state, load(levers.slope[roller]), r, n, along, h * drag)
    _add_loss(state, j, r, lost)
    if roller >= 0:
        accumulate(lost, state.roller[roller].force)


@kernel
def _sensor_drag(unit):
    """Return (speed of the head along the socket, friction of the capture sensors, friction over speed)."""
    sensor = unit.parameters.sensor
    v = unit.work.link[0].velocity[0]
    force = unit.tally.sensor_friction
    if v * v > 1e-6 * sensor.slip_velocity * sensor.slip_velocity:
        return v, force, force / v
    return v, force, sensor.friction / sensor.slip_velocity


@kernel
def _sensors(unit, state, t, h):
    """Add the friction of the capture sensors along the socket, at the centre of the head."""
    held = state.held[SENSORS]
    state.loaded[PROBE] = 1.0
    _, force, drag = _sensor_drag(unit)
    x = apply(load_matrix(unit.work.link[0].rotation), (1.0, 0.0, 0.0))
    r = (t.length, 0.0, 0.0)
    lost = scale(-force, x)
    if held.active > 0.0:
        _correct(state, PROBE, r, subtract(load(held.force), lost))
        lost = load(held.force)
    else:
        _damp(state, t, PROBE, r, x, h * drag, 0.0)
    _add_loss(state, PROBE, r, lost)


@kernel
def begin_micro_step(unit, state, slope):
    """Set the motion of all contacts, none of them held yet, and add the work of the tip's `slope`; after `accept`."""
    for k in range(int(unit.tally.class_1)):
        state.held[k].active = 0.0
        _set_motion(unit, unit.tally.contact[k], state.held[k])
    state.held[SENSORS].active = 0.0
    tip_slope.add_work(state.tip, tip_slope.spring_torque(unit), slope)


@kernel
def linearise(unit, state, t, levers, h):
    """Set the dampers of the contacts of the last evaluation for a micro-step h, before the tree is evaluated."""
    for k in range(2):
        if state.loaded[k] > 0.0:
            state.loaded[k] = 0.0
            for i in range(6):
                state.loss_wrench[k, i] = 0.0
                state.correction[k, i] = 0.0
                for j in range(6):
                    t.load_damping[k, i, j] = 0.0
    state.axial_damping = 0.0
    state.cam_damping = 0.0
    state.cam_correction = 0.0
    for i in range(6):
        state.cam_coupling[i] = 0.0
    for k in range(len(state.roller)):
        store(ZERO, state.roller[k].force)
    for k in range(int(unit.tally.class_1)):
        _contact(unit, state, t, levers, k, h)
    if unit.state.captured > 0.0:
        _sensors(unit, state, t, h)


@kernel
def _change(t, j, r, change, h):
    """Return the change of velocity of the point at r from the joint of link j over a micro-step h, link axes.

    `change` is that of the rate of compression.
    """
    v = scale(h, add(lower(t.acceleration[j]), cross(upper(t.acceleration[j]), r)))
    if j == PROBE:
        v = subtract(v, (change, 0.0, 0.0))
    return v


@kernel
def _bound(unit, state, t, levers, k, change, h):
    """Hold contact k to the bounds of its law if its linearised force leaves them. Returns whether it did."""
    item = unit.tally.contact[k]
    held = state.held[k]
    if item.normal_force == 0.0:
        return False
    law = kind_of(unit.kind, item.pair)
    j, r, n, v = _motion(held, t)
    rate = dot(n, v)
    slip = axpy(-rate, n, v)
    gained = _change(t, j, r, change, h)
    roller = _roller(item)
    if roller >= 0:
        gained = axpy(change, load(levers.slope[roller]), gained)
    gained_rate = dot(n, gained)
    end = axpy(-gained_rate, n, add(slip, gained))
    normal = item.spring
    normal += normal_damping(law, item.gain) * (rate + 0.5 * gained_rate)
    friction = _drag(law, item.normal_force, slip) * norm(end)
    if normal >= 0.0 and friction <= law.friction * normal * (1.0 + SLACK):
        return False
    normal = max(normal, 0.0)
    held.active = 1.0
    store(scale(-1.0, axpy(_drag(law, normal, end), end, scale(normal, n))), held.force)
    return True


@kernel
def revise(unit, state, t, levers, change, h):
    """Find the contacts whose linearised forces leave their law, and hold them within it (ruling R39).

    The end speeds follow from the accelerations of the tree and the `change` of the rate of compression over the
    micro-step. A contact that slides faster at the end than at the start got more friction than k_Fr f_N from its
    damper, and one that opens meanwhile a normal force that pulls. Such a contact gets the normal force of the mean
    rate, never below zero, and the friction of its law at the end speed. Returns the number of newly held contacts; if
    there is any, the tree is evaluated again.
    """
    count = 0
    for k in range(int(unit.tally.class_1)):
        if state.held[k].active == 0.0 and _bound(unit, state, t, levers, k, change, h):
            count += 1
    held = state.held[SENSORS]
    if unit.state.captured > 0.0 and held.active == 0.0:
        v, _, drag = _sensor_drag(unit)
        x = apply(load_matrix(unit.work.link[0].rotation), (1.0, 0.0, 0.0))
        end = v + dot(x, _change(t, PROBE, (t.length, 0.0, 0.0), change, h))
        sensor = unit.parameters.sensor
        if drag * fabs(end) > sensor.friction * (1.0 + SLACK):
            held.active = 1.0
            store(scale(-sensor.friction * tanh(end / sensor.slip_velocity), x), held.force)
            count += 1
    return count


@kernel
def add_correction(state, j, reach, load):
    """Add the correction by held forces to the `load` of link j about its origin, at `reach` along x of its joint."""
    correction = state.correction[j]
    force = lower(correction)
    accumulate(force, load.force)
    accumulate(subtract(upper(correction), cross((reach, 0.0, 0.0), force)), load.torque)


@kernel
def head_force(t):
    """Return the axial force on the head with the computed accelerations, N; negative pushes the probe in."""
    return t.load[PROBE].force[0] + t.implicit[PROBE, 3]


@kernel
def cam_force(state, t):
    """Return the force in N on the probe's travel that the accelerations add through rollers, levers and cam."""
    force = 0.0
    for i in range(6):
        force -= state.cam_coupling[i] * t.acceleration[LIMITER, i]
    return force


@kernel
def account_losses(unit, state, t, port, axial_force, rate, h):
    """Add the losses of the micro-step, and return the part of the wrench on the passive unit from its implicit forces.

    `port` is the port of the base with its accelerations, frame 0 axes; `axial_force` (N) is the part of the head's
    load that the axial damper's reaction to contact damping added, `rate` (m/s) the mean rate of compression. Returns
    (force in N, torque in N m about the origin of PU), PU axes.
    """
    base = unit.input.base
    A = load_matrix(base.rotation)
    w = axpy(-0.5 * h, apply_transposed(A, load(port.angular_acceleration)), load(base.angular_velocity))
    v = axpy(-0.5 * h, apply_transposed(A, load(port.acceleration)), load(base.velocity))
    target_force = ZERO
    target_torque = ZERO
    for k in range(2):
        if state.loaded[k] == 0.0:
            continue
        link = unit.work.link[k]
        spin, speed = mean_twist(t, k, link, load(base.position), w, v, h)
        torque = upper(t.implicit[k])
        force = lower(t.implicit[k])
        if k == PROBE:
            force = add(force, (axial_force, 0.0, 0.0))
            speed = subtract(speed, (rate, 0.0, 0.0))
        lost = state.loss_wrench[k]
        state.dissipated -= h * (dot(spin, add(torque, upper(lost))) + dot(speed, add(force, lower(lost))))
        torque = add(torque, upper(state.correction[k]))
        force = add(force, lower(state.correction[k]))
        # about the origin of the link
        torque = subtract(torque, cross((reach(t, k), 0.0, 0.0), force))
        A = load_matrix(link.rotation)
        force = apply_transposed(A, force)
        target_force = subtract(target_force, force)
        target_torque = subtract(target_torque, apply_transposed(A, torque))
        target_torque = subtract(target_torque, cross(load(link.position), force))
    return target_force, target_torque
