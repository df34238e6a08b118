"""Evaluation of the probe-cone unit.

`attempt` tries a pose: it writes work space, never the state, and may be repeated. `accept` ends a micro-step: levers,
triggers, and outputs with the new lever forces. `evaluate` is an `attempt` that also sets the outputs.
"""

from __future__ import annotations

from math import cos, inf, isfinite, pi, sin, sqrt

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import check_depths, clear_list, closed_set
from dockfmu.components.physics.contact.force import clear
from dockfmu.components.physics.contact.held_friction import forget_friction, hold_friction, remember
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.probe_cone.latches import (
    all_fired,
    detect_bottomed,
    lever_energy,
    levers_are_clear,
    place_levers,
    search_latches,
    search_sensors,
    sum_held,
    withdraw_latches,
)
from dockfmu.components.physics.contact.probe_cone.pairs import (
    GEOMETRY,
    HEAD_BOTTOM,
    HEAD_CONE,
    NOT_FINITE,
    OUT_OF_RANGE,
    PAD_CONE,
    ROLLER_CONE,
    SLOT,
    set_kinds,
)
from dockfmu.components.physics.contact.probe_cone.surface_contacts import (
    add_roller_velocities,
    add_sensor_friction,
    detect_head,
    detect_pads,
    detect_rollers,
    detect_slot,
    slot_half_width,
)
from dockfmu.components.physics.contact.profile import build
from dockfmu.components.physics.contact.profile import depth as profile_depth
from dockfmu.components.physics.contact.sprung_lever import release
from dockfmu.components.physics.contact.sums import add_forces, clear_sums
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import add, load, store

# margin in m, far above rounding, beyond which a pad is not searched for contact
SLACK = 1e-9


@kernel
def _set_azimuths(parameters, geometry, latches):
    """Set the directions of the planes of latches (exact quarter turns) and sensors."""
    for k in range(len(geometry.azimuth)):
        if k < latches:
            c = (1.0 - k % 2) * (1.0 - k // 2 * 2.0)
            s = (k % 2) * (1.0 - k // 2 * 2.0)
        else:
            c = cos(parameters.sensor.azimuth[k - latches])
            s = sin(parameters.sensor.azimuth[k - latches])
        store((0.0, c, s), geometry.azimuth[k].radial)
        store((0.0, -s, c), geometry.azimuth[k].tangential)


@kernel
def _set_pads(limiter, geometry):
    x = limiter.x[1] - limiter.x[0]
    r = limiter.r[1] - limiter.r[0]
    geometry.pad_reach = 0.5 * sqrt(x * x + r * r) + SLACK
    for k in range(int(limiter.pads)):
        azimuth = limiter.azimuth + 2.0 * pi * k / limiter.pads
        c = cos(azimuth)
        s = sin(azimuth)
        pad = geometry.pad[k]
        store((limiter.x[0], limiter.r[0] * c, limiter.r[0] * s), pad.start)
        store((x, r * c, r * s), pad.along)
        store((limiter.x[0] + 0.5 * x, (limiter.r[0] + 0.5 * r) * c, (limiter.r[0] + 0.5 * r) * s), pad.middle)


@kernel
def _length(a):
    return sqrt(a[0] * a[0] + a[1] * a[1])


@kernel
def _reset(state):
    for k in range(len(state.latch)):
        release(state.latch[k])
        state.latch[k].fired = 0.0
    for k in range(len(state.sensor)):
        release(state.sensor[k])
    state.captured = 0.0
    forget_friction(state.friction_memory)
    state.validity.latch_tilt = 0.0
    state.validity.wide_slot = 0.0
    state.validity.lever_arm = 0.0
    state.validity.three_rollers = 0.0
    state.dissipated_latches = 0.0


@kernel
def initialize(unit):
    """Compute the constants and forget all contacts. Call `evaluate` and `accept` next, at the first pose."""
    p = unit.parameters
    g = unit.geometry
    vertices = int(p.cone.vertices)
    last = vertices - 1
    # the bottom forms a concave corner with the wall: it is a separate plane, not a face of the chain
    if not (
        vertices >= 3
        and build(p.cone.x, p.cone.r, last, g.face)
        and p.cone.x[last] == p.cone.x[last - 1]
        and p.cone.r[last] < p.cone.r[last - 1]
    ):
        return fail(unit.status, GEOMETRY, 0.0, vertices)
    if not p.slot.narrow_depth < p.slot.wide_depth:
        return fail(unit.status, SLOT, p.slot.narrow_depth, 0)
    g.faces = last - 1
    g.bottom_x = p.cone.x[last]
    g.bottom_r = p.cone.r[last - 1]
    g.reach = max(
        _length(p.latch.pivot) + max(_length(p.latch.root), _length(p.latch.tip)),
        _length(p.sensor.pivot) + _length(p.sensor.centre) + p.sensor.radius,
    )
    g.wall.cosine = cos(p.slot.wall_angle)
    g.wall.sine = sin(p.slot.wall_angle)
    g.wall.wide_half_width = slot_half_width(p.slot, p.slot.wide_depth)
    _set_azimuths(p, g, len(unit.state.latch))
    _set_pads(p.limiter, g)
    set_kinds(unit)
    _reset(unit.state)
    return 0


@kernel
def _place(unit):
    """Place the links in PU and check that the model holds there."""
    for j in range(2):
        link = unit.work.link[j]
        kinematics.place_link(unit.input.base, unit.input.link[j], link)
        if not isfinite(kinematics.sum_of_motion(link)):
            return fail(unit.status, NOT_FINITE, 0.0, j + 1)
    for k in range(len(unit.input.roller)):
        roller = unit.input.roller[k]
        if not isfinite(kinematics.sum_of(roller.position) + kinematics.sum_of(roller.velocity)):
            return fail(unit.status, NOT_FINITE, 0.0, 2)
    cone = unit.parameters.cone
    head = unit.work.link[0].position
    r = sqrt(head[1] * head[1] + head[2] * head[2])
    if head[0] > cone.x[0] and r > cone.r[0]:
        return fail(unit.status, OUT_OF_RANGE, r, 1)
    return 0


@kernel
def _detect_class_1(unit):
    """List all class-1 contacts of the placed links. Returns 0, or PENETRATION + pair."""
    w = unit.work
    tally = unit.tally
    clear_list(tally)
    tally.closing = 0.0
    tally.tilted = 0.0
    tally.wide = 0.0
    detect_head(unit)
    detect_pads(unit)
    detect_rollers(unit)
    w.levers_clear = 1.0 if levers_are_clear(unit.geometry, w.link[0]) else 0.0
    if w.levers_clear == 0.0:
        place_levers(unit)
        detect_bottomed(unit)
        for k in range(len(w.latch)):
            if unit.state.latch[k].fired > 0.0:
                detect_slot(unit, k)
    tally.class_1 = tally.count
    tally.closed = closed_set(tally, unit.kind)
    return check_depths(tally, unit.kind, unit.status, PENETRATION)


@kernel
def _sum_class_1(unit):
    """Find and sum the forces of all class-1 contacts, and the friction of the capture sensors."""
    w = unit.work
    tally = unit.tally
    set_velocities(tally, 0.0, w.link)
    add_roller_velocities(unit)
    make_forces(tally, 0.0, unit.kind, True)
    clear_sums(w.bearing)
    add_forces(tally, 0.0, w.link, w.bearing)
    tally.sensor_friction = 0.0
    if unit.state.captured > 0.0:
        add_sensor_friction(unit)
    if unit.input.step > 0.0:
        hold_friction(tally, unit.kind, unit.state.friction_memory, unit.input, w.link, w.bearing)


@kernel
def _set_flags(unit):
    """Set the outputs of what touches. Contact with the socket's wall, the last face, is not the first one."""
    output = unit.output
    output.first_contact = 0.0
    output.socket_bottom = 0.0
    output.limiter_contact = 0.0
    for k in range(len(output.roller_contact)):
        output.roller_contact[k] = 0.0
    for k in range(int(unit.tally.class_1)):
        item = unit.tally.contact[k]
        if item.pair == HEAD_CONE and item.feature != unit.geometry.faces - 1.0:
            output.first_contact = 1.0
        elif item.pair == HEAD_BOTTOM:
            output.socket_bottom = 1.0
        elif item.pair == PAD_CONE:
            output.limiter_contact = 1.0
        elif item.pair == ROLLER_CONE:
            output.roller_contact[int(item.index) - 1] = 1.0


@kernel
def _store_in_link_axes(A, wrench, out):
    """Set `out` to a wrench given in PU axes, in link axes; `A` is PU -> link."""
    store(apply(A, load(wrench.force)), out.force)
    store(apply(A, load(wrench.torque)), out.torque)


@kernel
def _add(wrench, total):
    for i in range(3):
        total.force[i] += wrench.force[i]
        total.torque[i] += wrench.torque[i]


@kernel
def _publish_wrenches(work, output):
    bearing = work.bearing
    levers = work.levers
    store(add(load(bearing.passive.force), load(levers.passive.force)), output.target.force)
    store(add(load(bearing.passive.torque), load(levers.passive.torque)), output.target.torque)
    A = load_matrix(work.link[0].rotation)
    head = bearing.part[0]
    store(apply(A, add(load(head.force), load(levers.part[0].force))), output.link[0].force)
    store(apply(A, add(load(head.torque), load(levers.part[0].torque))), output.link[0].torque)
    A = load_matrix(work.link[1].rotation)
    _store_in_link_axes(A, bearing.part[1], output.limiter)
    store(load(output.limiter.force), output.link[1].force)
    store(load(output.limiter.torque), output.link[1].torque)
    for k in range(len(output.roller)):
        if output.roller_contact[k] > 0.0:
            _store_in_link_axes(A, bearing.part[2 + k], output.roller[k])
            _add(output.roller[k], output.link[1])
        else:
            clear(output.roller[k])


@kernel
def _publish(unit):
    sum_held(unit)
    _publish_wrenches(unit.work, unit.output)
    output = unit.output
    state = unit.state
    output.capture = state.captured
    for k in range(len(state.latch)):
        output.latch_fired[k] = state.latch[k].fired
    output.stored_energy = unit.work.bearing.stored_energy + lever_energy(unit.parameters, state)
    output.dissipated_latches = state.dissipated_latches


@kernel
def attempt(unit):
    """Evaluate class-1 contacts at the inputs: `tally`, and the outputs of what touches. Never changes the state.

    Returns 0, NOT_FINITE, OUT_OF_RANGE, or PENETRATION + pair with the depth in `status.value`.
    """
    code = _place(unit)
    if code == 0:
        code = _detect_class_1(unit)
    if code == 0:
        _sum_class_1(unit)
        _set_flags(unit)
    return code


@kernel
def evaluate(unit):
    """Set the outputs at the inputs: class-1 forces there, class-2 forces as last accepted. Never changes the state.

    Returns what `attempt` does.
    """
    code = attempt(unit)
    if code == 0:
        _publish(unit)
    return code


@kernel
def _search(unit):
    """Search the class-2 contacts at the pose of the last evaluation."""
    p = unit.parameters
    g = unit.geometry
    w = unit.work
    state = unit.state
    clear_of_cone = w.levers_clear > 0.0
    if unit.input.latches_armed == 0.0:
        withdraw_latches(p, state)
    elif not clear_of_cone:
        search_latches(p, g, w, state)
    else:
        for k in range(len(state.latch)):
            release(state.latch[k])
    state.captured = 1.0 if all_fired(state.latch) else 0.0
    if clear_of_cone:
        for k in range(len(state.sensor)):
            release(state.sensor[k])
    elif state.captured == 0.0:
        search_sensors(p, g, w, state)


@kernel
def _count(unit):
    """Count the micro-step if it is outside the domain of the formulas (ruling R40)."""
    tally = unit.tally
    count = unit.state.validity
    if tally.tilted > 0.0:
        count.latch_tilt += 1.0
    if tally.wide > 0.0:
        count.wide_slot += 1.0
    short = 0.0
    for k in range(len(unit.state.latch)):
        short += unit.state.latch[k].short
    for k in range(len(unit.state.sensor)):
        short += unit.state.sensor[k].short
    if short > 0.0:
        count.lever_arm += 1.0
    rollers = 0.0
    for k in range(len(unit.output.roller_contact)):
        rollers += unit.output.roller_contact[k]
    if rollers > 2.0:
        count.three_rollers += 1.0


@kernel
def publish_validity(unit, validity):
    """Copy the counts to the group `validity` of a component."""
    count = unit.state.validity
    validity.latch_tilt = count.latch_tilt
    validity.wide_slot = count.wide_slot
    validity.lever_arm = count.lever_arm
    validity.three_rollers = count.three_rollers


@kernel
def accept(unit):
    """Accept the last evaluation as the end of a micro-step.

    Searches latches and sensors, fires latches, and refreshes the outputs with the new forces. Returns 0.
    """
    _search(unit)
    _publish(unit)
    _count(unit)
    return 0


@kernel
def remember_friction(unit):
    """Remember the class-1 contacts of an accepted step, for the next one."""
    tally = unit.tally
    remember(tally, tally.class_1, unit.kind, unit.state.friction_memory, unit.input)


@kernel
def head_penetration(unit):
    """Return the depth of the head sphere in the passive unit at the inputs, m; negative: minus its clearance.

    A head outside the rim of the docking plane touches nothing; the result is minus the distance of its centre to the
    rim.
    """
    kinematics.place_link(unit.input.base, unit.input.link[0], unit.work.link[0])
    p = unit.work.link[0].position
    r = sqrt(p[1] * p[1] + p[2] * p[2])
    radius = unit.parameters.head.radius
    g = unit.geometry
    cone = unit.parameters.cone
    if r > cone.r[0]:
        return -sqrt((p[0] - cone.x[0]) ** 2 + (r - cone.r[0]) ** 2)
    d, _, _, _ = profile_depth(g.face, int(g.faces), p[0], r, inf)
    if r <= g.bottom_r:
        d = max(d, p[0] - g.bottom_x)
    return d + radius
