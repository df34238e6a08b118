"""Which libraries a shared library of an FMU may need without a word."""

from dataclasses import replace

import pytest
from lxml import etree

from dockfmu.fmus.check import libraries
from dockfmu.fmus.toolchain.libraries import FUNCTIONS, LibraryInterface

ROOT = etree.fromstring('<fmiModelDescription><CoSimulation modelIdentifier="Model"/></fmiModelDescription>')

EXTENSIONS = {"linux64": "so", "win64": "dll", "darwin64": "dylib"}


@pytest.mark.parametrize(
    ("platform", "needed", "everywhere"),
    [
        ("linux64", "libm.so.6", True),
        ("linux64", "libgfortran.so.5", False),
        ("win64", "KERNEL32.dll", True),
        ("win64", "api-ms-win-crt-math-l1-1-0.dll", True),
        ("win64", "VCRUNTIME140.dll", False),
        ("darwin64", "/usr/lib/libSystem.B.dylib", True),
        ("darwin64", "/System/Library/Frameworks/Accelerate.framework/Versions/A/Accelerate", True),
        ("darwin64", "/opt/homebrew/lib/libgfortran.5.dylib", False),
    ],
)
def test_libraries_that_not_every_machine_has(platform, needed, everywhere, tmp_path, monkeypatch):
    library = LibraryInterface((needed,), frozenset(), frozenset(FUNCTIONS), False)
    systems = {name: replace(system, read=lambda data: library) for name, system in libraries._SYSTEMS.items()}
    monkeypatch.setattr(libraries, "_SYSTEMS", systems)
    folder = tmp_path / "binaries" / platform
    folder.mkdir(parents=True)
    (folder / f"Model.{EXTENSIONS[platform]}").write_bytes(b"")
    found = libraries.check_libraries(tmp_path, ROOT)
    assert [finding.element for finding in found] == ([] if everywhere else [needed])
