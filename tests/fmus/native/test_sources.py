"""FMUs as C sources: compiled as another tool would, they run as the library that zig and LLVM made."""

import ctypes
import itertools
import math
import subprocess
import sys
import zipfile

import gadget
import numpy as np
import pytest
from lxml import etree

import fmus
from components.core.component import Component
from components.core.field import input, output
from components.core.kernel import kernel
from components.core.record import Record
from fmus import catalogue, crosscheck, importer
from fmus.native.compile import Loaded, compile_component, emit
from fmus.native.sources import kernel_source
from fmus.native.targets import HOST
from fmus.native.translate import TranslationError
from fmus.validate import validate
from master.description import read_description


def compiled(file, folder):
    """The library, from nothing but what the FMU holds and says of its sources."""
    with zipfile.ZipFile(file) as archive:
        archive.extractall(folder)
        root = etree.fromstring(archive.read("modelDescription.xml"))
    sources = [element.get("name") for element in root.iterfind("CoSimulation/SourceFiles/File")]
    build = etree.parse(folder / "sources" / "buildDescription.xml").getroot()
    assert [element.get("name") for element in build.iter("SourceFile")] == sources
    options = build.find(".//SourceFileSet").get("compilerOptions").split()
    library = folder / f"library{HOST.extension}"
    compiler = [sys.executable, "-m", "ziglang", "cc", "-target", HOST.zig, "-std=c11", "-O2", "-shared"]
    subprocess.run([*compiler, *options, "-o", str(library), *sources, "-lm"], cwd=folder / "sources", check=True)
    return library


def same_as_the_kernels(component, tmp_path):
    file = fmus.build(component, tmp_path, platforms=(HOST.folder, "sources"))
    experiment = importer.experiment_for(read_description(file))
    expected = crosscheck.reference(component, experiment)
    found = importer.run(file, experiment, library=compiled(file, tmp_path / "unpacked"))
    np.testing.assert_array_equal(found.outputs.view(np.uint64), expected.view(np.uint64))


@kernel
def _nothing(m):
    return 0


@kernel
def _odd_step(m, t, h):
    a, b = m.a, m.b
    m.y[0] = 1.0 if a < b else 0.0
    m.y[1] = 1.0 if not a <= b else 0.0
    m.y[2] = 1.0 if a != b else 0.0
    m.y[3] = 1.0 if a == b else 0.0
    m.y[4] = min(a, b) + max(a, 0.5)
    m.y[5] = math.floor(a) + math.copysign(b, -a)
    m.y[6] = math.hypot(a, b) + math.expm1(-abs(a)) + math.erf(b) + math.log1p(abs(a))
    m.y[7] = a % 3.0
    if math.isfinite(a) and math.isfinite(b):
        i, j = int(a), int(b)
        m.y[8] = i // j if j != 0 else -1.0
        m.y[9] = i % j if j != 0 else -1.0
        m.y[10] = ((i << 3) ^ (j & 7)) | (i >> 1)
        m.y[11] = TABLE[abs(i) % 4]
        total = 0.1
        for k in range(abs(i) % 7):
            total = total * j - k
        m.y[12] = total
        if i == 1:
            m.y[13] = 10.0
        elif i == 2:
            m.y[13] = -20.0
        elif i == 3:
            m.y[13] = 30.0
        elif i == -4:
            m.y[13] = 40.0
        else:
            m.y[13] = math.inf
    return 0


TABLE = np.array([0.1, -0.2, 1e300, np.pi])


def test_every_operation_that_kernels_have(tmp_path):
    """Comparisons with NaN, divisions of negative numbers, shifts, tables, functions of libm; without the shim."""
    record = Record(input("a", "1", ""), input("b", "1", ""), output("y", "1", "", shape=14))
    component = Component("Odd", "", record, _nothing, _odd_step, {}, gadget.component().module)
    assembly = compile_component(component)
    (tmp_path / "kernels.c").write_text(kernel_source(assembly))
    command = [sys.executable, "-m", "ziglang", "cc", "-target", HOST.zig, "-std=c11", "-O2", "-shared", "-fPIC",
               "-ffp-contract=off", "-o", "library.so", "kernels.c", "-lm"]  # fmt: skip
    subprocess.run(command, cwd=tmp_path, check=True)
    translated, native = ctypes.CDLL(str(tmp_path / "library.so")), Loaded(emit(assembly, HOST))
    values = [0.0, -0.0, 1.0, 2.5, -3.7, -4.0, 3.0, 1e9, -7.0, np.nan, np.inf, -np.inf]
    for a, b in itertools.product(values, values):
        expected, found = component.start(), component.start()
        for block in (expected, found):
            block[0], block[1] = a, b
        pointer = ctypes.byref(ctypes.c_void_p())
        assert native.step(expected, 0.0, 0.1) == 0
        code = translated.kernel_step(
            pointer, pointer, ctypes.c_void_p(found.ctypes.data), ctypes.c_double(0.0), ctypes.c_double(0.1)
        )
        assert code == 0
        # a NaN may have any sign
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        told = ~np.isnan(expected)
        np.testing.assert_array_equal(found[told].view(np.uint64), expected[told].view(np.uint64), err_msg=f"{a}, {b}")


@pytest.mark.parametrize("name", ["Oscillator", "Spacecraft"])
def test_sources_compute_the_same_bits(name, tmp_path):
    same_as_the_kernels(catalogue.component(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in catalogue.names() if name not in ("Oscillator", "Spacecraft")])
def test_sources_of_the_larger_ones_do_too(name, tmp_path):
    try:
        same_as_the_kernels(catalogue.component(name), tmp_path)
    except TranslationError as refusal:
        pytest.xfail(str(refusal))


def test_sources_alone_are_an_fmu(tmp_path):
    file = fmus.build(gadget.component(), tmp_path, platforms=("sources",))
    assert read_description(file).binaries == ()
    (finding,) = validate(file)
    assert (finding.severity, finding.text) == ("warning", f"there is no library for {HOST.folder}")
    experiment = importer.experiment_for(read_description(file))
    found = importer.run(file, experiment, library=compiled(file, tmp_path / "unpacked"))
    expected = crosscheck.reference(gadget.component(), experiment)
    np.testing.assert_array_equal(found.outputs.view(np.uint64), expected.view(np.uint64))


def test_no_path_of_this_machine_is_in_the_sources(tmp_path):
    file = fmus.build(gadget.component(), tmp_path, platforms=("sources",))
    with zipfile.ZipFile(file) as archive:
        text = archive.read("sources/kernels.c")
    for part in (b"gadget.py", b"site-packages", b"tests"):
        assert part not in text
