"""Class-2 contacts of the probe-cone unit: latches before they fire (C6) and capture sensors before capture (C7),
spec/05 6.4, 6.5. They are searched once per accepted micro-step; their forces hold until the next search."""

from __future__ import annotations

from math import cos, fabs, sin, sqrt

from components.contact.force import clear, exert, point_velocity
from components.contact.probe_cone.pairs import LATCH_CONE, SENSOR_CONE
from components.contact.probe_cone.touch import enlist, slot_half_width, touch
from components.contact.profile import depth as profile_depth
from components.contact.profile import segment_depth, segment_profile, sphere_profile
from components.contact.yielding import (
    BOTTOMED,
    PUSHED,
    hold,
    place_frame,
    release,
    resting_angle,
    spring_energy,
    turned,
)
from components.core.kernel import kernel
from components.core.rotation import about_y, about_z, compose, load_matrix
from components.core.vector import axpy, dot, load, scale, subtract


@kernel
def front_edge(frame, latch, angle):
    """Return the root of a latch's front edge and the vector from there to its tip, PU axes."""
    c = cos(angle)
    s = sin(angle)
    root = turned(frame, latch.root, c, s)
    return root, subtract(turned(frame, latch.tip, c, s), root)


@kernel
def latch_front(frame, latch, geometry, angle):
    """Return (depth, normal, gain, point) of the front edge, root to tip, at an angle; see `segment_profile`.

    Taken against the whole profile: the depth vanishes where the source's cases (tip on the last frustum, on the socket
    wall, edge over the entry edge) do.
    """
    root, along = front_edge(frame, latch, angle)
    return segment_profile(geometry.face, int(geometry.faces), root, along)


@kernel
def latch_depth(frame, latch, geometry, angle):
    root, along = front_edge(frame, latch, angle)
    d, _, _, _ = segment_depth(geometry.face, int(geometry.faces), root, along)
    return d


@kernel
def sensor_front(frame, sensor, geometry, angle):
    """(depth, normal, point) of the roller of a capture sensor at an angle."""
    centre = turned(frame, sensor.centre, cos(angle), sin(angle))
    d, normal, _ = sphere_profile(geometry.face, int(geometry.faces), centre, sensor.radius)
    return d, normal, axpy(sensor.radius, normal, centre)


@kernel
def sensor_depth(frame, sensor, geometry, angle):
    d, _, _ = sensor_front(frame, sensor, geometry, angle)
    return d


search_latch = resting_angle(latch_depth)
search_sensor = resting_angle(sensor_depth)


@kernel
def levers_are_clear(geometry, motion):
    """True if no latch or sensor can touch, however it is turned."""
    p = motion.position
    r = sqrt(p[1] * p[1] + p[2] * p[2])
    d, _, _, _ = profile_depth(geometry.face, int(geometry.faces), p[0], r, geometry.reach)
    return d <= -geometry.reach


@kernel
def place_levers(parameters, geometry, motion, tip_slope, work):
    """Place the planes of latches and sensors, with the end slope of the bent probe (spec/06 5.6, erratum E-11)."""
    A = compose(compose(about_z(tip_slope[1]), about_y(tip_slope[0])), load_matrix(motion.rotation))
    origin = load(motion.position)
    count = len(work.latch)
    for k in range(count):
        place_frame(work.latch[k], origin, A, parameters.latch.pivot, load(geometry.azimuth[k].radial))
    for k in range(int(parameters.sensor.count)):
        place_frame(work.sensor[k], origin, A, parameters.sensor.pivot, load(geometry.azimuth[count + k].radial))


@kernel
def tip_in_slot(slot, azimuth, tip):
    """Trigger of a latch: its tip, projected on the plane of the slot, is inside the outline of the slot."""
    d1 = tip[0] - slot.x
    if d1 <= 0.0 or dot(load(azimuth.radial), tip) <= 0.0:
        return False
    return fabs(dot(load(azimuth.tangential), tip)) < slot_half_width(slot, d1)


@kernel
def search_latches(parameters, geometry, work, state):
    """Find the angle of every latch that has not fired, and fire those that reach their slots."""
    latch = parameters.latch
    for k in range(len(state.latch)):
        lever = state.latch[k]
        if lever.fired == 0.0:
            frame = work.latch[k]
            lever.mode, lever.angle = search_latch(frame, latch, geometry)
            lever.force = 0.0
            lever.short = 0.0
            if lever.mode == PUSHED:
                _, normal, _, point = latch_front(frame, latch, geometry, lever.angle)
                hold(lever, latch, frame, normal, point)
            tip = turned(frame, latch.tip, cos(lever.angle), sin(lever.angle))
            if tip_in_slot(parameters.slot, geometry.azimuth[k], tip):
                state.dissipated.latches += spring_energy(latch, lever.angle)
                release(lever)
                lever.fired = 1.0


@kernel
def search_sensors(parameters, geometry, work, state):
    sensor = parameters.sensor
    for k in range(int(sensor.count)):
        lever = state.sensor[k]
        lever.mode, lever.angle = search_sensor(work.sensor[k], sensor, geometry)
        lever.force = 0.0
        lever.short = 0.0
        if lever.mode == PUSHED:
            _, normal, point = sensor_front(work.sensor[k], sensor, geometry, lever.angle)
            hold(lever, sensor, work.sensor[k], normal, point)


@kernel
def withdraw_latches(parameters, state):
    """The latch drive pulls all latches in: they neither touch nor hold."""
    for k in range(len(state.latch)):
        lever = state.latch[k]
        state.dissipated.latches += spring_energy(parameters.latch, lever.angle)
        release(lever)
        lever.fired = 0.0


@kernel
def all_fired(latch):
    fired = 0.0
    for k in range(len(latch)):
        fired += latch[k].fired
    return fired == len(latch)


@kernel
def touch_bottomed(parameters, geometry, motion, work, state, tally, head):
    """Levers at the end of their travel are part of the head: class 1 (spec/05 A12, step 2)."""
    origin = load(motion.position)
    for k in range(len(state.latch)):
        if state.latch[k].mode == BOTTOMED:
            d, normal, gain, point = latch_front(work.latch[k], parameters.latch, geometry, parameters.latch.angle_max)
            if d > 0.0:
                v = point_velocity(motion, point)
                law = parameters.law_latch
                code = touch(tally, law, head, origin, v, LATCH_CONE, k + 1.0, point, normal, gain, d)
                if code:
                    return code
    for k in range(int(parameters.sensor.count)):
        if state.sensor[k].mode == BOTTOMED:
            d, normal, point = sensor_front(work.sensor[k], parameters.sensor, geometry, parameters.sensor.angle_max)
            if d > 0.0:
                v = point_velocity(motion, point)
                law = parameters.law_head
                code = touch(tally, law, head, origin, v, SENSOR_CONE, k + 1.0, point, normal, 1.0, d)
                if code:
                    return code
    return 0


@kernel
def exert_held(lever, pair, index, origin, tally, work):
    """The force that one lever holds, on the passive unit and back on the head."""
    if lever.mode == PUSHED:
        normal = load(lever.normal)
        point = load(lever.position)
        exert(scale(lever.force, normal), point, origin, work.held_target, work.held_head)
        enlist(tally, pair, index, point, normal, 1.0, 0.0, lever.force, 0.0)


@kernel
def sum_held(parameters, motion, state, tally, work):
    clear(work.held_target)
    clear(work.held_head)
    tally.count = tally.class_1
    origin = load(motion.position)
    for k in range(len(state.latch)):
        exert_held(state.latch[k], LATCH_CONE, k + 1.0, origin, tally, work)
    if state.captured == 0.0:
        for k in range(int(parameters.sensor.count)):
            exert_held(state.sensor[k], SENSOR_CONE, k + 1.0, origin, tally, work)


@kernel
def lever_energy(parameters, state):
    """Energy in the springs of latches and sensors."""
    energy = 0.0
    for k in range(len(state.latch)):
        energy += spring_energy(parameters.latch, state.latch[k].angle)
    for k in range(int(parameters.sensor.count)):
        energy += spring_energy(parameters.sensor, state.sensor[k].angle)
    return energy
