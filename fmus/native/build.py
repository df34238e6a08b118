"""The native content of an FMU: model description, a library for each platform, and C sources if requested."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numba
from numba.core import event

from dockfmu.base import compiler as base_compiler
from dockfmu.base import object_code
from dockfmu.base.cache import (
    alone,
    cache_root,
    digest_of_files,
    digest_of_sources,
    is_whole,
    load_or_make,
    seal,
    versions,
)
from dockfmu.base.compiler import digest_of, name_of, settings
from dockfmu.base.files import write_file
from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.base.platforms import BASELINE
from dockfmu.components.core import kernel
from dockfmu.components.core.component import Component
from dockfmu.components.core.sources import kernel_digest
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe
from dockfmu.fmus.identity import guid_of
from dockfmu.fmus.native import SHIM, sources
from dockfmu.fmus.native import compile as kernel_compiler
from dockfmu.fmus.native.compile import compile_component, emit
from dockfmu.fmus.native.compile_progress import CompileProgress, kernels_of
from dockfmu.fmus.native.sources.files import FILES, kernel_source, source_files
from dockfmu.fmus.native.tables import write_tables
from dockfmu.fmus.toolchain import targets
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
        assembly = _assembly(component)
    files = FILES if SOURCES in platforms else ()
    content = {DESCRIPTION_FILE: describe(component, guid, NATIVE_CAPABILITIES, files)}
    if SOURCES in platforms:
        content |= source_files(component, _source(component.name, assembly), guid)
    tables = write_tables(component, guid)
    for target in (TARGETS[name] for name in platforms if name != SOURCES):
        progress(f"optimising and linking for {target.folder}")
        library = link(component.name, tables, _object(component.name, assembly, target), target)
        check_library(library, target)
        content[f"binaries/{target.folder}/{component.name}{target.extension}"] = library
    return content


def _assembly(component: Component) -> str:
    """Return the result of `compile_component`, from the cache if these kernels have been compiled for this record.

    Compiling takes most of the time of a build. Changes of start values, parameter sets, documentation and the shim do
    not need it.
    """
    record = name_of(numba.from_dtype(component.record.dtype))
    parts = [_compiler_digest(), settings(), component.name, record]
    for function in (component.initialize, component.step):
        plain = getattr(function, "py_func", function)
        parts += [kernel_digest(Path(plain.__code__.co_filename)), digest_of(function)]
    return _cached(f"{component.name}.ll", parts, lambda: compile_component(component).encode()).decode()


def _object(name: str, assembly: str, target: Target) -> bytes:
    """Return the result of `emit`, from the cache if this assembly has been optimised for `target`."""
    parts = [_compiler_digest(), repr(target), assembly]
    return _cached(f"{name}-{target.folder}.o", parts, lambda: emit(assembly, target))


def _source(name: str, assembly: str) -> str:
    """Return the result of `kernel_source`, from the cache if this assembly has been translated."""
    parts = [_compiler_digest(), digest_of_sources(Path(sources.__file__).parent), assembly]
    return _cached(f"{name}.c", parts, lambda: kernel_source(assembly).encode()).decode()


def _cached(name: str, parts: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """Return the content of the cache file named by the digest of `parts`; `make` produces it the first time."""
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    return load_or_make(cache_root() / "machine_code" / f"{key[:32]}-{name}", key, make)


@cache
def _compiler_digest() -> str:
    """Return a digest of the versions and sources, besides those of kernels, on which the code of kernels depends."""
    own = digest_of_files(
        Path(str(module.__file__)) for module in (base_compiler, object_code, kernel, kernel_compiler, targets)
    )
    return hashlib.sha256(" ".join([versions(), BASELINE, own]).encode()).hexdigest()


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


def link(name: str, tables: str, kernels: bytes, target: Target) -> bytes:
    """Return the shared library `name` of one component for `target`: shim, tables (C) and kernels (an object file).

    Raises LinkError, also for undefined symbols.
    """
    shim = shim_objects(target)
    with compiler(target, "library") as zig:
        (zig.folder / "tables.c").write_text(tables, encoding="utf-8")
        (zig.folder / "kernels.o").write_bytes(kernels)
        zig.compile([Path("tables.c")], SHIM)
        objects = ["tables.o", "kernels.o", *map(str, shim)]
        return zig.link_library(f"{name}{target.extension}", objects).read_bytes()
