"""Does an FMU that refers to an installed component still fit it?"""

from __future__ import annotations

import hashlib

from components.core.component import Component


def fingerprint(component: Component) -> str:
    """Digest of the layout of the record: names and places of all slots."""
    names = "\n".join(slot.name for slot in component.record.slots)
    return hashlib.sha256(names.encode()).hexdigest()[:16]
