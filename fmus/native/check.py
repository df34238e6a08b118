"""The gate that every library passes before it is packed."""

from __future__ import annotations

from fmus.native.elf import read_elf
from fmus.native.macho import read_macho
from fmus.native.pe import read_pe
from fmus.native.symbols import ALLOWED, FUNCTIONS, Library, LibraryError
from fmus.native.targets import Target

_READERS = {".so": read_elf, ".dll": read_pe, ".dylib": read_macho}


def complaints(library: Library, target: Target) -> list[str]:
    """What is wrong with a library: functions it lacks, symbols and libraries it must not need."""
    found = []
    if missing := sorted(FUNCTIONS - library.defined):
        found.append(f"does not export {', '.join(missing)}")
    if strange := sorted(library.undefined - ALLOWED):
        found.append(f"needs {', '.join(strange)}, which neither libc nor libm has to offer")
    if foreign := [name for name in library.needed if not name.startswith(target.libraries)]:
        found.append(f"needs the libraries {', '.join(foreign)}")
    if library.text_relocations:
        found.append("is not position-independent (text relocations)")
    return found


def check_library(data: bytes, target: Target) -> None:
    """Raise LibraryError unless the library is complete and needs nothing but what is on every machine."""
    if wrong := complaints(_READERS[target.extension](data), target):
        raise LibraryError(f"library for {target.folder} {'; '.join(wrong)}")
