"""The private parts of numba that `base/compiler.py` and `components/core/kernel.py` use: each has a test of its use.

numba may change them in any release. A test that fails here names the part that changed and what it is used for.
"""

from __future__ import annotations

import inspect
from importlib import import_module

import numba
import pytest
from numba.core import codegen, compiler, config, cpu, dispatcher, registry, target_extension

from dockfmu.base import compiler as base_compiler
from dockfmu.base.compiler import Compiled, jit, target
from dockfmu.components.core.kernel import kernel

# place: (parameters, what base/compiler.py uses it for)
FUNCTIONS = {
    "compiler:Compiler.compile_extra": ("self func", "Pipeline names a function by its content before it is compiled"),
    "compiler:Compiler._compile_bytecode": ("self", "Pipeline runs the passes after it has named the function"),
    "compiler:ExtractByteCode.run_pass": ("self state", "Pipeline extracts the bytecode itself"),
    "compiler:compile_extra": (
        "typingctx targetctx func args return_type flags locals library pipeline_class",
        "functions that numba writes are compiled with Pipeline too",
    ),
    "compiler:CompileResult._reduce": ("self", "compiled code is written to the cache"),
    "compiler:CompileResult._rebuild": (
        "target_context libdata fndesc env signature objectmode lifted typeann reload_init referenced_envs",
        "compiled code is read from the cache",
    ),
    "bytecode:FunctionIdentity.from_function": ("pyfunc", "Pipeline makes the identity that it names"),
    "codegen:JITCodeLibrary._get_module_for_linking": ("self", "code is linked from its bitcode"),
    "codegen:JITCodeLibrary._get_compiled_object": ("self", "object code is kept in the cache"),
    "codegen:JITCodeLibrary.serialize_using_object_code": ("self", "bitcode is kept beside the object code"),
    "codegen:JITCodeLibrary._optimize_final_module": ("self", "code that is linked into others is optimised there"),
    "codegen:JITCodeLibrary._finalize_final_module": ("self", "what Python does not call gets no machine code"),
    "codegen:JITCodeLibrary._finalize_dynamic_globals": ("self", "a library is checked before it is kept"),
    "codegen:JITCodeLibrary._verify_declare_only_symbols": ("self", "a library is checked before it is linked"),
    "codegen:JITCodeLibrary._unserialize": ("codegen state", "a library without machine code is read from the cache"),
    "codegen:JITCodeLibrary.enable_object_caching": ("self", "machine code is kept in the cache"),
    "codegen:JITCPUCodegen.set_env": ("self env_name env", "what Python does not call has no environment"),
    "codegen:JitEngine.is_symbol_defined": ("self name", "what Python does not call has no environment"),
    "codegen:JITCPUCodegen._get_host_cpu_name": ("self", "code is for the baseline processor"),
    "codegen:JITCPUCodegen._get_host_cpu_features": ("self", "code is for the baseline processor"),
    "cpu:CPUContext.init": ("self", "the context gets the code generator for the baseline processor"),
    "cpu:CPUContext._compile_subroutine_no_cache": (
        "self builder impl sig locals flags",
        "functions that numba writes are named by their content",
    ),
    "cpu:CPUContext.get_executable": ("self library fndesc env", "what Python does not call has no address"),
    "base:BaseContext.get_getattr": ("self typ attr", "fields of records are found without an error's text"),
    "compiler:Compiler.__init__": (
        "self typingctx targetctx library args return_type flags locals",
        "the text of the arguments, which each pass asks for, is short",
    ),
    "base:BaseContext.mangler": ("self name types abi_tags uid", "symbols are named by content"),
    "itanium_mangler:mangle": ("ident argtys abi_tags uid", "symbols are named by content"),
    "externals:c_math_functions.install": ("context", "the code generator knows the functions of libm"),
    "dispatcher:Dispatcher.__init__": (
        "self py_func locals targetoptions pipeline_class",
        "Compiled sets Pipeline",
    ),
    "dispatcher:Dispatcher.compile": ("self sig", "all functions are compiled with the same inherited flags"),
    "caching:NullCache.load_overload": ("self sig target_context", "code is read from the cache folder"),
    "caching:NullCache.save_overload": ("self sig cres", "code is written to the cache folder"),
    "target_extension:target_override": ("name", "functions are compiled for the target dockfmu"),
    "targetconfig:ConfigStack.enter": ("self flags", "all functions are compiled with the same inherited flags"),
    "targetconfig:ConfigStack.top": ("self", "functions that numba writes inherit the flags"),
    "serialize:dumps": ("obj", "compiled code is written to the cache"),
}


@pytest.mark.parametrize("place", FUNCTIONS)
def test_function_that_is_called_or_replaced(place):
    parameters, use = FUNCTIONS[place]
    module, _, path = place.partition(":")
    found = import_module(f"numba.core.{module}")
    for name in path.split("."):
        assert hasattr(found, name), f"numba {numba.__version__} has no numba.core.{module}.{path}: {use}"
        found = getattr(found, name)
    now = " ".join(inspect.signature(found).parameters)
    assert now == parameters, f"numba {numba.__version__}: numba.core.{module}.{path} takes ({now}) now: {use}"


def function(x):
    return 2.0 * x


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    made = jit(function)
    assert made(1.5) == 3.0
    return made


def test_attribute_cache_of_a_dispatcher():
    made = numba.njit(function)
    assert hasattr(made, "_cache"), "Dispatcher._cache is gone: `jit` sets the cache of a function there"
    assert set(FLAGS) <= set(compiler.Flags().options), "compiler.Flags lacks an option that code is compiled with"


FLAGS = ("nrt", "error_model", "no_compile", "no_cpython_wrapper", "no_cfunc_wrapper")


def test_attributes_of_contexts_and_libraries(compiled):
    context = target.target_context
    assert isinstance(context, cpu.CPUContext)
    assert isinstance(context._internal_codegen, codegen.JITCPUCodegen), (
        "_internal_codegen of the context is not used any more"
    )
    (overload,) = compiled.overloads.values()
    library = overload.library
    assert type(library) is base_compiler._Library, "JITCPUCodegen._library_class does not choose the library any more"
    assert hasattr(library, "_shared_module"), "JITCodeLibrary._shared_module is gone: code is linked from its bitcode"
    assert hasattr(library, "_finalized"), "_finalized is gone: it tells libraries that are ready to be linked"
    assert hasattr(context, "_getattrs"), "_getattrs is gone: fields of records are found there"
    assert hasattr(context._getattrs[None], "versions"), "versions is gone: it tells how fields are found"
    assert hasattr(library, "has_dynamic_globals"), "has_dynamic_globals is gone: it tells code that cannot be kept"


def test_target_replaces_two_properties():
    for name in ("_toplevel_target_context", "_toplevel_typing_context"):
        assert name in vars(registry.CPUTarget), f"CPUTarget.{name} is gone: the target gives its own contexts there"
    code = dispatcher.Dispatcher.__init__.__code__
    assert "targetdescr" in code.co_names, "Dispatcher reads no targetdescr now: Compiled sets its target there"


def test_registries_of_targets():
    for name in ("target_registry", "dispatcher_registry", "jit_registry"):
        assert hasattr(target_extension, name), f"target_extension.{name} is gone: the target is entered there"
    assert target_extension.dispatcher_registry[base_compiler._CPU] is Compiled


def test_settings_of_code_generation():
    for name in base_compiler._SETTINGS:
        assert hasattr(config, name), f"numba.config.{name} is gone: it is part of the name of machine code"
    assert callable(getattr(config, "reload_config", None)), "config.reload_config is gone: it reads settings"


def test_identity_of_a_function_has_the_names_that_are_set():
    identity = compiler.bytecode.FunctionIdentity.from_function(function)
    for name in ("unique_id", "unique_name", "func_qualname"):
        assert hasattr(identity, name), f"FunctionIdentity.{name} is gone: functions are named by their content there"


def test_definition_of_an_intrinsic():
    @numba.extending.intrinsic
    def nothing(typing_context):
        return numba.void(), lambda context, builder, signature, arguments: context.get_dummy_value()

    assert isinstance(nothing, numba.extending._Intrinsic)
    assert callable(getattr(nothing, "_defn", None)), "_Intrinsic._defn is gone: intrinsics are named by their content"


@pytest.mark.skipif(config.DISABLE_JIT, reason="kernels are plain functions")
def test_kernels_are_typed_by_their_attribute():
    """Kernels tell numba their type by `_numba_type_`, and compile without reference counts."""
    made = kernel(function)
    assert numba.typeof(made) == made._for_kernels._numba_type_, "numba does not ask objects for _numba_type_ any more"
    assert hasattr(registry.CPUTarget.options, "_nrt"), "the option _nrt is gone: kernels count no references by it"
