"""FMUs as C sources: compiled as another tool would, they run as the library that zig and LLVM made."""

import ctypes
import itertools
import math
import subprocess
import zipfile

import llvmlite.binding as llvm
import numpy as np
import pytest

from dockfmu import fmus
from dockfmu.components.core.component import Component
from dockfmu.components.core.field import input, output
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.machine_code import INITIALIZE, STEP, Kernels, compile_component, emit
from dockfmu.components.core.record import Record
from dockfmu.fmus import catalogue, crosscheck
from dockfmu.fmus.check import importer, validate
from dockfmu.fmus.native.sources.assembly import TranslationError
from dockfmu.fmus.native.sources.files import kernel_source
from dockfmu.fmus.native.sources.translate import translate
from dockfmu.fmus.toolchain.targets import HOST
from dockfmu.master.fmi.description import read_description
from tests.fmus import gadget
from tests.fmus.native import from_sources

pytestmark = pytest.mark.slow


def same_as_the_kernels(component, tmp_path):
    file = fmus.build(component, tmp_path, platforms=(HOST.folder, "sources"))
    experiment = importer.experiment_for(read_description(file))
    expected = crosscheck.reference(component, experiment)
    found = importer.run(file, experiment, library=from_sources.compiled(file, tmp_path / "unpacked"))
    np.testing.assert_array_equal(found.outputs.view(np.uint64), expected.view(np.uint64))


def step_of(source, folder):
    """`kernel_step` of C without the shim, to be called on a block."""
    (folder / "kernels.c").write_text(source)
    options = ("-std=c11", "-shared", "-fPIC", "-ffp-contract=off", "-o", "library.so", "-lm")
    subprocess.run([*from_sources.ZIG, *options, "kernels.c"], cwd=folder, check=True)
    library = ctypes.CDLL(str(folder / "library.so"))

    def step(block, t, h):
        unused = ctypes.byref(ctypes.c_void_p())
        pointer = ctypes.c_void_p(block.ctypes.data)
        return library.kernel_step(unused, unused, pointer, ctypes.c_double(t), ctypes.c_double(h))

    return step


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
    native = Kernels(emit(assembly, HOST.machine))
    step = step_of(kernel_source(assembly), tmp_path)
    values = [0.0, -0.0, 1.0, 2.5, -3.7, -4.0, 3.0, 1e9, -7.0, np.nan, np.inf, -np.inf]
    for a, b in itertools.product(values, values):
        expected, found = component.start(), component.start()
        for block in (expected, found):
            block[0], block[1] = a, b
        assert native.step(expected, 0.0, 0.1) == 0
        assert step(found, 0.0, 0.1) == 0
        # a NaN may have any sign
        np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
        told = ~np.isnan(expected)
        np.testing.assert_array_equal(found[told].view(np.uint64), expected[told].view(np.uint64), err_msg=f"{a}, {b}")


AGGREGATES = """
target triple = ""
target datalayout = ""

define i32 @kernel_initialize(ptr %result, ptr %exception, ptr %memory) {
  ret i32 0
}

define i32 @kernel_step(ptr %result, ptr %exception, ptr %memory, double %t, double %h) {
entry:
  %room = alloca { i8, [2 x double], { double, i8 } }, align 8
  %early = fcmp olt double %t, 1.000000e+00
  br i1 %early, label %yes, label %no
yes:
  %a = insertvalue { i8, double, [3 x double] } { i8 1, double undef, [3 x double] [double 3.0, double 4.0, double 5.0] }, double %t, 1
  %b = insertvalue { i8, double, [3 x double] } %a, double %h, 2, 1
  br label %both
no:
  %row = insertvalue [3 x double] zeroinitializer, double %t, 2
  %c = insertvalue { i8, double, [3 x double] } { i8 0, double 7.0, [3 x double] undef }, [3 x double] %row, 2
  br label %both
both:
  %x = phi { i8, double, [3 x double] } [ %b, %yes ], [ %c, %no ]
  %x1 = extractvalue { i8, double, [3 x double] } %x, 1
  store double %x1, ptr %memory, align 8
  %x2 = extractvalue { i8, double, [3 x double] } %x, 2
  %y = getelementptr i8, ptr %memory, i64 8
  store [3 x double] %x2, ptr %y, align 8
  %pair = load [2 x double], ptr %y, align 8
  %whole = insertvalue { i8, [2 x double], { double, i8 } } zeroinitializer, [2 x double] %pair, 1
  %more = insertvalue { i8, [2 x double], { double, i8 } } %whole, double %h, 2, 0
  store { i8, [2 x double], { double, i8 } } %more, ptr %room, align 8
  %second = getelementptr { i8, [2 x double], { double, i8 } }, ptr %room, i32 0, i32 1, i64 1
  %v = load double, ptr %second, align 8
  %inner = getelementptr { i8, [2 x double], { double, i8 } }, ptr %room, i32 0, i32 2, i32 0
  %w = load double, ptr %inner, align 8
  %sum = fadd double %v, %w
  %z = getelementptr double, ptr %memory, i64 4
  store double %sum, ptr %z, align 8
  %flag = extractvalue { i8, double, [3 x double] } %x, 0
  %number = uitofp i8 %flag to double
  %last = getelementptr double, ptr %memory, i64 5
  store double %number, ptr %last, align 8
  ret i32 0
}
"""  # noqa: E501


@pytest.mark.parametrize(
    ("t", "expected"), [(0.5, [0.5, 3.0, 0.25, 5.0, 0.5, 1.0]), (2.0, [7.0, 0.0, 0.0, 2.0, 0.25, 0.0])]
)
def test_structures_and_arrays_as_values(tmp_path, t, expected):
    """Arrays in structures, made, taken apart, stored, loaded and chosen whole; as numba rarely leaves them."""
    found, native = np.zeros(6), np.zeros(6)
    module = llvm.parse_assembly(AGGREGATES)
    module.verify()
    assert step_of(translate(module, (INITIALIZE, STEP)), tmp_path)(found, t, 0.25) == 0
    Kernels(emit(AGGREGATES, HOST.machine)).step(native, t, 0.25)
    assert found.tolist() == native.tolist() == expected


def _funnel_shifts():
    """Return LLVM assembly that shifts pairs of integers, from the first three words of memory into the next six."""
    lines, declared, place = [], [], 3
    for width in (64, 32, 8):
        for k in range(3):
            lines.append(f"%p{width}.{k} = getelementptr i64, ptr %memory, i64 {k}")
            lines.append(f"%x{width}.{k} = load i{width}, ptr %p{width}.{k}, align 1")
        for way in "lr":
            name, kind = f"{way}{width}", f"i{width}"
            declared.append(f"declare {kind} @llvm.fsh{way}.{kind}({kind}, {kind}, {kind})")
            given = ", ".join(f"{kind} %x{width}.{k}" for k in range(3))
            lines.append(f"%{name} = call {kind} @llvm.fsh{way}.{kind}({given})")
            lines.append(f"%to.{name} = getelementptr i64, ptr %memory, i64 {place}")
            lines.append(f"store {kind} %{name}, ptr %to.{name}, align 1")
            place += 1
    start = "define i32 @kernel_initialize(ptr %result, ptr %exception, ptr %memory) {\n  ret i32 0\n}"
    head = "define i32 @kernel_step(ptr %result, ptr %exception, ptr %memory, double %t, double %h) {"
    text = 'target triple = ""\ntarget datalayout = ""'
    return "\n".join([text, *declared, start, head, *lines, "ret i32 0", "}"])


def test_funnel_shifts(tmp_path):
    """Rotations of a generator of random numbers; by no bits, by all and by more than the type has."""
    assembly = _funnel_shifts()
    module = llvm.parse_assembly(assembly)
    module.verify()
    step, native = step_of(translate(module, (INITIALIZE, STEP)), tmp_path), Kernels(emit(assembly, HOST.machine))
    high, low = 0x923456789ABCDEF1, 0x8FEDCBA987654327
    for count in (0, 1, 7, 8, 13, 31, 32, 63, 64, 77, 2**64 - 1):
        expected = []
        for width in (64, 32, 8):
            mask, places = 2**width - 1, count % width
            pair = (high & mask) << width | (low & mask)
            expected += [pair >> (width - places) & mask, pair >> places & mask]
        for run in (step, native.step):
            memory = np.zeros(9)
            memory.view(np.uint64)[:3] = high, low, count
            assert run(memory, 0.0, 0.1) == 0
            assert memory.view(np.uint64)[3:].tolist() == expected, count


CLASSES = {
    0x003: [np.nan, -np.nan], 0x004: [-np.inf], 0x008: [-1.7e308, -1.0, -2.2250738585072014e-308],
    0x010: [-2.225073858507201e-308, -5e-324], 0x020: [-0.0], 0x040: [0.0], 0x080: [5e-324, 2.225073858507201e-308],
    0x100: [2.2250738585072014e-308, 1.0, 1.7e308], 0x200: [np.inf],
}  # fmt: skip


def test_classes_of_numbers(tmp_path):
    """LLVM makes `llvm.is.fpclass` of comparisons with infinities: each class and its opposite, and what LLVM made."""
    masks = [*CLASSES, *(0x3FF ^ bits for bits in CLASSES), 0x000, 0x3FF, 0x27F, 0x204, 0x0F0]
    lines = []
    for k, mask in enumerate(masks):
        lines += [
            f"%is{k} = call i1 @llvm.is.fpclass.f64(double %t, i32 {mask})", f"%n{k} = uitofp i1 %is{k} to double",
            f"%p{k} = getelementptr double, ptr %memory, i64 {k}", f"store double %n{k}, ptr %p{k}, align 8",
        ]  # fmt: skip
    head = "define i32 @kernel_step(ptr %result, ptr %exception, ptr %memory, double %t, double %h) {"
    start = "define i32 @kernel_initialize(ptr %result, ptr %exception, ptr %memory) {\n  ret i32 0\n}"
    text = 'target triple = ""\ntarget datalayout = ""\ndeclare i1 @llvm.is.fpclass.f64(double, i32)'
    assembly = "\n".join([text, start, head, *lines, "ret i32 0", "}"])
    module = llvm.parse_assembly(assembly)
    module.verify()
    step, native = step_of(translate(module, (INITIALIZE, STEP)), tmp_path), Kernels(emit(assembly, HOST.machine))
    for bits, values in CLASSES.items():
        for value in values:
            for run in (step, native.step):
                memory = np.full(len(masks), -1.0)
                assert run(memory, value, 0.1) == 0
                assert memory.tolist() == [float(bool(mask & bits)) for mask in masks], value


@pytest.mark.parametrize("count", [2, 4, 8])
def test_truth_values_packed_into_an_integer(count, tmp_path):
    """LLVM makes one integer of the comparisons of a loop, and asks whether any or all of its bits are set."""
    pairs = f"<{count} x double>"
    lines = [
        f"%x = load {pairs}, ptr %memory, align 8", f"%c = fcmp ogt {pairs} %x, zeroinitializer",
        f"%y = bitcast <{count} x i1> %c to i{count}", f"%any = icmp ne i{count} %y, 0",
        f"%all = icmp eq i{count} %y, -1", f"%low = trunc i{count} %y to i1",
    ]  # fmt: skip
    for k, found in enumerate(("any", "all", "low"), count):
        lines += [
            f"%n{k} = uitofp i1 %{found} to double", f"%p{k} = getelementptr double, ptr %memory, i64 {k}",
            f"store double %n{k}, ptr %p{k}, align 8",
        ]  # fmt: skip
    head = "define i32 @kernel_step(ptr %result, ptr %exception, ptr %memory, double %t, double %h) {"
    start = "define i32 @kernel_initialize(ptr %result, ptr %exception, ptr %memory) {\n  ret i32 0\n}"
    assembly = "\n".join(['target triple = ""\ntarget datalayout = ""', start, head, *lines, "ret i32 0", "}"])
    module = llvm.parse_assembly(assembly)
    module.verify()
    step, native = step_of(translate(module, (INITIALIZE, STEP)), tmp_path), Kernels(emit(assembly, HOST.machine))
    for pattern in range(2**count):
        bits = [pattern >> k & 1 for k in range(count)]
        for run in (step, native.step):
            memory = np.array([*(2.0 * bit - 1.0 for bit in bits), -1.0, -1.0, -1.0])
            assert run(memory, 0.0, 0.1) == 0
            assert memory[count:].tolist() == [any(bits), all(bits), bits[0]], pattern


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("%n = call i1 @llvm.is.fpclass.f64(double %t, i32 1)", "signaling"),
        ("%n = fptrunc double %t to float", "float"),
        ("%n = call i65 @odd()", "odd"),
        ("%n = insertvalue { float } undef, float 0.0, 0", "float"),
    ],
)
def test_what_is_not_known_is_refused_by_name(line, name):
    text = "declare i1 @llvm.is.fpclass.f64(double, i32)\n"
    text += f"declare i65 @odd()\ndefine i32 @kernel_step(double %t) {{\n  {line}\n  ret i32 0\n}}"
    with pytest.raises(TranslationError, match=name):
        translate(llvm.parse_assembly(text), (STEP,))


@pytest.mark.parametrize("name", ["Oscillator", "Spacecraft"])
def test_sources_compute_the_same_bits(name, tmp_path):
    same_as_the_kernels(catalogue.component(name), tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in catalogue.names() if name not in ("Oscillator", "Spacecraft")])
def test_sources_of_the_larger_ones_do_too(name, tmp_path):
    same_as_the_kernels(catalogue.component(name), tmp_path)


def test_sources_alone_are_an_fmu(tmp_path):
    file = fmus.build(gadget.component(), tmp_path, platforms=("sources",))
    assert read_description(file).binaries == ()
    (finding,) = validate(file)
    assert (finding.severity, finding.text) == ("warning", f"there is no library for {HOST.folder}")
    experiment = importer.experiment_for(read_description(file))
    found = importer.run(file, experiment, library=from_sources.compiled(file, tmp_path / "unpacked"))
    expected = crosscheck.reference(gadget.component(), experiment)
    np.testing.assert_array_equal(found.outputs.view(np.uint64), expected.view(np.uint64))


def test_no_path_of_this_machine_is_in_the_sources(tmp_path):
    file = fmus.build(gadget.component(), tmp_path, platforms=("sources",))
    with zipfile.ZipFile(file) as archive:
        text = archive.read("sources/kernels.c")
    for part in (b"gadget.py", b"site-packages", b"tests"):
        assert part not in text
