"""Recording to HDF5, and reading the file back.

Layout: `/time`; `/<element>/<variable>`, one dataset each with attributes unit, description, causality, type;
`/parameters/<element>`, a table of name, value, unit; `/fmus/<element>`, attributes that identify the FMU; on the file
itself system, algorithm, step, status and whatever the caller adds.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any

import h5py
import numpy as np

from master import archive
from master.coupling import Sampling
from master.description import Variable
from master.errors import MasterError
from master.observers.observer import Observer, Run
from master.result import Result
from master.system import System

CHUNK_ROWS = 1024
FLUSH_ROWS = 8192
FLUSH_S = 2.0

_DTYPE = {"Real": np.float64, "Integer": np.int32, "Enumeration": np.int32, "Boolean": np.bool_}
_RESERVED = ("time", "parameters", "fmus")


class Recorder(Observer):
    """Writes `variables` (full names; without them all outputs) at the start and after every `every` macro steps.

    Rows are on disk FLUSH_S seconds later at the latest, so that a run that ends badly leaves a readable file. A value
    that is not finite is recorded as it is, and noted in result.warnings.
    """

    def __init__(
        self,
        file: Path,
        variables: Sequence[str] | None = None,
        *,
        every: int = 1,
        attributes: Mapping[str, str | float | int] | None = None,
    ) -> None:
        self.file = Path(file)
        self.variables = None if variables is None else tuple(variables)
        self.every = every
        self.attributes = dict(attributes or {})
        self._out: h5py.File | None = None
        self._waiting: list[tuple[np.ndarray, np.ndarray]] = []
        self._rows = 0
        self._flushed = 0.0
        self._not_finite: dict[str, float] = {}

    def sampling(self, system: System) -> Sampling:
        if self.variables is None:
            self.variables = tuple(n for n in system.select("*") if system.resolve(n)[1].type != "String")
        self._resolved = [system.resolve(name) for name in self.variables]
        bad = [f"{element}.{v.name}" for element, v in self._resolved if v.type == "String"]
        bad += [f"an element called {name!r}" for name in system.elements if name in _RESERVED or "/" in name]
        if bad:
            raise MasterError(f"cannot be recorded: {', '.join(bad)}")
        self._names = self.variables
        return Sampling(self.variables, self.every)

    def begin(self, run: Run) -> None:
        with self._writing():
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._create(run)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """After a failure to write nothing more is tried."""
        try:
            yield
        except OSError as error:
            self._waiting, self._rows = [], 0
            raise MasterError(f"{self.file}: cannot be written ({error})") from error

    def _create(self, run: Run) -> None:
        # the oldest format has no mark "open for writing", which makes the file of a killed process unreadable
        self._out = out = h5py.File(self.file, "w")
        out.attrs["system"] = run.system.name
        out.attrs["algorithm"] = run.algorithm
        out.attrs["step"] = run.step
        out.attrs["record_every"] = self.every
        out.attrs["created"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        out.attrs["status"] = "running"
        for name, value in self.attributes.items():
            out.attrs[name] = value
        options = {"shape": (0,), "maxshape": (None,), "chunks": (CHUNK_ROWS,)}
        self._time = out.create_dataset("time", dtype=np.float64, **options)
        self._time.attrs["unit"] = "s"
        self._datasets = []
        for element, variable in self._resolved:
            path = f"{element}/{variable.name.replace('/', '|')}"
            dataset = out.create_dataset(path, dtype=_DTYPE[variable.type], **options)
            _describe(dataset, variable)
            self._datasets.append(dataset)
        for element in run.system.elements:
            self._write_fmu(out, run, element)
            self._write_parameters(out, run, element)
        out.flush()
        self._flushed = time.monotonic()

    def _write_fmu(self, out: h5py.File, run: Run, element: str) -> None:
        description, file = run.descriptions[element], run.system.elements[element].file
        group = out.require_group(f"fmus/{element}")
        group.attrs["file"] = file.name
        group.attrs["sha256"] = archive.digest(file)
        group.attrs["guid"] = description.guid
        group.attrs["model_name"] = description.model_name
        group.attrs["description"] = description.description
        group.attrs["generation_tool"] = description.generation_tool
        group.attrs["fmi_version"] = "2.0"

    def _write_parameters(self, out: h5py.File, run: Run, element: str) -> None:
        """The values that the FMU runs with, as it gives them."""
        chosen = [v for v in run.descriptions[element].select("parameter") if v.type != "String"]
        values = run.instances[element].get([v.name for v in chosen]) if chosen else []
        text = h5py.string_dtype()
        table = np.array(
            [(v.name, float(value), v.unit or "1") for v, value in zip(chosen, values, strict=True)],
            np.dtype([("name", text), ("value", np.float64), ("unit", text)]),
        )
        out.require_group("parameters").create_dataset(element, data=table)

    def sample(self, time_: np.ndarray, values: np.ndarray) -> None:
        self._waiting.append((time_, values))
        for column in np.flatnonzero(~np.isfinite(values).all(axis=0)):
            row = np.flatnonzero(~np.isfinite(values[:, column]))[0]
            self._not_finite.setdefault(self._names[column], float(time_[row]))
        self._rows += len(time_)
        if self._rows >= FLUSH_ROWS or time.monotonic() - self._flushed > FLUSH_S:
            self._flush()

    def _flush(self) -> None:
        if self._out is None or not self._rows:
            return
        with self._writing():
            values = np.concatenate([rows for _, rows in self._waiting])
            first = len(self._time)
            for column, dataset in enumerate(self._datasets):
                dataset.resize(first + self._rows, axis=0)
                dataset[first:] = values[:, column].astype(dataset.dtype)
            # the time comes last: what it counts is complete
            self._time.resize(first + self._rows, axis=0)
            self._time[first:] = np.concatenate([times for times, _ in self._waiting])
            self._out.flush()
            self._waiting, self._rows, self._flushed = [], 0, time.monotonic()

    def end(self, result: Result) -> None:
        if self._out is None:
            return
        for name, first in self._not_finite.items():
            result.warnings.append(f"{name} is not finite from t = {first:.9g} s on, at least for a time")
        try:
            self._flush()
        except MasterError as error:
            if result.status != "failed":
                result.status, result.message, result.error = "failed", str(error), error
        out, self._out = self._out, None
        with self._writing():
            out.attrs["status"], out.attrs["message"] = result.status, result.message
            out.attrs["t_end"] = result.t_end
            out.close()


def _describe(dataset: h5py.Dataset, variable: Variable) -> None:
    dataset.attrs["unit"] = variable.unit or ("1" if variable.type == "Real" else "")
    dataset.attrs["description"] = variable.description
    dataset.attrs["causality"] = variable.causality
    dataset.attrs["variability"] = variable.variability
    dataset.attrs["type"] = variable.type
    if variable.display_unit:
        dataset.attrs["display_unit"] = variable.display_unit
    if variable.items:
        dataset.attrs["items"] = [f"{value}={name}" for name, value in variable.items]


class Results:
    """A recorded run, open for reading; a context manager. `results["element.variable"]` is an array over `time`."""

    def __init__(self, file: Path) -> None:
        """Raises MasterError for a file that is no recording."""
        try:
            self._in = h5py.File(file, "r")
        except OSError as error:
            raise MasterError(f"{file}: not a readable recording ({error})") from error
        if "time" not in self._in:
            self._in.close()
            raise MasterError(f"{file}: not a recording of a run: it has no time")
        self.time: np.ndarray = self._in["time"][:]
        self.attributes: dict[str, Any] = dict(self._in.attrs)
        self.fmus: dict[str, dict[str, Any]] = {name: dict(g.attrs) for name, g in self._in.get("fmus", {}).items()}
        self._places = {
            f"{element}.{dataset.replace('|', '/')}": f"{element}/{dataset}"
            for element, group in self._in.items()
            if element not in _RESERVED
            for dataset in group
        }
        self.variables = list(self._places)

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._in.close()

    def __getitem__(self, name: str) -> np.ndarray:
        return self._dataset(name)[: len(self.time)]

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def _dataset(self, name: str) -> h5py.Dataset:
        if name not in self._places:
            raise MasterError(f"{self._in.filename}: holds no {name!r}")
        return self._in[self._places[name]]

    def unit(self, name: str) -> str:
        return str(self._dataset(name).attrs["unit"])

    def display_unit(self, name: str) -> str:
        """Empty where the FMU names none."""
        return str(self._dataset(name).attrs.get("display_unit", ""))

    def variability(self, name: str) -> str:
        return str(self._dataset(name).attrs["variability"])

    def attribute(self, name: str) -> dict[str, Any]:
        """unit, description, causality, variability, type, and display_unit and items where there are any"""
        return dict(self._dataset(name).attrs)

    def parameters(self, element: str) -> dict[str, float]:
        """The value of each parameter of an element."""
        return {name.decode(): float(value) for name, value, _ in self._in[f"parameters/{element}"][:]}

    def parameter_units(self, element: str) -> dict[str, str]:
        return {name.decode(): unit.decode() for name, _, unit in self._in[f"parameters/{element}"][:]}


def read_results(file: Path) -> Results:
    """Open a recording; see Results."""
    return Results(file)
