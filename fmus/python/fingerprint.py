"""Does an FMU that refers to an installed component still fit it?"""

from __future__ import annotations

import hashlib

from components.core.component import Component
from fmus.resources import resource_files


def fingerprint(component: Component) -> str:
    """Digest of the layout of the record, names and places of all slots, and of the tables that fill it."""
    total = hashlib.sha256("\n".join(slot.name for slot in component.record.slots).encode())
    for name, data in resource_files(component).items():
        total.update(name.encode() + data)
    return total.hexdigest()[:16]
