"""The folder `sources` of an FMU: the shim, the tables of the component, and its kernels as C."""

from __future__ import annotations

from lxml import etree

from dockfmu.components.core.component import Component
from dockfmu.components.core.machine_code import INITIALIZE, STEP, optimise
from dockfmu.fmus.native import SHIM
from dockfmu.fmus.native.sources.translate import translate
from dockfmu.fmus.native.tables import write_tables
from dockfmu.fmus.toolchain.targets import TARGETS

FOLDER = "sources"
SHARED = tuple(sorted(file.name for file in SHIM.glob("*.c")))
FILES = (*SHARED, "kernels.c", "tables.c")
"""Files to compile, in the order of `SourceFiles`."""

OPTIONS = "-fPIC -fvisibility=hidden -ffp-contract=off"
"""Options for the compiler. The last one keeps results bitwise equal: a * b + c is two operations."""


def kernel_source(assembly: str) -> str:
    """Return C code of the two kernels, for any 64-bit little-endian platform. Raises TranslationError."""
    # the layout of records is the same on all of them
    return translate(optimise(assembly, TARGETS["linux64"].machine, vectors=False), (INITIALIZE, STEP))


def source_files(component: Component, kernels: str, guid: str) -> dict[str, bytes]:
    """Return the files of the folder by their path in the FMU."""
    shim = [file for file in sorted(SHIM.iterdir()) if file.suffix in (".c", ".h")]
    return {f"{FOLDER}/{file.name}": file.read_bytes() for file in shim} | {
        f"{FOLDER}/kernels.c": kernels.encode(),
        f"{FOLDER}/tables.c": write_tables(component, guid).encode(),
        f"{FOLDER}/buildDescription.xml": _build_description(component),
    }


def _build_description(component: Component) -> bytes:
    """Return the build description of the files, in the form of FMI 3.0."""
    root = etree.Element("fmiBuildDescription", fmiVersion="3.0")
    build = etree.SubElement(root, "BuildConfiguration", modelIdentifier=component.name)
    files = etree.SubElement(build, "SourceFileSet", language="C11", compilerOptions=OPTIONS)
    for name in FILES:
        etree.SubElement(files, "SourceFile", name=name)
    etree.SubElement(build, "Library", name="m")
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", pretty_print=True)
