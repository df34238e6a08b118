"""Evaluation of the pair of rings.

`attempt` tries a pose: it writes work space, never the state, and may be repeated. `accept` ends a micro-step: latches
move and fire, and the outputs get their new forces. `evaluate` is an `attempt` that also sets the outputs.
"""

from __future__ import annotations

from math import atan2, cos, fabs, isfinite, nan, pi, sqrt, tan

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.ring_pair.contact_list import begin
from dockfmu.components.physics.contact.ring_pair.edges import detect_edges
from dockfmu.components.physics.contact.ring_pair.geometry import set_geometry
from dockfmu.components.physics.contact.ring_pair.held_friction import forget_friction, hold_friction
from dockfmu.components.physics.contact.ring_pair.latches import (
    advance_latches,
    any_fired,
    detect_latches,
    latch_energy,
    release_latches,
    settle_latches,
)
from dockfmu.components.physics.contact.ring_pair.pairs import NOT_FINITE, OUT_OF_RANGE, SENSOR_ON_PLANE
from dockfmu.components.physics.contact.ring_pair.planes import detect_planes, detect_sensors
from dockfmu.components.physics.contact.ring_pair.rims import detect_rims
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
    link = unit.work.link
    axial = link.rotation[0, 0]
    tilt = sqrt(max(0.0, 1.0 - axial * axial))
    return link.position[0] + p.petal.height * (1.0 + fabs(axial)) + p.ring.outer_radius * tilt


@kernel
def _check_domain(unit):
    """Return 0 if the pose of rings near each other is within the bounds of their pairs, or OUT_OF_RANGE."""
    p = unit.parameters
    link = unit.work.link
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
    link = unit.work.link
    kinematics.place_link(unit.input.base, unit.input.link, link)
    total = kinematics.sum_of_motion(link)
    if not isfinite(total):
        return fail(unit.status, NOT_FINITE, total, 0)
    return 0


@kernel
def _copy_wrench(wrench, copy):
    store(load(wrench.force), copy.force)
    store(load(wrench.torque), copy.torque)


@kernel
def _keep(unit):
    """Keep the sums over all contacts except those of the latches, which `accept` will add again."""
    work = unit.work
    tally = unit.tally
    _copy_wrench(tally.target, work.held_target)
    _copy_wrench(work.ring, work.held_ring)
    work.held_energy = tally.stored_energy
    work.held_closed = tally.closed
    work.held_count = tally.count


@kernel
def _restore(unit):
    """Set the sums and the list to those of `_keep`."""
    work = unit.work
    tally = unit.tally
    _copy_wrench(work.held_target, tally.target)
    _copy_wrench(work.held_ring, work.ring)
    tally.stored_energy = work.held_energy
    tally.closed = work.held_closed
    tally.count = work.held_count


@kernel
def _near_plane(unit, height):
    """Return whether points of the active ring up to `height` above its plane can be past the passive ring plane."""
    link = unit.work.link
    axial = link.rotation[0, 0]
    tilt = sqrt(max(0.0, 1.0 - axial * axial))
    return link.position[0] + height + unit.parameters.ring.outer_radius * tilt > 0.0


@kernel
def _detect(unit, known):
    """Find all contacts of the placed ring but the `known` ones, and sum their forces.

    Returns 0, OUT_OF_RANGE, or PENETRATION + pair.
    """
    output = unit.output
    unit.work.known = known
    begin(unit.tally, unit.work)
    for k in range(len(output.mated)):
        output.mated[k] = 0.0
    if _reach(unit) < 0.0:
        _keep(unit)
        return 0
    code = _check_domain(unit)
    if code == 0:
        code = detect_rims(unit)
    if code == 0:
        code = detect_edges(unit)
    if code == 0 and _near_plane(unit, unit.parameters.sensor.protrusion):
        code = detect_planes(unit)
        if code == 0:
            code = detect_sensors(unit)
    if unit.input.step > 0.0:
        hold_friction(unit)
    _keep(unit)
    if code == 0 and _near_plane(unit, unit.geometry.reach):
        code = detect_latches(unit)
    return code


@kernel
def _publish(unit):
    """Set the outputs to the sums and flags."""
    tally = unit.tally
    output = unit.output
    work = unit.work
    _copy_wrench(tally.target, output.target)
    A = load_matrix(work.link.rotation)
    store(apply(A, load(work.ring.force)), output.link.force)
    store(apply(A, load(work.ring.torque)), output.link.torque)
    output.stored_energy = tally.stored_energy + latch_energy(unit)
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
def _attempt(unit, known):
    """Evaluate the contacts at the inputs but the `known` ones, a set by their bits. Returns what `attempt` does."""
    code = _place(unit)
    if code:
        return code
    code = _detect(unit, known)
    if code == OUT_OF_RANGE:
        return code
    if code:
        return fail(unit.status, code, unit.tally.excess, unit.tally.index)
    unit.tally.class_1 = unit.tally.count
    return 0


@kernel
def attempt(unit):
    """Evaluate the contacts at the inputs: `tally`, and the mating sensors. Never changes the state.

    Returns 0, NOT_FINITE, OUT_OF_RANGE, or PENETRATION + pair with the depth in `status.value`.
    """
    return _attempt(unit, 0.0)


@kernel
def closes_new(unit, known):
    """Return whether a contact acts at the inputs that is not in the set `known`, by its bits. Never changes the state.

    The known contacts are left out: their depths, forces and limits are of no interest here.
    """
    return _attempt(unit, known) == 0 and unit.tally.closed > 0.0


@kernel
def evaluate(unit):
    """Set the outputs at the inputs. Never changes the state. Returns what `attempt` does."""
    code = attempt(unit)
    if code == 0:
        _publish(unit)
    return code


@kernel
def _release(unit, near):
    """Draw in or let out the latches as commanded, and sum the contacts anew. Returns 0, or PENETRATION + pair.

    What a latch carried when it was drawn in, the energies of its contact and of its spring, is lost in it. Its
    actuator is not modelled: work that it does is counted as a negative loss.
    """
    tally = unit.tally
    before = tally.stored_energy + latch_energy(unit)
    if not release_latches(unit):
        return 0
    _restore(unit)
    code = detect_latches(unit) if near else 0
    tally.class_1 = tally.count
    unit.state.dissipated_latches += before - tally.stored_energy - latch_energy(unit)
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
            return fail(unit.status, code, tally.excess, tally.index)
    if h == 0.0:
        settle_latches(unit)
        moved = True
    elif near or any_fired(unit) or latch_energy(unit) > 0.0:
        moved = advance_latches(unit, h)
    if moved:
        _restore(unit)
        if near:
            code = detect_latches(unit)
        tally.class_1 = tally.count
    _publish(unit)
    if code:
        return fail(unit.status, code, tally.excess, tally.index)
    return 0


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
def publish_validity(unit, validity):
    """Copy the counts to the group `validity` of a component."""
    validity.petal_tip = unit.state.validity.petal_tip
    validity.ring_border = unit.state.validity.ring_border
