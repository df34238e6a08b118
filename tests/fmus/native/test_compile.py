"""Kernels compiled ahead of time: what an object file needs and exports, and the values that it computes."""

import re
from dataclasses import replace

import llvmlite.binding as llvm
import numpy as np
import pytest

from dockfmu.components.core import machine_code
from dockfmu.components.core.machine_code import INITIALIZE, STEP, Kernels, compile_component, emit, optimise
from dockfmu.components.oscillator import component as oscillator
from dockfmu.fmus.catalogue import component
from dockfmu.fmus.native import build
from dockfmu.fmus.native.sources.files import kernel_source
from dockfmu.fmus.toolchain.targets import HOST
from tests.fmus import gadget


def test_module_defines_the_two_kernels_and_needs_only_libm():
    """An undefined symbol of numba or Python would show here when its private calls change."""
    module = optimise(compile_component(oscillator()), HOST.machine)
    defined = {f.name for f in module.functions if not f.is_declaration and f.linkage == llvm.Linkage.external}
    undefined = {f.name for f in module.functions if f.is_declaration and not f.name.startswith("llvm.")}
    assert defined == {INITIALIZE, STEP}
    assert undefined <= {"sin", "cos", "sincos", "sinh", "cosh", "exp", "memset", "memcpy"}


@pytest.mark.parametrize(
    ("made", "values"),
    [
        (gadget.component(), {"signal": 3.0, "switch": 1.0}),
        (component("Spacecraft"), {"parameters.mass": 7000.0, "port[1].force": (30.0, -2.0, 1.0)}),
    ],
    ids=["Gadget", "Spacecraft"],
)
def test_calling_convention_and_values_equal_the_jit(made, values):
    """numba's own compilation for calls from Python takes another way through its code generator."""
    loaded = Kernels(emit(compile_component(made), HOST.machine))
    block, direct = (made.start(**values) for _ in range(2))
    memory = made.record.view(direct)
    assert loaded.initialize(block) == made.initialize(memory) == 0
    start = block.copy()
    for k in range(5):
        assert loaded.step(block, 0.1 * k, 0.1) == made.step(memory, 0.1 * k, 0.1) == 0
    assert not np.array_equal(block, start)
    assert block.tobytes() == direct.tobytes()


def test_codes_of_failures_are_returned():
    component = gadget.component()
    loaded = Kernels(emit(compile_component(component), HOST.machine))
    block = component.start(mode=3.0)
    assert loaded.initialize(block) == 0
    assert loaded.step(block, 0.5, 0.1) == gadget.TOLD_TO_FAIL


def test_emitted_code_depends_on_nothing_but_the_source():
    once, twice = (emit(compile_component(oscillator()), HOST.machine) for _ in range(2))
    assert once == twice


def test_code_is_for_the_baseline_processor_wherever_it_is_built():
    """numba would optimise inner functions for the processor at hand: wider vectors, other bytes."""
    assembly = compile_component(component("Spacecraft"))
    assert max((int(n) for n in re.findall(r"<(\d+) x double>", assembly)), default=0) <= 2


def test_no_path_of_a_source_file_reaches_the_object():
    data = emit(compile_component(gadget.component()), HOST.machine)
    for part in ("gadget.py", "kernel.py", "tests", "site-packages"):
        assert part.encode() not in data, part


def test_memory_beyond_the_record_stays_untouched():
    component = oscillator()
    loaded = Kernels(emit(compile_component(component), HOST.machine))
    guarded = np.full(component.record.size + 2, np.pi)
    block = guarded[1:-1]
    block[:] = component.start()
    loaded.initialize(block)
    loaded.step(block, 0.0, 1e-3)
    assert guarded[0] == guarded[-1] == np.pi


def test_kernels_are_compiled_once_whatever_else_changes(tmp_path, monkeypatch):
    """A description changes the FMU and not its kernels; other kernels of the same name are compiled."""
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    component = oscillator()
    assembly = machine_code.assembly_of(component)
    assert assembly == compile_component(component)

    def never(component):
        raise AssertionError("compiled")

    monkeypatch.setattr(machine_code, "compile_component", never)
    assert machine_code.assembly_of(replace(component, description="another")) == assembly
    with pytest.raises(AssertionError, match="compiled"):
        machine_code.assembly_of(replace(component, step=gadget.component().step))


def test_kernels_are_translated_once(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    assembly = compile_component(oscillator())
    source = build._source(assembly)
    assert source == kernel_source(assembly)

    def never(assembly):
        raise AssertionError("translated")

    monkeypatch.setattr(build, "kernel_source", never)
    assert build._source(assembly) == source
    with pytest.raises(AssertionError, match="translated"):
        build._source(compile_component(gadget.component()))
