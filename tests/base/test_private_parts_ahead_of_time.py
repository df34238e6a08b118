"""Each private part of numba that `dockfmu.base.object_code` uses is there and does what it is used for.

A test that fails after an update of numba names the part that changed.
"""

import inspect
import re

import numba
import pytest
from numba.core import compiler
from numba.core.base import BaseContext
from numba.core.codegen import CodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.target_extension import current_target, target_override

from dockfmu.base.compiler import NAME, Pipeline, jit, target
from dockfmu.base.platforms import BASELINE


def changed(part: str) -> str:
    return f"numba {numba.__version__} changed {part}: adapt base/object_code.py"


@pytest.fixture(scope="module")
def context():
    return target.target_context.with_aot_codegen("canary", cpu_name=BASELINE)


def double(x):
    return 2 * x


def test_context_for_code_ahead_of_time(context):
    """The context compiles for the processor that is named, not for the one at hand, and keeps the names by content."""
    assert isinstance(context, CPUContext), changed("CPUContext.with_aot_codegen")
    assert type(context) is type(target.target_context), changed("what kind of context with_aot_codegen gives")
    assert context.codegen()._cpu_name == BASELINE, changed("the argument cpu_name of with_aot_codegen")


def test_context_leaves_the_one_of_this_process_alone(context):
    assert context is not target.target_context, changed("with_aot_codegen, which now changes the context itself")
    assert context.codegen() is not target.target_context.codegen(), changed("the code generator of contexts")


def test_refresh_of_contexts(context):
    assert callable(getattr(BaseContext, "refresh", None)), changed("BaseContext.refresh")
    target.typing_context.refresh()
    context.refresh()


@pytest.mark.parametrize(
    "flag", ["no_compile", "no_cpython_wrapper", "no_cfunc_wrapper", "enable_pyobject", "error_model", "nrt"]
)
def test_flags(flag):
    assert flag in compiler.Flags.options, changed(f"the flag {flag} of compiler.Flags")


def test_target_override():
    with target_override(NAME):
        assert current_target() == NAME, changed("target_override")


def test_compiler_lock():
    with global_compiler_lock:
        assert global_compiler_lock.is_locked(), changed("global_compiler_lock")


def test_compile_extra_takes_what_it_is_given():
    expected = {
        "typingctx", "targetctx", "func", "args", "return_type", "flags", "locals", "library", "pipeline_class",
    }  # fmt: skip
    assert expected <= inspect.signature(compiler.compile_extra).parameters.keys(), changed("compiler.compile_extra")


def test_code_library_gives_a_module_with_the_function_under_the_name_that_it_is_given(context):
    """`compile_extra` puts the function into the library, `_final_module` is the LLVM module after `finalize`."""
    library = context.codegen().create_library("canary")
    assert isinstance(library, CodeLibrary), changed("create_library")
    flags = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model, flags.nrt = "numpy", False
    with global_compiler_lock, target_override(NAME):
        compiled = compiler.compile_extra(
            target.typing_context,
            context,
            double,
            (numba.float64,),
            numba.float64,
            flags,
            locals={},
            library=library,
            pipeline_class=Pipeline,
        )
        function = library.get_function(compiled.fndesc.llvm_func_name)
        assert function is not None, changed("CodeLibrary.get_function or fndesc.llvm_func_name")
        function.name = "doubled"
        optimised = []
        library._optimize_final_module = lambda: optimised.append(library)
        library.finalize()
    assert optimised == [library], changed("CodeLibrary._optimize_final_module, which compile_module leaves out")
    text = str(library._final_module)
    assert "@doubled(" in text, changed("CodeLibrary._final_module")
    assert re.search(r"define .*i32 @doubled\(ptr", text), changed(
        "the calling convention: status returned, result through the first pointer"
    )
    assert "Py" not in "".join(line for line in text.splitlines() if line.startswith("declare")), changed(
        "the wrappers: the module refers to Python"
    )


def calls(x):
    return doubled(x) + 1.0


@jit
def doubled(x):
    return 2 * x


def test_libraries_that_a_library_calls(context):
    """`compile_apart` leaves `_linking_libraries` out, and links the modules that they give for linking by itself."""
    library = context.codegen().create_library("caller")
    flags = compiler.Flags()
    flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
    flags.error_model, flags.nrt = "numpy", False
    with global_compiler_lock, target_override(NAME):
        compiler.compile_extra(
            target.typing_context, context, calls, (numba.float64,), numba.float64, flags, locals={}, library=library,
            pipeline_class=Pipeline,
        )  # fmt: skip
        (linked,) = (part for part in library._linking_libraries if part.name == "doubled")
        library._linking_libraries = []
        checked = []
        library._verify_declare_only_symbols = lambda: checked.append(library)
        library.finalize()
        declared = [f.name for f in library._final_module.functions if f.is_declaration]
        assert checked == [library], changed("CodeLibrary._verify_declare_only_symbols")
        (name,) = (name for name in declared if "doubled" in name)
        found = linked._get_module_for_linking().get_function(name)
    assert found.linkage.name == "linkonce_odr", changed("CodeLibrary._get_module_for_linking")
