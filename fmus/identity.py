"""The identity of a model: its digest, the GUID that follows from it, and the fingerprint that Python FMUs check."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dockfmu.components.core.component import Component
from dockfmu.components.core.sources import digest
from dockfmu.fmus.description import describe
from dockfmu.fmus.resources import resource_files


def _constants(function: Any) -> list[str]:
    """Return the constants that a kernel made by a factory closes over: build options that are in no record.

    `dockfmu.base.content.digest_of` would include more, such as the bytecode, which differs between versions of
    Python. The GUID must be the same for all versions; here the source files represent the code.
    """
    plain = getattr(function, "py_func", function)
    constants = [plain.__qualname__]
    for cell in plain.__closure__ or ():
        value = cell.cell_contents
        constants.extend(_constants(value) if hasattr(value, "py_func") else [repr(value)])
    return constants


def _anywhere(option: object) -> object:
    """Return an option without the folder of a file that it names; what the file holds is in record and tables."""
    return Path(option).name if isinstance(option, str) and Path(option).is_absolute() else option


def model_digest(component: Component) -> str:
    """Return a digest of the model alone: sources, declaration, options, tables; not of platform or tools."""
    total = hashlib.sha256()
    for part in (
        digest(component.module),
        component.name,
        component.description,
        component.default_step,
        component.default_stop,
        component.record.members,
        component.record.size,
        component.messages,
        sorted((name, _anywhere(value)) for name, value in component.options.items()),
        *_constants(component.initialize),
        *_constants(component.step),
    ):
        total.update(repr(part).encode() + b"\0")
    total.update(component.record.start.tobytes())
    for name, data in sorted(resource_files(component).items()):
        total.update(name.encode() + b"\0" + data + b"\0")
    return total.hexdigest()


def guid_of(component: Component, capabilities: Mapping[str, str], implementation: Path, tables: str) -> str:
    """Return the GUID of the FMU of `component` with these capabilities.

    It changes with the model, with the model description and the `tables` (both without a GUID), and with the sources
    of the standard's functions in the folder `implementation`. It is the same for any choice of platforms and on any
    machine: a state saved on one is valid on another, and libraries of several builds fit into one archive.
    """
    total = hashlib.sha256(model_digest(component).encode())
    sources = [file.read_bytes() for file in sorted(implementation.iterdir()) if file.suffix in (".c", ".h", ".py")]
    for part in (describe(component, "", capabilities), tables.encode(), *sources):
        total.update(b"\0" + part)
    return "{" + str(uuid.uuid5(uuid.NAMESPACE_URL, total.hexdigest())) + "}"


def fingerprint(component: Component) -> str:
    """Return a digest of the layout of the record (names and places of all slots) and of the tables that fill it.

    A Python FMU refers to the installed component and refuses to run if the fingerprint has changed.
    """
    total = hashlib.sha256("\n".join(slot.name for slot in component.record.slots).encode())
    for name, data in resource_files(component).items():
        total.update(name.encode() + data)
    return total.hexdigest()[:16]
