"""Contact of a probe with a receiving cone as a separate component.

Theory: contact-geometry, conventions section 5.6. See README.md.
"""

from pathlib import Path

from dockfmu.components.contact_probe_cone.kernel import MESSAGES, initialize, step
from dockfmu.components.contact_probe_cone.ports import RECORD
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.physics.contact import probe_cone


def component() -> Component:
    """Return the component."""
    return Component(
        name="ContactProbeCone",
        description="contact of a probe with a receiving cone, its force held over the step",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_step=1e-4,
        parameter_sets=(*read_parameter_sets(Path(__file__).parent / "parameters"), *probe_cone.PARAMETER_SETS),
    )
