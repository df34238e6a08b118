"""A recording for the page: scenes with numbers in place of parameters, descriptions of variables, and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np

from dockfmu.base.given_files import parse_json, read_json
from dockfmu.declare.plan import Plan
from dockfmu.declare.toml.tables import DeclarationError, finite_number
from dockfmu.report.files import EVENTS, REPORT, SUMMARY
from dockfmu.report.shown_units import shown_unit
from dockfmu.view.address import ViewError
from dockfmu.view.scenes import FIRST_CURVES, poses_among


def _three() -> Path | None:
    """Return the file of three.js in the package jupyter-threejs-sage; None where it is not installed."""
    found = find_spec("jupyter_threejs_sage")
    file = Path(found.origin).parent / "static/r130/three.min.js" if found and found.origin else None
    return file if file is not None and file.is_file() else None


THREE = _three()
"""three.js for the scene in three dimensions."""

CURVES = 6
"""Number of curves shown at first."""


class Recorded(Protocol):
    """Rows and names that can be shown: a recording on disk (`Results`), or a live run."""

    file: Path
    attributes: dict[str, Any]
    variables: list[str]

    @property
    def time(self) -> np.ndarray:
        """Times of the rows, s."""
        ...

    def attribute(self, name: str) -> dict[str, Any]:
        """Return unit, type, ... of a variable."""
        ...

    def parameters(self, element: str) -> dict[str, float]:
        """Return the values of the parameters of an element. Raises KeyError."""
        ...

    def __contains__(self, name: str) -> bool: ...

    def __getitem__(self, name: str) -> np.ndarray: ...


class Replay:
    """A recording as the page shows it: in the browser from a server, or in one file."""

    def __init__(self, results: Recorded, folder: Path, *, growing: bool = False) -> None:
        """Take an open recording and the folder with the summary and events of its run.

        Raises ViewError for a recording without rows, unless it is `growing`.
        """
        if not growing and not len(results.time):
            raise ViewError(f"{results.file}: the run ended before anything was recorded")
        self._results = results
        self.folder = folder
        self._columns: dict[str, np.ndarray] = {}
        self._packed: dict[str, bytes] = {}
        self._attributes: dict[str, dict[str, Any]] = {}
        self._reading = Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._results

    @property
    def time(self) -> np.ndarray:
        """Times of the rows, s."""
        return self._results.time

    @cached_property
    def scenes(self) -> dict[str, Any]:
        """Scene of each element, with `{"v": name}` for variables; poses only, for a recording without scenes."""
        text = self._results.attributes.get("scenes")
        if text is None:
            return {element: self._of_poses(element) for element in self._elements()}
        try:
            scenes = parse_json(text)
        except (TypeError, ValueError) as error:
            raise ViewError(f"{self._results.file}: its scenes are not JSON ({error})") from error
        if not isinstance(scenes, dict) or not all(
            isinstance(scene, dict) and {"frames", "shapes", "devices"} <= scene.keys() for scene in scenes.values()
        ):
            raise ViewError(f"{self._results.file}: its scenes are not those of a run of dockfmu")
        made: dict[str, Any] = _with_numbers(scenes, self._results)
        return made

    def _elements(self) -> list[str]:
        return list(dict.fromkeys(name.partition(".")[0] for name in self._results.variables))

    def _of_poses(self, element: str) -> dict[str, Any]:
        names = [name for name in self._results.variables if name.startswith(f"{element}.")]

        def array(name: str, size: int) -> list[dict[str, str]]:
            return [{"v": f"{name}[{k}]"} for k in range(1, size + 1)]

        ports = poses_among(names)
        return {
            "frames": {
                port: {"position": array(f"{port}.position", 3), "quaternion": array(f"{port}.quaternion", 4)}
                for port in ports
            },
            "shapes": [{"shape": "triad", "frame": port, "length": 0.3, "label": port} for port in ports],
            "devices": [],
            "curves": [],
        }

    @cached_property
    def doubles(self) -> set[str]:
        """Names of variables that move frames: differences of large distances need all digits."""
        return {name for scene in self.scenes.values() for name in names_in(scene["frames"])}

    @cached_property
    def shown(self) -> list[str]:
        """Names of all recorded variables that the scenes and the first curves show."""
        names = dict.fromkeys([*(n for scene in self.scenes.values() for n in names_in(scene)), *self.curves])
        return [name for name in names if name in self._results]

    @cached_property
    def curves(self) -> list[str]:
        """Names of the variables shown as curves at first: those of scenes, else those of the report."""
        drawn = sorted(self.scenes.values(), key=lambda scene: bool(scene.get("by_ports")))
        named = [name for scene in drawn for name in names_in(scene.get("curves", []))]
        if drawn and drawn[0].get("by_ports"):
            # no scene names curves: forces and motions of all elements in turn, and of the report before those
            named = [name for k in range(FIRST_CURVES) for scene in drawn for name in _curve(scene, k)]
        if not any(scene.get("curves") and not scene.get("by_ports") for scene in drawn) and (
            "plan" in self._results.attributes
        ):
            named = [name for panel in self._plan().panels for name in panel.signals] or named
        named = named or self._results.variables
        shown = (name for name in dict.fromkeys(named) if name in self._results and self._numeric(name))
        return list(islice(shown, CURVES))

    def _plan(self) -> Plan:
        try:
            return Plan.from_json(self._results.attributes["plan"])
        except DeclarationError:
            return Plan()

    def _attribute(self, name: str) -> dict[str, Any]:
        """Return unit, type, ... of a variable; they are read from the file once."""
        if name not in self._attributes:
            self._attributes[name] = self._results.attribute(name)
        return self._attributes[name]

    def _numeric(self, name: str) -> bool:
        return bool(self._attribute(name).get("type") != "String")

    def description(self, names: Iterable[str] | None = None) -> dict[str, Any]:
        """Return all that the page needs besides times and columns, for these variables or for all numeric ones."""
        results = self._results
        chosen = [name for name in (results.variables if names is None else names) if self._numeric(name)]
        summary, attributes = self._read(SUMMARY, {}), results.attributes
        status = summary.get("status", attributes.get("status", ""))
        outcome = str(summary.get("outcome", attributes.get("outcome", status)))
        if outcome == "running":
            # the run was killed, or still continues: rows that it adds later are not read
            outcome = "unfinished"
        standing = "good" if status == "completed" and summary.get("success", True) else "bad"
        return {
            "title": str(attributes.get("system", results.file.name)),
            "description": str(attributes.get("description", "")),
            "outcome": outcome.replace("_", " "),
            "message": str(summary.get("message", attributes.get("message", ""))),
            "standing": "" if status in ("", "running", "stopped") else standing,
            "three": THREE is not None,
            "report": (self.folder / REPORT).is_file(),
            "rows": len(results.time),
            "events": self._events(),
            "scenes": self.scenes,
            "curves": self.curves,
            "variables": [self._variable(name) for name in chosen],
        }

    def _variable(self, name: str) -> dict[str, Any]:
        about = self._attribute(name)
        unit, factor = shown_unit(str(about["unit"]), str(about.get("display_unit", "")))
        known = {
            "name": name,
            "shown": unit,
            "factor": factor,
            "held": about.get("type") != "Real" or about.get("variability") != "continuous",
            "size": 8 if name in self.doubles else 4,
            "description": str(about.get("description", "")),
        }
        items = dict(str(item).split("=", 1) for item in about.get("items", ()) if "=" in str(item))
        return {**known, "items": {value: name.replace("_", " ").lower() for value, name in items.items()}}

    def _events(self) -> list[dict[str, Any]]:
        events = self._read(EVENTS, [])
        return [
            {"t": time, "name": str(event["name"])}
            for event in events
            if isinstance(event, dict) and "name" in event
            if (time := finite_number(event.get("t"))) is not None
        ]

    def _read(self, name: str, missing: Any) -> Any:
        file = self.folder / name
        try:
            content = read_json(file) if file.is_file() else missing
        except (OSError, ValueError):
            return missing
        return content if type(content) is type(missing) else missing

    def check(self, names: Iterable[str]) -> None:
        """Raise ViewError for a variable that is missing or not numeric."""
        for name in names:
            if name not in self._results or not self._numeric(name):
                raise ViewError(f"{self._results.file}: there is no numeric variable {name!r}")

    def columns(self, names: Sequence[str]) -> Iterator[np.ndarray]:
        """Return the values of these variables: float32, or float64 for those that move frames. Raises ViewError."""
        self.check(names)
        return (self._column(name) for name in names)

    def _column(self, name: str) -> np.ndarray:
        with self._reading:
            if name not in self._columns:
                with np.errstate(over="ignore"):
                    self._columns[name] = np.asarray(self._results[name], "<f8" if name in self.doubles else "<f4")
            return self._columns[name]

    def packed(self, names: Sequence[str]) -> bytes:
        """Return columns as the page reads them, one after the other; see `pack_column`. Raises ViewError."""
        self.check(names)
        for name in names:
            if name not in self._packed:
                self._packed[name] = pack_column(self._column(name))
        return b"".join(self._packed[name] for name in names)

    def read_ahead(self) -> None:
        """Read and pack what the page requests first; meant for a thread, while the browser starts."""
        for name in self.shown:
            self.packed([name])


def pack_column(column: np.ndarray) -> bytes:
    """Return a column as the page reads it, in a multiple of 8 bytes.

    It holds the number of runs of equal values (uint32) and 4 bytes of padding, then the first rows of all runs
    (uint32) and their values, each padded to a multiple of 8 bytes. If the number is 0, all values of the column follow
    one by one.
    """
    bits = column.view(f"<u{column.itemsize}")
    starts = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]])) if len(column) else np.zeros(0, int)
    if len(starts) * (4 + column.itemsize) > column.nbytes / 2:
        return bytes(8) + _padded(column.tobytes())
    head = len(starts).to_bytes(4, "little") + bytes(4)
    return head + _padded(starts.astype("<u4").tobytes()) + _padded(column[starts].tobytes())


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 8)


def _curve(scene: Mapping[str, Any], number: int) -> list[str]:
    """Return the names in the curve of this number of a scene, none where it has fewer."""
    return list(names_in(scene.get("curves", [])[number : number + 1]))


def _with_numbers(part: Any, results: Recorded) -> Any:
    """Return a part of a scene with `{"p": name}` replaced by the value of the parameter; None where there is none."""
    values: dict[str, Mapping[str, float]] = {}

    def number(name: str) -> float | None:
        element, _, variable = name.partition(".")
        if element not in values:
            try:
                values[element] = results.parameters(element)
            except KeyError:
                values[element] = {}
        return values[element].get(variable)

    def replaced(part: Any) -> Any:
        if isinstance(part, list):
            return [replaced(inner) for inner in part]
        if isinstance(part, dict):
            return number(part["p"]) if isinstance(part.get("p"), str) else {k: replaced(v) for k, v in part.items()}
        return part

    return replaced(part)


def names_in(part: Any) -> Iterator[str]:
    """Yield the names of variables in a part of a scene with full names."""
    if isinstance(part, dict):
        if isinstance(part.get("v"), str):
            yield part["v"]
        else:
            for inner in part.values():
                yield from names_in(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from names_in(inner)
