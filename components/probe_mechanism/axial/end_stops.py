"""End stops of the probe's travel (ruling R50): at full retraction, and beyond its initial position.

Between them the screw is free; the forward one leaves room for the twist of the gears when the latches pull the probe
out. A stop is a spring with a damper that never pulls, of limited depth. It loads the nut, like the devices of
`axial_train`.
"""

from __future__ import annotations

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.force import penetration

END_STOP = 133

MESSAGES: dict[int, Message] = {
    END_STOP: penetration(
        "the probe in end stop {status.index:.0f} (parameters.end_stops; 1 retracted, 2 extended)",
        "parameters.end_stops.penetration_limit",
        discard=False,
    )
}


def parameters() -> Group:
    """Return the group `end_stops` of parameters; the start values are set ES-1."""
    return Group(
        "end_stops",
        parameter(
            "forward_room", "m", "travel beyond the initial position, extended, to the forward stop", 0.03, minimum=0.0
        ),
        parameter("stiffness", "N/m", "of a stop", 1e7, minimum=1.0),
        parameter("damping", "N.s/m", "of a stop", 5e3, minimum=0.0),
        parameter("penetration_limit", "m", "depth beyond which the model does not hold", 5e-3, minimum=0.0),
        description="end stops of the probe's travel; the rear one is at parameters.probe.shortest_length",
    )


def state() -> Group:
    """Return the group `end_stop`: depth and losses."""
    return Group(
        "end_stop",
        private("depth", "m", "of the probe in the nearer stop; negative: a clearance"),
        private("sense", "1", "sign of the force along the travel: -1 retracted, 1 extended"),
        private("touching", "1", "a stop was touched in the last micro-step"),
        private("dissipated", "J", "by both stops so far"),
    )


@kernel
def reset(s):
    """Forget contact and losses."""
    s.touching = 0.0
    s.dissipated = 0.0


@kernel
def measure(p, probe, s, travel):
    """Set the depth in the nearer stop at this `travel` of the probe, m."""
    rear = travel - (probe.free_length - probe.shortest_length)
    front = -travel - p.forward_room
    if rear > front:
        s.depth = rear
        s.sense = -1.0
    else:
        s.depth = front
        s.sense = 1.0


@kernel
def check(p, s, status):
    """Return 0, or END_STOP if the measured depth exceeds its limit."""
    if s.depth > p.penetration_limit:
        return fail(status, END_STOP, s.depth, 1 if s.sense < 0.0 else 2)
    return 0


@kernel
def newly_touching(s, rate, ahead):
    """Return whether a stop is newly touched since the last micro-step, or would be within the time `ahead`, s."""
    return s.touching == 0.0 and s.depth - s.sense * rate * ahead > 0.0


@kernel
def remember(s):
    """Remember whether a stop was touched in an accepted micro-step, for `newly_touching`."""
    s.touching = 1.0 if s.depth > 0.0 else 0.0


@kernel
def load_nut(p, s, rate, load):
    """Set the force of the measured stop and its damping in the group `axial_load`, at the `rate` of the probe, m/s."""
    load.stop_force = 0.0
    load.stop_damping = 0.0
    if s.depth > 0.0:
        load.stop_force = s.sense * p.stiffness * s.depth
        load.stop_damping = p.damping
        away = s.sense * rate
        # it pushes, but does not pull
        if away > 0.0:
            load.stop_damping = min(p.damping, p.stiffness * s.depth / away)


@kernel
def account(s, load, travel, h):
    """Add the loss of a micro-step h with `travel` of the probe, m."""
    s.dissipated += load.stop_damping * travel * travel / h


@kernel
def stored_energy(p, s):
    """Return the energy in the measured stop, J."""
    depth = max(s.depth, 0.0)
    return 0.5 * p.stiffness * depth * depth
