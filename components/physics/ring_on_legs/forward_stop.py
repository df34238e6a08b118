"""Forward stops of the rods: where a rod is fully out, it meets a stop of its housing (ruling R50).

A stop has a spring and a damper and never pulls the rod out. It lies a little beyond the forward position: up to there
the clutches of the peripheral mechanism, or the stops of the shafts of geared legs, take the overtravel. The depth in a
stop is limited by `legs.margin`, the overtravel for which the model is valid.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.ring_on_legs import train
from dockfmu.components.physics.ring_on_legs.platform import LEGS


def parameters() -> Group:
    """Return the group `forward_stop`."""
    return Group(
        "forward_stop",
        parameter(
            "overrun", "m", "stroke beyond the forward position at which a rod meets its stop", 0.012, minimum=0.0
        ),
        parameter("stiffness", "N/m", "stiffness of the stop of a rod", 5e5, minimum=0.0),
        parameter("damping", "N.s/m", "damping of the stop of a rod", 500.0, minimum=0.0),
        description="forward stops of the rods, in their housings",
    )


def state() -> Group:
    """Return the group `end_stop`."""
    return Group("end_stop", private("dissipated", "J", "energy dissipated by the forward stops so far"))


@kernel
def _depth(p, c):
    return max(0.0, c.stroke - p.legs.stroke - p.forward_stop.overrun)


@kernel
def hold(p, x, s, share):
    """Set the forces of the stops on the rods of the placed legs, and add their losses over `share`.

    p = parameters, x = hexapod, s = end_stop.
    """
    law = p.forward_stop
    for k in range(LEGS):
        c = x.strut[k]
        depth = _depth(p, c)
        rate = c.rate[3]
        force = train.stop(law.stiffness, law.damping, depth, rate)
        c.force[3] = -force
        s.dissipated += share * train.stop_loss(law.stiffness, depth, force, rate)


@kernel
def stored_energy(p, x):
    """Return the energy of the stops at the placed legs, J."""
    total = 0.0
    for k in range(LEGS):
        total += train.stored(p.forward_stop.stiffness, _depth(p, x.strut[k]))
    return total
