"""Compile kernels to machine code that needs no Python.

numba's public AOT compiler (`numba.pycc`) wraps every function for Python and is deprecated. Here the same steps are
taken without the wrapping, in the context of `base.compiler`, which names functions by their content. This is the only
module of the exporter that uses private parts of numba: `with_aot_codegen` of the target context, `create_library` of
its code generator, `compile_extra` with its `Flags`, `target_override`, the compiler lock, and `get_function` and
`_final_module` of a code library. Each has a test in `tests/fmus/native/test_private_parts.py` that names it if a new
version of numba changes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core import compiler
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import target_override

from base.compiler import NAME, Pipeline
from base.compiler import target as base_target
from base.platforms import BASELINE
from components.core.component import Component
from fmus.toolchain.targets import Target

INITIALIZE = "kernel_initialize"
STEP = "kernel_step"

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.initialize_native_asmparser()

Signature = tuple[Any, ...]


def compile_component(component: Component) -> str:
    """Return LLVM assembly of the two kernels of `component`, not yet optimised for a target.

    The exported functions follow numba's native calling convention: the status of the call is returned (0, -2 for
    None, else a Python exception was raised), the kernel's own result goes through the first pointer::

        int32_t kernel_initialize(int32_t *result, void **exception, double *memory);
        int32_t kernel_step(int32_t *result, void **exception, double *memory, double t, double h);
    """
    record = numba.from_dtype(component.record.dtype)
    assembly: str = compile_functions(
        component.name,
        {
            INITIALIZE: (component.initialize, (record,)),
            STEP: (component.step, (record, numba.float64, numba.float64)),
        },
    )
    return assembly


@global_compiler_lock  # type: ignore[untyped-decorator]
def compile_functions(name: str, entries: Mapping[str, tuple[Callable[..., int], Signature]]) -> str:
    """Return LLVM assembly of the module `name`.

    `entries` maps each symbol that it exports to a Python function and numba's types of its arguments. The functions
    return int32. Raises numba's errors for what nopython mode does not support.
    """
    typing = base_target.typing_context
    context = base_target.target_context.with_aot_codegen(name, cpu_name=BASELINE)
    typing.refresh()
    context.refresh()
    library = context.codegen().create_library(name)
    for symbol, (function, arguments) in entries.items():
        flags: Any = compiler.Flags()  # type: ignore[no-untyped-call]
        flags.no_compile = True
        flags.no_cpython_wrapper = True
        flags.no_cfunc_wrapper = True
        flags.enable_pyobject = False
        flags.error_model = "numpy"
        flags.nrt = False
        with target_override(NAME):  # type: ignore[no-untyped-call]
            compiled = compiler.compile_extra(  # type: ignore[no-untyped-call]
                typing, context, _anonymous(function), arguments, numba.int32, flags, locals={}, library=library,
                pipeline_class=Pipeline,
            )  # fmt: skip
        library.get_function(compiled.fndesc.llvm_func_name).name = symbol
    library.finalize()
    return str(library._final_module)


def _anonymous(function: Callable[..., Any]) -> FunctionType:
    """Return the plain function without the path of its source, which numba would compile into the object."""
    plain: Any = getattr(function, "py_func", function)
    code = plain.__code__.replace(co_filename=f"{plain.__module__}.py")
    return FunctionType(code, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__)


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
