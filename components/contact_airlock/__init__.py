"""Berthing of the airlock: contact of a swinging head with its cone, berthing 8.1, berthing 4.3. See README.md."""

from pathlib import Path

from dockfmu.components.contact_airlock.kernel import MESSAGES, initialize, step
from dockfmu.components.contact_airlock.ports import RECORD
from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.physics.contact import airlock_pair


def component() -> Component:
    """Return the component."""
    return Component(
        name="ContactAirlock",
        description="contact of the airlock's berthing units, with the swinging head and its latches",
        record=RECORD,
        initialize=initialize,
        step=step,
        messages=MESSAGES,
        module=Path(__file__),
        default_step=1e-3,
        parameter_sets=(*read_parameter_sets(Path(__file__).parent / "parameters"), *airlock_pair.PARAMETER_SETS),
    )
