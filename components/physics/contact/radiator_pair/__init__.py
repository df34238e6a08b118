"""The rigid pair of the radiator, B2: plug, guide pins and planes (contact-geometry 8.2, berthing 4.4).

`unit()` is its record; a component places it among its groups and calls the kernels on it::

    RECORD = Record(..., radiator_pair.unit(), ...)

    code = radiator_pair.initialize(m.radiator_pair)      # once, before the first evaluation
    code = radiator_pair.evaluate(m.radiator_pair)        # contacts and forces of the active unit at `work.link`
    radiator_pair.accept(m.radiator_pair)                 # once per accepted step: the ball snaps behind the plug
"""

from dockfmu.components.physics.contact.contact_list import copy_contacts
from dockfmu.components.physics.contact.radiator_pair.kernel import accept, evaluate, in_bore, initialize
from dockfmu.components.physics.contact.radiator_pair.pairs import MESSAGES, PAIRS, PIN, PLANES, PLUG
from dockfmu.components.physics.contact.radiator_pair.ports import PARAMETER_SETS, unit

__all__ = [
    "MESSAGES",
    "PAIRS",
    "PARAMETER_SETS",
    "PIN",
    "PLANES",
    "PLUG",
    "accept",
    "copy_contacts",
    "evaluate",
    "in_bore",
    "initialize",
    "unit",
]
