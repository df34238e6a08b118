"""The native content of an FMU: model description, a library for each platform, and sources if they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.core.component import Component
from fmus.description import NATIVE_CAPABILITIES, describe
from fmus.identity import guid_of
from fmus.native.check import check_library
from fmus.native.compile import compile_component, emit
from fmus.native.link import SHIM, link
from fmus.native.sources import FILES, kernel_source, source_files
from fmus.native.tables import write_tables
from fmus.native.targets import SOURCES, TARGETS


def build_native(component: Component, platforms: Sequence[str], progress: Callable[[str], None]) -> dict[str, bytes]:
    """Path in the FMU -> content. Raises LinkError or LibraryError when a library cannot be made as it must be."""
    guid = guid_of(component, NATIVE_CAPABILITIES, SHIM)
    progress("compiling the kernels")
    assembly = compile_component(component)
    files = FILES if SOURCES in platforms else ()
    content = {"modelDescription.xml": describe(component, guid, NATIVE_CAPABILITIES, files)}
    if SOURCES in platforms:
        content |= source_files(component, kernel_source(assembly), guid)
    tables = write_tables(component, guid)
    for target in (TARGETS[platform] for platform in platforms if platform != SOURCES):
        progress(f"optimising and linking for {target.folder}")
        library = link(component.name, tables, emit(assembly, target), target)
        check_library(library, target)
        content[f"binaries/{target.folder}/{component.name}{target.extension}"] = library
    return content
