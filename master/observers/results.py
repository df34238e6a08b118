"""Reading recordings back: of runs that ended, that go on, and that were killed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from master.errors import MasterError
from master.observers import journal, text_table

if TYPE_CHECKING:
    import pandas

RESERVED = ("time", "parameters", "fmus", text_table.NAME)
"""What stands in a recording beside its elements."""

LIBVER = ("v110", "v110")
"""The oldest format of HDF5 that can be read while it is written, and after its writer was killed."""


class Results:
    """A recorded run, open for reading; a context manager. `results["element.variable"]` is an array over `time`.

    Of a run that goes on it holds what was on disk when it was opened, of one that was killed all that ever was.
    """

    def __init__(self, file: Path) -> None:
        """Raises MasterError for a file that is no recording."""
        file = Path(file)
        # before the HDF5 file: rows that leave the journal in between are found there
        waiting = journal.read(journal.beside(file))
        self._in = _open(file)
        if "time" not in self._in:
            self._in.close()
            raise MasterError(f"{file}: not a recording of a run: it has no time")
        time = self._in["time"][:]
        self._rows = len(time)
        twice = self._rows + 1 - waiting.first
        self._late = {name: values[twice:] for name, values in waiting.values.items()} if twice >= 0 else {}
        self.time: np.ndarray = np.concatenate([time, waiting.time[twice:]]) if self._late else time
        self.attributes: dict[str, Any] = dict(self._in.attrs)
        self.fmus: dict[str, dict[str, Any]] = {name: dict(g.attrs) for name, g in self._in.get("fmus", {}).items()}
        self._places = {
            f"{element}.{dataset.replace('|', '/')}": f"{element}/{dataset}"
            for element, group in self._in.items()
            if element not in RESERVED
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
        values = self._stored(name)
        return np.array(text_table.read(self._in))[values] if self.attribute(name)["type"] == "String" else values

    def _stored(self, name: str) -> np.ndarray:
        """Of strings, their places in the table of texts."""
        values = self._dataset(name)[: self._rows]
        return np.concatenate([values, self._late[name].astype(values.dtype)]) if self._late else values

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def _dataset(self, name: str) -> h5py.Dataset:
        if name not in self._places:
            raise MasterError(f"{self._in.filename}: holds no {name!r}")
        return self._in[self._places[name]]

    def table(self, names: Sequence[str] | None = None) -> np.ndarray:
        """Values of `names` (without them all variables) as columns, shape (rows, names)."""
        chosen = self.variables if names is None else names
        return np.column_stack([np.asarray(self[name], float) for name in chosen])

    def to_pandas(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """A table over time with a column for each of `names` (without them for all variables); needs pandas."""
        import pandas

        chosen = self.variables if names is None else names
        index = pandas.Index(self.time, name="time")
        return pandas.DataFrame({name: self[name] for name in chosen}, index=index)

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


def _open(file: Path) -> h5py.File:
    """A file that was closed properly, or else one that is being written or whose writer was killed."""
    try:
        return h5py.File(file, "r")
    except OSError as error:
        try:
            return h5py.File(file, "r", swmr=True, libver="latest")
        except (OSError, ValueError):
            raise MasterError(f"{file}: not a readable recording ({error})") from error


def recover(file: Path) -> Path:
    """Rewrite the recording of a run that was killed, or found the disk full, into one that every reader of HDF5 takes.

    Nothing is changed where the run ended by itself; a run that still goes on must not be recovered.
    """
    late = journal.beside(file)
    if not late.exists():
        return file
    fresh = file.with_name(file.name + ".recovered")
    with read_results(file) as results, h5py.File(fresh, "w", libver=LIBVER) as out:
        source = results._in
        for name in source:
            source.copy(name, out)
        out.attrs.update(source.attrs)
        places = {"time": results.time} | {place: results._stored(name) for name, place in results._places.items()}
        for place, values in places.items():
            out[place].resize(len(values), axis=0)
            out[place][:] = values
        if out.attrs["status"] == "running":
            out.attrs["status"], out.attrs["message"] = "failed", "the process was ended from outside"
            out.attrs["t_end"] = results.time[-1] if len(results.time) else 0.0
    fresh.replace(file)
    late.unlink()
    return file
