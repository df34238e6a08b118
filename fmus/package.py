"""Build the .fmu file of a component, or take it from the cache."""

from __future__ import annotations

import hashlib
import io
import weakref
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from dockfmu import base
from dockfmu.base.cache import COMPILERS, cache_root, load_cached, load_or_make, versions
from dockfmu.base.compiler import settings
from dockfmu.base.content import digest_of
from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import write_file
from dockfmu.base.platforms import BASELINE
from dockfmu.components.core.component import Component
from dockfmu.components.core.sources import named_sources
from dockfmu.fmus.documentation import documentation
from dockfmu.fmus.icon import icon
from dockfmu.fmus.identity import model_digest
from dockfmu.fmus.native.build import build_native
from dockfmu.fmus.python.build import build_python
from dockfmu.fmus.resources import SAVED_STATE, resource_files, saved_state, write_parameter_set
from dockfmu.fmus.scene import scene_files
from dockfmu.fmus.toolchain.targets import SOURCES, TARGETS

Kind = Literal["native", "python"]

_APART = ("check", "crosscheck.py")
"""Modules that read FMUs and write none: they do not change what is built."""


class PlatformError(DockfmuError, ValueError):
    """An FMU is requested for an unknown platform."""


def build(
    component: Component,
    folder: Path,
    kind: Kind = "native",
    platforms: Sequence[str] = ("linux64",),
    progress: Callable[[str], None] = lambda _: None,
) -> Path:
    """Write `folder/NAME.fmu` (`NAME-python.fmu` of kind python) and return its path.

    `platforms` are names of `toolchain.targets.TARGETS`, or "sources" to include C sources of the component.
    `progress` is called with a line before each lengthy part.

    The file is the same, byte for byte, whenever and wherever it is built from the same sources with the same tools. It
    is built once, and then taken from the cache. Raises PlatformError for an unknown platform, LinkError,
    LibraryError, TranslationError, UnitError, and WriteError if `folder` cannot be written.
    """
    if unknown := set(platforms) - {*TARGETS, SOURCES}:
        known = ", ".join((*TARGETS, SOURCES))
        raise PlatformError(f"no such platform: {', '.join(sorted(unknown))}; there are {known}")
    common = _common_once(component, kind, platforms)
    key = _key(component, kind, platforms, common)

    def made() -> bytes:
        if kind == "native":
            content = build_native(component, platforms, progress)
        else:
            content = build_python(component, key)
        return pack(content | common)

    data = load_or_make(_place(component, kind, key), key, made)
    target = Path(folder) / f"{component.name}{'' if kind == 'native' else '-python'}.fmu"
    write_file(target, data)
    return target


def is_built(component: Component, kind: Kind = "native", platforms: Sequence[str] = ("linux64",)) -> bool:
    """Return whether `build` would find the FMU in the cache."""
    key = _key(component, kind, platforms, _common_once(component, kind, platforms))
    return load_cached(_place(component, kind, key), key) is not None


def pack(content: Mapping[str, bytes]) -> bytes:
    """Return a zip archive that depends on its content alone: path in the archive -> bytes."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(content):
            entry = zipfile.ZipInfo(name)  # dated 1980-01-01
            entry.create_system = 3
            entry.external_attr = (0o755 if name.startswith("binaries/") else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content[name])
    return stream.getvalue()


def _place(component: Component, kind: str, key: str) -> Path:
    return cache_root() / "fmus" / f"{component.name}-{kind}-{key[:24]}.fmu"


_KEPT: dict[int, dict[tuple[str, ...], dict[str, bytes]]] = {}
"""What `_common` returns for components that are in use, by their identity."""


def _common_once(component: Component, kind: str, platforms: Sequence[str]) -> dict[str, bytes]:
    """Return `_common`, made once for a component: it is asked whether it is built before it is built."""
    if id(component) not in _KEPT:
        weakref.finalize(component, _KEPT.pop, id(component))
    kept = _KEPT.setdefault(id(component), {})
    if (kind, *platforms) not in kept:
        kept[kind, *platforms] = _common(component, kind, platforms)
    return kept[kind, *platforms]


def _common(component: Component, kind: str, platforms: Sequence[str]) -> dict[str, bytes]:
    """Return icon, resources, scene, parameter sets and documentation."""
    content = {**resource_files(component), **scene_files(component), "model.png": icon(component)}
    for chosen in component.parameter_sets:
        content[f"resources/parameters/{chosen.name}.ssv"] = write_parameter_set(component.record, chosen)
    if kind == "native":
        content[SAVED_STATE] = saved_state(component.record)
    content["documentation/sources.sha256"] = "".join(
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {name}\n"
        for name, file in named_sources(component.module).items()
    ).encode()
    content |= documentation(component, kind, platforms)
    return content


@cache
def _tools() -> str:
    """Return a digest of the versions and sources of everything that makes an FMU."""
    total = hashlib.sha256(f"{versions((*COMPILERS, 'ziglang', 'lxml', 'pythonfmu'))} {BASELINE}".encode())
    for folder in (Path(__file__).parent, Path(base.__file__).parent):
        for file in sorted(file for file in folder.rglob("*") if file.suffix in (".py", ".c", ".h", ".html")):
            place = file.relative_to(folder)
            if place.parts[0] not in _APART:
                total.update(place.as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def _key(component: Component, kind: str, platforms: Sequence[str], common: Mapping[str, bytes]) -> str:
    """Return a digest of everything that the FMU is made of."""
    total = hashlib.sha256()
    kernels = (digest_of(component.initialize), digest_of(component.step))
    for part in (_tools(), settings(), model_digest(component), *kernels, kind, *platforms):
        total.update(part.encode() + b"\0")
    for name, data in common.items():
        total.update(name.encode() + b"\0" + data)
    return total.hexdigest()
