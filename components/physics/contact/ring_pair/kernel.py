"""Evaluation of the pair of rings.

`attempt` tries a pose: it writes work space, never the state, and may be repeated. `accept` ends a micro-step: latches
move and fire, and the outputs get their new forces. `evaluate` is an `attempt` that also sets the outputs.
"""

from __future__ import annotations

from math import atan2, cos, fabs, isfinite, nan, pi, sqrt, tan

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import check_depths, clear_list, closed_set
from dockfmu.components.physics.contact.held_friction import forget_friction, hold_friction, remember
from dockfmu.components.physics.contact.list_forces import make_forces, set_velocities
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.ring_pair.edges import detect_edges
from dockfmu.components.physics.contact.ring_pair.geometry import set_geometry
from dockfmu.components.physics.contact.ring_pair.latches import (
    advance_latches,
    any_fired,
    detect_latches,
    latch_energy,
    release_latches,
    settle_latches,
)
from dockfmu.components.physics.contact.ring_pair.pairs import NOT_FINITE, OUT_OF_RANGE, SENSOR_ON_PLANE, set_kinds
from dockfmu.components.physics.contact.ring_pair.planes import detect_planes, detect_sensors
from dockfmu.components.physics.contact.ring_pair.rims import detect_rims
from dockfmu.components.physics.contact.sums import add_forces, clear_sums, copy_sums, copy_wrench
from dockfmu.components.physics.mechanics import kinematics
from dockfmu.components.physics.mechanics.rotation import apply, load_matrix
from dockfmu.components.physics.mechanics.vector import load, store

# bounds of the pose of rings near each other, within which petals face those that they are tested against
LEAST_AXIAL = cos(pi / 6.0)
TAN_LARGEST_ROLL = tan(pi / 6.0)
# number of the violated bound in messages
TILTED = 1
ROLLED = 2
ASIDE = 3
THROUGH = 4


@kernel
def _release_latches(state):
    for k in range(len(state.latch)):
        state.latch[k].travel = 0.0
        state.latch[k].rate = 0.0
        state.latch[k].depth = 0.0
        state.latch[k].fired = 0.0
        state.latch[k].released = 0.0


@kernel
def initialize(unit):
    """Compute the constants and forget all contacts. Returns 0, or a code.

    Call `attempt` and `accept` with h = 0 next, at the first pose: latches then rest where their springs balance.
    """
    code = set_geometry(unit)
    if code:
        return code
    set_kinds(unit)
    _release_latches(unit.state)
    forget_friction(unit.state.friction_memory)
    unit.state.validity.petal_tip = 0.0
    unit.state.validity.ring_border = 0.0
    unit.state.dissipated_latches = 0.0
    return 0


@kernel
def _reach(unit):
    """Return an upper bound of the distance of the active ring past the tips of the passive petals, m.

    Negative: nothing can touch.
    """
    p = unit.parameters
    link = unit.work.link[0]
    axial = link.rotation[0, 0]
    tilt = sqrt(max(0.0, 1.0 - axial * axial))
    return link.position[0] + p.petal.height * (1.0 + fabs(axial)) + p.ring.outer_radius * tilt


@kernel
def _check_domain(unit):
    """Return 0 if the pose of rings near each other is within the bounds of their pairs, or OUT_OF_RANGE."""
    p = unit.parameters
    link = unit.work.link[0]
    A = link.rotation
    r = link.position
    aside = sqrt(r[1] * r[1] + r[2] * r[2])
    if not A[0, 0] > LEAST_AXIAL:
        return fail(unit.status, OUT_OF_RANGE, A[0, 0], TILTED)
    if fabs(A[2, 1]) > TAN_LARGEST_ROLL * A[1, 1]:
        return fail(unit.status, OUT_OF_RANGE, atan2(-A[2, 1], A[1, 1]), ROLLED)
    if aside > 0.5 * p.ring.radius:
        return fail(unit.status, OUT_OF_RANGE, aside, ASIDE)
    if r[0] > 0.5 * p.petal.height:
        return fail(unit.status, OUT_OF_RANGE, r[0], THROUGH)
    return 0


@kernel
def _place(unit):
    """Place the active ring in PU, and check its numbers."""
    link = unit.work.link[0]
    kinematics.place_link(unit.input.base, unit.input.link, link)
    total = kinematics.sum_of_motion(link)
    if not isfinite(total):
        return fail(unit.status, NOT_FINITE, total, 0)
    return 0


@kernel
def _near_plane(unit, height):
    """Return whether points of the active ring up to `height` above its plane can be past the passive ring plane."""
    link = unit.work.link[0]
    axial = link.rotation[0, 0]
    tilt = sqrt(max(0.0, 1.0 - axial * axial))
    return link.position[0] + height + unit.parameters.ring.outer_radius * tilt > 0.0


@kernel
def _detect(unit, known):
    """List all contacts of the placed ring but the `known` ones, those of the latches last. Returns 0, or a code."""
    tally = unit.tally
    output = unit.output
    unit.work.known = known
    clear_list(tally)
    tally.bearing = 0.0
    tally.tips = 0.0
    tally.borders = 0.0
    for k in range(len(output.mated)):
        output.mated[k] = 0.0
    if _reach(unit) < 0.0:
        return 0
    code = _check_domain(unit)
    if code:
        return code
    detect_rims(unit)
    detect_edges(unit)
    if _near_plane(unit, unit.parameters.sensor.protrusion):
        detect_planes(unit)
        detect_sensors(unit)
    tally.bearing = tally.count
    if _near_plane(unit, unit.geometry.reach):
        detect_latches(unit)
    return check_depths(tally, unit.kind, unit.status, PENETRATION)


@kernel
def _add_latches(unit):
    """Sum the forces of the latches, which roll without held friction, and those of all other contacts."""
    tally = unit.tally
    work = unit.work
    first = tally.bearing
    copy_sums(work.bearing, work.sums)
    set_velocities(tally, first, work.link)
    make_forces(tally, first, unit.kind, unit.input.step == 0.0)
    add_forces(tally, first, work.link, work.sums)
    tally.closed = closed_set(tally, unit.kind)


@kernel
def _sum_forces(unit):
    """Sum the forces of all listed contacts."""
    tally = unit.tally
    work = unit.work
    listed = tally.count
    # friction that is held over a step is added to all contacts but the latches' at the end
    tally.count = tally.bearing
    set_velocities(tally, 0.0, work.link)
    make_forces(tally, 0.0, unit.kind, unit.input.step == 0.0)
    clear_sums(work.bearing)
    add_forces(tally, 0.0, work.link, work.bearing)
    if unit.input.step > 0.0:
        hold_friction(tally, unit.kind, unit.state.friction_memory, unit.input, work.link, work.bearing)
    tally.count = listed
    _add_latches(unit)


@kernel
def _publish(unit):
    """Set the outputs to the sums and flags."""
    tally = unit.tally
    output = unit.output
    work = unit.work
    copy_wrench(work.sums.passive, output.target)
    A = load_matrix(work.link[0].rotation)
    store(apply(A, load(work.sums.part[0].force)), output.link.force)
    store(apply(A, load(work.sums.part[0].torque)), output.link.torque)
    output.stored_energy = work.sums.stored_energy + latch_energy(unit)
    output.dissipated_latches = unit.state.dissipated_latches
    output.contact = 1.0 if tally.count > 0.0 else 0.0
    output.capture = output.mated[0] * output.mated[1] * output.mated[2]
    held = output.capture
    for k in range(len(output.mated)):
        first = unit.state.latch[2 * k].fired
        second = unit.state.latch[2 * k + 1].fired
        output.latched[2 * k] = first
        output.latched[2 * k + 1] = second
        held *= max(first, second)
    output.capture_mechanical = held


@kernel
def attempt(unit):
    """Evaluate the contacts at the inputs: `tally`, and the mating sensors. Never changes the state.

    Returns 0, NOT_FINITE, OUT_OF_RANGE, or PENETRATION + pair with the depth in `status.value`.
    """
    code = _place(unit)
    if code == 0:
        code = _detect(unit, 0.0)
    if code == 0:
        _sum_forces(unit)
    return code


@kernel
def closes_new(unit, known):
    """Return whether a contact acts at the inputs that is not in the set `known`, by its bits. Never changes the state.

    The known contacts are left out: their depths, forces and limits are of no interest here.
    """
    return _place(unit) == 0 and _detect(unit, known) == 0 and unit.tally.count > 0.0


@kernel
def evaluate(unit):
    """Set the outputs at the inputs. Never changes the state. Returns what `attempt` does."""
    code = attempt(unit)
    if code == 0:
        _publish(unit)
    return code


@kernel
def _list_latches(unit, near):
    """List and sum the contacts of the latches anew. Returns 0, or PENETRATION + pair."""
    unit.tally.count = unit.tally.bearing
    if near:
        detect_latches(unit)
    _add_latches(unit)
    return check_depths(unit.tally, unit.kind, unit.status, PENETRATION)


@kernel
def _release(unit, near):
    """Draw in or let out the latches as commanded, and sum the contacts anew. Returns 0, or PENETRATION + pair.

    What a latch carried when it was drawn in, the energies of its contact and of its spring, is lost in it. Its
    actuator is not modelled: work that it does is counted as a negative loss.
    """
    sums = unit.work.sums
    before = sums.stored_energy + latch_energy(unit)
    if not release_latches(unit):
        return 0
    code = _list_latches(unit, near)
    unit.state.dissipated_latches += before - sums.stored_energy - latch_energy(unit)
    return code


@kernel
def accept(unit, h):
    """Accept the last evaluation as the end of a micro-step of length h, s; h = 0 at the start.

    Moves, fires and re-arms the latches, or sets them to rest at the start, and sets the outputs with their new forces.
    Returns 0, or PENETRATION + pair.
    """
    code = 0
    tally = unit.tally
    count = unit.state.validity
    if tally.tips > 0.0:
        count.petal_tip += 1.0
    if tally.borders > 0.0:
        count.ring_border += 1.0
    near = _near_plane(unit, unit.geometry.reach)
    moved = False
    if h > 0.0:
        code = _release(unit, near)
        if code:
            return code
    if h == 0.0:
        settle_latches(unit)
        moved = True
    elif near or any_fired(unit) or latch_energy(unit) > 0.0:
        moved = advance_latches(unit, h)
    if moved:
        code = _list_latches(unit, near)
    _publish(unit)
    return code


@kernel
def penetration(unit):
    """Return the largest depth of the active ring in the passive one at the inputs, m, over all parts but sensors.

    Negative: minus a clearance that no shorter path along x closes; 0: near, but nothing touches. Never changes the
    state.
    """
    if _place(unit) != 0:
        return nan
    reach = _reach(unit)
    if reach < 0.0:
        return reach
    _detect(unit, 0.0)
    deepest = 0.0
    for k in range(int(unit.tally.count)):
        item = unit.tally.contact[k]
        if item.pair != SENSOR_ON_PLANE:
            deepest = max(deepest, item.penetration)
    return deepest


@kernel
def remember_friction(unit):
    """Remember the contacts of an accepted step for the next one, except those of latches, which roll."""
    tally = unit.tally
    remember(tally, tally.bearing, unit.kind, unit.state.friction_memory, unit.input)


@kernel
def publish_validity(unit, validity):
    """Copy the counts to the group `validity` of a component."""
    validity.petal_tip = unit.state.validity.petal_tip
    validity.ring_border = unit.state.validity.ring_border
