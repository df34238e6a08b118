"""Compilation of the loop: decorators, tables that are passed by address, calls of FMI functions, atomic words.

This is the only module of `master` that uses numba's extension interface and llvmlite's code generation;
`tests/master/loop/test_compiler_parts.py` fails with a sentence about each part of them that a new version changes.
Compiled functions access a table of `dockfmu.master.loop.packing` by the field names of its tuple:
`tables.signals.y_real[k]`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, register_model, typeof_impl
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

from dockfmu.base.cache import digest_of_sources
from dockfmu.base.compiler import jit
from dockfmu.master.loop.packing import Kind, Packed, dtype_of, size

_BYTES = ir.IntType(8).as_pointer()
_INT, _WORD, _DOUBLE = ir.IntType(32), ir.IntType(64), ir.DoubleType()
_WORD_BYTES = 8

# ---------------------------------------------------------------------------------------------------------- decorators


_SOURCES = digest_of_sources(Path(__file__).parent)


def compiled(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """Return `function` compiled for the tables it is called with; the plain function is `.py_func`.

    It may not allocate memory, because entry points, which Python calls, run without numba.
    """
    return jit(function, _SOURCES, forceinline=inline, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a function to be inlined into its callers, for functions of each macro step as short as a call."""
    return compiled(function, inline=True)


# ------------------------------------------------------------------------------------------- tables passed by address


class _TableType(types.Type):
    """The numba type of a named tuple in memory; its value is its address."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        super().__init__(name=f"Table({kind})")

    def field(self, name: str) -> tuple[int, Any]:
        """Return the offset in words and the numba type of a field. Raises AttributeError."""
        offset = 0
        for field, kind in self.kind:
            if field == name:
                return offset, _type(kind)
            offset += size(kind)
        raise AttributeError(name)


def _type(kind: Any) -> types.Type:
    if isinstance(kind, str):
        return types.float64 if kind == "float" else types.int64
    if isinstance(kind[0], str):
        return types.Array(from_dtype(dtype_of(kind[0])), kind[1], "C")
    return _TableType(kind)


def _item_bytes(kind: types.Type) -> int:
    return kind.size if isinstance(kind, types.Record) else np.dtype(kind.name).itemsize


@register_model(_TableType)
class _TableModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _TableType) -> None:
        super().__init__(manager, kind, _BYTES)


@typeof_impl.register(Packed)
def _typeof(value: Packed, context: Any) -> types.Type:
    return _TableType(value.layout)


@infer_getattr
class _FieldTypes(AttributeTemplate):
    key = _TableType

    def generic_resolve(self, table: Any, name: str) -> Any:  # type: ignore[override]
        return table.field(name)[1]


@lower_getattr_generic(_TableType)
def _load_field(context: Any, builder: Any, table: _TableType, value: Any, name: str) -> Any:
    """Generate the code that reads a field: a nested table by its address, an array with strides of C order."""
    offset, kind = table.field(name)
    address = cgutils.pointer_add(builder, value, offset * _WORD_BYTES)
    if isinstance(kind, _TableType):
        return address
    if not isinstance(kind, types.Array):
        return builder.load(builder.bitcast(address, context.get_value_type(kind).as_pointer()))
    words = builder.bitcast(address, _WORD.as_pointer())
    numbers = [builder.load(cgutils.gep_inbounds(builder, words, k)) for k in range(1 + kind.ndim)]
    array = make_array(kind)(context, builder)
    size = context.get_constant(types.intp, _item_bytes(kind.dtype))
    strides = [size] if kind.ndim == 1 else [builder.mul(numbers[2], size), size]
    data = builder.inttoptr(numbers[0], array.data.type)
    populate_array(array, data=data, shape=numbers[1:], strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()


# ------------------------------------------------------------------------------------ FMI functions by their addresses


def _call(builder: Any, kinds: list[Any], arguments: Any) -> Any:
    """Generate an indirect call of the function at address arguments[0]; int64 stands for each pointer."""
    function = builder.inttoptr(arguments[0], ir.FunctionType(_INT, kinds).as_pointer())
    passed = [
        builder.inttoptr(value, kind) if kind == _BYTES else value
        for kind, value in zip(kinds, arguments[1:], strict=True)
    ]
    return builder.call(function, passed)


@intrinsic
def get_or_set(context, function, component, references, count, values):
    """Call fmi2Get... or fmi2Set... of any type: (component, references, count, values)."""

    def generate(context, builder, signature, arguments):
        return _call(builder, [_BYTES, _BYTES, _WORD, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def do_step(context, function, component, t, h, no_rollback):
    """Call fmi2DoStep: (component, t, h, noSetFMUStatePriorToCurrentPoint)."""

    def generate(context, builder, signature, arguments):
        final = builder.trunc(arguments[4], _INT)
        return _call(builder, [_BYTES, _DOUBLE, _DOUBLE, _INT], [*arguments[:4], final])

    return types.int32(types.int64, types.int64, types.float64, types.float64, types.int64), generate


@intrinsic
def get_or_set_derivatives(context, function, component, references, count, orders, values):
    """Call fmi2SetRealInputDerivatives or fmi2GetRealOutputDerivatives: (component, references, count, ...)."""

    def generate(context, builder, signature, arguments):
        return _call(builder, [_BYTES, _BYTES, _WORD, _BYTES, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64, types.int64, types.int64, types.int64), generate


@intrinsic
def get_or_set_state(context, function, component, state):
    """Call fmi2GetFMUstate with the address of a state, or fmi2SetFMUstate with the state."""

    def generate(context, builder, signature, arguments):
        return _call(builder, [_BYTES, _BYTES], arguments)

    return types.int32(types.int64, types.int64, types.int64), generate


@intrinsic
def get_directional_derivative(
    context, function, component, unknowns, unknown_count, knowns, known_count, dv_known, dv_unknown
):
    """Call fmi2GetDirectionalDerivative, with the arguments of the standard."""

    def generate(context, builder, signature, arguments):
        return _call(builder, [_BYTES, _BYTES, _WORD, _BYTES, _WORD, _BYTES, _BYTES], arguments)

    return types.int32(*[types.int64] * 8), generate


@intrinsic
def get_status(context, function, component, kind, value):
    """Call fmi2GetRealStatus or fmi2GetBooleanStatus: (component, kind, value)."""

    def generate(context, builder, signature, arguments):
        kind = builder.trunc(arguments[2], _INT)
        return _call(builder, [_BYTES, _INT, _BYTES], [*arguments[:2], kind, arguments[3]])

    return types.int32(types.int64, types.int64, types.int64, types.int64), generate


# ------------------------------------------------------------------------------- 64-bit words shared by several threads


def _pointer(builder: Any, arguments: Any) -> Any:
    """Return a pointer to word arguments[1] of the array at address arguments[0]."""
    address = builder.add(arguments[0], builder.mul(arguments[1], ir.Constant(_WORD, _WORD_BYTES)))
    return builder.inttoptr(address, _WORD.as_pointer())


@intrinsic
def atomic_load(context, words, index):
    """Return a word; everything written before its `atomic_store` or `atomic_add` is visible afterwards."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(_pointer(builder, arguments), "acquire", _WORD_BYTES)

    return types.int64(types.int64, types.int64), generate


@intrinsic
def atomic_store(context, words, index, value):
    """Set a word, and publish everything written before."""

    def generate(context, builder, signature, arguments):
        builder.store_atomic(arguments[2], _pointer(builder, arguments), "release", _WORD_BYTES)
        return context.get_dummy_value()

    return types.void(types.int64, types.int64, types.int64), generate


@intrinsic
def atomic_add(context, words, index, value):
    """Add to a word; return its previous value."""

    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw("add", _pointer(builder, arguments), arguments[2], "acq_rel")

    return types.int64(types.int64, types.int64, types.int64), generate


@intrinsic
def atomic_replace(context, words, index, old, new):
    """Set a word to `new` if it is `old`; return whether it was."""

    def generate(context, builder, signature, arguments):
        pair = builder.cmpxchg(_pointer(builder, arguments), arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(pair, 1)

    return types.boolean(*[types.int64] * 4), generate
