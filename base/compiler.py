"""Compile Python functions to machine code that is named, and kept between processes, by its content.

numba names a function by two counters of the process: one of compiled functions, one of record types. Two processes
that meet functions and types in different orders give one name to different things; if they share a cache, one links
the other's code (numba issue 10486). numba's cache checks only the source file of the function that it compiles. And
numba compiles for the host processor, with settings that apply to the whole process.

Here functions are compiled for a separate target beside numba's "cpu", which stays as its other users set it:

- every function compiled for it, including numba's own, is named by a digest of its code, of what it refers to, and
  of the types of its arguments; a name that comes from a counter is refused;
- compiled code is kept in files named by that digest, and sealed with a digest of their content;
- code is compiled for one baseline processor, so that its bits do not depend on the machine that compiled it.

This module uses private parts of numba to compile in this process, `dockfmu.base.object_code` to compile ahead of time;
`tests/base/test_private_parts_of_numba.py` and its neighbour fail when a new version of numba changes them.
"""

from __future__ import annotations

import gc
import hashlib
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
from numba.core import compiler, config, itanium_mangler, serialize, targetconfig, types, typing
from numba.core.caching import NullCache
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.dispatcher import Dispatcher
from numba.core.externals import c_math_functions
from numba.core.registry import CPUTarget
from numba.core.target_extension import CPU, dispatcher_registry, jit_registry, target_override, target_registry
from numba.np import linalg

from dockfmu.base.cache import alone, cache_root, digest_of_files, load_cached, store_cached, versions
from dockfmu.base.content import digest_of, name_of
from dockfmu.base.platforms import BASELINE

NAME = "dockfmu"


def _load_arraymath() -> None:
    """Import numba's implementations of numpy functions without scipy.linalg.

    numba imports scipy.linalg only to check that it is installed, which takes a quarter of a second. Functions that
    need it, such as `np.dot`, import it when they are compiled.
    """
    original = linalg.ensure_blas

    def require_scipy() -> None:
        if find_spec("scipy") is None:
            raise ImportError("scipy is not installed")

    linalg.ensure_blas = require_scipy
    try:
        import_module("numba.np.arraymath")
    finally:
        linalg.ensure_blas = original


_load_arraymath()

_SETTINGS = (
    "OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "EXTEND_VARIABLE_LIFETIMES",
    "LLVM_REFPRUNE_PASS", "LLVM_REFPRUNE_FLAGS", "DEBUG_NRT", "ENABLE_PROFILING",
)  # fmt: skip

_VERSIONS = (versions(), BASELINE, digest_of_files([Path(__file__), Path(__file__).with_name("content.py")]))


def settings() -> str:
    """Return the settings of numba on which machine code depends, whatever their source."""
    config.reload_config()
    return " ".join(f"{name}={getattr(config, name, None)!r}" for name in _SETTINGS)


_LINKED = "linked"
"""What numba's "object" and "bitcode" are for a library that is `linked_only`."""


class _Library(JITCodeLibrary):
    """A library that is linked into others from its bitcode, whether it was just compiled or loaded from the cache.

    A module read from bitcode lists its uses in another order than the module that was written, so that optimization
    passes over it may generate other instructions.
    """

    linked_only = False
    """Whether Python does not call its functions: their machine code is in the libraries that they are linked into."""

    _bitcode: bytes | None = None

    def _optimize_final_module(self) -> None:
        """Optimise the functions together with those that they call, unless others will be that link them."""
        if not self.linked_only:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        if self.linked_only:
            self._finalize_dynamic_globals()
            self._verify_declare_only_symbols()
            self._finalized = True
        else:
            super()._finalize_final_module()

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._bitcode = super()._get_module_for_linking().as_bitcode()
            self._shared_module = llvm.parse_bitcode(self._bitcode)
        return self._shared_module

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        self._get_module_for_linking()
        if self.linked_only:
            return self.name, _LINKED, self._bitcode
        return self.name, "object", (self._get_compiled_object(), self._bitcode)

    @classmethod
    def _unserialize(cls, codegen: Any, state: tuple[Any, ...]) -> Any:
        name, kind, data = state
        if kind != _LINKED:
            return super()._unserialize(codegen, state)
        library = codegen.create_library(name)
        library.linked_only = library._finalized = True
        library._shared_module = llvm.parse_bitcode(data)
        return library


class _Codegen(JITCPUCodegen):
    """The code generator for the baseline processor."""

    _library_class = _Library

    def _get_host_cpu_name(self) -> str:
        return BASELINE

    def _get_host_cpu_features(self) -> str:
        return ""

    def set_env(self, env_name: str, env: Any) -> None:
        """Tell code the constants by which it talks to Python, unless it does not: it is linked into others only."""
        if self._engine.is_symbol_defined(env_name):
            super().set_env(env_name, env)


class _Context(CPUContext):
    """numba's context for processors, with symbols that are named by content."""

    @global_compiler_lock
    def init(self) -> None:
        super().init()
        self._internal_codegen = _Codegen(f"{NAME}.exec")
        c_math_functions.install(self)

    def mangler(self, name: str, types: Any, *, abi_tags: Any = (), uid: Any = None) -> str:
        """Return the symbol of a function; `uid` is its digest, which `Pipeline` sets."""
        if isinstance(uid, int):
            raise RuntimeError(f"{name} was compiled in a way that names it by a counter of the process")
        arguments = hashlib.sha256("\0".join(map(name_of, types)).encode()).hexdigest()[:24]
        return itanium_mangler.mangle(name, (), abi_tags=(*abi_tags, f"t{arguments}"), uid=uid)

    def _compile_subroutine_no_cache(
        self, builder: Any, impl: Any, sig: Any, locals: Any = None, flags: Any = None
    ) -> Any:
        """Compile a helper function of numba's generated code like any other function."""
        with global_compiler_lock:
            if flags is None:
                flags = compiler.Flags()
                callers = targetconfig.ConfigStack()
                flags.nrt = bool(callers) and callers.top().nrt
            flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
            library = self.codegen().create_library(impl.__name__)
            library.linked_only = True
            result = compiler.compile_extra(
                self.typing_context,
                self,
                impl,
                sig.args,
                sig.return_type,
                flags,
                locals or {},
                library=library,
                pipeline_class=Pipeline,
            )
            self.active_code_library.add_linking_library(result.library)
            return result

    def get_getattr(self, typ: Any, attr: str) -> Any:
        """Return how an attribute is read; that of a field by the way for all records.

        numba tries another way first, and writes the whole record out in the error that it then catches.
        """
        every = isinstance(typ, types.Record) and not self._getattrs[attr].versions
        return self._getattrs[None].find((typ,)) if every else super().get_getattr(typ, attr)

    def get_executable(self, library: Any, fndesc: Any, env: Any) -> Any:
        """Return what Python calls; of a library that is linked into others only, what refuses to be called.

        numba wants a built-in function that is unlike all others: `format` of a text of its own, which raises KeyError
        for a field of this name.
        """
        if library.linked_only:
            return "".join(["{", "this function is compiled for other functions only", "}"]).format
        return super().get_executable(library, fndesc, env)


class _Typing(typing.Context):
    """numba's typing context, in which no record converts to another.

    numba converts a record to any record whose fields it begins with, and may run code compiled for the shorter record
    on the longer one.
    """

    def can_convert(self, fromty: types.Type, toty: types.Type) -> Any:
        if isinstance(fromty, types.Record) and isinstance(toty, types.Record) and fromty != toty:
            return None
        return super().can_convert(fromty, toty)


class _Target(CPUTarget):
    """The compilation target for the baseline processor."""

    @cached_property
    def _toplevel_target_context(self) -> Any:
        return _Context(self.typing_context, self._target_name)

    @cached_property
    def _toplevel_typing_context(self) -> Any:
        return _Typing()


target = _Target(NAME)


class _Arguments(tuple[types.Type, ...]):
    """Types of arguments. numba asks for their text at each pass, which takes an eighth of the time of compiling."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"{len(self)} arguments"


@contextmanager
def _collecting_rarely() -> Iterator[None]:
    """Let Python look for circular garbage a hundred times less often: the compiler leaves little of it.

    Otherwise a fifth of the time of compiling goes into looking, for a few megabytes.
    """
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Pipeline(compiler.Compiler):
    """numba's compiler passes, run on a function that is named by its content."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, args: Any, *rest: Any) -> None:
        super().__init__(typingctx, targetctx, library, _Arguments(args), *rest)

    def compile_extra(self, func: Any) -> Any:
        """Name the function by its content, and run the passes over it."""
        with global_compiler_lock, _collecting_rarely():
            identity = compiler.bytecode.FunctionIdentity.from_function(func)
            identity.unique_id = digest_of(func)
            identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
            self.state.func_id = identity
            if self.state.library is None:
                flags, library = self.state.flags, self.state.targetctx.codegen().create_library(identity.func_qualname)
                library.linked_only = flags.no_cpython_wrapper and flags.no_cfunc_wrapper
                library.enable_object_caching()
                self.state.library = library
            compiler.ExtractByteCode().run_pass(self.state)
            self.state.lifted = ()
            self.state.lifted_from = None
            return self._compile_bytecode()


class _Cache(NullCache):
    """A cache of compiled code, with one file for each function and signature, named by their content."""

    def __init__(self, function: Any, sources: str, options: dict[str, Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}".replace("<", "").replace(">", "")
        self._parts = (sources, repr(sorted(options.items())))
        self._function = function

    def _key(self, signature: Any) -> str:
        arguments = signature if isinstance(signature, tuple) else (*signature.args, signature.return_type)
        return "\n".join(
            (*_VERSIONS, *self._parts, self._name, digest_of(self._function), *map(name_of, arguments), settings())
        )

    def _file(self, key: str) -> Any:
        return cache_root() / "machine_code" / f"{self._name[-80:]}-{hashlib.sha256(key.encode()).hexdigest()[:32]}"

    @contextmanager
    def alone(self, signature: Any) -> Iterator[None]:
        """Let one process at a time compile the function for a signature that the cache does not have."""
        file = self._file(self._key(signature))
        if file.exists():
            yield
        else:
            # in this order in all threads, or two would wait for each other
            with global_compiler_lock, alone(file):
                yield

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        key = self._key(sig)
        if (data := load_cached(self._file(key), key)) is None:
            return None
        try:
            return compiler.CompileResult._rebuild(target_context, *pickle.loads(data))
        except ModuleNotFoundError:  # of a file that was loaded by its path: numba keeps no name by which to find it
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        if data.library.has_dynamic_globals:
            raise TypeError(f"{self._name} refers to an address of this process: its code cannot be kept")
        key = self._key(sig)
        # without the annotated source, which nobody reads
        store_cached(self._file(key), key, serialize.dumps(data._replace(type_annotation="")._reduce()))


class Compiled(Dispatcher):
    """A function compiled for each signature that it is called with."""

    targetdescr = target
    _cache: Any

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, pipeline_class: Any = None) -> None:
        super().__init__(py_func, locals, targetoptions, Pipeline)

    def compile(self, sig: Any) -> Any:
        """Compile the function for a signature, with settings that do not depend on the caller."""
        if isinstance(sig, tuple) and (existing := self.overloads.get(sig)):
            return existing.entry_point
        # a function inherits the settings of the caller for which it is first compiled: here all callers have the same
        held = self._cache.alone(sig) if isinstance(self._cache, _Cache) else nullcontext()
        with target_override(NAME), targetconfig.ConfigStack().enter(_inherited()), held:
            return super().compile(sig)


def _inherited() -> compiler.Flags:
    flags: Any = compiler.Flags()
    flags.nrt = True
    flags.error_model = "numpy"
    return flags


class _CPU(CPU):
    """The baseline processor, to which everything that numba registers for "cpu" applies."""


def _jit(**options: Any) -> Callable[[Any], Compiled]:
    """Return a decorator that compiles functions which numba itself writes in Python, such as that of `min`."""
    chosen: dict[str, Any] = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    chosen.update((name, options[name]) for name in ("inline", "forceinline") if name in options)
    return lambda function: Compiled(function, targetoptions=chosen)


target_registry[NAME] = _CPU
dispatcher_registry[_CPU] = Compiled
jit_registry[_CPU] = _jit


def jit(function: Callable[..., Any], sources: str = "", **options: Any) -> Any:
    """Return `function`, to be compiled in nopython mode on its first call for each signature, with numpy's division.

    `sources` is a digest of source files on which its code depends, besides the functions and values that it refers
    to; `options` are those of `numba.njit`. Code is kept in the cache folder, which all processes share. Raises
    TypeError on the first call if the function refers to a value that has no content to name it by. With
    NUMBA_DISABLE_JIT the function is returned unchanged.
    """
    if config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    chosen = {"nopython": True, "error_model": "numpy", **options}
    dispatcher: Any = Compiled(function, targetoptions=chosen)
    dispatcher._cache = _Cache(function, sources, chosen)
    return dispatcher
