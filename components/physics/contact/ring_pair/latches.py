"""Latches of the active petals on the stops of the passive unit (contact-geometry P5, 7.4).

A latch slides along its own axis, at 45 deg to that of the ring, on a spring. Before it fires its roller bears on the
front face of the stops and pushes it in; its travel is a state with inertia, integrated by the implicit Euler method,
which includes the stiffness of the contact: any step is stable. It fires when the line of the extended latch passes
inside the edge of the stops, snaps out, and from then on bears as a rod behind that edge, on the rear face, whose
normal is across the latch (erratum E20): no force behind the stop pushes it in.

A fired latch stays extended. Once its tip is back before the edge of the stops and clear of them it is hooked no
longer: its spring has it ready for the next approach, and it yields again (ruling R53).

The force on the roller is that of its contact, along the face's normal (the source gives the ring the spring's force
along the latch, erratum E27). Action and reaction thus agree, and the work of the ring is that done on the latch; the
momentum of the moving latch is neglected.
"""

from __future__ import annotations

from math import sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.contact_list import list_contact
from dockfmu.components.physics.contact.profile import revolve
from dockfmu.components.physics.contact.ring_pair.known import is_known
from dockfmu.components.physics.contact.ring_pair.pairs import LATCH_FRONT, LATCH_REAR
from dockfmu.components.physics.contact.ring_pair.ports import RING
from dockfmu.components.physics.contact.ring_pair.spread import shared, two_together
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, axpy, dot, load, scale

FRONT = 0
REAR = 1


@kernel
def place_latch(unit, k):
    """Return (root, direction) of a latch in PU."""
    link = unit.work.link[0]
    A = load_matrix(link.rotation)
    root = add(load(link.position), apply_transposed(A, load(unit.geometry.latch_root[k])))
    return root, apply_transposed(A, load(unit.geometry.latch_along[k]))


@kernel
def roller_on_front(face, p):
    """Return (depth, normal) of a roller at p against the front of the stops; no contact: depth <= 0.

    The front face begins at the passive ring plane: the depth of a roller that is past the face but barely past the
    plane is its distance past the plane.
    """
    r = sqrt(p[1] * p[1] + p[2] * p[2])
    depth = (p[0] - face[FRONT].x) * face[FRONT].n_x + (r - face[FRONT].r) * face[FRONT].n_r
    if p[0] < depth:
        return p[0], (1.0, 0.0, 0.0)
    return depth, revolve(face[FRONT].n_x, face[FRONT].n_r, p, r)


@kernel
def passes_edge(face, root, along, length):
    """Return whether an extended latch reaches the plane of the edge of the stops, and passes inside the edge."""
    rise = along[0] * length
    if rise <= 0.0:
        return False
    t = (face[FRONT].x - root[0]) / rise
    if t < 0.0 or t > 1.0:
        return False
    p = axpy(t * length, along, root)
    return p[1] * p[1] + p[2] * p[2] < face[FRONT].r ** 2


@kernel
def is_hooked(face, root, along, length):
    """Return whether a fired latch is behind its stop: its tip past the plane of the edge, or its rod on the stop."""
    if root[0] + along[0] * length > face[FRONT].x:
        return True
    depth, _, _, _, _ = rod_behind_stop(face, root, scale(length, along), 0.0)
    return depth > 0.0


@kernel
def rod_behind_stop(face, root, along, conformity):
    """Return (depth, normal, gain, point, moment) of a fired latch, the segment from `root` along `along`, on a stop.

    The stops are where the depths below front and rear face are both positive. The smaller one counts, at the deepest
    point of the rod (ruling R36): the tip, or the point over the edge, where both are equal and the force follows the
    mean of their gradients that is perpendicular to the rod. A rod that lies flat on the rear face bears with both
    points: see `spread`. No contact: depth <= 0.
    """
    tip = add(root, along)
    r = sqrt(tip[1] * tip[1] + tip[2] * tip[2])
    x = tip[0] - face[FRONT].x
    front = x * face[FRONT].n_x + (r - face[FRONT].r) * face[FRONT].n_r
    rear = x * face[REAR].n_x + (r - face[REAR].r) * face[REAR].n_r
    depth = min(front, rear)
    side = FRONT if front < rear else REAR
    t = (face[FRONT].x - root[0]) / along[0]
    if 0.0 < t < 1.0:
        point = axpy(t, along, root)
        r_edge = sqrt(point[1] * point[1] + point[2] * point[2])
        over_edge = (r_edge - face[FRONT].r) * face[FRONT].n_r
        if max(depth, over_edge) <= 0.0:
            return max(depth, over_edge), (1.0, 0.0, 0.0), 1.0, tip, 0.0
        first = revolve(face[FRONT].n_x, face[FRONT].n_r, point, r_edge)
        second = revolve(face[REAR].n_x, face[REAR].n_r, point, r_edge)
        rise = dot(first, along)
        share = rise / (rise - dot(second, along))
        at_edge = axpy(share, second, scale(1.0 - share, first))
        at_tip = revolve(face[side].n_x, face[side].n_r, tip, r)
        deepest, share = shared(max(depth, over_edge), 0.5 * (depth + over_edge), conformity)
        own = 0.5 * share
        if over_edge > depth:
            own = 1.0 - own
        normal, gain, point, moment = two_together(own, (point, at_edge), (tip, at_tip))
        return deepest, normal, gain, point, moment
    return depth, revolve(face[side].n_x, face[side].n_r, tip, r), 1.0, tip, 0.0


@kernel
def detect_latches(unit):
    """List the contacts of all latches in their present state."""
    length = unit.parameters.latch.length
    conformity = unit.parameters.ring.conformity
    face = unit.geometry.face
    for k in range(len(unit.state.latch)):
        latch = unit.state.latch[k]
        if latch.released > 0.0 or is_known(unit, LATCH_REAR if latch.fired > 0.0 else LATCH_FRONT, k + 1.0):
            continue
        root, along = place_latch(unit, k)
        if latch.fired > 0.0:
            d, normal, gain, point, moment = rod_behind_stop(face, root, scale(length, along), conformity)
            if d > 0.0:
                item = list_contact(unit.tally, LATCH_REAR, k + 1.0, RING, d, normal, gain, point)
                item.moment = moment
        else:
            point = axpy(length - latch.travel, along, root)
            d, normal = roller_on_front(face, point)
            if d > 0.0:
                list_contact(unit.tally, LATCH_FRONT, k + 1.0, RING, d, normal, 1.0, point)


@kernel
def spring_energy(figure, latch):
    """Return the energy in the spring and the motion of a latch, J."""
    spring = (figure.preload + 0.5 * figure.stiffness * latch.travel) * latch.travel
    return spring + 0.5 * figure.mass * latch.rate * latch.rate


@kernel
def latch_energy(unit):
    """Return the energy in the springs and the motion of all latches, J."""
    energy = 0.0
    for k in range(len(unit.state.latch)):
        energy += spring_energy(unit.parameters.latch, unit.state.latch[k])
    return energy


@kernel
def any_fired(unit):
    """Return whether a latch has fired and not re-armed."""
    fired = 0.0
    for k in range(len(unit.state.latch)):
        fired += unit.state.latch[k].fired
    return fired > 0.0


@kernel
def _rate_after(figure, latch, push, hold, h):
    """Return the rate of a latch after a step h under the force `push` - `hold` times its travel, implicit Euler."""
    free = latch.rate + h / figure.mass * (push - figure.preload - hold * latch.travel)
    return free / (1.0 + h * h * hold / figure.mass)


@kernel
def _advance(figure, stiffness, latch, depth, along_normal, h):
    """Move a latch that has not fired by a step h under its spring and the `depth` of its roller.

    Theory: contact-geometry 7.4, step 4.

    The depth is that at the latch's present travel, negative for a clearance; it falls by `along_normal` times the
    change of travel. The contact acts if without it the roller would penetrate at the end of the step.
    """
    rate = _rate_after(figure, latch, 0.0, figure.stiffness, h)
    if depth - along_normal * h * rate > 0.0:
        push = along_normal * stiffness * (depth + along_normal * latch.travel)
        hold = figure.stiffness + along_normal * along_normal * stiffness
        rate = _rate_after(figure, latch, push, hold, h)
    latch.rate = rate
    latch.travel += h * rate
    if latch.travel <= 0.0:
        latch.travel = 0.0
        latch.rate = 0.0
    elif latch.travel >= figure.stroke:
        latch.travel = figure.stroke
        latch.rate = 0.0


@kernel
def _energy(unit, latch):
    """Return the energy in a latch's spring, its motion and its front contact, J."""
    return spring_energy(unit.parameters.latch, latch) + 0.5 * unit.parameters.law_front.stiffness * latch.depth**2


@kernel
def release_latches(unit):
    """Draw in the latches that are commanded, and let out those that no longer are. Returns whether any changed."""
    changed = False
    for k in range(len(unit.state.latch)):
        latch = unit.state.latch[k]
        if unit.input.release[k] != latch.released:
            latch.released = unit.input.release[k]
            latch.fired = 0.0
            latch.travel = 0.0
            latch.rate = 0.0
            latch.depth = 0.0
            changed = True
    return changed


@kernel
def advance_latches(unit, h):
    """Move all latches by a step h at the present pose, fire or re-arm them, and add up their losses.

    A latch that passes the stops fires; a fired one that is hooked no longer re-arms. Returns whether any was moved.
    The loss is the work that the motion of the rings since the last step has done on a latch, by the mean of its forces
    then and now, less the growth of its energy. (The contact's energy before the latch yields would be no measure of
    it: the rings never felt that force.)
    """
    figure = unit.parameters.latch
    face = unit.geometry.face
    stiffness = unit.parameters.law_front.stiffness
    moved = False
    for k in range(len(unit.state.latch)):
        latch = unit.state.latch[k]
        if latch.released > 0.0:
            continue
        root, along = place_latch(unit, k)
        if latch.fired > 0.0:
            if is_hooked(face, root, along, figure.length):
                continue
            latch.fired = 0.0
        moved = True
        depth, normal = roller_on_front(face, axpy(figure.length - latch.travel, along, root))
        before = _energy(unit, latch)
        push = stiffness * latch.depth
        deepening = max(0.0, depth) - latch.depth
        if passes_edge(face, root, along, figure.length):
            latch.fired = 1.0
            latch.travel = 0.0
            latch.rate = 0.0
            latch.depth = 0.0
        else:
            _advance(figure, stiffness, latch, depth, dot(along, normal), h)
            depth, _ = roller_on_front(face, axpy(figure.length - latch.travel, along, root))
            latch.depth = max(0.0, depth)
        work = 0.5 * (push + stiffness * latch.depth) * deepening
        unit.state.dissipated_latches += work + before - _energy(unit, latch)
    return moved


@kernel
def settle_latches(unit):
    """Set all latches to rest at the present pose, where their springs balance the fronts of the stops.

    Latches that are past the stops have fired.
    """
    figure = unit.parameters.latch
    stiffness = unit.parameters.law_front.stiffness
    face = unit.geometry.face
    for k in range(len(unit.state.latch)):
        latch = unit.state.latch[k]
        latch.travel = 0.0
        latch.rate = 0.0
        latch.depth = 0.0
        latch.released = 1.0 if unit.input.release[k] > 0.0 else 0.0
        if latch.released > 0.0:
            latch.fired = 0.0
            continue
        root, along = place_latch(unit, k)
        latch.fired = 1.0 if passes_edge(face, root, along, figure.length) else 0.0
        depth, normal = roller_on_front(face, axpy(figure.length, along, root))
        if latch.fired == 0.0 and depth > 0.0:
            c = dot(along, normal)
            balanced = (c * stiffness * depth - figure.preload) / (figure.stiffness + c * c * stiffness)
            latch.travel = min(max(balanced, 0.0), figure.stroke)
            depth, _ = roller_on_front(face, axpy(figure.length - latch.travel, along, root))
            latch.depth = max(0.0, depth)
