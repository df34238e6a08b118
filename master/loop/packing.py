"""The tables as the compiled code gets them: by one address, because tuples of many arrays are slow to hand on.

`pack` lays a named tuple out in memory: of an array its address and shape, of a number its value, of a tuple all of it.
Compiled code reads it by the same names: `tables.signals.y_real[k]`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array, populate_array
from numba.np.numpy_support import from_dtype

_SLOT = 8
"""bytes of each number of the layout"""


class Packed:
    """A named tuple laid out in memory, with the arrays that it refers to."""

    def __init__(self, content: Any) -> None:
        self.content = content
        self.type = _Table(_kind(content))
        self.words = np.array(_words(content), np.int64)
        self.address = self.words.ctypes.data


def pack(content: Any) -> Packed:
    """What compiled functions take for the named tuple `content` of arrays, numbers and named tuples."""
    return Packed(content)


def _kind(value: Any) -> Any:
    """What a value is, in a form that can be compared: a dtype and dimensions, fields, or the name of a number."""
    if isinstance(value, np.ndarray):
        assert value.flags.c_contiguous
        return value.dtype.name, value.ndim
    if isinstance(value, tuple):
        return tuple((name, _kind(part)) for name, part in zip(value._fields, value, strict=True))  # type: ignore[attr-defined]
    return "float" if isinstance(value, float) else "int"


def _words(value: Any) -> list[int]:
    if isinstance(value, np.ndarray):
        return [value.ctypes.data, *value.shape]
    if isinstance(value, tuple):
        return [word for part in value for word in _words(part)]
    return np.array([value]).view(np.int64).tolist() if isinstance(value, float) else [int(value)]


def _size(kind: Any) -> int:
    """Number of words of a kind."""
    if isinstance(kind, str):
        return 1
    if isinstance(kind[0], str):
        return 1 + kind[1]
    return sum(_size(part) for _, part in kind)


class _Table(types.Type):
    """A named tuple in memory; its value is its address."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        super().__init__(name=f"Table({kind})")

    def part(self, name: str) -> tuple[int, Any]:
        """(place in words, numba type) of a field."""
        place = 0
        for field, kind in self.kind:
            if field == name:
                return place, _type(kind)
            place += _size(kind)
        raise AttributeError(name)


def _type(kind: Any) -> types.Type:
    if isinstance(kind, str):
        return types.float64 if kind == "float" else types.int64
    if isinstance(kind[0], str):
        return types.Array(from_dtype(np.dtype(kind[0])), kind[1], "C")
    return _Table(kind)


@register_model(_Table)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: _Table) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@typeof_impl.register(Packed)
def _typeof(value: Packed, context: Any) -> types.Type:
    return value.type


@unbox(_Table)
def _unbox(kind: _Table, value: Any, c: Any) -> NativeValue:
    address = c.pyapi.object_getattr_string(value, "address")
    pointer = c.builder.inttoptr(c.pyapi.long_as_longlong(address), cgutils.voidptr_t)
    c.pyapi.decref(address)
    return NativeValue(pointer)


@infer_getattr
class _Fields(AttributeTemplate):
    key = _Table

    def generic_resolve(self, table: Any, name: str) -> Any:  # type: ignore[override]
        return table.part(name)[1]


@lower_getattr_generic(_Table)
def _get(context: Any, builder: Any, table: _Table, value: Any, name: str) -> Any:
    place, kind = table.part(name)
    address = cgutils.pointer_add(builder, value, place * _SLOT)
    if isinstance(kind, _Table):
        return address
    if not isinstance(kind, types.Array):
        return builder.load(builder.bitcast(address, context.get_value_type(kind).as_pointer()))
    words = builder.bitcast(address, ir.IntType(64).as_pointer())
    numbers = [builder.load(cgutils.gep_inbounds(builder, words, k)) for k in range(1 + kind.ndim)]
    array = make_array(kind)(context, builder)
    size = context.get_constant(types.intp, np.dtype(kind.dtype.name).itemsize)
    strides = [size] if kind.ndim == 1 else [builder.mul(numbers[2], size), size]
    data = builder.inttoptr(numbers[0], array.data.type)
    populate_array(array, data=data, shape=numbers[1:], strides=strides, itemsize=size, meminfo=None)
    return array._getvalue()
