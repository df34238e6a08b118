"""The state of the loop between two steps: the part of a checkpoint besides the states of the FMUs.

`FirstTables` keeps everything that a run begins with; a checkpoint keeps what is needed to continue, by name. The
components of the instances and their saved states are pointers, valid in one run only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dockfmu.master.errors import FmuError, MasterError
from dockfmu.master.loop import tables
from dockfmu.master.tables.coupling import Coupling


class FirstTables:
    """Copies of all arrays of the tables as they are now, before the first run."""

    def __init__(self, coupling: Coupling) -> None:
        self._arrays = [(array, array.copy()) for array in _arrays(coupling.tables)]

    def restore(self) -> None:
        """Restore all arrays; saved states of the FMUs must have been freed."""
        for array, first in self._arrays:
            array[...] = first


def _arrays(table: Any) -> Iterator[np.ndarray]:
    """Yield the arrays of a named tuple and of the tuples in it."""
    for part in table:
        if isinstance(part, np.ndarray):
            yield part
        elif isinstance(part, tuple):
            yield from _arrays(part)


def set_components(coupling: Coupling) -> None:
    """Replace the components in all tables by those of the instances, which have been renewed."""
    components = np.array([instance.component for instance in coupling.layout.instances], np.int64)
    filled = coupling.tables
    filled.instances.component[:] = components
    program, directions = filled.instances.program, filled.iteration.derivative_calls
    is_call = program["kind"] < tables.COPY
    program["component"][is_call] = components[program["owner"][is_call]]
    for calls in (filled.recording.calls, filled.prediction.set_calls, filled.prediction.get_calls):
        calls["component"] = components[calls["owner"]]
    used = directions["function"] != 0
    directions["component"][used] = components[: len(directions)][used]


def free_states(coupling: Coupling) -> list[str]:
    """Free the states that the loop has saved; return a sentence for each failure."""
    saved, notes = coupling.tables.instances.state, []
    for level, i in zip(*np.nonzero(saved), strict=True):
        try:
            coupling.layout.instances[i].free_state(int(saved[level, i]))
        except FmuError as error:
            notes.append(str(error))
    saved[:] = 0
    return notes


def _of_outputs(coupling: Coupling) -> dict[str, np.ndarray]:
    """Return the arrays with a slot for each Real output that is read, which depends on the observers."""
    prediction = coupling.tables.prediction
    return {"y_real": coupling.layout.outputs.y_real, "start": prediction.start, "slope": prediction.slope}


def _others(coupling: Coupling) -> dict[str, np.ndarray]:
    """Return the other arrays, by table and field."""
    rates, iteration, control = coupling.tables.rates, coupling.tables.iteration, coupling.tables.control
    return {
        "rates.elapsed": rates.elapsed,
        "rates.start": rates.start,
        "rates.u_integral": rates.u_integral,
        "iteration.scale": iteration.scale,
        "iteration.residual": iteration.residual,
        "iteration.inverse_jacobian": iteration.inverse_jacobian,
        "iteration.counters": iteration.counters,
        "control.scale": control.scale,
        "control.clock": control.clock,
    }


def get_loop_state(coupling: Coupling) -> dict[str, np.ndarray]:
    """Return copies of all arrays that are needed to continue."""
    found = {name: array.copy() for name, array in (_of_outputs(coupling) | _others(coupling)).items()}
    slots = coupling.layout.numbered
    found["outputs"] = np.array(coupling.layout.outputs.real_names, np.str_)
    found["integer_outputs"] = np.array(list(slots), np.str_)
    found["y_int"] = coupling.layout.outputs.y_int[list(slots.values())]
    return found


def set_loop_state(coupling: Coupling, saved: Mapping[str, np.ndarray]) -> None:
    """Restore saved arrays after the outputs have been read. Raises MasterError if they do not fit."""
    slot, clock = coupling.layout.outputs.real, coupling.tables.control.clock
    for name, array in _of_outputs(coupling).items():
        if array.size:
            names = _checked(saved, "outputs", np.empty(0, np.str_))
            _copy(array, slot, names, _checked(saved, name, array, len(names)))
    names, y_int = _checked(saved, "integer_outputs", np.empty(0, np.str_)), coupling.layout.outputs.y_int
    _copy(y_int, coupling.layout.numbered, names, _checked(saved, "y_int", y_int, len(names)))
    for name, array in _others(coupling).items():
        values = _checked(saved, name, array)
        if values.shape != array.shape:
            raise MasterError(f"the checkpoint was taken with other connections or settings: {name!r} does not fit")
        if array is clock and not np.isfinite(values[[tables.NOW, tables.NEXT]]).all():
            raise MasterError("the checkpoint is damaged: the time or the length of the next step is not a number")
        array[...] = values


def _checked(saved: Mapping[str, np.ndarray], name: str, like: np.ndarray, rows: int | None = None) -> np.ndarray:
    """Return an array of a checkpoint, which may come from anybody. Raises MasterError.

    It has the type and the number of dimensions of `like`, and as many rows as `rows`, if given.
    """
    values = saved.get(name)
    if (
        values is None
        or values.ndim != like.ndim
        or values.dtype.kind != like.dtype.kind
        or (like.dtype.kind != "U" and values.dtype != like.dtype)
        or (rows is not None and len(values) != rows)
    ):
        raise MasterError(f"the checkpoint is damaged: its {name!r} is not what a run needs to continue")
    return values


def _copy(into: np.ndarray, slots: Mapping[str, int], names: np.ndarray, values: np.ndarray) -> None:
    """Copy the values whose names both sides have."""
    for name, value in zip(names.tolist(), values, strict=True):
        if name in slots:
            into[slots[name]] = value
