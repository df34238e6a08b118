"""Limiter of the craft's relative rotation: a part of the housing (V1, V2), or movable along it (V3).

Theory: central-docking 5.10.

A movable limiter slides on three guides with springs along x of the housing, a sixth joint of the tree: q6 = x_LD is
the abscissa of its front edge from the hinge. The springs push it forward against a stop; a second stop ends their
stroke, and the probe's head, which bears on it, holds it back while the probe is retracted. Stops and head are springs
with dampers that never pull. `command.limiter_release` = 0 locks it in place.

Springs, stops and guides act between limiter and housing, as forces along the joint. So does the head: its load passes
through the screw to the housing, and reaches the nut as an axial force on the head. The distance of the head is
measured along the axis, without the probe's bending.

The friction of the guides is linearly implicit, as the dampers of the probe; the dampers of stops and head are
explicit, with c h / m = 0.3 at the longest micro-step of ML-1. The functions for a fixed limiter do nothing; a record
with the group `movable_limiter` uses the others.
"""

from __future__ import annotations

from typing import Any

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, parameter, private
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.physics.contact.force import penetration
from dockfmu.components.probe_mechanism.tree import ANGLES

# index of the limiter's joint among the joints of the tree, and among those with a joint force
JOINT = ANGLES
SPRUNG = ANGLES - 2
# inertia of the locked joint, kg
LOCK = 1e12
# numbers of the parts that it may touch
FRONT_STOP, REAR_STOP, HEAD = 0, 1, 2

LIMITER_STOP = 134

MESSAGES: dict[int, Message] = {
    LIMITER_STOP: penetration(
        "the movable limiter (parameters.limiter) in part {status.index:.0f} that holds it (1 forward stop, "
        "2 rear stop, 3 head)",
        "parameters.limiter.stop_limit",
        discard=False,
    )
}


def parameters() -> Group:
    """Return the group `limiter` of the parameters; the start values are set ML-1."""
    return Group(
        "limiter",
        parameter("mass", "kg", "of the limiter", 4.0, minimum=1e-3),
        parameter("centre", "m", "abscissa of its centre of mass from its front edge", -0.02),
        parameter("axial_inertia", "kg.m2", "about the axis", 0.194, minimum=0.0),
        parameter(
            "lateral_inertia", "kg.m2", "about a lateral axis through the middle of its front edge", 0.1, minimum=0.0
        ),
        parameter("forward", "m", "abscissa of its front edge from the hinge in its forward position", 0.29),
        parameter("stroke", "m", "from the forward to the rear stop", 0.075, minimum=1e-4),
        parameter("spring_forward", "N", "force of all springs in the forward position", 450.0, minimum=1e-3),
        parameter("spring_rear", "N", "force of all springs at the rear stop", 650.0, minimum=1e-3),
        parameter("damping", "N.s/m", "of the guides", 50.0, minimum=0.0),
        parameter("stop_stiffness", "N/m", "of the stops and of the head", 2e6, minimum=1.0),
        parameter("stop_damping", "N.s/m", "of the stops and of the head", 600.0, minimum=0.0),
        parameter(
            "stop_limit",
            "m",
            "depth in the stops and in the head beyond which the model does not hold",
            5e-3,
            minimum=0.0,
        ),
        parameter(
            "head_distance", "m", "from its front edge to the centre of the head that bears on it", 0.455, minimum=0.0
        ),
        parameter("initial_travel", "m", "from its forward position at the start", 0.0, minimum=0.0),
        description="movable limiter on its springs",
    )


def body() -> Group:
    """Return the group `limiter` of the tree: data of the body for the generated kernels."""
    return Group(
        "limiter",
        private("mass", "kg", "of the limiter"),
        private("centre", "m", "abscissa of its centre of mass from its front edge"),
        private("axial_inertia", "kg.m2", "about the axis"),
        private("lateral_inertia", "kg.m2", "about a lateral axis through the middle of its front edge"),
    )


def state() -> Group:
    """Return the group `movable_limiter`: loads of stops and head, and losses."""
    return Group(
        "movable_limiter",
        private("depth", "m", "of the limiter in front stop, rear stop and head; negative: a clearance", shape=3),
        private("bearing", "N", "load on each of them", shape=3),
        private("touching", "1", "set of those that it touched in the last micro-step"),
        private("dissipated", "J", "by guides, stops and head so far"),
    )


@kernel
def _spring_rate(p):
    return (p.spring_rear - p.spring_forward) / p.stroke


@kernel
def _sense(k):
    """Return the sign, along the joint, of the force from part k on the limiter."""
    return 1.0 if k == REAR_STOP else -1.0


@kernel
def _measure(m):
    """Set the depths in stops and head at the placed position."""
    p = m.parameters.limiter
    depth = m.movable_limiter.depth
    x = m.tree.q[JOINT]
    depth[FRONT_STOP] = x - p.forward
    depth[REAR_STOP] = p.forward - p.stroke - x
    depth[HEAD] = x + p.head_distance - m.parameters.probe.bearing_distance - m.tree.length


@kernel
def _closing(m, k):
    """Return the closing speed of the limiter and part k, m/s."""
    rate = m.tree.qd[JOINT]
    return rate + m.axial.rate if k == HEAD else -_sense(k) * rate


@kernel
def _touching(m, ahead):
    """Return the set of parts that the limiter touches, as measured or within the time `ahead`, s."""
    touched = 0.0
    weight = 1.0
    depth = m.movable_limiter.depth
    for k in range(len(depth)):
        if depth[k] > 0.0 or depth[k] + ahead * _closing(m, k) > 0.0:
            touched += weight
        weight *= 2.0
    return touched


@kernel
def _initialize(m):
    """Set the constants, and the limiter at rest on its front stop, `initial_travel` behind it, or on the head."""
    p = m.parameters.limiter
    body = m.tree.limiter
    body.mass = p.mass
    body.centre = p.centre
    body.axial_inertia = p.axial_inertia
    body.lateral_inertia = p.lateral_inertia
    m.movable_limiter.dissipated = 0.0
    m.tree.q[JOINT] = p.forward - p.initial_travel
    if p.initial_travel == 0.0:
        m.tree.q[JOINT] += p.spring_forward / (p.stop_stiffness + _spring_rate(p))
    head = m.parameters.probe.bearing_distance + m.parameters.probe.free_length - m.parameters.initial_travel
    head -= p.head_distance
    if m.tree.q[JOINT] > head:
        spring = p.spring_forward + _spring_rate(p) * (p.forward - head)
        m.tree.q[JOINT] = head + spring / (p.stop_stiffness + _spring_rate(p))
    m.tree.qd[JOINT] = 0.0


@kernel
def _lock(m):
    """Lock the limiter in place; the energy of its motion is lost."""
    t = m.tree
    m.movable_limiter.dissipated += 0.5 * t.limiter.mass * t.qd[JOINT] * t.qd[JOINT]
    t.qd[JOINT] = 0.0
    t.force[SPRUNG] = 0.0
    t.damping[SPRUNG] = LOCK


@kernel
def _set_force(m, h):
    """Set the force and the damping of the limiter's joint for a micro-step h at the placed position."""
    p = m.parameters.limiter
    t = m.tree
    state = m.movable_limiter
    rate = t.qd[JOINT]
    _measure(m)
    t.force[SPRUNG] = p.spring_forward + _spring_rate(p) * (p.forward - t.q[JOINT]) - p.damping * rate
    t.damping[SPRUNG] = 0.5 * h * p.damping
    for k in range(len(state.depth)):
        state.bearing[k] = 0.0
        if state.depth[k] > 0.0:
            state.bearing[k] = max(0.0, p.stop_stiffness * state.depth[k] + p.stop_damping * _closing(m, k))
        t.force[SPRUNG] += _sense(k) * state.bearing[k]
    if m.command.limiter_release == 0.0:
        _lock(m)


@kernel
def _load_head(m):
    """Add the limiter's load to the force on the head; positive pulls the probe out."""
    m.axial_load.head_force += m.movable_limiter.bearing[HEAD]


@kernel
def _account(m, travel, h):
    """Add the losses of a micro-step h with `travel` of the probe, after the tree was kicked."""
    t = m.tree
    state = m.movable_limiter
    p = m.parameters.limiter
    displacement = h * (t.qd[JOINT] - 0.5 * h * t.qdd[JOINT])
    state.dissipated += p.damping * displacement * displacement / h
    for k in range(len(state.depth)):
        if state.depth[k] > 0.0:
            into = displacement + travel if k == HEAD else -_sense(k) * displacement
            state.dissipated += (state.bearing[k] - p.stop_stiffness * state.depth[k]) * into


@kernel
def _check_stops(m):
    """Return 0, or LIMITER_STOP if the placed limiter is deeper in a stop or in the head than the model allows."""
    _measure(m)
    for k in range(len(m.movable_limiter.depth)):
        if m.movable_limiter.depth[k] > m.parameters.limiter.stop_limit:
            return fail(m.status, LIMITER_STOP, m.movable_limiter.depth[k], k + 1)
    return 0


@kernel
def _newly_touching(m, ahead):
    """Return whether the placed limiter newly touches a stop or the head since the last micro-step.

    A touch within the time `ahead`, s, counts, too. After `check_stops`.
    """
    return int(_touching(m, ahead)) & ~int(m.movable_limiter.touching) != 0


@kernel
def _remember(m):
    """Remember what the limiter touched in an accepted micro-step, for `newly_touching`."""
    m.movable_limiter.touching = _touching(m, 0.0)


@kernel
def _report(m):
    """Set the outputs, and add the limiter to the energies of the mechanism; after `accounting.audit`."""
    p = m.parameters.limiter
    t = m.tree
    m.limiter.travel = p.forward - t.q[JOINT]
    m.limiter.rate = -t.qd[JOINT]
    _measure(m)
    energy = (p.spring_forward + 0.5 * _spring_rate(p) * m.limiter.travel) * m.limiter.travel
    for k in range(len(m.movable_limiter.depth)):
        depth = max(m.movable_limiter.depth[k], 0.0)
        energy += 0.5 * p.stop_stiffness * depth * depth
    m.audit.stored_energy += energy
    m.audit.dissipated_limiter = m.movable_limiter.dissipated
    m.audit.dissipated_energy += m.movable_limiter.dissipated


@kernel
def _mass(m):
    return m.parameters.limiter.mass


@kernel
def _nothing(m):
    """Do nothing: the limiter is a part of the housing."""


@kernel
def _no_force(m, h):
    """Do nothing: the limiter is a part of the housing."""


@kernel
def _no_loss(m, travel, h):
    """Do nothing: the limiter is a part of the housing."""


@kernel
def _never(m, ahead):
    return False


@kernel
def _no_stops(m):
    return 0


@kernel
def _no_mass(m):
    return 0.0


def _either(movable: Any, fixed: Any) -> Any:
    """Return the kernel that calls `movable` for records with a movable limiter and `fixed` for others."""
    return variant("movable_limiter", movable, fixed)


initialize = _either(_initialize, _nothing)
set_force = _either(_set_force, _no_force)
load_head = _either(_load_head, _nothing)
account = _either(_account, _no_loss)
check_stops = _either(_check_stops, _no_stops)
newly_touching = _either(_newly_touching, _never)
remember = _either(_remember, _nothing)
report = _either(_report, _nothing)
mass = _either(_mass, _no_mass)
