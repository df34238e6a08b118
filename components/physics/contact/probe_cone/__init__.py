"""The probe-cone unit: head, latches, capture sensors, limiter pads and rollers against receiving cone and socket.

`unit()` is its record; a component places it among its groups and calls the kernels on it::

    RECORD = Record(..., probe_cone.unit(), ...)

    code = probe_cone.attempt(m.probe_cone)       # as often as needed: a trial
    code = probe_cone.accept(m.probe_cone)        # once per accepted micro-step
    code = probe_cone.evaluate(m.probe_cone)      # where outputs are needed and no micro-step ends
"""

from dockfmu.components.physics.contact.contact_list import copy_contacts
from dockfmu.components.physics.contact.pairs import PENETRATION
from dockfmu.components.physics.contact.probe_cone.kernel import (
    accept,
    attempt,
    evaluate,
    head_penetration,
    initialize,
    publish_validity,
    remember_friction,
)
from dockfmu.components.physics.contact.probe_cone.latches import capture_margin
from dockfmu.components.physics.contact.probe_cone.pairs import (
    GEOMETRY,
    MESSAGES,
    NOT_FINITE,
    OUT_OF_RANGE,
    PAIRS,
    messages,
)
from dockfmu.components.physics.contact.probe_cone.ports import (
    PARAMETER_SETS,
    capture,
    flags,
    latches_armed,
    sensors,
    unit,
    validity,
)

__all__ = [
    "GEOMETRY",
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
    "copy_contacts",
    "evaluate",
    "flags",
    "head_penetration",
    "initialize",
    "latches_armed",
    "messages",
    "publish_validity",
    "remember_friction",
    "sensors",
    "unit",
    "validity",
]
