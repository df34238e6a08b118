"""Docking mechanism of the central type (probe and cone) with its contact on the passive unit, spec/06."""

from pathlib import Path

from components.contact import probe_cone
from components.core.component import Component
from components.core.parameters import read_parameter_sets
from components.probe_mechanism.kernel import MESSAGES, initialize, step
from components.probe_mechanism.ports import RECORD


def component() -> Component:
    """Variant V1: existing mechanism with spring and friction brake, switchable lateral brakes, alignment levers."""
    return Component(
        name="ProbeMechanism",
        description="docking mechanism of the probe-cone type, existing design",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        parameter_sets=(*read_parameter_sets(Path(__file__).parent / "parameters"), *probe_cone.PARAMETER_SETS),
    )
