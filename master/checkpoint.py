"""Checkpoints: the state of a run as data, kept in memory to branch from or in a file to resume from."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.files import WriteError
from dockfmu.base.messages import shown
from dockfmu.base.numbers import is_positive, real
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.sealed_arrays import read_arrays, write_arrays
from dockfmu.master.system import Connection, Structure

FORMAT = 4
_FIRST_LINE = b"dockfmu checkpoint\n"


class CheckpointError(MasterError):
    """A checkpoint cannot be taken or read, or does not fit the system."""


@dataclass(frozen=True)
class Difference:
    """A difference between a system and that of a checkpoint; `variable` names a start value that differs.

    A checkpoint with a `fatal` difference cannot be used.
    """

    what: str
    then: str
    now: str
    variable: str = ""
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.what}: {self.then} at the checkpoint, {self.now} now"


@dataclass(frozen=True)
class Checkpoint:
    """A run at `time`, after `macro_steps` of length `step` from `start` on; `stepping` names the algorithm.

    `states` are the serialised states of the FMUs, by element; `memory` is the state of the loop between two steps, so
    that a resumed run is bitwise equal to an uninterrupted one. The other fields describe the system for comparison:
    `fmus` are the SHA-256 of the files, `starts` the start values of each element, `rates` the substeps of each element
    and the number of macro steps in which it steps once, `order` the order of the elements, `connections` a sentence
    for each connection.
    """

    system: str
    stepping: str
    start: float
    time: float
    step: float
    macro_steps: int
    fmus: dict[str, str]
    starts: dict[str, dict[str, Any]]
    rates: dict[str, list[int]]
    order: list[str]
    connections: list[str]
    states: dict[str, bytes] = field(repr=False)
    memory: dict[str, np.ndarray] = field(repr=False)

    def differences(self, system: Structure) -> list[Difference]:
        """Return the differences between a system and the one from which the checkpoint was taken."""
        found = []
        if self.system != system.name:
            found.append(Difference("the name of the system", self.system, system.name))
        if set(self.fmus) != set(system.elements):
            then, other = (", ".join(sorted(elements)) for elements in (self.fmus, system.elements))
            return [*found, Difference("the elements", then, other, fatal=True)]
        now = identity(system)
        for element, sha in self.fmus.items():
            if now["fmus"][element] != sha:
                found.append(Difference(f"the FMU of {element}", f"SHA-256 {sha[:12]}", now["fmus"][element][:12]))
            found += self._other_starts(system, element, now["starts"][element])
            if now["rates"][element] != self.rates[element]:
                then, other = (f"{steps} in {every}" for steps, every in (self.rates[element], now["rates"][element]))
                found.append(Difference(f"the steps of {element} in macro steps", then, other))
        lost = [c for c in self.connections if c not in now["connections"]]
        added = [c for c in now["connections"] if c not in self.connections]
        found += [Difference(f"connection {connection}", "there", "none") for connection in lost]
        found += [Difference(f"connection {connection}", "none", "there") for connection in added]
        if now["order"] != self.order:
            found.append(Difference("the order of the elements", ", ".join(self.order), ", ".join(now["order"])))
        return found

    def _other_starts(self, system: Structure, element: str, now: Mapping[str, Any]) -> list[Difference]:
        """Return the start values that differ; a value that is not given is that of the FMU."""
        variables, then = system.description(element).variables, self.starts[element]
        found = []
        for name in sorted(then.keys() | now.keys()):
            own = variables[name].start if name in variables else None
            old, new = (_plain(given.get(name, own)) for given in (then, now))
            if old != new:
                full = f"{element}.{name}"
                variable = full if name in variables else ""
                found.append(Difference(full, _shown(old), _shown(new), variable))
        return found

    def check(self, system: Structure, *, force: bool = False) -> None:
        """Raise CheckpointError that lists the differences of a system; with `force`, only for fatal ones."""
        found = self.differences(system)
        wrong = [difference for difference in found if difference.fatal or not force]
        if wrong:
            lines = "".join(f"\n  {difference}" for difference in wrong)
            text = f"the checkpoint at t = {self.time:.9g} s was taken from another system:{lines}"
            if not any(difference.fatal for difference in wrong):
                text += (
                    "\ngive the same values again, or continue with --force (force=True): inputs and tunable "
                    "parameters then have the values given now, all others those of the checkpoint"
                )
            raise CheckpointError(text)

    def write(self, file: Path) -> Path:
        """Write the checkpoint to `file`; an old file stays until the new one is complete."""
        head = {k: v for k, v in asdict(self).items() if k not in ("states", "memory")} | {"format": FORMAT}
        content = {"head": np.frombuffer(json.dumps(head).encode(), np.uint8)}
        content |= {f"state/{name}": np.frombuffer(state, np.uint8) for name, state in self.states.items()}
        content |= {f"memory/{name}": values for name, values in self.memory.items()}
        try:
            return write_arrays(file, _FIRST_LINE, content)
        except WriteError as error:
            raise CheckpointError(str(error)) from error


def read_checkpoint(file: Path) -> Checkpoint:
    """Read a checkpoint. Raises CheckpointError for a file that is missing, damaged, or not a checkpoint."""
    if not file.is_file():
        raise CheckpointError(f"{file}: there is no such checkpoint; runs write the first one after some seconds")
    try:
        content = read_arrays(file, _FIRST_LINE)
        head = json.loads(content["head"].tobytes())
        if not isinstance(head, dict):
            raise ValueError("its head is not a table")
        if head.pop("format") != FORMAT:
            raise CheckpointError(f"{file}: a checkpoint of another version of this program")
        states = {n.removeprefix("state/"): content[n].tobytes() for n in content if n.startswith("state/")}
        memory = {n.removeprefix("memory/"): content[n] for n in content if n.startswith("memory/")}
        _check_head(head)
        if states.keys() != head["fmus"].keys():
            raise ValueError(f"it has states of {sorted(states)} and describes {sorted(head['fmus'])}")
        return Checkpoint(**head, states=states, memory=memory)
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise CheckpointError(f"{file}: not a readable checkpoint ({error})") from error


def _check_head(head: dict[str, Any]) -> None:
    """Raise ValueError, which names the field, unless a table has the fields of a checkpoint, of the right types."""
    elements = head.get("fmus")
    if not isinstance(elements, dict):
        raise ValueError(f"fmus is {shown(elements)}")
    for name, is_right in _FIELDS.items():
        value = head.get(name)
        if not is_right(value):
            raise ValueError(f"{name} is {shown(value)}")
        if name in ("starts", "rates", "order") and set(value) != elements.keys():  # type: ignore[arg-type]
            raise ValueError(f"{name} is of {shown(sorted(map(str, value)))}, not of {sorted(elements)}")  # type: ignore[arg-type]
    if unknown := head.keys() - _FIELDS.keys():
        raise ValueError(f"it has a field {min(unknown)!r}")


def _is_table(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a function that tells whether a value is a table of values that are right."""
    return lambda value: isinstance(value, dict) and all(map(is_right, value.values()))


def _is_list(is_right: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a function that tells whether a value is a list of values that are right."""
    return lambda value: isinstance(value, list) and all(map(is_right, value))


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_time(value: Any) -> bool:
    number = real(value)
    return number is not None and math.isfinite(number)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 62


def _is_rate(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(_is_count(n) and n > 0 for n in value)


def _is_start(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


_FIELDS: dict[str, Callable[[Any], bool]] = {
    "system": _is_text,
    "stepping": _is_text,
    "start": _is_time,
    "time": _is_time,
    "step": is_positive,
    "macro_steps": _is_count,
    "fmus": _is_table(_is_text),
    "starts": _is_table(_is_table(_is_start)),
    "rates": _is_table(_is_rate),
    "order": _is_list(_is_text),
    "connections": _is_list(_is_text),
}
"""The fields of a checkpoint besides its arrays, and whether a value from a file can be one of them."""


def check_states(system: Structure) -> None:
    """Raise CheckpointError that names the elements whose FMUs cannot serialise their state."""
    lacking = [name for name in system.elements if not system.description(name).can_serialize_state]
    if lacking:
        raise CheckpointError(f"no checkpoint can be taken: the FMUs of {', '.join(lacking)} cannot serialise a state")


def save_states(instances: Mapping[str, FmuInstance]) -> dict[str, bytes]:
    """Return the serialised states of all instances. Raises FmuError."""
    found = {}
    for name, instance in instances.items():
        state = instance.get_state()
        try:
            found[name] = instance.serialize(state)
        finally:
            instance.free_state(state)
    return found


def restore_states(instances: Mapping[str, FmuInstance], states: Mapping[str, bytes]) -> None:
    """Restore the saved states of initialised instances. Raises FmuError."""
    for name, instance in instances.items():
        state = instance.deserialize(states[name])
        try:
            instance.set_state(state)
        finally:
            instance.free_state(state)


def identity(system: Structure) -> dict[str, Any]:
    """Return the fields of Checkpoint that describe a system."""
    elements = system.elements.items()
    return {
        "fmus": digests(system),
        **identity_of_starts(system),
        "rates": {name: [element.substeps, element.every] for name, element in elements},
        "order": list(system.execution_order()),
        "connections": sorted(map(_sentence, system.connections)),
    }


def identity_of_starts(system: Structure) -> dict[str, Any]:
    """Return the part of `identity` that holds the start values."""
    elements = system.elements.items()
    return {"starts": {name: {key: _plain(v) for key, v in element.start.items()} for name, element in elements}}


def _plain(value: Any) -> Any:
    """Return a value as JSON stores it, so that 2, 2.0 and numpy's 2 are equal."""
    if value is None or isinstance(value, str):
        return value
    return float(value)


def _shown(value: Any) -> str:
    return "not given" if value is None else repr(value)


def _sentence(connection: Connection) -> str:
    """Return a connection in words, with all conversions."""
    found = str(connection)
    if (connection.factor, connection.offset) != (1.0, 0.0):
        found += f", times {connection.factor!r} plus {connection.offset!r}"
    if not connection.convert_units:
        found += ", units not converted"
    if connection.mean:
        found += ", a mean"
    return found + (f", by the table {connection.table}" if connection.table else "")


def digests(system: Structure) -> dict[str, str]:
    """Return the SHA-256 of the FMU of each element."""
    known: dict[Path, str] = {}
    for element in system.elements.values():
        if element.file not in known:
            known[element.file] = archive.digest(element.file)
    return {name: known[element.file] for name, element in system.elements.items()}
