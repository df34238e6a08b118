"""A manipulator of N revolute joints that carries a payload to its berth, manipulator."""

from __future__ import annotations

from pathlib import Path

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.manipulator.arm_data import JOINTS
from dockfmu.components.manipulator.kernel import MESSAGES, initialize, step
from dockfmu.components.manipulator.ports import record

_SETS = read_parameter_sets(Path(__file__).parent / "parameters")


def component(joints: int = JOINTS) -> Component:
    """Return a manipulator with `joints` joints, whose data come from parameter sets. Raises ValueError below one."""
    if joints < 1:
        raise ValueError(f"joints must be at least 1, not {joints}")
    return Component(
        name="Manipulator" if joints == JOINTS else f"Manipulator{joints}",
        description=f"manipulator with {joints} joints, flexible links, digital servos and a payload",
        record=record(joints),
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_stop=60.0,
        parameter_sets=_SETS if joints == JOINTS else (),
    )
