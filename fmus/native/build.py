"""The native content of an FMU: model description, a library for each platform, and sources if they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from components.core.component import Component
from fmus.dependencies import initial_dependencies
from fmus.description import NATIVE_CAPABILITIES, describe
from fmus.identity import guid_of
from fmus.native.check import check_library
from fmus.native.compile import Loaded, compile_component, emit
from fmus.native.link import link, shim_digest
from fmus.native.sources import FILES, kernel_source, source_files
from fmus.native.tables import write_tables
from fmus.native.targets import HOST, SOURCES, TARGETS
from fmus.resources import resource_files


def build_native(component: Component, platforms: Sequence[str], progress: Callable[[str], None]) -> dict[str, bytes]:
    """Path in the FMU -> content. Raises LinkError or LibraryError when a library cannot be made as it must be."""
    targets = [TARGETS[platform] for platform in platforms if platform != SOURCES]
    progress("compiling the kernels")
    assembly = compile_component(component)
    progress("optimising the kernels")
    emitted = {target: emit(assembly, target) for target in {HOST, *targets}}
    objects = [emitted[target] for target in targets]
    progress("looking for dependencies at initialisation")
    dependencies = initial_dependencies(component, Loaded(emitted[HOST]).initialize)
    written = kernel_source(assembly) if SOURCES in platforms else ""
    files = FILES if written else ()
    draft = describe(component, "", NATIVE_CAPABILITIES, dependencies, files)
    resources = resource_files(component).values()
    guid = guid_of(draft, shim_digest().encode(), write_tables(component, "").encode(), *objects, *resources,
                   written.encode())  # fmt: skip
    content = {"modelDescription.xml": describe(component, guid, NATIVE_CAPABILITIES, dependencies, files)}
    if written:
        content |= source_files(component, written, guid)
    tables = write_tables(component, guid)
    for target, kernels in zip(targets, objects, strict=True):
        progress(f"linking for {target.folder}")
        library = link(component.name, tables, kernels, target)
        check_library(library, target)
        content[f"binaries/{target.folder}/{component.name}{target.extension}"] = library
    return content
