"""Libraries for other platforms, from the same kernels; `importers/` runs them.

The compiler builds the run-time libraries of a platform on first use, for Windows in a minute or two: slow tests.
"""

import zipfile

import pytest

from dockfmu import fmus
from dockfmu.fmus.check import validate
from dockfmu.fmus.toolchain import zig
from dockfmu.fmus.toolchain.libraries import FUNCTIONS, LibraryError, faults, read_elf, read_macho, read_pe
from dockfmu.fmus.toolchain.targets import HOST, TARGETS
from dockfmu.fmus.toolchain.zig import compiler
from tests.fmus import gadget

MAGIC = {".so": b"\x7fELF", ".dll": b"MZ", ".dylib": b"\xcf\xfa\xed\xfe"}


@pytest.mark.slow
def test_one_fmu_for_all_platforms(tmp_path):
    file = fmus.build(gadget.component(), tmp_path, platforms=tuple(TARGETS))
    with zipfile.ZipFile(file) as archive:
        libraries = {
            name: archive.read(f"binaries/{name}/Gadget{target.extension}") for name, target in TARGETS.items()
        }
    for name, data in libraries.items():
        assert data.startswith(MAGIC[TARGETS[name].extension]), name
        for path in (b"/work", b"/home", b"/root", b"gadget.py"):
            assert path not in data, name
    assert read_pe(libraries["win64"]).defined == FUNCTIONS
    assert read_elf(libraries["aarch64-linux"]).defined == FUNCTIONS
    for name in ("darwin64", "aarch64-darwin"):
        library = read_macho(libraries[name])
        assert library.defined - {"__dso_handle", "_mh_dylib_header"} == FUNCTIONS
        assert faults(library, TARGETS[name]) == []
    assert validate(file) == []


def test_linux_library_offers_the_functions_of_the_standard_and_nothing_else(gadget_fmu):
    with zipfile.ZipFile(gadget_fmu) as archive:
        library = read_elf(archive.read("binaries/linux64/Gadget.so"))
    assert library.defined == FUNCTIONS
    assert set(library.needed) <= {"libc.so.6", "libm.so.6"}
    assert faults(library, TARGETS["linux64"]) == []


MACHO = b"\xcf\xfa\xed\xfe" + bytes(12) + b"\x01"


@pytest.mark.parametrize("reader", [read_elf, read_pe, read_macho])
@pytest.mark.parametrize("start", [b"", b"MZ", b"\x7fELF\x02\x01", MACHO])
@pytest.mark.parametrize("length", [0, 200])
def test_what_is_no_library(reader, start, length):
    with pytest.raises(LibraryError):
        reader(start + bytes(length))


def linked(folder):
    (folder / "one.c").write_text('__attribute__((visibility("default"))) int one(void) { return 1; }')
    with compiler(HOST, "library") as host:
        host.compile([folder / "one.c"], folder)
        return host.link_library("one.so", ["one.o"]).read_bytes()


@pytest.mark.slow
def test_damaged_parts_of_the_c_library_in_the_cache_reach_no_library(tmp_path, monkeypatch):
    """zig would link the damaged start-up code without a word."""
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "cache"))
    expected = linked(tmp_path)
    (kept,) = (tmp_path / "cache" / "zig").iterdir()
    sound = kept.read_bytes()
    place = sound.rindex(b"\x7fELF")
    damaged = sound[: place + 0x40] + b"\x90" * 16 + sound[place + 0x50 :]
    kept.write_bytes(damaged)
    assert linked(tmp_path) == expected
    assert kept.read_bytes() != damaged  # noticed, and made again


@pytest.mark.slow
def test_zig_of_another_environment_keeps_parts_of_its_own(tmp_path, monkeypatch):
    """For Windows, zig recognises no part of the C library that a zig in another folder compiled: 40 s a library."""
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "cache"))
    expected = linked(tmp_path)
    monkeypatch.setattr(zig, "_LIBRARIES", "/another/environment/ziglang")
    assert linked(tmp_path) == expected
    assert linked(tmp_path) == expected
    assert len(list((tmp_path / "cache" / "zig").iterdir())) == 2
