"""Operator and supervisor of a berthing: commands from views, sensors and time, berthing 6. See README.md."""

from pathlib import Path

from dockfmu.components.berthing_sequence.kernel import MESSAGES, initialize, step
from dockfmu.components.berthing_sequence.ports import RECORD
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets


def component() -> Component:
    """Return the component."""
    return Component(
        name="BerthingSequence",
        description="scripted or live operator of a manipulator that berths its payload",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_stop=900.0,
        parameter_sets=read_parameter_sets(Path(__file__).parent / "parameters"),
    )
