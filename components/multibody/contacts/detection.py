"""Where the surfaces are, and the list of the pairs that touch.

The frame of the list has the origin of the base and axes of I, and moves with the base: what base and target have in
common never enters. Its moving bodies are the surfaces, each a `force.motion`: a contact is between two of them.
"""

from __future__ import annotations

from math import inf, isinf, sqrt

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.capsules import capsules
from dockfmu.components.physics.contact.contact_list import clear_list, list_contact
from dockfmu.components.physics.contact.force import point_velocity
from dockfmu.components.physics.contact.pairs import kind_of
from dockfmu.components.physics.contact.profile import segment_profile, set_face, sphere_profile
from dockfmu.components.physics.contact.section import ball_section, build_section
from dockfmu.components.physics.mechanics.rotation import (
    advance,
    apply,
    apply_transposed,
    compose,
    from_quaternion,
    load_attitude,
    load_matrix,
    store_matrix,
)
from dockfmu.components.physics.mechanics.vector import ZERO, add, axpy, cross, load, norm, scale, store, subtract

BALL_PROFILE = 0.0
SEGMENT_PROFILE = 1.0
BALL_SECTION = 2.0
CAPSULES = 3.0
"""Kinds of pairs: the moving part first."""


@kernel
def place_target(target, run, tau):
    """Place the target `tau` seconds into the step, after the base: from the origin of the base and relative to it."""
    if run.has_target == 0.0:
        return
    q = load_attitude(target.quaternion)
    A = from_quaternion(q)
    a = apply_transposed(A, load(target.acceleration))
    v = apply_transposed(A, load(target.velocity))
    w = load(target.angular_velocity)
    epsilon = load(target.angular_acceleration)
    now = from_quaternion(advance(q, axpy(0.5 * tau * tau, epsilon, scale(tau, w))))
    store_matrix(now, run.target_rotation)
    store(apply_transposed(now, axpy(tau, epsilon, w)), run.target_spin)
    store(apply_transposed(now, epsilon), run.target_turning)
    store(a, run.target_acceleration)
    velocity = axpy(tau, a, v)
    store(velocity, run.target_motion)
    store(subtract(velocity, load(run.base_velocity)), run.target_velocity)
    position = add(load(target.position), axpy(0.5 * tau * tau, a, scale(tau, v)))
    store(subtract(position, load(run.base_position)), run.target_position)


@kernel
def place_surfaces(link, surface, run):
    """Place all surfaces, for links that are placed with their velocities."""
    for k in range(int(run.surfaces)):
        s = surface[k]
        if s.link < 0.0:
            A = load_matrix(run.target_rotation)
            origin = load(run.target_position)
            v = load(run.target_velocity)
            w = load(run.target_spin)
        else:
            b = link[int(s.link)]
            A = load_matrix(b.rotation)
            origin = load(b.position)
            v = load(b.velocity)
            w = load(b.angular_velocity)
        r = apply_transposed(A, load(s.arm))
        A = compose(load_matrix(s.turn), A)
        store_matrix(A, s.rotation)
        store(apply_transposed(A, load(s.along)), s.reach)
        store(add(origin, r), s.position)
        store(add(v, cross(w, r)), s.velocity)
        store(w, s.angular_velocity)


@kernel
def set_faces(surface, vertex, face, pair, run):
    """Set the faces of all pairs from the vertices of their surfaces. Returns 0, or 1 + the pair that is not convex.

    A segment with a radius meets a profile that is moved toward it by the radius.
    """
    for k in range(int(run.pairs)):
        o = pair[k]
        count = int(o.vertices)
        if o.kind == CAPSULES:
            continue
        begin = int(o.first_face)
        faces = face[begin : begin + count]
        for v in range(count):
            faces[v].x = vertex[int(o.first_vertex) + v].x
            faces[v].r = vertex[int(o.first_vertex) + v].r
        if o.kind == BALL_SECTION:
            if not build_section(faces, count):
                return k + 1
            continue
        if not _build_chain(faces, count):
            return k + 1
        if o.kind == SEGMENT_PROFILE:
            radius = surface[int(o.first)].radius
            for v in range(count - 1):
                faces[v].x -= radius * faces[v].n_x
                faces[v].r -= radius * faces[v].n_r
    return 0


@kernel
def _build_chain(face, count):
    """Set normals and lengths of the faces of a chain, whose vertices x, r are set. Returns True if it is convex."""
    for v in range(count - 1):
        if not set_face(face, v, face[v].x, face[v].r, face[v + 1].x, face[v + 1].r):
            return False
    return count >= 2


@kernel
def _beside(faces, count, centre, radius):
    """Return minus a distance that a ball beside the end of a chain has to go before it can touch."""
    r = sqrt(centre[1] * centre[1] + centre[2] * centre[2])
    return -max(r - faces[0].r, 0.1 * radius)


@kernel
def _detect(first, second, faces, o):
    """Return (depth, normal, gain, point from the base) of a pair; the normal is the reaction on the second, I."""
    kind = o.kind
    if kind == CAPSULES:
        depth, normal, point = capsules(
            load(first.position),
            load(first.reach),
            first.radius,
            load(second.position),
            load(second.reach),
            second.radius,
        )
        return depth, normal, 1.0, point
    A = load_matrix(second.rotation)
    origin = load(second.position)
    centre = apply(A, subtract(load(first.position), origin))
    count = int(o.vertices)
    gain = 1.0
    if kind == SEGMENT_PROFILE:
        depth, normal, gain, point = segment_profile(faces, count - 1, centre, apply(A, load(first.reach)))
    elif kind == BALL_PROFILE:
        depth, normal, _ = sphere_profile(faces, count - 1, centre, first.radius)
        point = centre
        if isinf(depth):
            depth = _beside(faces, count, centre, first.radius)
    else:
        depth, normal = ball_section(faces, count, centre, first.radius)
        point = centre
    point = axpy(first.radius, normal, point)
    return depth, apply_transposed(A, normal), gain, add(origin, apply_transposed(A, point))


@kernel
def detect(surface, face, pair, kind, tally, run):
    """Set the depths of all pairs, and list those that touch, for placed surfaces."""
    clear_list(tally)
    for k in range(int(run.pairs)):
        o = pair[k]
        first = surface[int(o.first)]
        second = surface[int(o.second)]
        begin = int(o.first_face)
        depth, normal, gain, point = _detect(first, second, face[begin : begin + int(o.vertices)], o)
        o.depth = depth
        if not depth > 0.0:
            store(ZERO, o.friction)
            continue
        number = o.contact + 1.0
        index = k + 1.0 - kind_of(kind, number).first_slot
        item = list_contact(tally, number, index, o.first, depth, normal, gain, point)
        item.other = o.second


@kernel
def time_to_contact(surface, pair, run):
    """Return the time until the first open pair can close at the present speeds, s; 1e9 if none does.

    Speed in any direction counts: a pair also closes by the curvature of a surface that is passed this closely.
    """
    least = 1e9
    for k in range(int(run.pairs)):
        o = pair[k]
        if o.depth > 0.0 or o.depth == -inf:
            continue
        first = surface[int(o.first)]
        second = surface[int(o.second)]
        begin = load(first.position)
        end = add(begin, load(first.reach))
        speed = norm(subtract(point_velocity(first, begin), point_velocity(second, begin)))
        speed = max(speed, norm(subtract(point_velocity(first, end), point_velocity(second, end))))
        if speed > 0.0:
            least = min(least, -o.depth / speed)
    return least
