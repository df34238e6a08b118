"""Does an FMU that refers to an installed component still fit it?"""

from __future__ import annotations

import hashlib

import numpy as np

from components.core.component import Component


def fingerprint(component: Component) -> str:
    """Digest of the layout of the record, names and places of all slots, and of the tables that fill it."""
    total = hashlib.sha256("\n".join(slot.name for slot in component.record.slots).encode())
    for name in sorted(component.resources):
        total.update(name.encode() + np.asarray(component.resources[name], "<f8").tobytes())
    return total.hexdigest()[:16]
