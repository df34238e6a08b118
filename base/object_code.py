"""Compile a function to an object file, which `base.entry_points` keeps in the cache and links."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core import compiler, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.target_extension import target_override

from base.compiler import NAME, Pipeline, target
from base.platforms import BASELINE


@global_compiler_lock
def object_code(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[dict[str, str], bytes]:
    """Compile a plain function for arguments like these.

    Return the symbol of the function with numba's name of its return type, and the object file. Raises TypeError for a
    function that needs more than libc and libm, and numba's errors for what nopython mode does not support.
    """
    flags: Any = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.enable_pyobject = False
    flags.error_model = "numpy"
    flags.nrt = False
    typing, context = target.typing_context, target.target_context.with_aot_codegen(NAME, cpu_name=BASELINE)
    typing.refresh()
    context.refresh()
    library = context.codegen().create_library(function.__qualname__)
    with target_override(NAME):
        result = compiler.compile_extra(
            typing, context, function, tuple(map(_type, arguments)), None, flags, locals={}, library=library,
            pipeline_class=Pipeline,
        )  # fmt: skip
    library.finalize()
    declared = [symbol for symbol in library._final_module.functions if symbol.is_declaration]
    needed = {symbol.name for symbol in declared if not symbol.name.startswith("llvm.")}
    # LLVM ends a process that links an undefined symbol, and a process without numba defines none of numba's symbols
    absent = [name for name in needed if name.startswith(("NRT_", "numba_")) or llvm.address_of_symbol(name) is None]
    if absent:
        raise TypeError(f"{function.__qualname__} needs {', '.join(sorted(absent))}: it may not allocate memory")
    code: bytes = library.emit_native_object()
    return {"symbol": result.fndesc.llvm_func_name, "returns": str(result.signature.return_type)}, code


def _type(argument: Any) -> Any:
    """Return the numba type of an argument; numbers have 64 bits."""
    if isinstance(argument, float):
        return types.float64
    return types.int64 if isinstance(argument, int | np.integer) else numba.typeof(argument)
