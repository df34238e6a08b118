"""The native content of an FMU: model description, a library for each platform, and C sources if requested."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

from numba.core import event

from dockfmu.base.cache import alone, cache_root, digest_of_sources, is_whole, seal
from dockfmu.base.files import write_file
from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.components.core.component import Component
from dockfmu.components.core.machine_code import assemblies_of, assembly_of, kept, object_of
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe
from dockfmu.fmus.identity import guid_of
from dockfmu.fmus.native import SHIM, sources
from dockfmu.fmus.native.compile_progress import CompileProgress, kernels_of
from dockfmu.fmus.native.sources.files import FILES, kernel_source, source_files
from dockfmu.fmus.native.tables import write_tables
from dockfmu.fmus.toolchain.libraries import check_library
from dockfmu.fmus.toolchain.targets import SOURCES, TARGETS, Target
from dockfmu.fmus.toolchain.zig import OPTIONS, compiler


def build_native(component: Component, platforms: Sequence[str], progress: Callable[[str], None]) -> dict[str, bytes]:
    """Return the files of a native FMU by their path in the archive.

    `platforms` are names of `TARGETS`, or "sources"; `progress` is called with a line before each lengthy part.
    Raises LinkError if a library cannot be linked, and LibraryError if it lacks a function of the standard or needs
    more than is on every machine.
    """
    guid = guid_of(component, NATIVE_CAPABILITIES, SHIM, write_tables(component, ""))
    progress("compiling the kernels")
    kernels = kernels_of(component.initialize, component.step)
    with event.install_listener("numba:compile", CompileProgress(kernels, progress)):
        assemblies = assemblies_of(component)
    files = FILES if SOURCES in platforms else ()
    content = {DESCRIPTION_FILE: describe(component, guid, NATIVE_CAPABILITIES, files)}
    if SOURCES in platforms:
        content |= source_files(component, _source(assembly_of(component)), guid)
    tables = write_tables(component, guid)
    for target in (TARGETS[name] for name in platforms if name != SOURCES):
        progress(f"optimising and linking for {target.folder}")
        objects = [object_of(assembly, target.machine) for assembly in assemblies]
        library = link(component.name, tables, objects, target)
        check_library(library, target)
        content[f"binaries/{target.folder}/{component.name}{target.extension}"] = library
    return content


def _source(assembly: str) -> str:
    """Return the result of `kernel_source`, from the cache if this assembly has been translated."""
    parts = [digest_of_sources(Path(sources.__file__).parent), assembly]
    return kept("kernels.c", parts, lambda: kernel_source(assembly).encode()).decode()


@cache
def shim_digest() -> str:
    """Return a digest of the shim's sources, the compiler and its options."""
    total = hashlib.sha256(f"zig {version('ziglang')} {OPTIONS}".encode())
    for file in sorted(SHIM.iterdir()):
        total.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return total.hexdigest()


def shim_objects(target: Target) -> list[Path]:
    """Return the object files of the shim for `target`, compiled once for all components and kept in the cache."""
    key = hashlib.sha256(f"{shim_digest()} {target.zig}".encode()).hexdigest()
    folder = cache_root() / "fmus" / f"shim-{target.folder}-{key[:16]}"
    sources = sorted(SHIM.glob("*.c"))
    objects = [folder / f"{source.stem}.o" for source in sources]
    if not all(map(is_whole, objects)):
        with alone(objects[0]):
            if not all(map(is_whole, objects)):
                with compiler(target) as zig:
                    zig.compile(sources, SHIM)
                    for file in objects:
                        write_file(file, (zig.folder / file.name).read_bytes(), durable=False)
                        seal(file)
    return objects


def link(name: str, tables: str, kernels: Sequence[bytes], target: Target) -> bytes:
    """Return the shared library `name` of one component for `target`: shim, tables (C) and kernels (object files).

    Raises LinkError, also for undefined symbols.
    """
    shim = shim_objects(target)
    with compiler(target, "library") as zig:
        (zig.folder / "tables.c").write_text(tables, encoding="utf-8")
        names = [f"kernels{number}.o" for number in range(len(kernels))]
        for file, data in zip(names, kernels, strict=True):
            (zig.folder / file).write_bytes(data)
        zig.compile([Path("tables.c")], SHIM)
        objects = ["tables.o", *names, *map(str, shim)]
        return zig.link_library(f"{name}{target.extension}", objects).read_bytes()
