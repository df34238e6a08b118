"""Compiled functions that Python calls by their address. With a warm cache, no compiler is loaded.

Importing numba and loading a function from its cache takes a second, as long as everything else that a run does before
its first step. An entry point refers to its function by name. The machine code is kept in the cache as an object file,
under a key of everything that it depends on: the sources, the versions and the settings, which are read without
importing any of them. LLVM links the object file into this process. Only if the cache does not have it,
`dockfmu.base.object_code` imports the module and compiles the function.

The functions are those of `dockfmu.base.compiler.jit`. They allocate no memory, and are called in numba's native
convention: the status is returned, the result is written through the first pointer, and an array is passed as its size,
address, shape and strides. Other Python threads run during the call.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from dockfmu.base.cache import cache_root, digest_of_files, digest_of_sources, load_or_make, versions
from dockfmu.base.platforms import BASELINE

_HERE = Path(__file__).parent
RETURNED_NONE = -2
"""The status that numba's native code returns beside 0 if nothing went wrong."""

_RESULTS: dict[str, Any] = {
    "none": ctypes.c_void_p, "bool": ctypes.c_bool, "int32": ctypes.c_int32, "int64": ctypes.c_int64,
    "float64": ctypes.c_double,
    "UniTuple(float64 x 2)": 2 * ctypes.c_double,
}  # fmt: skip
"""The types that a function may return, by their names in numba."""


class EntryPoint:
    """A compiled function of a module, called from Python.

    Parameters
    ----------
    module, name : str
        Module and name of the function. The module is imported to compile the function, and with NUMBA_DISABLE_JIT to
        run it in the interpreter.
    sources : sequence of Path
        Files and folders of modules, besides those of `base`, whose changes may change the code.

    The arguments are arrays in C order, numbers, and objects with the attributes `address` and `kind`, the name of
    their layout. A call raises TypeError for other arguments, and for functions that need more than a processor and
    libm.
    """

    def __init__(self, module: str, name: str, sources: Sequence[Path]) -> None:
        self._module, self._name, self._sources = module, name, tuple(sources)
        self.loaded: dict[tuple[str, ...], Callable[..., Any]] = {}
        """The code in this process, by the kinds of the arguments."""

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        kinds = tuple(map(_kind, arguments))
        if kinds not in self.loaded:
            self.loaded[kinds] = self.python if _interpreted() else self._load(kinds, arguments)
        return self.loaded[kinds](*arguments)

    @property
    def python(self) -> Callable[..., Any]:
        """The uncompiled Python function."""
        function: Any = getattr(import_module(self._module), self._name)
        plain: Callable[..., Any] = getattr(function, "py_func", function)
        return plain

    def _load(self, kinds: tuple[str, ...], arguments: Sequence[Any]) -> Callable[..., Any]:
        key = "\n".join((*_surroundings(), *map(_digest, self._sources), self._module, self._name, *kinds))
        digest = hashlib.sha256(key.encode()).hexdigest()[:32]
        file = cache_root() / "machine_code" / f"{self._module}.{self._name}-{digest}.o"

        def compiled() -> bytes:
            from dockfmu.base.object_code import object_code

            head, code = object_code(self.python, arguments)
            return json.dumps(head).encode() + b"\n" + code

        text, _, code = load_or_make(file, key, compiled).partition(b"\n")
        return _link(json.loads(text), code, arguments)


def _kind(argument: Any) -> str:
    """Return everything about an argument on which machine code depends. Raises TypeError."""
    if isinstance(argument, np.ndarray):
        flags, dtype = argument.flags, argument.dtype
        if not flags.c_contiguous or not flags.aligned:
            raise TypeError("compiled functions take aligned arrays in C order")
        content = f"{dtype.descr} {dtype.isalignedstruct}" if dtype.names else dtype.str
        return f"{content} {argument.ndim} {flags.writeable}"
    if isinstance(argument, float):
        return "float"
    if isinstance(argument, int | np.integer):
        return "int"
    kind = getattr(argument, "kind", None)
    if not isinstance(kind, str):
        raise TypeError(f"compiled functions take arrays, numbers and tables, not {type(argument).__name__}")
    return kind


def _interpreted() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


@cache
def _surroundings() -> tuple[str, ...]:
    """Return what all machine code of this process depends on: versions, processor, settings of numba, and `base`."""
    file = Path(".numba_config.yaml")
    settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name.startswith("NUMBA_")]
    return (
        versions(), BASELINE, *settings, file.read_text() if file.is_file() else "", _digest(_HERE),
    )  # fmt: skip


@cache
def _digest(source: Path) -> str:
    """Return a digest of a file, or of the Python files of a folder."""
    return digest_of_sources(source) if source.is_dir() else digest_of_files([source])


def engine_of(*code: bytes) -> llvm.ExecutionEngine:
    """Link object files into this process. Their code lives as long as the engine that is returned."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    for data in code:
        engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine


def _link(head: dict[str, str], code: bytes, arguments: Sequence[Any]) -> Callable[..., Any]:
    """Link an object file into this process, and return its function for arguments of these kinds."""
    engine = engine_of(code)
    address = engine.get_function_address(head["symbol"])
    types = [kind for argument in arguments for kind in _types(argument)]
    native = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *types)(address)
    result_type = _RESULTS[head["returns"]]

    def call(*arguments: Any) -> Any:
        result, error = result_type(), ctypes.c_void_p()
        passed = [word for argument in arguments for word in _words(argument)]
        status = native(ctypes.addressof(result), ctypes.addressof(error), *passed)
        if status not in (0, RETURNED_NONE):
            raise RuntimeError(f"{head['symbol']} returned the status {status}")
        return tuple(result) if isinstance(result, ctypes.Array) else result.value

    # the code lives as long as its engine
    call.engine = engine  # type: ignore[attr-defined]
    return call


def _types(argument: Any) -> list[Any]:
    """Return the C types with which an argument is passed."""
    if isinstance(argument, np.ndarray):
        sizes = [ctypes.c_int64] * argument.ndim
        return [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p, *sizes, *sizes]
    if isinstance(argument, float):
        return [ctypes.c_double]
    return [ctypes.c_int64 if isinstance(argument, int | np.integer) else ctypes.c_void_p]


def _words(argument: Any) -> Sequence[Any]:
    """Return the values that pass an argument; those of an array begin with numba's two pointers to its owner, null."""
    if isinstance(argument, np.ndarray):
        shape, strides = argument.shape, argument.strides
        return (None, None, argument.size, argument.itemsize, argument.ctypes.data, *shape, *strides)
    if isinstance(argument, float | int | np.integer):
        return (argument,)
    return (argument.address,)
