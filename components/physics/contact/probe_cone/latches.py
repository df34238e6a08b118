"""Class-2 contacts of the probe-cone unit: latches that have not fired, and capture sensors.

Theory: contact-geometry 6.4, 6.5.

Latches before they fire (C6) and capture sensors before capture (C7) yield: the angle at which each rests is searched
once per accepted micro-step, and its force is held until the next one.
"""

from __future__ import annotations

from math import cos, fabs, inf, sin, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import list_contact, list_push
from dockfmu.components.physics.contact.list_forces import make_forces
from dockfmu.components.physics.contact.probe_cone.pairs import LATCH_CONE, SENSOR_CONE
from dockfmu.components.physics.contact.probe_cone.ports import HEAD
from dockfmu.components.physics.contact.probe_cone.surface_contacts import slot_half_width
from dockfmu.components.physics.contact.profile import depth as profile_depth
from dockfmu.components.physics.contact.profile import segment_depth, segment_profile, sphere_profile
from dockfmu.components.physics.contact.sprung_lever import (
    BOTTOMED,
    PUSHED,
    hold,
    place_frame,
    release,
    resting_angle,
    spring_energy,
    turned,
)
from dockfmu.components.physics.contact.sums import add_forces, clear_sums
from dockfmu.components.physics.mechanics.rotation import apply_transposed, compose, load_matrix
from dockfmu.components.physics.mechanics.vector import axpy, dot, load, subtract

CLOSED = 1e-6
"""Distance that a fired latch has at least beyond the edge of its slot, by definition, m."""


@kernel
def front_edge(frame, latch, c, s):
    """Return the root of a latch's front edge and the vector from there to its tip, PU axes.

    Here and below c and s are cosine and sine of the lever's angle.
    """
    root = turned(frame, latch.root, c, s)
    return root, subtract(turned(frame, latch.tip, c, s), root)


@kernel
def latch_front(frame, latch, geometry, c, s):
    """Return (depth, normal, gain, point) of the front edge, root to tip, at an angle; see `segment_profile`.

    The edge is taken against the whole profile: the depth vanishes where the source's cases (tip on the last frustum,
    on the socket wall, edge over the entry edge) do.
    """
    root, along = front_edge(frame, latch, c, s)
    return segment_profile(geometry.face, int(geometry.faces), root, along)


@kernel
def latch_depth(frame, latch, geometry, c, s):
    """Return the depth of the front edge of a latch at an angle, m."""
    root, along = front_edge(frame, latch, c, s)
    d, _, _, _ = segment_depth(geometry.face, int(geometry.faces), root, along)
    return d


@kernel
def sensor_front(frame, sensor, geometry, c, s):
    """Return (depth, normal, point) of the roller of a capture sensor at an angle."""
    centre = turned(frame, sensor.centre, c, s)
    d, normal, _ = sphere_profile(geometry.face, int(geometry.faces), centre, sensor.radius)
    return d, normal, axpy(sensor.radius, normal, centre)


@kernel
def sensor_depth(frame, sensor, geometry, c, s):
    """Return the depth of the roller of a capture sensor at an angle, m."""
    d, _, _ = sensor_front(frame, sensor, geometry, c, s)
    return d


search_latch = resting_angle(latch_depth)
search_sensor = resting_angle(sensor_depth)


@kernel
def levers_are_clear(geometry, motion):
    """Return whether no latch or sensor can touch, however it is turned."""
    p = motion.position
    r = sqrt(p[1] * p[1] + p[2] * p[2])
    d, _, _, _ = profile_depth(geometry.face, int(geometry.faces), p[0], r, geometry.reach)
    return d <= -geometry.reach


@kernel
def _turn_of_tip(slope):
    """Return alpha^z(slope[1]) alpha^y(slope[0]), written out: a matrix product would not skip zeros."""
    s_y = sin(slope[0])
    c_y = cos(slope[0])
    s_z = sin(slope[1])
    c_z = cos(slope[1])
    return ((c_z * c_y, s_z, -c_z * s_y), (-s_z * c_y, c_z, s_z * s_y), (s_y, 0.0, c_y))


@kernel
def place_levers(unit):
    """Place the planes of latches and sensors, with the end slope of the bent probe.

    Theory: central-docking 5.6, erratum E-11.
    """
    parameters = unit.parameters
    azimuth = unit.geometry.azimuth
    work = unit.work
    head = work.link[0]
    A = compose(_turn_of_tip(unit.input.tip_slope), load_matrix(head.rotation))
    origin = load(head.position)
    xi = apply_transposed(A, (1.0, 0.0, 0.0))
    count = len(work.latch)
    for k in range(count):
        place_frame(work.latch[k], origin, A, xi, parameters.latch.pivot, load(azimuth[k].radial))
    for k in range(int(parameters.sensor.count)):
        place_frame(work.sensor[k], origin, A, xi, parameters.sensor.pivot, load(azimuth[count + k].radial))


@kernel
def tip_in_slot(slot, azimuth, tip):
    """Return whether the tip of a latch, projected on the plane of its slot, is inside its outline: the latch fires."""
    d1 = tip[0] - slot.x
    if d1 <= 0.0 or dot(load(azimuth.radial), tip) <= 0.0:
        return False
    return fabs(dot(load(azimuth.tangential), tip)) < slot_half_width(slot, d1)


@kernel
def latch_lack(slot, azimuth, tip):
    """Return the distance of the tip of a latch outside the outline of its slot, along the axis or across it, m.

    It is the larger of the two distances, and negative inside.
    """
    d1 = tip[0] - slot.x
    across = fabs(dot(load(azimuth.tangential), tip)) - slot_half_width(slot, max(d1, 0.0))
    return max(-d1, across, -dot(load(azimuth.radial), tip))


@kernel
def capture_margin(unit):
    """Return the distance from capture at the last evaluation, m: that of the latch farthest from its slot.

    The distance of a latch is at least 0 before it has fired, and at most -CLOSED after: the margin is negative if and
    only if all have fired. Latches and sensors are placed; nothing else is written.
    """
    p = unit.parameters
    g = unit.geometry
    work = unit.work
    if work.levers_clear > 0.0:
        # not placed by the evaluation
        place_levers(unit)
    margin = -inf
    for k in range(len(unit.state.latch)):
        lever = unit.state.latch[k]
        lack = latch_lack(p.slot, g.azimuth[k], turned(work.latch[k], p.latch.tip, cos(lever.angle), sin(lever.angle)))
        margin = max(margin, min(lack, -CLOSED) if lever.fired > 0.0 else max(lack, 0.0))
    return margin


@kernel
def search_latches(parameters, geometry, work, state):
    """Find the angle of every latch that is not missing and has not fired, and fire those that reach their slots."""
    latch = parameters.latch
    end = (cos(latch.angle_max), sin(latch.angle_max))
    for k in range(len(state.latch)):
        lever = state.latch[k]
        if lever.fired == 0.0 and latch.missing[k] == 0.0:
            frame = work.latch[k]
            lever.mode, lever.angle = search_latch(frame, latch, geometry, end)
            lever.force = 0.0
            lever.short = 0.0
            c = cos(lever.angle)
            s = sin(lever.angle)
            if lever.mode == PUSHED:
                _, normal, _, point = latch_front(frame, latch, geometry, c, s)
                hold(lever, latch, frame, normal, point)
            tip = turned(frame, latch.tip, c, s)
            if tip_in_slot(parameters.slot, geometry.azimuth[k], tip):
                state.dissipated_latches += spring_energy(latch, lever.angle)
                release(lever)
                lever.fired = 1.0


@kernel
def search_sensors(parameters, geometry, work, state):
    """Find the angle of every capture sensor."""
    sensor = parameters.sensor
    end = (cos(sensor.angle_max), sin(sensor.angle_max))
    for k in range(int(sensor.count)):
        lever = state.sensor[k]
        lever.mode, lever.angle = search_sensor(work.sensor[k], sensor, geometry, end)
        lever.force = 0.0
        lever.short = 0.0
        if lever.mode == PUSHED:
            _, normal, point = sensor_front(work.sensor[k], sensor, geometry, cos(lever.angle), sin(lever.angle))
            hold(lever, sensor, work.sensor[k], normal, point)


@kernel
def withdraw_latches(parameters, state):
    """Pull all latches in, as the latch drive does: they neither touch nor hold."""
    for k in range(len(state.latch)):
        lever = state.latch[k]
        state.dissipated_latches += spring_energy(parameters.latch, lever.angle)
        release(lever)
        lever.fired = 0.0


@kernel
def all_fired(latch):
    """Return whether all latches have fired."""
    fired = 0.0
    for k in range(len(latch)):
        fired += latch[k].fired
    return fired == len(latch)


@kernel
def detect_bottomed(unit):
    """List the contacts of levers at the end of their travel, a part of the head: class 1.

    Theory: contact-geometry A12, step 2.
    """
    p = unit.parameters
    g = unit.geometry
    work = unit.work
    state = unit.state
    for k in range(len(state.latch)):
        if state.latch[k].mode == BOTTOMED:
            c = cos(p.latch.angle_max)
            s = sin(p.latch.angle_max)
            d, normal, gain, point = latch_front(work.latch[k], p.latch, g, c, s)
            if d > 0.0:
                list_contact(unit.tally, LATCH_CONE, k + 1.0, HEAD, d, normal, gain, point)
    for k in range(int(p.sensor.count)):
        if state.sensor[k].mode == BOTTOMED:
            c = cos(p.sensor.angle_max)
            s = sin(p.sensor.angle_max)
            d, normal, point = sensor_front(work.sensor[k], p.sensor, g, c, s)
            if d > 0.0:
                list_contact(unit.tally, SENSOR_CONE, k + 1.0, HEAD, d, normal, 1.0, point)


@kernel
def _list_held(unit, lever, pair, index):
    """List the held force of one lever."""
    if lever.mode == PUSHED:
        list_push(unit.tally, pair, index, HEAD, load(lever.normal), load(lever.position), lever.force, 0.0)


@kernel
def sum_held(unit):
    """List the forces of latches and sensors, held since the last search, after those of class 1, and sum them."""
    tally = unit.tally
    work = unit.work
    state = unit.state
    tally.count = tally.class_1
    for k in range(len(state.latch)):
        _list_held(unit, state.latch[k], LATCH_CONE, k + 1.0)
    if state.captured == 0.0:
        for k in range(int(unit.parameters.sensor.count)):
            _list_held(unit, state.sensor[k], SENSOR_CONE, k + 1.0)
    make_forces(tally, tally.class_1, unit.kind, True)
    clear_sums(work.levers)
    add_forces(tally, tally.class_1, work.link, work.levers)


@kernel
def lever_energy(parameters, state):
    """Return the energy in the springs of latches and sensors, J."""
    energy = 0.0
    for k in range(len(state.latch)):
        energy += spring_energy(parameters.latch, state.latch[k].angle)
    for k in range(int(parameters.sensor.count)):
        energy += spring_energy(parameters.sensor, state.sensor[k].angle)
    return energy
