"""Berthing of the radiator: contact of plug, guide pins and docking planes.

Theory: contact-geometry 8.2, berthing 4.4. See README.md.
"""

from pathlib import Path

from dockfmu.components.contact_radiator.kernel import MESSAGES, initialize, step
from dockfmu.components.contact_radiator.ports import RECORD
from dockfmu.components.core.component import Component
from dockfmu.components.physics.contact import radiator_pair


def component() -> Component:
    """Return the component."""
    return Component(
        name="ContactRadiator",
        description="contact of the radiator's rigid berthing units, held over the step",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_step=1e-3,
        parameter_sets=radiator_pair.PARAMETER_SETS,
    )
