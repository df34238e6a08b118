"""Machine code of a component's kernels, which needs no Python: compiled once, for FMUs and for this process.

Compiling kernels to LLVM assembly takes most of the time of a build, optimising the assembly for a machine nearly all
of the rest. Both results are kept in the cache. Start values, parameter sets, documentation and the shim do not change
them.
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import llvmlite.binding as llvm
import numba
import numpy as np

from dockfmu.base import compiler, content, object_code
from dockfmu.base.cache import cache_root, digest_of_files, load_or_make, versions
from dockfmu.base.compiler import settings
from dockfmu.base.content import digest_of, name_of
from dockfmu.base.entry_points import RETURNED_NONE, engine_of
from dockfmu.base.object_code import Entry, compile_apart, compile_module
from dockfmu.base.platforms import BASELINE, Machine
from dockfmu.components.core import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.core.sources import kernel_digest

INITIALIZE = "kernel_initialize"
STEP = "kernel_step"
_NAME = "kernels"
"""Name of every module: components of other names that have the same kernels and record share its code."""

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
llvm.initialize_native_asmparser()

THIS_PROCESS = Machine(llvm.get_process_triple(), BASELINE)
"""The machine of code that is linked into this process."""


class Compilable(Protocol):
    """List what is compiled of a component."""

    @property
    def name(self) -> str:
        """Name of the component."""

    @property
    def record(self) -> Record:
        """Layout of the memory."""

    @property
    def initialize(self) -> Callable[[Any], int]:
        """First kernel."""

    @property
    def step(self) -> Callable[[Any, float, float], int]:
        """Second kernel."""

    @property
    def called_apart(self) -> bool:
        """Whether what the kernels call is compiled apart, once for all components that call the same."""


def compile_component(component: Compilable) -> str:
    """Return LLVM assembly of the two kernels of `component` and what they call, not yet optimised for a machine.

    The exported functions follow numba's native calling convention: the status of the call is returned (0, -2 for
    None, else a Python exception was raised), the kernel's own result goes through the first pointer::

        int32_t kernel_initialize(int32_t *result, void **exception, double *memory);
        int32_t kernel_step(int32_t *result, void **exception, double *memory, double t, double h);
    """
    assembly: str = compile_module(_NAME, _entries(component), numba.int32)
    return assembly


def _entries(component: Compilable) -> list[Entry]:
    record = numba.from_dtype(component.record.dtype)
    return [
        (INITIALIZE, component.initialize, (record,)),
        (STEP, component.step, (record, numba.float64, numba.float64)),
    ]


def optimise(assembly: str, machine: Machine, vectors: bool = True) -> llvm.ModuleRef:
    """Return the module optimised for `machine`, reduced to the two kernels, what is hidden, and what these call.

    Without `vectors`, instructions are scalar and every value has a name, as the translation to C needs it.
    """
    target = _target_machine(machine)
    # the replacement is a function, so that backslashes in it are literal
    assembly = re.sub(r"^target triple = .*$", lambda _: f'target triple = "{machine.triple}"', assembly, flags=re.M)
    layout = str(target.target_data)
    assembly = re.sub(r"^target datalayout = .*$", lambda _: f'target datalayout = "{layout}"', assembly, flags=re.M)
    module = llvm.parse_assembly(assembly)
    module.verify()
    for value in (*module.functions, *module.global_variables):
        if value.is_declaration or value.visibility == llvm.Visibility.hidden:
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
    passes = llvm.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    # numba's helper functions survive O3 as long as a global refers to them
    clean = llvm.create_new_module_pass_manager()
    clean.add_global_dead_code_eliminate_pass()
    clean.add_strip_dead_prototype_pass()
    if not vectors:
        clean.add_instruction_namer_pass()
    clean.run(module, passes)
    return module


def emit(assembly: str, machine: Machine) -> bytes:
    """Return a position-independent object file for `machine` from the assembly of `compile_component`."""
    data: bytes = _target_machine(machine).emit_object(optimise(assembly, machine))
    return data


def _target_machine(machine: Machine) -> llvm.TargetMachine:
    return llvm.Target.from_triple(machine.triple).create_target_machine(
        cpu=machine.cpu, opt=3, reloc="pic", codemodel="default"
    )


def assembly_of(component: Compilable) -> str:
    """Return the result of `compile_component`, from the cache if these kernels have been compiled for this record."""
    return kept(f"{_NAME}.ll", _identity(component), lambda: compile_component(component).encode()).decode()


_DECLARED = re.compile(r'^declare hidden .*?@"?([^"(]+)', re.M)


def assemblies_of(component: Compilable) -> tuple[str, ...]:
    """Return the assembly of the kernels of `component`, which follows them what they call if that is compiled apart.

    From the cache, if these kernels have been compiled for this record, and what they call for any.
    """
    if not component.called_apart:
        return (assembly_of(component),)
    compiled = cache(lambda: compile_apart(_NAME, _entries(component), numba.int32))
    own = kept("entries.ll", _identity(component), lambda: compiled()[0].encode()).decode()
    # functions are named by their content
    names = sorted(_DECLARED.findall(own))
    called = kept("called.ll", [settings(), *names], lambda: compiled()[1]().encode()).decode()
    return own, called


def objects_of(component: Compilable, machine: Machine) -> tuple[bytes, ...]:
    """Return the object files for `machine` of the assemblies of `component`, from the cache if they have been made."""
    return tuple(object_of(assembly, machine) for assembly in assemblies_of(component))


def object_of(assembly: str, machine: Machine) -> bytes:
    """Return the result of `emit`, from the cache if this assembly has been optimised for `machine`."""
    return kept(f"{_NAME}.o", (repr(machine), assembly), lambda: emit(assembly, machine))


def kept(name: str, parts: Iterable[str], make: Callable[[], bytes]) -> bytes:
    """Return the content of the cache file named by a digest of `parts` and of the compiler.

    `make` produces it the first time.
    """
    key = hashlib.sha256("\0".join((_compiler_digest(), *parts)).encode()).hexdigest()
    return load_or_make(cache_root() / "machine_code" / f"{key[:32]}-{name}", key, make)


def _identity(component: Compilable) -> tuple[str, ...]:
    """Return everything of a component on which the code of its kernels depends."""
    parts = [settings(), name_of(numba.from_dtype(component.record.dtype))]
    for function in (component.initialize, component.step):
        plain = getattr(function, "py_func", function)
        parts += [kernel_digest(Path(plain.__code__.co_filename)), digest_of(function)]
    return tuple(parts)


@cache
def _compiler_digest() -> str:
    """Return a digest of the versions and sources, besides those of kernels, on which the code of kernels depends."""
    own = [Path(__file__), *(Path(str(module.__file__)) for module in (compiler, content, object_code, kernel))]
    return hashlib.sha256(" ".join([versions(), BASELINE, digest_of_files(own)]).encode()).hexdigest()


class Kernels:
    """The two kernels of object files for this process, called on blocks of memory."""

    def __init__(self, *code: bytes) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_double
        # the code lives as long as its engine
        self._engine = engine_of(*code)
        self._initialize = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer)(
            self._engine.get_function_address(INITIALIZE)
        )
        self._step = ctypes.CFUNCTYPE(ctypes.c_int32, pointer, pointer, pointer, number, number)(
            self._engine.get_function_address(STEP)
        )

    def initialize(self, block: np.ndarray) -> int:
        """Call `initialize` on a block of float64, shape (record.size,), and return the code of its message."""
        return self._result(self._initialize, block)

    def step(self, block: np.ndarray, t: float, h: float) -> int:
        """Call `step` likewise."""
        return self._result(self._step, block, t, h)

    def _result(self, function: Callable[..., int], block: np.ndarray, *numbers: float) -> int:
        result, exception = ctypes.c_int32(), ctypes.c_void_p()
        status = function(ctypes.addressof(result), ctypes.addressof(exception), block.ctypes.data, *numbers)
        if status not in (0, RETURNED_NONE):
            raise RuntimeError(f"the kernel raised an exception of Python, status {status}")
        return result.value


def kernels_in_process(component: Compilable) -> Kernels:
    """Return the kernels of a component linked into this process: the code that an FMU of it has."""
    return _linked(objects_of(component, THIS_PROCESS))


@cache
def _linked(code: tuple[bytes, ...]) -> Kernels:
    return Kernels(*code)
