"""Check each part of numba and llvmlite that `master/loop/compiler.py` uses; failures name the part."""

import ast
import ctypes
import inspect
import threading
from pathlib import Path
from typing import NamedTuple

import llvmlite.ir as ir
import numpy as np
import pytest
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.np import arrayobj, numpy_support

from dockfmu.base.cache import ROOT
from dockfmu.base.entry_points import EntryPoint
from dockfmu.base.object_code import object_code
from dockfmu.master.loop import compiler
from dockfmu.master.loop.compiler import compiled
from dockfmu.master.loop.packing import pack

CALLABLES = {
    "numba.core.cgutils.pointer_add, which addresses the fields of a table": (
        cgutils.pointer_add, ("builder", "ptr", "offset"),
    ),
    "numba.core.cgutils.gep_inbounds, which reads the shape of an array": (cgutils.gep_inbounds, ("builder", "ptr")),
    "numba.np.arrayobj.make_array, which makes arrays of addresses": (arrayobj.make_array, ("array_type",)),
    "numba.np.arrayobj.populate_array, which makes arrays of addresses": (
        arrayobj.populate_array, ("array", "data", "shape", "strides", "itemsize", "meminfo"),
    ),
    "numba.np.numpy_support.from_dtype, which gives the element types of arrays": (
        numpy_support.from_dtype, ("dtype",),
    ),
    "numba.core.typing.templates.AttributeTemplate.generic_resolve, which gives the types of fields": (
        AttributeTemplate.__init__, ("self", "context"),
    ),
    "numba.core.datamodel.models.PrimitiveModel, which holds a table as its address": (
        models.PrimitiveModel.__init__, ("self", "dmm", "fe_type", "be_type"),
    ),
    "llvmlite.ir.IRBuilder.load_atomic, with which threads wait": (
        ir.IRBuilder.load_atomic, ("self", "ptr", "ordering", "align"),
    ),
    "llvmlite.ir.IRBuilder.store_atomic, with which threads are released": (
        ir.IRBuilder.store_atomic, ("self", "value", "ptr", "ordering", "align"),
    ),
    "llvmlite.ir.IRBuilder.atomic_rmw, which counts steps": (
        ir.IRBuilder.atomic_rmw, ("self", "op", "ptr", "val", "ordering"),
    ),
    "llvmlite.ir.IRBuilder.cmpxchg, which gives out tickets": (
        ir.IRBuilder.cmpxchg, ("self", "ptr", "cmp", "val", "ordering", "failordering"),
    ),
    "llvmlite.ir.IRBuilder.call, which calls FMI functions": (ir.IRBuilder.call, ("self", "fn", "args")),
}  # fmt: skip


def entry(name: str) -> EntryPoint:
    """Return the entry point of a function of this file, made as for functions of the loop."""
    return EntryPoint(__name__, name, [Path(__file__), Path(compiler.__file__)])


@pytest.mark.parametrize("part", CALLABLES)
def test_a_function_takes_the_arguments_that_are_passed(part):
    function, expected = CALLABLES[part]
    found = tuple(inspect.signature(function).parameters)
    assert found[: len(expected)] == expected, f"{part}, now takes {found}, not {expected}"


def test_no_other_module_of_the_master_imports_numba():
    importers = {
        file.relative_to(ROOT).as_posix()
        for file in (ROOT / "master").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names])
        if name.partition(".")[0] == "numba" or name == "llvmlite"
    }
    assert importers == {Path(compiler.__file__).relative_to(ROOT).as_posix()}


class Inner(NamedTuple):
    scale: float
    counts: np.ndarray


class Outer(NamedTuple):
    number: int
    inner: Inner
    matrix: np.ndarray
    bytes: np.ndarray
    slots: np.ndarray


def content() -> Outer:
    counts = np.arange(4, dtype=np.int32)
    return Outer(7, Inner(0.25, counts), np.arange(6.0).reshape(2, 3), np.ones(2, np.uint8), np.array([2], np.uint64))


@compiled
def _read(table):
    matrix, counts = table.matrix, table.inner.counts
    total = table.number + table.inner.scale + matrix[1, 2] + matrix.shape[0] * 100.0 + matrix.shape[1] * 1000.0
    for k in range(counts.size):
        total += 1e4 * counts[k]
    return total + table.bytes[0] + table.bytes[1] + counts[table.slots[0]]


@compiled
def _write(table):
    table.matrix[0, 1] = -1.0
    table.inner.counts[3] = 9


def test_a_table_is_read_by_the_names_of_its_fields():
    """typeof_impl, infer_getattr and lower_getattr_generic of numba.extending together."""
    assert entry("_read")(pack(content())) == 7 + 0.25 + 5.0 + 200.0 + 3000.0 + 6e4 + 2 + 2, (
        "numba's registration of types (typeof_impl, infer_getattr, lower_getattr_generic) or the layout of its "
        "arrays (make_array, populate_array) has changed: fields of a table are not what was packed"
    )


def test_what_compiled_code_writes_stands_in_the_arrays():
    table = content()
    entry("_write")(pack(table))
    assert (table.matrix[0, 1], table.inner.counts[3]) == (-1.0, 9), (
        "arrays made by numba.np.arrayobj.populate_array no longer share the memory of the packed ones"
    )


def test_tables_of_one_form_share_their_code():
    read = entry("_read")
    read(pack(content()))
    read(pack(content()._replace(matrix=np.zeros((2, 9)))))
    assert len(read.loaded) == 1
    read(pack(content()._replace(matrix=np.zeros((2, 3), np.float32))))
    assert len(read.loaded) == 2


def test_an_unknown_field_is_refused():
    def wrong(table):
        return table.nothing

    with pytest.raises(Exception, match="nothing"):
        object_code(wrong, [pack(content())])


def _address(function) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value


@compiled
def _call_get(function, references, values):
    return compiler.get_or_set(function, 11, references, 3, values)


@compiled
def _call_step(function):
    return compiler.do_step(function, 12, 0.5, 0.125, 1)


@compiled
def _call_derivative(function, direction):
    return compiler.get_directional_derivative(function, 13, 1, 2, 3, 4, direction, direction)


def test_functions_are_called_by_their_addresses_with_their_arguments():
    """numba.extending.intrinsic and llvmlite's indirect calls: integers, doubles, pointers, the status."""
    received = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_size_t)
    def get(*arguments):
        received.append(arguments)
        return 2

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_size_t, ctypes.c_double, ctypes.c_double, ctypes.c_int)
    def step(*arguments):
        received.append(arguments)
        return 3

    @ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_size_t] * 7)
    def derivative(*arguments):
        received.append(arguments)
        return 0

    calls = [entry(name) for name in ("_call_get", "_call_step", "_call_derivative")]
    arguments = (_address(get), 100, 200), (_address(step),), (_address(derivative), 9)
    statuses = tuple(call(*passed) for call, passed in zip(calls, arguments, strict=True))
    message = "numba.extending.intrinsic or llvmlite.ir.IRBuilder.call passes other arguments to a function pointer"
    assert statuses == (2, 3, 0), message
    assert received == [(11, 100, 3, 200), (12, 0.5, 0.125, 1), (13, 1, 2, 3, 4, 9, 9)], message


@compiled
def _count(words, times):
    """Add by atomic_add, and by atomic_replace in a loop; publish by atomic_store."""
    address = words.ctypes.data
    for _ in range(times):
        compiler.atomic_add(address, 0, 1)
        while True:
            old = compiler.atomic_load(address, 1)
            if compiler.atomic_replace(address, 1, old, old + 1):
                break
    compiler.atomic_store(address, 2, 1)


def test_words_are_changed_by_several_threads_without_loss():
    words, times = np.zeros(3, np.int64), 200_000
    count = entry("_count")
    count(words, 0)  # compiles
    threads = [threading.Thread(target=count, args=(words, times)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert words.tolist() == [4 * times, 4 * times, 1], (
        "llvmlite's atomic_rmw, cmpxchg, load_atomic or store_atomic is no longer atomic"
    )


def test_types_of_arrays_are_those_of_numpy():
    for name in ("float64", "int64", "int32", "uint64", "uint8"):
        assert numpy_support.from_dtype(np.dtype(name)) == getattr(types, name), (
            f"numba.np.numpy_support.from_dtype gives another type for {name}"
        )
