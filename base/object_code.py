"""Compile functions ahead of time: to a module of LLVM, or to an object file that `dockfmu.base.entry_points` links.

numba's public AOT compiler (`numba.pycc`) wraps every function for Python and is deprecated. Here the same steps are
taken without the wrapping, in the context of `dockfmu.base.compiler`, which names functions by their content. The
private parts of numba that this takes are called here only: `with_aot_codegen` of the target context, `create_library`
of its code generator, `compile_extra` with its `Flags`, `target_override`, the compiler lock, and `get_function`,
`_optimize_final_module`, `_final_module`, `_linking_libraries`, `_get_module_for_linking` and
`_verify_declare_only_symbols` of a code library. `tests/base/test_private_parts_ahead_of_time.py` has a
test for each, which fails if a new version of numba changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import target_override

from dockfmu.base.compiler import NAME, Pipeline, target
from dockfmu.base.platforms import BASELINE

Entry = tuple[str, Callable[..., Any], tuple[Any, ...]]


@global_compiler_lock
def compile_module(name: str, entries: Sequence[Entry], returns: Any) -> str:
    """Return LLVM assembly of the module `name`, not optimised beyond its single functions.

    `entries` are (exported symbol, Python function, numba's types of its arguments); the functions return `returns`.
    Raises numba's errors for what nopython mode does not support.
    """
    return str(_linked(_entries(name, entries, returns)))


@global_compiler_lock
def compile_apart(name: str, entries: Sequence[Entry], returns: Any) -> tuple[str, Callable[[], str]]:
    """Compile the module `name` in two: the entries, and what they call.

    Return LLVM assembly as `compile_module` does, in which the functions that the entries call are declared and hidden,
    and a function that returns the assembly in which these are defined. They are named by their content.
    """
    library = _entries(name, entries, returns)
    called, library._linking_libraries = library._linking_libraries, []
    # numba refuses to leave what it wrote itself to another module
    library._verify_declare_only_symbols = lambda: None
    own = _linked(library)
    symbols = [function.name for function in own.functions if function.is_declaration and not _is_intrinsic(function)]
    for symbol in symbols:
        own.get_function(symbol).visibility = "hidden"

    @global_compiler_lock
    def rest() -> str:
        module, missing = _linked(library.codegen.create_library(name)), set(symbols)
        for linked in called:
            part = linked._get_module_for_linking().clone()
            for function in part.functions:
                if function.name in missing and not function.is_declaration:
                    # what libraries share is linked only where something refers to it
                    function.linkage, function.visibility = "external", "hidden"
                    missing.remove(function.name)
            module.link_in(part)
        return str(module)

    return str(own), rest


def _is_intrinsic(function: llvm.ValueRef) -> bool:
    return str(function.name).startswith("llvm.")


def _entries(name: str, entries: Sequence[Entry], returns: Any) -> Any:
    """Return a code library with the entries under their exported symbols, not yet finalized."""
    library, results = _compile(
        name, [(_anonymous(function), arguments) for _, function, arguments in entries], returns
    )
    for (symbol, _, _), result in zip(entries, results, strict=True):
        library.get_function(result.fndesc.llvm_func_name).name = symbol
    return library


def _linked(library: Any) -> Any:
    """Finalize a code library, and return its module."""
    # who makes machine code of the module optimises it as a whole
    library._optimize_final_module = lambda: None
    library.finalize()
    return library._final_module


@global_compiler_lock
def object_code(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[dict[str, str], bytes]:
    """Compile a plain function for arguments like these.

    Return the symbol of the function with numba's name of its return type, and the object file. Raises TypeError for a
    function that needs more than libc and libm, and numba's errors for what nopython mode does not support.
    """
    library, (result,) = _compile(function.__qualname__, [(function, tuple(map(_type, arguments)))], None)
    library.finalize()
    declared = [symbol for symbol in library._final_module.functions if symbol.is_declaration]
    needed = {symbol.name for symbol in declared if not symbol.name.startswith("llvm.")}
    # LLVM ends a process that links an undefined symbol, and a process without numba defines none of numba's symbols
    absent = [name for name in needed if name.startswith(("NRT_", "numba_")) or llvm.address_of_symbol(name) is None]
    if absent:
        raise TypeError(f"{function.__qualname__} needs {', '.join(sorted(absent))}: it may not allocate memory")
    code: bytes = library.emit_native_object()
    return {"symbol": result.fndesc.llvm_func_name, "returns": str(result.signature.return_type)}, code


def _compile(
    name: str, functions: Sequence[tuple[Callable[..., Any], tuple[Any, ...]]], returns: Any
) -> tuple[Any, list[Any]]:
    """Return a code library, not yet finalized, and numba's result for each of the functions compiled into it."""
    flags: Any = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.enable_pyobject = False
    flags.error_model = "numpy"
    flags.nrt = False
    typing, context = target.typing_context, target.target_context.with_aot_codegen(name, cpu_name=BASELINE)
    typing.refresh()
    context.refresh()
    library = context.codegen().create_library(name)
    results = []
    for function, arguments in functions:
        with target_override(NAME):
            results.append(
                compiler.compile_extra(
                    typing,
                    context,
                    function,
                    arguments,
                    returns,
                    flags,
                    locals={},
                    library=library,
                    pipeline_class=Pipeline,
                )
            )
    return library, results


def _anonymous(function: Callable[..., Any]) -> FunctionType:
    """Return the plain function without the path of its source, which numba would compile into the object."""
    plain: Any = getattr(function, "py_func", function)
    code = plain.__code__.replace(co_filename=f"{plain.__module__}.py")
    return FunctionType(code, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__)


def _type(argument: Any) -> Any:
    """Return the numba type of an argument; numbers have 64 bits."""
    if isinstance(argument, float):
        return types.float64
    return types.int64 if isinstance(argument, int | np.integer) else numba.typeof(argument)
