"""The small probe-cone pair of the airlock, B1: swinging head with latches, receiving cone.

Theory: berthing 8.1, berthing 4.3.

`unit()` is its record; a component places it among its groups and calls the kernels on it::

    RECORD = Record(..., airlock_pair.unit(), ...)

    code = airlock_pair.initialize(m.airlock_pair)        # once, before the first evaluation
    code = airlock_pair.evaluate(m.airlock_pair)          # lists the contacts of the head at `work.link`
    airlock_pair.sum_forces(m.airlock_pair)               # their forces with the velocities of `work.link`
    airlock_pair.accept(m.airlock_pair)                   # once per accepted micro-step: latches move and fire
"""

from dockfmu.components.physics.contact.airlock_pair.kernel import (
    accept,
    evaluate,
    initialize,
    is_near,
    power_at,
    sum_forces,
)
from dockfmu.components.physics.contact.airlock_pair.pairs import MESSAGES, PAIRS
from dockfmu.components.physics.contact.airlock_pair.ports import LATCHES, PARAMETER_SETS, unit
from dockfmu.components.physics.contact.contact_list import copy_contacts

__all__ = [
    "LATCHES",
    "MESSAGES",
    "PAIRS",
    "PARAMETER_SETS",
    "accept",
    "copy_contacts",
    "evaluate",
    "initialize",
    "is_near",
    "power_at",
    "sum_forces",
    "unit",
]
