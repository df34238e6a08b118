"""Equations of the probe mechanism written a second time: particles, virtual work, nearest points.

Housing, probe and the limiter that slides on the housing (V3) are replaced by six equal particles each, on the
principal axes, with the same mass, centre and inertia. Newton's law of the particles is projected on the five joint
angles and the limiter's place (d'Alembert); rates of the Jacobian are the imaginary part of its value at complex
coordinates. Devices enter by their virtual work, contact by the nearest point of the meridian. Ports move in a
prescribed way. Nothing of the product is used; parameters are numbers read from its record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from tests.components.probe_mechanism.oblique.devices import reaction, recoverable

# of the state: five joint angles, travel, their rates, place and rate of the limiter; then integrals
MOTION, LIMITER = 14, 12
LOSSES = (
    "screw", "train", "first", "brake", "magnetic", "probe_damping", "spring_damping", "lateral_brakes",
    "lateral_stops", "contact", "limiter",
)  # fmt: skip
WORKS = ("bending_y", "bending_z", "torsion", "spring_1", "spring_2", "stiffening", "base", "target", "limiter_spring")
IMPULSES = ("base", "base_angular", "target", "target_angular")
# of what an evaluation tells beside the rates of the state
TOLD = (
    "depth_cone", "depth_bottom", "pressure_cone", "pressure_bottom", "slip_cone", "slip_bottom", "stroke_1",
    "stroke_2", "stroke_rate_1", "stroke_rate_2", "crank_1", "crank_2", "free", "grip", "kinetic", "force_x",
    "force_y", "force_z", "torque_x", "torque_y", "torque_z", "depth_front", "depth_rear", "depth_head",
    "bearing_front", "bearing_rear", "bearing_head",
)  # fmt: skip
FIRST_LOSS, FIRST_WORK = MOTION, MOTION + len(LOSSES)
FIRST_IMPULSE = FIRST_WORK + len(WORKS)
SIZE = FIRST_IMPULSE + 3 * len(IMPULSES)
SLIDES, NODES, PARTICLES, HEAD = 12, 18, 18, 22
"""Points: particles of housing and probe, from SLIDES on of the limiter, nodes of two springs and two brakes from NODES
on, centre of the head."""
BEARINGS = ((0, -1.0), (1, 1.0), (2, -1.0))
"""Front stop, rear stop and head, with the sense of their force on the limiter."""


class Path(NamedTuple):
    """Motion of a port: its origin with constant acceleration in I, its axes with a constant rate in themselves.

    `attitude` turns vectors from the port's axes at the start into I; `rate` is in the port's axes; SI units.
    """

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    attitude: np.ndarray
    rate: np.ndarray


class Numbers(NamedTuple):
    """Parameters of the mechanism and of the contact, in the units and axes of their records."""

    mass: np.ndarray
    points: np.ndarray
    bearing: float
    length: float
    shortest: float
    bending_damping: float
    torsion_damping: float
    spring_base: np.ndarray
    spring_length: np.ndarray
    spring_damping: np.ndarray
    brake_base: np.ndarray
    brake_axes: np.ndarray
    brake_crank: np.ndarray
    brake_rod: np.ndarray
    brake_speed: np.ndarray
    brake_torque: np.ndarray
    stop_low: np.ndarray
    stop_high: np.ndarray
    stop_stiffness: np.ndarray
    stop_damping: np.ndarray
    inertance: float
    screw: float
    train_damping: float
    magnetic_rate: np.ndarray
    magnetic_force: np.ndarray
    profile: np.ndarray
    bottom: float
    radius: float
    laws: np.ndarray
    limiter: np.ndarray
    """Place of the front stop, stroke, force of the springs there and at the rear stop, damping of the guides,
    stiffness and damping of stops and head, distance to the head's centre; all 0 where the limiter is a part of the
    housing."""


class Modes(NamedTuple):
    """Modes of the devices: tables of the loops of probe (3) and springs (2), and where they are; train; contacts;
    what bears on the limiter; sense in which the nut turns, 0 while the screw's friction holds it."""

    tables: tuple[np.ndarray, ...]
    loops: np.ndarray
    train: np.ndarray
    closed: np.ndarray
    bearing: np.ndarray
    sense: np.ndarray


def particles(mass: float, centre: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Return places (6, 3) of equal particles like a body with principal axes x, y, z.

    `inertia` about the origin, from which `centre` is counted.
    """
    about_centre = np.diag(inertia) - mass * (centre @ centre - centre**2)
    second = 0.5 * about_centre.sum() - about_centre
    reach = np.diag(np.sqrt(3.0 * second / mass))
    return centre + np.vstack([reach, -reach])


def numbers(p: Any, unit: Any) -> Numbers:
    """Return the numbers of the groups of parameters `p` of the mechanism and `unit` of the contact."""
    probe, spring, brake, a, cone = p.probe, p.lateral.spring, p.lateral.brake, p.axial, unit.cone
    array = np.array
    housing = particles(probe.housing_mass, array(probe.housing_centre), array(probe.housing_inertia))
    tip = particles(probe.probe_mass, array(probe.probe_centre), array(probe.probe_inertia))
    slider, sliding, front = np.zeros((6, 3)), 0.0, np.zeros(8)
    if "limiter" in p.dtype.fields:
        of = p.limiter
        across = float(of.lateral_inertia)
        sliding = float(of.mass)
        slider = particles(sliding, array([of.centre, 0.0, 0.0]), np.diag([of.axial_inertia, across, across]))
        front = array(
            [
                of.forward,
                of.stroke,
                of.spring_forward,
                of.spring_rear,
                of.damping,
                of.stop_stiffness,
                of.stop_damping,
                of.head_distance,
            ]
        )
    masses = np.repeat([probe.housing_mass / 6.0, probe.probe_mass / 6.0, sliding / 6.0], 6)
    profile = np.column_stack([cone.x, cone.r])[: int(cone.vertices)]
    magnetic = hasattr(a, "magnetic_rate")
    laws = [[law.stiffness, law.damping, law.friction, law.slip_velocity] for law in (unit.law_head, unit.law_bottom)]
    return Numbers(
        masses,
        np.vstack([housing, tip, slider, spring.node_point, brake.node_point]),
        float(probe.bearing_distance),
        float(probe.free_length),
        float(probe.shortest_length),
        float(probe.bending_damping),
        float(probe.torsion_damping),
        array(spring.base_point),
        array(spring.length),
        array(spring.damping),
        array(brake.base_point),
        array(brake.base_axes),
        array(brake.crank),
        array(brake.rod),
        array(brake.speed),
        array(brake.torque),
        array(brake.stop_low),
        array(brake.stop_high),
        array(brake.stop_stiffness),
        array(brake.stop_damping),
        float(a.inertance),
        float(a.screw_friction),
        float(a.train_damping),
        array(a.magnetic_rate) if magnetic else array([0.0, 1.0]),
        array(a.magnetic_force) if magnetic else np.zeros(2),
        profile[:-1].copy(),
        float(profile[-1, 0]),
        float(unit.head.radius),
        array(laws),
        front,
    )


@njit(cache=True)
def cross(a, b):
    """Return the vector product; numpy.cross is slower."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


@njit(cache=True)
def turn(axis, angle):
    """Return the matrix that turns vectors by a complex angle about x, y or z."""
    R = np.zeros((3, 3), np.complex128)
    c, s = np.cos(angle), np.sin(angle)
    i, j = (axis + 1) % 3, (axis + 2) % 3
    R[axis, axis] = 1.0
    R[i, i], R[i, j], R[j, i], R[j, j] = c, -s, s, c
    return R


@njit(cache=True)
def at(path, t):
    """Return position and velocity of a port's origin, I, and the matrix of its axes in I."""
    angle = np.sqrt((path.rate * path.rate).sum()) * t
    A = path.attitude.copy()
    if angle > 0.0:
        w = path.rate * t / angle
        K = np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
        A = A @ (np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K))
    place = path.position + (path.velocity + 0.5 * path.acceleration * t) * t
    return place, path.velocity + path.acceleration * t, A


@njit(cache=True)
def kinematics(d, q, length):
    """Return places (n, 3), Jacobian (6, n, 3) and axes of the joints (5, 3) of all points, frame 0.

    `q` are the five angles and the place of the limiter on the housing.
    """
    first = turn(1, q[0])
    housing = first @ turn(2, q[1])
    third = housing @ turn(1, q[2])
    probe = third @ turn(2, q[3]) @ turn(0, q[4])
    axes = np.zeros((5, 3), np.complex128)
    axes[0, 1] = 1.0
    axes[1], axes[2], axes[3], axes[4] = (
        first[:, 2].copy(),
        housing[:, 1].copy(),
        third[:, 2].copy(),
        probe[:, 0].copy(),
    )
    bearing = housing[:, 0] * d.bearing
    places = np.zeros((HEAD + 1, 3), np.complex128)
    jacobian = np.zeros((6, HEAD + 1, 3), np.complex128)
    for n in range(HEAD + 1):
        own = np.zeros(3, np.complex128)
        if n == HEAD:
            own[0] = length
        else:
            for i in range(3):
                own[i] = d.points[n, i]
        on_probe = n == HEAD or 6 <= n < SLIDES
        if SLIDES <= n < NODES:
            own[0] += q[5]
            jacobian[5, n] = housing[:, 0]
        place = probe @ own if on_probe else housing @ own
        if on_probe:
            for j in range(2, 5):
                jacobian[j, n] = cross(axes[j], place)
            place = place + bearing
        for j in range(2):
            jacobian[j, n] = cross(axes[j], place)
        places[n] = place
    return places, jacobian, axes


@njit(cache=True)
def nearest(profile, x, r):
    """Return the point (x, r) of the meridian nearest to a point."""
    best, found_x, found_r = np.inf, 0.0, 0.0
    for k in range(profile.shape[0] - 1):
        ex, er = profile[k + 1, 0] - profile[k, 0], profile[k + 1, 1] - profile[k, 1]
        along = ((x - profile[k, 0]) * ex + (r - profile[k, 1]) * er) / (ex * ex + er * er)
        along = min(1.0, max(0.0, along))
        px, pr = profile[k, 0] + along * ex, profile[k, 1] + along * er
        distance = np.hypot(px - x, pr - r)
        if distance < best:
            best, found_x, found_r = distance, px, pr
    return best, found_x, found_r


@njit(cache=True)
def touch(d, k, centre):
    """Return depth and normal (PU) of the sphere on the meridian (k = 0) or on the bottom (k = 1)."""
    if k == 1:
        return centre[0] + d.radius - d.bottom, np.array([1.0, 0.0, 0.0])
    radial = np.hypot(centre[1], centre[2])
    distance, x, r = nearest(d.profile, centre[0], radial)
    outward = (r - radial) / distance / max(radial, 1e-12)
    return d.radius - distance, np.array([(x - centre[0]) / distance, outward * centre[1], outward * centre[2]])


@njit(cache=True)
def table(x, xs, ys):
    """Return an odd piecewise linear function, constant beyond its table."""
    return np.sign(x) * np.interp(abs(x), xs, ys)


@njit(cache=True)
def swing(d, k, node):
    """Return the angle of crank k whose rod ends at the node, and its gradient by the node."""
    axes, arm = d.brake_axes[k], d.brake_crank[k]
    to = node - d.brake_base[k]
    x, y = (axes[0] * to).sum(), (axes[1] * to).sum()
    cosine = ((to * to).sum() + arm**2 - d.brake_rod[k] ** 2) / (2.0 * arm * np.hypot(x, y))
    angle = np.arctan2(y, x) + np.arccos(cosine)
    c, s = np.cos(angle), np.sin(angle)
    rod = arm * (c * axes[0] + s * axes[1]) - to
    return angle, rod / (rod * (arm * (c * axes[1] - s * axes[0]))).sum()


@njit(cache=True)
def evaluate(d, base, target, m, t, y):
    """Return the rates of the state, and the values of TOLD."""
    rates, told = np.zeros(SIZE), np.zeros(len(TOLD))
    lost, work = rates[FIRST_LOSS:FIRST_WORK], rates[FIRST_WORK:FIRST_IMPULSE]
    travel, rate = y[5], y[11]
    q, qd = np.zeros(6), np.zeros(6)
    q[:5], q[5], qd[:5], qd[5] = y[:5], y[LIMITER], y[6:11], y[LIMITER + 1]
    length = d.length - travel
    places_, jacobian_, axes_ = kinematics(d, q + 1e-30j * qd, length)
    places, jacobian, axes = places_.real.copy(), jacobian_.real.copy(), axes_.real.copy()
    turning = jacobian_.imag / 1e-30
    origin, velocity, A = at(base, t)
    spin = base.rate
    lift = A.T @ base.acceleration

    # inertia, and acceleration of the particles without that of the joints
    inertia, force = np.zeros((6, 6)), np.zeros(6)
    if d.limiter[0] == 0.0:
        inertia[5, 5] = 1.0
    accelerations = np.zeros((PARTICLES, 3))
    for n in range(PARTICLES):
        moving, bias = np.zeros(3), np.zeros(3)
        for j in range(6):
            moving += qd[j] * jacobian[j, n]
            bias += qd[j] * turning[j, n]
        accelerations[n] = lift + cross(spin, cross(spin, places[n]) + 2.0 * moving) + bias
        speed = A.T @ velocity + cross(spin, places[n]) + moving
        told[14] += 0.5 * d.mass[n] * (speed * speed).sum()
        for j in range(6):
            force[j] -= d.mass[n] * (jacobian[j, n] * accelerations[n]).sum()
            for k in range(6):
                inertia[j, k] += d.mass[n] * (jacobian[j, n] * jacobian[k, n]).sum()

    # flexible probe: bending is stiffer by L(0) / L, which loads the nut
    gain = d.length / max(length, d.shortest)
    extra = 0.0
    for k in range(3):
        stiffer = gain if k < 2 else 1.0
        damping = stiffer * d.bending_damping if k < 2 else d.torsion_damping
        moment = stiffer * reaction(m.tables[k], m.loops[k], y[2 + k])
        force[2 + k] -= moment + damping * qd[2 + k]
        lost[5] += damping * qd[2 + k] ** 2
        work[k] = moment * qd[2 + k]
        if k < 2 and length > d.shortest:
            extra -= recoverable(m.tables[k], m.loops[k], y[2 + k]) * gain / length
    work[5] = -extra * rate

    # lateral damper
    for k in range(2):
        strut = places[NODES + k] - d.spring_base[k]
        size = np.sqrt((strut * strut).sum())
        lever = np.array([(strut * jacobian[j, NODES + k]).sum() / size for j in range(2)])
        stroke, speed = size - d.spring_length[k], lever[0] * qd[0] + lever[1] * qd[1]
        elastic = reaction(m.tables[3 + k], m.loops[3 + k], stroke)
        force[:2] -= lever * (elastic + d.spring_damping[k] * speed)
        work[3 + k] = elastic * speed
        lost[6] += d.spring_damping[k] * speed**2
        told[6 + k], told[8 + k] = stroke, speed
    for k in range(2):
        angle, gradient = swing(d, k, places[NODES + 2 + k])
        lever = np.array([(gradient * jacobian[j, NODES + 2 + k]).sum() for j in range(2)])
        speed = lever[0] * qd[0] + lever[1] * qd[1]
        torque = table(speed, d.brake_speed[k], d.brake_torque[k])
        depth = min(0.0, angle - d.stop_low[k]) + max(0.0, angle - d.stop_high[k])
        elastic = d.stop_stiffness[k] * depth
        stop = elastic
        if depth != 0.0:
            stop += d.stop_damping[k] * speed
            if stop * depth < 0.0:
                stop = 0.0
        force[:2] -= lever * (torque + stop)
        lost[7] += torque * speed
        lost[8] += (stop - elastic) * speed
        told[10 + k] = angle

    # limiter on its springs between two stops, or pushed back by the head
    pushed = 0.0
    if d.limiter[0] > 0.0:
        front, stroke, weak, strong, guides, stiff, damp, reach = d.limiter
        elastic = weak + (strong - weak) / stroke * (front - q[5])
        force[5] += elastic - guides * qd[5]
        work[8] = -elastic * qd[5]
        lost[10] = guides * qd[5] ** 2
        told[21], told[22] = q[5] - front, front - stroke - q[5]
        told[23] = q[5] + reach - d.bearing - length
        for k, sense in BEARINGS:
            closing = -sense * qd[5] + (rate if k == 2 else 0.0)
            if m.bearing[k] == 0.0:
                continue
            told[24 + k] = max(0.0, stiff * told[21 + k] + damp * closing)
            force[5] += sense * told[24 + k]
            lost[10] += (told[24 + k] - stiff * told[21 + k]) * closing
        pushed = told[26]

    # contact, axes I
    moving = np.zeros(3)
    turned = spin.copy()
    for j in range(5):
        moving += qd[j] * jacobian[j, HEAD]
        turned += qd[j] * axes[j]
    head, along = places[HEAD], axes[4]
    centre = origin + A @ head
    head_speed = velocity + A @ (cross(spin, head) + moving - rate * along)
    head_spin = A @ turned
    other, other_speed, T = at(target, t)
    other_spin = T @ target.rate
    relative = T.T @ (centre - other)
    total, head_torque, target_torque = np.zeros(3), np.zeros(3), np.zeros(3)
    for k in range(2):
        depth, normal = touch(d, k, relative)
        told[k] = depth
        if m.closed[k] == 0.0:
            continue
        n = T @ normal
        arm = d.radius * n
        point = centre + arm
        slip = head_speed + cross(head_spin, arm) - other_speed - cross(other_spin, point - other)
        closing = (n * slip).sum()
        slip = slip - closing * n
        pressure = max(0.0, d.laws[k, 0] * depth + d.laws[k, 1] * closing)
        friction = d.laws[k, 2] * pressure / np.sqrt((slip * slip).sum() + d.laws[k, 3] ** 2) * slip
        on_head = -pressure * n - friction
        total += on_head
        head_torque += cross(arm, on_head)
        target_torque -= cross(point, on_head)
        lost[9] += (friction * slip).sum() + (pressure - d.laws[k, 0] * depth) * closing
        told[2 + k], told[4 + k] = pressure, np.sqrt((slip * slip).sum())
    local, local_torque = A.T @ total, A.T @ head_torque
    for j in range(5):
        force[j] += (jacobian[j, HEAD] * local).sum() + (axes[j] * local_torque).sum()
    acceleration = np.linalg.solve(inertia, force)

    # nut and train: the friction of the screw is k |f| against the motion
    axial = (along * local).sum() + pushed
    viscous = d.train_damping * rate
    drag = table(rate, d.magnetic_rate, d.magnetic_force)
    train = m.train[0] + m.train[1] * travel
    free = extra - axial - train - viscous - drag
    grip = d.screw * abs(axial)
    nut = 0.0
    if m.sense[0] != 0.0:
        nut = (free - m.sense[0] * grip) / d.inertance
    told[12], told[13] = free, grip
    told[14] += 0.5 * d.inertance * rate**2
    lost[0], lost[1], lost[4] = grip * abs(rate), viscous * rate, drag * rate
    lost[2], lost[3] = m.train[2] * train * rate, m.train[3] * train * rate

    # wrench on the base, frame 0 about its origin: contact less what the particles need
    base_force = local.copy()
    base_torque = cross(head, local) + local_torque
    for n in range(PARTICLES):
        needed = accelerations[n].copy()
        for j in range(6):
            needed += acceleration[j] * jacobian[j, n]
        base_force -= d.mass[n] * needed
        base_torque -= d.mass[n] * cross(places[n], needed)
    told[15:18], told[18:21] = base_force, base_torque
    in_space = A @ base_force
    work[6] = -(base_force * (A.T @ velocity)).sum() - (base_torque * spin).sum()
    work[7] = (total * other_speed).sum() - ((target_torque + cross(other, total)) * other_spin).sum()

    rates[:5], rates[5], rates[6:11], rates[11] = qd[:5], rate, acceleration[:5], nut
    rates[LIMITER], rates[LIMITER + 1] = qd[5], acceleration[5]
    impulse = rates[FIRST_IMPULSE:]
    impulse[:3], impulse[3:6] = in_space, A @ base_torque + cross(origin, in_space)
    impulse[6:9], impulse[9:12] = -total, target_torque
    return rates, told
