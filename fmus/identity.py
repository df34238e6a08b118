"""The GUID of an FMU."""

from __future__ import annotations

import hashlib
import uuid


def guid_of(*parts: bytes) -> str:
    """A GUID that changes with the content."""
    return "{" + str(uuid.uuid5(uuid.NAMESPACE_URL, hashlib.sha256(b"\0".join(parts)).hexdigest())) + "}"
