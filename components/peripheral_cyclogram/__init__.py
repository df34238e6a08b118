"""Cyclogram of docking with the peripheral mechanism: commands from sensors and time. peripheral-docking section 9."""

from pathlib import Path

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.peripheral_cyclogram.kernel import MESSAGES, initialize, step
from dockfmu.components.peripheral_cyclogram.ports import RECORD


def component() -> Component:
    """Return the component."""
    return Component(
        name="PeripheralCyclogram",
        description="control sequence of docking with the peripheral mechanism",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_stop=600.0,
        parameter_sets=read_parameter_sets(Path(__file__).parent / "parameters"),
    )
