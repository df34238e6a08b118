"""No parameter without effect: each is read by a kernel that the component's `initialize` or `step` can reach."""

from __future__ import annotations

import types
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from dockfmu.components.core.field import Group, parameter
from dockfmu.components.core.kernel import Kernel
from dockfmu.components.core.record import Record
from dockfmu.fmus import catalogue


def functions(root: Any, fields: frozenset[str]) -> set[types.FunctionType]:
    """Return the functions that `root` reaches by names in its code, through modules, kernels and closures.

    Of a `variant` the half for records with these `fields`.
    """
    found: set[types.FunctionType] = set()
    waiting = [root]
    while waiting:
        thing = waiting.pop()
        function = thing.py_func if isinstance(thing, Kernel) else thing
        if function in found:
            continue
        if function.__name__ == "chosen" and function.__module__ == "dockfmu.components.core.kernel":
            cell = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
            chosen = "present" if cell["field"].cell_contents in fields else "absent"
            waiting.append(cell[chosen].cell_contents)
            continue
        found.add(function)
        waiting += [thing for thing in _named(function) if callable(thing)]
    return found


def _named(function: types.FunctionType) -> Iterator[Any]:
    """Return what the names in the code of a function stand for: globals, members of modules among them, free names."""
    names = function.__code__.co_names
    known = [function.__globals__.get(name) for name in names]
    known += [cell.cell_contents for cell in function.__closure__ or ()]
    modules = [thing for thing in known if isinstance(thing, types.ModuleType)]
    for thing in known + [getattr(module, name, None) for module in modules for name in names]:
        if isinstance(thing, Kernel) or (
            isinstance(thing, types.FunctionType) and thing.__module__.startswith("dockfmu.components.")
        ):
            yield thing


def _all_fields(dtype: np.dtype) -> Iterator[str]:
    """Names of fields and groups, of nested ones too: a part of the record may decide on a variant."""
    for name, (kind, *_) in (dtype.fields or {}).items():
        yield name
        yield from _all_fields(kind.base)


def unread(record: Record, *kernels: Any) -> list[str]:
    """Parameters whose name, or that of a group that they stand in, is in no function that the kernels reach."""
    fields = frozenset(_all_fields(record.dtype))
    names = {name for kernel in kernels for reached in functions(kernel, fields) for name in reached.__code__.co_names}
    # parts with names of their own are elements of arrays for kernels
    own = getattr(record, "counted", record)
    return [
        slot.name
        for slot, inside in zip(record.slots, own.slots, strict=True)
        if slot.field.causality == "parameter"
        and not names.issuperset(part.partition("[")[0] for part in inside.name.split("."))
    ]


@pytest.mark.parametrize("name", catalogue.names())
def test_every_parameter_is_read_by_a_kernel(name):
    component = catalogue.component(name)
    assert unread(component.record, component.initialize, component.step) == []


def test_a_parameter_without_effect_is_found():
    component = catalogue.component("oscillator")
    more = Record(Group("parameters", parameter("mass", "kg", "", 1.0), parameter("colour", "1", "", 0.0)))
    assert unread(more, component.initialize, component.step) == ["parameters.colour"]
