"""Mass on a spring and damper, driven by a force: the smallest complete component, and the template for new ones."""

from pathlib import Path

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets

from .kernel import MESSAGES, initialize, step
from .ports import RECORD


def component() -> Component:
    """Return the component."""
    return Component(
        name="Oscillator",
        description="mass on a spring and damper, driven by a force",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        parameter_sets=read_parameter_sets(Path(__file__).parent / "parameters"),
    )
