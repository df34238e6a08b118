"""Reading recordings back: of runs that ended, that go on, and that were killed."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from master.errors import MasterError
from master.files import is_held
from master.observers import journal, seal, text_table
from master.observers.salvage import LIBVER as LIBVER
from master.observers.salvage import probe, salvage

if TYPE_CHECKING:
    import pandas

RESERVED = ("time", "parameters", "fmus", text_table.NAME)
"""What stands in a recording beside its elements."""


def fit_for_group(element: str) -> bool:
    """Return whether a recording can hold the variables of an element of this name."""
    return element not in (*RESERVED, "", ".") and "/" not in element and "\0" not in element


def _name(group: h5py.Group, dataset: str) -> str:
    """The name of the variable in a dataset, which says it where that is not the dataset's own."""
    if "|" in dataset or "~" in dataset:
        return str(group[dataset].attrs.get("name", dataset.replace("|", "/")))
    return dataset


def lock_beside(recording: Path) -> Path:
    """The file that the process which writes a recording holds."""
    return recording.with_name(recording.name + ".lock")


class DamagedRecording(UserWarning):
    """A recording is not as it was written; what comes back of it is said."""


class Results:
    """A recorded run, open for reading; a context manager. `results["element.variable"]` is an array over `time`.

    Of a run that goes on it holds what was on disk when it was opened, of one that was killed all that ever was. Of a
    file that was damaged since it was written it holds the rows before the damage; `damage` says so, and a warning of
    the kind DamagedRecording.
    """

    def __init__(self, file: Path) -> None:
        """Raises MasterError for a file that is no recording, or damaged so that nothing can be read."""
        self.file = file = Path(file)
        # before the HDF5 file: rows that leave the journal in between are found there
        waiting = journal.read(journal.beside(file))
        self._salvaged: tempfile.TemporaryDirectory[str] | None = None
        damage = []
        try:
            self._in = _open(file)
            time = _time(self._in, file)
        except _Damaged as fault:
            self._salvaged = tempfile.TemporaryDirectory(prefix="dockfmu-")
            self._in, words = _salvaged(file, Path(self._salvaged.name), str(fault))
            damage.append(words)
            time = _time(self._in, file)
        self._rows = len(time)
        twice = self._rows + 1 - waiting.first
        # a journal that lies beside another recording than its own says nothing of it
        own = waiting.recording == self._in.attrs.get("recording", "")
        fits = own and 0 <= twice <= len(waiting.time) and len(waiting.time) > 0
        damage += [waiting.damage] if waiting.damage else []
        self._late = {name: values[twice:] for name, values in waiting.values.items()} if fits else {}
        self.time: np.ndarray = np.concatenate([time, waiting.time[twice:]]) if self._late else time
        self.damage = "; ".join(damage)
        if self.damage:
            warnings.warn(self.damage, DamagedRecording, stacklevel=3)
        self.attributes: dict[str, Any] = dict(self._in.attrs)
        self.fmus: dict[str, dict[str, Any]] = {name: dict(g.attrs) for name, g in self._in.get("fmus", {}).items()}
        self._places = {
            f"{element}.{_name(group, dataset)}": f"{element}/{dataset}"
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
        if self._salvaged is not None:
            self._salvaged.cleanup()

    def __getitem__(self, name: str) -> np.ndarray:
        values = self._stored(name)
        return np.array(text_table.read(self._in))[values] if self.attribute(name)["type"] == "String" else values

    def _stored(self, name: str) -> np.ndarray:
        """Of strings, their places in the table of texts."""
        try:
            values = self._dataset(name)[: self._rows]
        except OSError as error:
            raise MasterError(f"{self.file}: {name} is damaged ({error})") from error
        return np.concatenate([values, self._late[name].astype(values.dtype)]) if self._late else values

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def _dataset(self, name: str) -> h5py.Dataset:
        if name not in self._places:
            raise MasterError(f"{self.file}: holds no {name!r}")
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


class _Damaged(Exception):
    """The file is not as HDF5 wrote it."""


_MAGIC = b"\x89HDF\r\n\x1a\n"


def _open(file: Path) -> h5py.File:
    """A file that was closed properly, or else one that is being written or whose writer was killed.

    Raises MasterError for what is no file of HDF5, and _Damaged.
    """
    try:
        known = seal.find(file)
        whole = known is None or seal.holds(file, known)
        with file.open("rb") as stream:
            begins = stream.read(len(_MAGIC))
    except OSError as error:
        raise MasterError(f"{file}: not a readable recording ({error.strerror})") from error
    if not whole:
        raise _Damaged("its bytes are not those that were written")
    if begins != _MAGIC:
        raise MasterError(f"{file}: not a readable recording (it does not begin as files of HDF5 do)")
    if known is None and not is_held(lock_beside(file)):
        # its writer was killed, or it is not from here: nothing shows yet that HDF5 comes to an end with it
        try:
            probe(file)
        except (OSError, RuntimeError) as error:
            raise _Damaged(str(error)) from error
    try:
        return h5py.File(file, "r")
    except (OSError, RuntimeError, ValueError):
        try:
            return h5py.File(file, "r", swmr=True, libver="latest")
        except (OSError, RuntimeError, ValueError) as error:
            raise _Damaged(str(error)) from error


def _time(opened: h5py.File, file: Path) -> np.ndarray:
    """The times of the rows. Raises MasterError where there are none, and _Damaged."""
    try:
        if "time" in opened:
            return opened["time"][:]
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        opened.close()
        raise _Damaged(str(error)) from error
    opened.close()
    raise MasterError(f"{file}: not a recording of a run: it has no time")


def _salvaged(file: Path, folder: Path, reason: str) -> tuple[h5py.File, str]:
    """(what can be read of a damaged recording, what cannot, in words). Raises MasterError."""
    try:
        words = salvage(file, folder / "salvaged.h5")
        return h5py.File(folder / "salvaged.h5", "r"), f"{file}: damaged ({reason}): {words}"
    except (OSError, RuntimeError) as error:
        raise MasterError(f"{file}: damaged ({reason}), and nothing can be read of it ({error})") from error


def recover(file: Path) -> Path:
    """Rewrite the recording of a run that was killed, or found the disk full, into one that every reader of HDF5 takes.

    Nothing is changed where the run ended by itself; a run that still goes on must not be recovered. Of a damaged file
    what can be read takes its place, and the file stays, with `.damaged` behind its name.
    """
    file, late = Path(file), journal.beside(Path(file))
    fresh = file.with_name(file.name + ".recovered")
    with read_results(file) as results:
        if not (late.exists() or results.damage):
            return file
        _rewrite(results, fresh)
        seal.put(fresh)
        if results.damage:
            file.replace(file.with_name(file.name + ".damaged"))
    fresh.replace(file)
    late.unlink(missing_ok=True)
    return file


def _rewrite(results: Results, fresh: Path) -> None:
    """All that can be read to a plain file."""
    with h5py.File(fresh, "w", libver=LIBVER) as out:
        source = results._in
        for name in source:
            source.copy(name, out)
        out.attrs.update(source.attrs)
        places = {"time": results.time} | {place: results._stored(name) for name, place in results._places.items()}
        for place, values in places.items():
            out[place].resize(len(values), axis=0)
            out[place][:] = values
        if out.attrs.get("status", "running") == "running":
            out.attrs["status"], out.attrs["message"] = "failed", "the process was ended from outside"
            out.attrs["t_end"] = results.time[-1] if len(results.time) else 0.0
