"""Libraries for other platforms, from the same kernels; `importers/` runs them."""

import os
import subprocess
import zipfile

import pytest

from dockfmu import fmus
from dockfmu.base.cache import cache_root
from dockfmu.fmus.check import validate
from dockfmu.fmus.check.importer.program import stand_in
from dockfmu.fmus.toolchain import zig
from dockfmu.fmus.toolchain.libraries import ALLOWED, FUNCTIONS, LibraryError, faults, read_elf, read_macho, read_pe
from dockfmu.fmus.toolchain.targets import HOST, TARGETS
from dockfmu.fmus.toolchain.zig import compiler, link_program
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
    """Compile again what a zig in another folder compiled: what is found in a cache depends on the place."""
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path / "cache"))
    expected = linked(tmp_path)
    monkeypatch.setattr(zig, "_LIBRARIES", "/another/environment/ziglang")
    assert linked(tmp_path) == expected
    assert linked(tmp_path) == expected
    assert len(list((tmp_path / "cache" / "zig").iterdir())) == 2


WINDOWS = TARGETS["win64"]
FOREIGN = {"bzero", "dyld_stub_binder", "memset_pattern16", "stpcpy"}
"""What libraries may use of GNU's and macOS' C libraries alone: LLVM calls none of it for Windows."""


def test_windows_has_every_function_that_a_library_may_use(tmp_path):
    """Without the MinGW library, which zig compiles for two minutes: nothing of it is in the cache."""
    names = sorted(name for name in ALLOWED - FOREIGN if not name.startswith("_"))
    declared = "\n".join(f"void {name}(void);" for name in names)
    (tmp_path / "all.c").write_text(f"{declared}\nvoid all(void) {{ {'(); '.join(names)}(); }}\n")
    with compiler(WINDOWS, "library") as windows:
        windows.run("-fno-builtin", "-c", str(tmp_path / "all.c"), "-o", "all.o")
        library = read_pe(windows.link_library("all.dll", ["all.o"]).read_bytes())
        kept = {file.name for file in windows.folder.rglob("*.lib")}
    assert library.needed
    assert all(name.startswith(WINDOWS.libraries) for name in library.needed)
    assert "kernel32.lib" in kept
    assert not any("mingw" in name for name in kept)


DEEP = r"""
#include <math.h>
#include <stdio.h>
#include <string.h>

void sincos(double, double *, double *);

static __attribute__((noinline)) double deep(int left)
{
    volatile double room[30000]; /* 240 kB: 59 pages */
    for (int i = 29999; i >= 0; i -= 500) room[i] = left;
    return left ? room[29999] + deep(left - 1) : room[499];
}

int main(int count, char **words)
{
    char text[40];
    double sine, cosine;
    sincos(0.5, &sine, &cosine);
    int length = snprintf(text, 8, "%.17g", 0.1);
    printf("%g %d %s %d %d ", deep(2), count, words[1], length, (int)strlen(text));
    printf("%d%d%d ", isfinite(cosine) != 0, isfinite(1.0 / (count - 2)) != 0, isfinite(sqrt(-sine)) != 0);
    printf("%.4f ", lgamma(0.5 * count + 2.5));
    printf("%g %g\n", sine - sin(0.5), cosine - cos(0.5));
    return 7;
}
"""


@pytest.mark.skipif(stand_in(WINDOWS) is None, reason="nothing here runs programs for Windows: install wine64")
def test_what_is_added_for_windows_does_what_it_says(tmp_path):
    """Frames of many pages, arguments, text cut to its room, classes of numbers, sine and cosine in one call."""
    (tmp_path / "deep.c").write_text(DEEP)
    program = tmp_path / "deep.exe"
    link_program(tmp_path / "deep.c", tmp_path, program, WINDOWS)
    wine = {"WINEPREFIX": str(cache_root() / "wine"), "WINEDEBUG": "-all"}
    command = [*stand_in(WINDOWS), program, "a b"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **wine}, timeout=600)
    assert done.stdout.split() == ["3", "2", "a", "b", "19", "7", "100", "1.2010", "0", "0"], done
    assert done.returncode == 7
