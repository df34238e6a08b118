"""A manipulator of N revolute joints that carries a payload to its berth, manipulator."""

from __future__ import annotations

from pathlib import Path

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.manipulator.arm_data import JOINTS
from dockfmu.components.manipulator.kernel import MESSAGES, initialize, step
from dockfmu.components.manipulator.ports import record

_SETS = read_parameter_sets(Path(__file__).parent / "parameters")
_LINKS = {
    "condensed": "stiffness of its links condensed to a spring",
    "flexible": "flexible links of beams and springs",
}


def component(joints: int = JOINTS, links: str = "condensed") -> Component:
    """Return a manipulator with `joints` joints, whose data come from parameter sets.

    `links` are "condensed": their stiffness is one spring between gripper and payload; or "flexible": beams and springs
    where they are, with their own mass. Raises ValueError for no joint and for other `links`.
    """
    if joints < 1:
        raise ValueError(f"joints must be at least 1, not {joints}")
    if links not in _LINKS:
        raise ValueError(f"links must be {' or '.join(map(repr, _LINKS))}, not {links!r}")
    flexible = links == "flexible"
    name = "FlexibleManipulator" if flexible else "Manipulator"
    return Component(
        name=name if joints == JOINTS else f"{name}{joints}",
        description=f"manipulator with {joints} joints, {_LINKS[links]}, digital servos and a payload",
        record=record(joints, flexible),
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_stop=60.0,
        parameter_sets=_SETS if joints == JOINTS else (),
    )
