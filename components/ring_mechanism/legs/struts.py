"""Legs that are struts: the layout of the peripheral mechanism, with screws or with freely sliding rods."""

from __future__ import annotations

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Field, Group, output, parameter
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.ring_on_legs import platform

HEIGHT = 391
INITIAL_STROKE = 392

MESSAGES = {
    **platform.STRUT_MESSAGES,
    HEIGHT: Message(
        "parameters.legs.retracted_length = {parameters.legs.retracted_length:g} m is shorter than the distance "
        "{status.value:.4g} m between the joints of a leg across the axis"
    ),
    INITIAL_STROKE: Message(
        "stroke {status.index:.0f} (1 parameters.initial_stroke, 2 parameters.legs.initial_stroke) = "
        "{status.value:g} m is beyond the forward position, parameters.legs.stroke = {parameters.legs.stroke:g} m"
    ),
}

OUTPUTS = (
    output("stroke", "m", "stroke of the leg, 0 at the retracted position"),
    output("roll", "rad", "rotation of the rod about its axis"),
)


def geometry(screws: bool) -> tuple[Field | Group, ...]:
    """Return the parameters of the start, the ring and the legs."""
    return (
        parameter("initial_stroke", "m", "stroke of all legs at the start", 0.24, minimum=0.0),
        parameter("retracted_margin", "m", "stroke of all legs up to which the ring is retracted", 1e-3, minimum=0.0),
        *platform.parameters(screws),
    )


@kernel
def check_geometry(m):
    """Check that the parameters are consistent. Returns 0, or the code of the first failure."""
    p = m.parameters
    across = platform.across(p.legs)
    if not p.legs.retracted_length > across:
        return fail(m.status, HEIGHT, across, 0)
    if p.initial_stroke > p.legs.stroke:
        return fail(m.status, INITIAL_STROKE, p.initial_stroke, 1)
    if p.legs.initial_stroke > p.legs.stroke:
        return fail(m.status, INITIAL_STROKE, p.legs.initial_stroke, 2)
    return 0


@kernel
def build(m):
    """Set masses and geometry, with all legs at their initial stroke."""
    platform.initialize(m.parameters, m.hexapod, m.ring_state, m.parameters.initial_stroke)


@kernel
def set_strokes(m):
    """Set strokes and rolls of the legs, and whether all are retracted."""
    m.sensor.retracted = 1.0
    for k in range(platform.LEGS):
        c = m.hexapod.strut[k]
        m.leg[k].stroke = c.stroke
        m.leg[k].roll = platform.roll(c)
        if c.stroke > m.parameters.retracted_margin:
            m.sensor.retracted = 0.0
