"""Docking mechanisms with a ring on six legs: hydraulic, electric, geared or cranked (ring-mechanisms 1.2)."""

from __future__ import annotations

from pathlib import Path

from dockfmu.components.core.component import Component, combined
from dockfmu.components.core.parameters import fitting, read_parameter_sets
from dockfmu.components.physics.contact import ring_pair
from dockfmu.components.ring_mechanism.kernel import MESSAGES, initialize, step
from dockfmu.components.ring_mechanism.legs.chosen import LAWS
from dockfmu.components.ring_mechanism.ports import record

_SETS = read_parameter_sets(Path(__file__).parent / "parameters")


def component(legs: str = "hydraulic") -> Component:
    """Return the mechanism with this law of the legs: "hydraulic", "force_controlled", "geared" or "cranked".

    Raises ValueError for any other value.
    """
    if legs not in LAWS:
        raise ValueError(f"legs must be {' or '.join(LAWS)}, not {legs!r}")
    law = LAWS[legs]
    return Component(
        name=law.name,
        description=law.description,
        record=record(law),
        initialize=initialize,
        step=step,
        messages=combined(MESSAGES, dict(law.messages)),
        module=Path(__file__),
        parameter_sets=(*fitting(_SETS, {"legs": legs}), *ring_pair.PARAMETER_SETS),
    )
