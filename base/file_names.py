"""File names that are valid on every operating system."""

from __future__ import annotations

import hashlib
import re

_LONGEST = 100
_SPECIAL = re.compile(r'[/\\:*?"<>|]')
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


def file_name_problem(name: object) -> str:
    """Return why a name is not a valid file name on every operating system, or an empty string if it is."""
    if not isinstance(name, str) or not name:
        return "is not a string" if name != "" else "is empty"
    if not name.isprintable() or _SPECIAL.search(name):
        return 'has a character that file names cannot have: / \\ : * ? " < > | or an unprintable one'
    if name != name.strip(" .") or _DEVICES.fullmatch(name):
        return "begins or ends with a dot or a space" if name != name.strip(" .") else "names a device on Windows"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    return ""


def file_name(name: str) -> str:
    """Return a file name that is unique to `name`: `name` itself if it is a valid file name."""
    if not file_name_problem(name) and name.isascii():
        return name
    plain = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII).strip("._-")[:40] or "system"
    return f"{plain}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
