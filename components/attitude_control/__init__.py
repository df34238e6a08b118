"""Attitude control of a craft: pulses of its thrusters hold an attitude within dead bands. spacecraft section 7."""

from pathlib import Path

from dockfmu.components.attitude_control.kernel import MESSAGES, initialize, step
from dockfmu.components.attitude_control.ports import record
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets


def component(thrusters: int = 12) -> Component:
    """Return the attitude control of a craft with `thrusters` thrusters. Raises ValueError for fewer than one."""
    if thrusters < 1:
        raise ValueError(f"thrusters must be at least 1, not {thrusters}")
    sets = read_parameter_sets(Path(__file__).parent / "parameters")
    return Component(
        name="AttitudeControl",
        description="attitude control by pulses of thrusters",
        record=record(thrusters),
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_stop=100.0,
        # a table of nozzles fits one number of thrusters
        parameter_sets=tuple(entry for entry in sets if len(entry.values["parameters.thruster.position"]) == thrusters),
    )
