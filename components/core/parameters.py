"""Named parameter sets: TOML files that give every value with its unit and its source.

::

    name = "AX-1"
    description = "axial damper of the existing mechanism"

    [parameters.axial]
    preload = { value = 1.2e3, unit = "N", source = "assumed, central-docking 8.3" }

A leaf is a table with `value`. The path of tables is the variable's name; elements of `[[parameters.chain]]` count from
1. With `over = "other.toml"`, or a list of such files, beside `name`, a set inherits every value that it does not give
itself; later files of the list win. With `options = { axial = "two_brakes" }` it is for components made with these
build options only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dockfmu.base.given_files import read_toml
from dockfmu.components.core.record import ParameterError, Record, Slot


@dataclass(frozen=True)
class ParameterSet:
    """Values by structured name (scalars, or nested lists for arrays), with the unit and source of each.

    `options` are the build options of the components that it is for; those of other names do not matter.
    """

    name: str
    description: str
    file: str
    values: Mapping[str, Any]
    units: Mapping[str, str]
    sources: Mapping[str, str]
    options: Mapping[str, Any] = field(default_factory=dict)

    def check(self, record: Record) -> None:
        """Raise ParameterError unless every name, shape, unit and range fits `record`."""
        for name, value in self.values.items():
            for slot_name, number in record.expand(name, value, self.file):
                slot = record.slots[record.index[slot_name]]
                if self.units[name] != slot.field.unit:
                    raise ParameterError(
                        f"{self.file}: {name} is given in {self.units[name]!r} but declared in {slot.field.unit!r}"
                    )
                check_value(slot, number, self.file)


def read_parameter_set(file: Path) -> ParameterSet:
    """Read a TOML parameter set. Raises ParameterError, naming the file, if it is invalid."""
    return _read(file, ())


def _read(file: Path, above: tuple[Path, ...]) -> ParameterSet:
    """Read a set that is the base of the sets in the files `above`, outermost first."""
    if file in above:
        raise ParameterError(f"{file}: the set is laid over itself: {' over '.join(str(path) for path in above)}")
    try:
        content = read_toml(file)
    except (OSError, ValueError) as error:
        raise ParameterError(f"{file}: {error}") from error
    name = content.pop("name", file.stem)
    description, options = content.pop("description", ""), content.pop("options", {})
    if not isinstance(options, dict):
        raise ParameterError(f"{file}: options = {options!r} is not a table of build options")
    values: dict[str, Any] = {}
    units: dict[str, str] = {}
    sources: dict[str, str] = {}
    over = content.pop("over", [])
    for other in over if isinstance(over, list) else [over]:
        if not isinstance(other, str):
            raise ParameterError(f"{file}: over = {over!r} is not the path of another set, or a list of paths")
        below = _read((file.parent / other).resolve(), (*above, file.resolve()))
        values |= below.values
        units |= below.units
        sources |= below.sources
    for path, leaf in parameter_leaves(content):
        missing = {"value", "unit", "source"} - leaf.keys()
        if missing:
            raise ParameterError(f"{file}: {path} lacks {', '.join(sorted(missing))}")
        values[path], units[path], sources[path] = leaf["value"], leaf["unit"], leaf["source"]
    return ParameterSet(name, description, str(file), values, units, sources, options)


def read_parameter_sets(folder: Path) -> tuple[ParameterSet, ...]:
    """Return all sets of a folder, sorted by file name."""
    return tuple(read_parameter_set(file) for file in sorted(folder.glob("*.toml")))


def fitting(sets: Iterable[ParameterSet], options: Mapping[str, Any]) -> tuple[ParameterSet, ...]:
    """Return the sets that are for a component with these build options."""
    return tuple(entry for entry in sets if entry.options.items() <= options.items())


def parameter_leaves(node: Any, path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (structured name, leaf) for every leaf of nested tables."""
    if isinstance(node, list):
        for k, item in enumerate(node, start=1):
            yield from parameter_leaves(item, f"{path}[{k}]")
    elif isinstance(node, dict) and "value" not in node:
        for key, item in node.items():
            yield from parameter_leaves(item, f"{path}.{key}" if path else key)
    elif isinstance(node, dict):
        yield path, node
    else:
        raise ParameterError(f"{path} = {node!r} is not a table with value, unit and source")


def check_value(slot: Slot, number: float, origin: str) -> None:
    """Raise ParameterError if `number` is not finite, or is not a value of the type and range of `slot`."""
    kind = slot.field.type.fmi
    if (kind == "Boolean" and number not in (0.0, 1.0)) or (kind != "Real" and number % 1.0 != 0.0):
        raise ParameterError(f"{origin}: {slot.name} = {number:g} is not a value of type {kind}")
    low, high = slot.bounds
    inside = number == number and (low is None or number >= low) and (high is None or number <= high)
    if not inside or abs(number) == float("inf"):
        bounds = f"[{'-inf' if low is None else f'{low:g}'}, {'inf' if high is None else f'{high:g}'}]"
        raise ParameterError(f"{origin}: {slot.name} = {number:g} {slot.field.unit} lies outside {bounds}")
