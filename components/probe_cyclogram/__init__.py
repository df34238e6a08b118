"""Cyclogram of docking with the probe mechanism: the sequence of commands by sensors and time.

Theory: central-docking section 6.
"""

from pathlib import Path

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.probe_cyclogram.kernel import MESSAGES, initialize, step
from dockfmu.components.probe_cyclogram.ports import RECORD


def component() -> Component:
    """Return the component."""
    return Component(
        name="ProbeCyclogram",
        description="control sequence of docking with the probe mechanism",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_stop=400.0,
        parameter_sets=read_parameter_sets(Path(__file__).parent / "parameters"),
    )
