"""Compile kernels to machine code that needs no Python: LLVM assembly, optimised and emitted for each target."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numba

from dockfmu.base.object_code import Entry, compile_module
from dockfmu.components.core.component import Component
from dockfmu.fmus.toolchain.targets import Target

INITIALIZE = "kernel_initialize"
STEP = "kernel_step"

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.initialize_native_asmparser()


def compile_component(component: Component) -> str:
    """Return LLVM assembly of the two kernels of `component`, not yet optimised for a target.

    The exported functions follow numba's native calling convention: the status of the call is returned (0, -2 for
    None, else a Python exception was raised), the kernel's own result goes through the first pointer::

        int32_t kernel_initialize(int32_t *result, void **exception, double *memory);
        int32_t kernel_step(int32_t *result, void **exception, double *memory, double t, double h);
    """
    record = numba.from_dtype(component.record.dtype)
    entries: list[Entry] = [
        (INITIALIZE, component.initialize, (record,)),
        (STEP, component.step, (record, numba.float64, numba.float64)),
    ]
    assembly: str = compile_module(component.name, entries, numba.int32)
    return assembly


def _machine(target: Target) -> llvm.TargetMachine:
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, opt=3, reloc="pic", codemodel="default"
    )


def optimise(assembly: str, target: Target, vectors: bool = True) -> llvm.ModuleRef:
    """Return the module optimised for `target`, reduced to the two kernels and what they call.

    Without `vectors`, instructions are scalar and every value has a name, as `sources.translate` needs it.
    """
    machine = _machine(target)
    # the replacement is a function, so that backslashes in it are literal
    assembly = re.sub(r"^target triple = .*$", lambda _: f'target triple = "{target.triple}"', assembly, flags=re.M)
    layout = str(machine.target_data)
    assembly = re.sub(r"^target datalayout = .*$", lambda _: f'target datalayout = "{layout}"', assembly, flags=re.M)
    module = llvm.parse_assembly(assembly)
    module.verify()
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration:
            continue
        if value.name in (INITIALIZE, STEP):
            # hidden outside the library: all FMUs have symbols of these names
            value.visibility = "hidden"
        else:
            value.linkage = "internal"
            value.visibility = "default"
    options = llvm.create_pipeline_tuning_options(speed_level=3 if vectors else 2)
    if not vectors:
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    # numba's helper functions survive O3 as long as a global refers to them
    clean = llvm.create_new_module_pass_manager()
    clean.add_global_dead_code_eliminate_pass()
    clean.add_strip_dead_prototype_pass()
    if not vectors:
        clean.add_instruction_namer_pass()
    clean.run(module, passes)
    return module


def emit(assembly: str, target: Target) -> bytes:
    """Return a position-independent object file for `target` from the assembly of `compile_component`."""
    data: bytes = _machine(target).emit_object(optimise(assembly, target))
    return data
