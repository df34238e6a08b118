"""Hatch cover: axial compliance of the mechanism's base on a ground stand, off in flight. central-docking section 5.9.

The cover bears the mechanism, and moves with its mass. The separation pushers are on the docking ring beside it and do
not load it (ruling R44).
"""

from dockfmu.components.core.component import fail
from dockfmu.components.core.field import BOOLEAN, Group, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics import hysteresis

LAW = 260

MESSAGES = hysteresis.messages("the hatch cover", LAW)


def parameters() -> Group:
    """Return the group `cover`: off in flight.

    Stiffness and damping are those of central-docking 8.3, the loss is assumed.
    """
    return Group(
        "cover",
        parameter("present", "1", "the mechanism is on a compliant hatch cover (ground tests)", 0.0, type=BOOLEAN),
        parameter("stiffness", "N/m", "of the cover along its axis, loading", 1e6, minimum=1.0),
        parameter("damping", "N.s/m", "of the cover along its axis", 2e3, minimum=0.0),
        parameter("limit", "m", "working range of the cover's law, to either side", 0.05, minimum=1e-6),
        *hysteresis.loop_parameters(loss=0.1),
        description="hatch cover, axial compliance",
    )


def state() -> Group:
    """Return the group `cover`: deflection, memory of the law, losses."""
    return Group(
        "cover",
        output("travel", "m", "axial deflection of the hatch cover, along x of the base"),
        output("rate", "m/s", "rate of the deflection"),
        private("dissipated_rate", "J", "by damping so far, numerical damping included"),
        hysteresis.law("law", "m", "N", causality="constant"),
        hysteresis.memory("memory", "m", "N"),
    )


@kernel
def initialize(p, cover, status):
    """Set the cover at rest and unloaded. Returns 0, or the code of an invalid law."""
    cover.travel = 0.0
    cover.rate = 0.0
    cover.dissipated_rate = 0.0
    hysteresis.elastic_loop(
        cover.law, p.stiffness, p.limit, 0.0, p.hysteresis_common, p.hysteresis_loss, p.hysteresis_ratio
    )
    code = hysteresis.validate(cover.law)
    if code:
        return fail(status, LAW + code, 0.0, 0)
    hysteresis.reset(cover.law, cover.memory)
    return 0


@kernel
def advance(p, cover, mass, force, h, status):
    """Advance the cover, with `mass` on it under the axial `force` on the base, by one implicit Euler step (S 6.1.6).

    `force` in N along x_0 is that of the mechanism on a base that does not accelerate with the cover. The segment of
    the hysteresis is chosen before the step. Stable for any stiffness; exact solution of the implicit 2 x 2 system. The
    dissipated energy includes the numerical damping of implicit Euler. Returns 0, or the code of a failure.
    """
    memory = cover.memory
    code = hysteresis.update(cover.law, memory, cover.travel, cover.rate, 1.0)
    if code:
        return fail(status, LAW + code, cover.travel, 0)
    ratio = h / mass
    stiffness = memory.stiffness
    damping = p.damping
    offset = memory.origin_reaction - stiffness * memory.origin_deformation
    determinant = 1.0 + (damping + h * stiffness) * ratio
    rate = (cover.rate + (force - offset - stiffness * cover.travel) * ratio) / determinant
    travel = (cover.travel * (1.0 + damping * ratio) + h * (cover.rate + (force - offset) * ratio)) / determinant
    step = travel - cover.travel
    kinetic = 0.5 * mass * (rate * rate - cover.rate * cover.rate)
    elastic = 0.5 * (memory.reaction + hysteresis.reaction(memory, travel)) * step
    cover.dissipated_rate += force * step - kinetic - elastic
    cover.travel = travel
    cover.rate = rate
    return 0


@kernel
def stored_energy(cover):
    """Return the energy in J that the cover would give back."""
    memory = cover.memory
    now = hysteresis.reaction(memory, cover.travel)
    return memory.stored_energy + 0.5 * (memory.reaction + now) * (cover.travel - memory.deformation)


@kernel
def dissipated_energy(cover):
    """Return the energy in J lost so far, by damping and hysteresis."""
    return cover.dissipated_rate + cover.memory.dissipated_energy


@kernel
def transmitted(p, cover):
    """Return the axial force in N that the cover passes on to the craft."""
    return hysteresis.reaction(cover.memory, cover.travel) + p.damping * cover.rate
