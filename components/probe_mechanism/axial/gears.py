"""Gear train of the axial damper: elastic with hysteresis (central-docking 5.2, hysteresis; ruling R49).

The train is a series of the gears and of a device that yields (spring mechanism, friction brakes). The gears follow the
law of constant parameters of `physics.hysteresis`: straight loading from zero, unloading on a lower branch,
between them segments of a larger stiffness. Its segment is chosen after a micro-step and holds in the next one, in
which the return mappings of the devices solve the series with this line. Everything is reduced to the probe.
"""

from __future__ import annotations

from dockfmu.components.core.component import Message, combined, fail
from dockfmu.components.core.field import Field, Group, parameter
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics import hysteresis

LAW = 270
LOSS = 280

MESSAGES = combined(
    hysteresis.messages("the gear train of the axial damper", LAW),
    {
        LOSS: Message(
            "parameters.axial.hysteresis_loss = {parameters.axial.hysteresis_loss:g} is more than {status.value:.4g}, "
            "the most that unloading can lose with hysteresis_ratio = {parameters.axial.hysteresis_ratio:g} and "
            "hysteresis_common = {parameters.axial.hysteresis_common:g}: lower it, or raise the ratio"
        ),
    },
)


def parameters() -> tuple[Field, ...]:
    """Return the parameters of the gears' law."""
    return (
        parameter("train_stiffness", "N/m", "of the gear train while it is loaded, reduced to the probe", 1e6,
                  minimum=1.0),
        parameter("train_range", "N", "force at which the working range of the train's law ends, in compression and in "
                  "extension; beyond it the train is as stiff as between loading and unloading", (8.5e3, 1.8e4),
                  shape=2, minimum=1.0),
        *hysteresis.loop_parameters(loss=0.2),
        parameter("train_damping", "N.s/m", "structural damping of the gear train", 2e3, minimum=0.0),
    )  # fmt: skip


def state() -> Group:
    """Return the group `gears`: the law, and its memory."""
    return Group(
        "gears",
        hysteresis.law("law", "m", "N", causality="constant"),
        hysteresis.memory("memory", "m", "N"),
    )


@kernel
def check_parameters(p, status):
    """Return 0, or a code if the law cannot lose as much as `hysteresis_loss`."""
    largest = hysteresis.largest_loss(p.hysteresis_common, p.hysteresis_ratio)
    if not p.hysteresis_loss <= largest:
        return fail(status, LOSS, largest, 0)
    return 0


@kernel
def initialize(p, gears):
    """Set the law, and the gears untwisted. Returns 0, or LAW + the code of an invalid law."""
    for side in range(2):
        hysteresis.elastic_loop_side(
            gears.law,
            side,
            p.train_stiffness,
            p.train_range[side] / p.train_stiffness,
            0.0,
            p.hysteresis_common,
            p.hysteresis_loss,
            p.hysteresis_ratio,
        )
    hysteresis.reset(gears.law, gears.memory)
    code = hysteresis.validate(gears.law)
    return LAW + code if code else 0


@kernel
def twist_at(memory, force):
    """Return the twist (m) at which the gears bear `force` (N), on the segment that their memory holds."""
    return memory.origin_deformation + (force - memory.origin_reaction) / memory.stiffness


@kernel
def stored_energy(memory, twist, force):
    """Return the energy in J that the gears give back, at `twist` under `force` on the segment of their memory."""
    return memory.stored_energy + 0.5 * (memory.reaction + force) * (twist - memory.deformation)
