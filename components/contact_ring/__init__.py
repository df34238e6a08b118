"""Contact of two androgynous rings as a separate component.

Theory: contact-geometry section 7, conventions section 5.6. See README.md.
"""

from pathlib import Path

from dockfmu.components.contact_ring.kernel import MESSAGES, initialize, step
from dockfmu.components.contact_ring.ports import RECORD
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.physics.contact import ring_pair


def component() -> Component:
    """Return the component."""
    return Component(
        name="ContactRing",
        description="contact of two androgynous docking rings, its force held over the step",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_step=1e-4,
        parameter_sets=(*read_parameter_sets(Path(__file__).parent / "parameters"), *ring_pair.PARAMETER_SETS),
    )
