"""The content of functions and types, by which compiled code is named (`compiler`)."""

from __future__ import annotations

import builtins
import dis
import hashlib
import re
from collections.abc import Iterator
from enum import Enum, EnumType
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numba.core import types
from numba.extending import _Intrinsic


def digest_of(function: Any) -> str:
    """Return a digest of a Python function: its code, defaults, closure, and the values and functions it refers to.

    Raises TypeError for a value that has no content to name it by, such as an object known only by its address.
    """
    return _digest(getattr(function, "py_func", function), ())


_DIGESTS: WeakKeyDictionary[FunctionType, str] = WeakKeyDictionary()


def _digest(function: FunctionType, callers: tuple[FunctionType, ...]) -> str:
    if function not in _DIGESTS:
        total = hashlib.sha256()
        for part in _parts(function, (*callers, function)):
            total.update(part.encode() + b"\0")
        _DIGESTS[function] = total.hexdigest()[:24]
    return _DIGESTS[function]


def _parts(function: FunctionType, callers: tuple[FunctionType, ...]) -> Iterator[str]:
    yield from _own_parts(function, callers)
    for name, value in _references(function.__code__, function.__globals__):
        yield name
        yield from _content(value, callers)


def _own_parts(function: FunctionType, callers: tuple[FunctionType, ...]) -> Iterator[str]:
    """Yield the parts of a function itself, without the globals that it refers to."""
    code = function.__code__
    yield f"{function.__module__} {function.__qualname__}"
    yield from _code(code)
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        yield f"closure {name}"
        yield from _content(cell.cell_contents, callers)
    yield from _content(function.__defaults__ or (), callers)


def _code(code: CodeType) -> Iterator[str]:
    yield f"{code.co_code.hex()} {code.co_argcount} {code.co_varnames} {code.co_names}"
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield f"{type(constant).__name__} {constant!r}"


def _references(code: CodeType, space: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the globals that code and the code nested in it refer to; for modules, yield the attributes used."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _references(constant, space)
    name, value = "", None
    for instruction in dis.get_instructions(code):
        if name and instruction.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
            name, value = f"{name}.{instruction.argval}", getattr(value, instruction.argval)
            continue
        if name:
            yield name, value
            name = ""
        if instruction.opname == "LOAD_GLOBAL":
            name = instruction.argval
            value = space[name] if name in space else getattr(builtins, name)
    if name:
        yield name, value


def _content(value: Any, callers: tuple[FunctionType, ...]) -> Iterator[str]:
    """Yield the parts that make up the content of a value that a function refers to."""
    if hasattr(value, "py_func"):
        yield f"options {sorted(getattr(value, 'targetoptions', {}).items())}"
        value = value.py_func
    if isinstance(value, FunctionType):
        if value is callers[-1]:
            yield "itself"
        elif value in callers:
            raise TypeError(
                f"{value.__qualname__} and {callers[-1].__qualname__} call each other and cannot be compiled"
            )
        else:
            yield _digest(value, callers)
    elif isinstance(value, tuple | list):
        yield f"{type(value).__module__} {type(value).__qualname__} {len(value)} {getattr(value, '_fields', '')}"
        for item in value:
            yield from _content(item, callers)
    elif isinstance(value, np.ndarray | np.generic):
        yield f"array {value.dtype.descr if value.dtype.names else value.dtype.str} {value.shape}"
        yield hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    elif isinstance(value, types.Type):
        yield name_of(value)
    elif isinstance(value, str | bytes | bool | int | float | complex | type(None) | np.dtype):
        yield f"{type(value).__name__} {value!r}"
    elif isinstance(value, EnumType):
        members = [(member.name, member.value) for member in cast("type[Enum]", value)]
        yield f"{value.__module__} {value.__qualname__} {members}"
    elif isinstance(value, type) and issubclass(value, tuple) and hasattr(value, "_fields"):
        yield f"{value.__module__} {value.__qualname__} {value._fields}"
        yield from _content(value.__new__.__defaults__ or (), callers)
    elif isinstance(value, BuiltinFunctionType | np.ufunc) or getattr(value, "__module__", "") in ("builtins", "numpy"):
        yield f"{type(value).__name__} {getattr(value, '__module__', '')} {value.__name__}"
    elif isinstance(value, _Intrinsic):
        # its code generator calls the compiler, which the versions identify; its own module is in `sources`
        yield from _own_parts(value._defn, callers)
    else:
        raise TypeError(f"{value!r} of type {type(value).__name__} cannot be named by its content in compiled code")


def name_of(numba_type: types.Type) -> str:
    """Return the content of a numba type as text. Raises TypeError for a type that is known only by an address."""
    text = str(numba_type)
    if re.search(r"\bat 0x[0-9a-f]+", text):
        raise TypeError(f"{text} cannot be named by its content in compiled code")
    return text
