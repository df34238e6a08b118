"""The pair of androgynous rings: petals, rims, ring planes, latches and stops, mating sensors.

Theory: contact-geometry section 7.

`unit()` is its record; a component places it among its groups and calls the kernels on it::

    RECORD = Record(..., ring_pair.unit(), ...)

    code = ring_pair.initialize(m.ring_pair)      # once, before the first evaluation
    code = ring_pair.attempt(m.ring_pair)         # as often as needed: a trial at `input.base` and `input.link`
    code = ring_pair.accept(m.ring_pair, h)       # once per accepted micro-step: latches move, fire; outputs
    code = ring_pair.evaluate(m.ring_pair)        # where outputs are needed and no micro-step ends
"""

from dockfmu.components.physics.contact.contact_list import copy_contacts
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.ring_pair.kernel import (
    accept,
    attempt,
    closes_new,
    evaluate,
    initialize,
    penetration,
    publish_validity,
    remember_friction,
)
from dockfmu.components.physics.contact.ring_pair.pairs import (
    GEOMETRY,
    MESSAGES,
    NOT_FINITE,
    OUT_OF_RANGE,
    PAIRS,
    messages,
)
from dockfmu.components.physics.contact.ring_pair.planes import capture_margin
from dockfmu.components.physics.contact.ring_pair.ports import LATCHES, PARAMETER_SETS, capture, release, unit, validity

__all__ = [
    "GEOMETRY",
    "LATCHES",
    "MESSAGES",
    "NOT_FINITE",
    "OUT_OF_RANGE",
    "PAIRS",
    "PARAMETER_SETS",
    "PENETRATION",
    "accept",
    "attempt",
    "capture",
    "capture_margin",
    "closes_new",
    "copy_contacts",
    "evaluate",
    "initialize",
    "messages",
    "penetration",
    "publish_validity",
    "release",
    "remember_friction",
    "unit",
    "validity",
]
