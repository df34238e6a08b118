"""Read recordings of runs that have ended, are in progress, or were killed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import TYPE_CHECKING, Any

import h5py
import numpy as np

from dockfmu.base.files import atomic_file
from dockfmu.base.locks import RETRY_S, is_held
from dockfmu.base.messages import shown
from dockfmu.base.names import array_shape, did_you_mean, matching, subscripts
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording import RESULTS, checksum, journal, killed
from dockfmu.master.observers.recording.datasets import read_strings
from dockfmu.master.observers.recording.envelope import ENTRY, EXTREMES, NAMES, envelope
from dockfmu.master.observers.recording.labelled import as_dataset, as_table, whole_arrays
from dockfmu.master.observers.recording.layout import ABOUT, RESERVED, LayoutError, check_layout, check_safety
from dockfmu.master.observers.recording.salvage import LIBVER as LIBVER
from dockfmu.master.observers.recording.salvage import probe, salvage

if TYPE_CHECKING:
    import pandas
    import xarray


def fit_for_group(element: str) -> bool:
    """Return whether a recording can hold the variables of an element of this name."""
    return element not in (*RESERVED, "", ".") and "/" not in element and "\0" not in element


def _name(group: h5py.Group, dataset: str) -> str:
    """Return the name of the variable of a dataset, from an attribute if it differs from that of the dataset."""
    if "|" in dataset or "~" in dataset:
        return str(group[dataset].attrs.get("name", dataset.replace("|", "/")))
    return dataset


def _text(stored: bytes) -> str:
    return stored.decode(errors="replace")


PATIENCE_S = 10.0
"""Longest wait for the writer of a recording that has just begun, s."""


def lock_beside(recording: Path) -> Path:
    """Return the lock file of a recording, held by the process that writes it."""
    return recording.with_name(recording.name + ".lock")


class DamagedRecording(UserWarning):
    """A recording has changed since it was written; the message says what can be read of it."""


class Results:
    """A recorded run, open for reading; a context manager. `results["element.variable"]` is an array over `time`.

    The name of a whole array gives its elements together, with shape (rows, ...), as in an Outcome. As in a mapping,
    iteration and length are those of the names, `variables`.

    For a run in progress it holds what was on disk when it was opened, for a run that was killed everything that was
    ever written. For a file that was damaged later it holds the rows before the damage; `damage` describes the damage,
    and a warning of the category DamagedRecording is issued.
    """

    def __init__(self, file: Path) -> None:
        """Open a recording. Raises MasterError for another file, or one so damaged that nothing can be read.

        A file that this user's dockfmu has not closed on this machine is checked in another process first: see layout.
        """
        self.file = file = Path(file)
        # read the journal before the HDF5 file, which has the rows that leave the journal in between
        waiting = journal.read(journal.beside(file))
        self._salvaged: TemporaryFolder | None = None
        damage = []
        try:
            self._in = _open(file)
            time = _time(self._in, file)
        except _DamageError as fault:
            self._salvaged = TemporaryFolder("salvage")
            self._in, note = _salvaged(file, self._salvaged.path, str(fault))
            damage.append(note)
            time = _time(self._in, file)
        self._rows = len(time)
        common = self._rows + 1 - waiting.first
        # a journal of another recording is ignored
        own = waiting.recording == self._in.attrs.get("recording", "")
        fits = own and 0 <= common <= len(waiting.time) and len(waiting.time) > 0
        damage += [waiting.damage] if waiting.damage else []
        self._journaled = {name: values[common:] for name, values in waiting.values.items()} if fits else {}
        self._journaled_entries = waiting.entries if fits else np.empty(0, ENTRY)
        self.time: np.ndarray = np.concatenate([time, waiting.time[common:]]) if self._journaled else time
        self.damage = "; ".join(damage)
        if self.damage:
            warnings.warn(self.damage, DamagedRecording, stacklevel=3)
        self.attributes: dict[str, Any] = dict(self._in.attrs)
        self.fmus: dict[str, dict[str, Any]] = {name: dict(g.attrs) for name, g in self._in.get("fmus", {}).items()}
        self._paths = {
            f"{element}.{_name(group, dataset)}": f"{element}/{dataset}"
            for element, group in self._in.items()
            if element not in RESERVED
            for dataset in group
        }
        self.variables = list(self._paths)

    def __enter__(self) -> Results:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._in.close()
        if self._salvaged is not None:
            self._salvaged.remove()

    def __getitem__(self, name: str) -> np.ndarray:
        if elements := self._array(name):
            shape = array_shape(list(elements))
            return np.column_stack([self[elements[place]] for place in sorted(elements)]).reshape(-1, *shape)
        values = self._stored(name)
        if self.attribute(name)["type"] != "String":
            return values
        strings = read_strings(self._in)
        if len(values) and not (values.min() >= 0 and values.max() < len(strings)):
            raise MasterError(f"{self.file}: {name} has numbers of strings that the file does not hold")
        return np.array(strings, str)[values]

    def _array(self, name: str) -> dict[tuple[int, ...], str]:
        """Return the recorded elements of a whole array by their subscripts; empty for other names."""
        if name in self._paths:
            return {}
        begins = f"{name}["
        found = {subscripts(other)[1]: other for other in self.variables if other.startswith(begins)}
        found = {place: other for place, other in found.items() if subscripts(other)[0] == name}
        return found if found and array_shape(list(found)) else {}

    def _stored(self, name: str) -> np.ndarray:
        """Return the values of a variable, for strings their indices."""
        try:
            values = self._dataset(name)[: self._rows]
        except OSError as error:
            raise MasterError(f"{self.file}: {name} is damaged ({error})") from error
        if len(values) < self._rows:
            raise MasterError(f"{self.file}: {name} has {len(values)} rows of {self._rows}")
        return np.concatenate([values, self._journaled[name].astype(values.dtype)]) if self._journaled else values

    def envelope(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest value of a Real variable since the row before, each of shape (rows,).

        Both rows count, and all macro steps between them; the last row also covers the steps after it. Raises
        MasterError for variables whose extremes are not recorded: see `has_envelope`.
        """
        if not self.has_envelope(name):
            raise MasterError(f"{self.file}: holds no extremes of {name} between its rows")
        return envelope(self[name], self._entries[self._numbers[name]])

    def has_envelope(self, name: str) -> bool:
        """Return whether the extremes of a variable between two rows are recorded: for Real ones, unless left out."""
        return name in self._numbers

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The numbers that the variables have in the entries of extremes."""
        if NAMES not in self._in.get(EXTREMES, ()):
            return {}
        try:
            return {_text(name): number for number, name in enumerate(self._in[EXTREMES][NAMES][:].tolist())}
        except OSError as error:
            raise MasterError(f"{self.file}: {EXTREMES} is damaged ({error})") from error

    @cached_property
    def _entries(self) -> list[np.ndarray]:
        """The extremes between existing rows, of each variable by its number."""
        group = self._in[EXTREMES]
        try:
            # the field that is written last is the shortest one of a run in progress
            count = min(len(group[name]) for name in ENTRY.names or ())
            stored = np.empty(count, ENTRY)
            for name in ENTRY.names or ():
                stored[name] = group[name][:count]
        except OSError as error:
            raise MasterError(f"{self.file}: {EXTREMES} is damaged ({error})") from error
        entries = np.concatenate([stored, self._journaled_entries])
        entries = entries[entries["row"] < len(self.time)]
        entries = entries[np.argsort(entries["variable"], kind="stable")]
        return np.split(entries, np.searchsorted(entries["variable"], np.arange(1, len(self._numbers))))

    def __contains__(self, name: str) -> bool:
        return name in self._paths or bool(self._array(name))

    def __iter__(self) -> Iterator[str]:
        return iter(self.variables)

    def __len__(self) -> int:
        return len(self.variables)

    def _dataset(self, name: str) -> h5py.Dataset:
        if name not in self._paths:
            raise MasterError(f"{self.file}: holds no {shown(name)}{did_you_mean(name, self.variables)}")
        return self._in[self._paths[name]]

    def select(self, *patterns: str) -> list[str]:
        """Return the recorded variables that any of the patterns selects, in the order of the file.

        `*` matches any text; the name of an element, group or array selects everything in it. Raises MasterError, with
        near matches, for a pattern that selects nothing.
        """
        chosen: set[str] = set()
        for pattern in patterns:
            found = matching(pattern, self.variables)
            if not found:
                raise MasterError(f"{self.file}: holds no {shown(pattern)}{did_you_mean(pattern, self.variables)}")
            chosen.update(found)
        return [name for name in self.variables if name in chosen]

    def table(self, names: Sequence[str] | None = None) -> np.ndarray:
        """Return the values of `names` (of all variables by default) as columns, shape (rows, names)."""
        chosen = self.variables if names is None else names
        return np.column_stack([np.asarray(self[name], float) for name in chosen])

    def to_pandas(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """Return a table over time with a column for each scalar of `names`, by default of all variables.

        A whole array gives a column for each element. Raises MissingPackageError without pandas.
        """
        chosen = self.variables if names is None else [one for name in names for one in self._scalars(name)]
        return as_table(self, chosen)

    def to_xarray(self, names: Sequence[str] | None = None) -> xarray.Dataset:
        """Return a data set over `time` with whole arrays, units and descriptions; by default of all variables.

        Raises MissingPackageError without xarray.
        """
        return as_dataset(self, whole_arrays(self.variables) if names is None else names)

    def _scalars(self, name: str) -> list[str]:
        elements = self._array(name)
        return [elements[place] for place in sorted(elements)] or [name]

    def unit(self, name: str) -> str:
        """Return the unit of a variable, "1" for a Real variable without one."""
        return str(self.attribute(name)["unit"])

    def display_unit(self, name: str) -> str:
        """Return the display unit of a variable, empty if the FMU names none."""
        return str(self.attribute(name).get("display_unit", ""))

    def variability(self, name: str) -> str:
        """Return the variability of a variable: "continuous", "discrete", ..."""
        return str(self.attribute(name)["variability"])

    def attribute(self, name: str) -> dict[str, Any]:
        """Return unit, description, causality, variability, type, and display_unit and items if there are any.

        For a whole array they are those of its first element.
        """
        elements = self._array(name)
        return {**ABOUT, **self._dataset(next(iter(elements.values()), name)).attrs}

    def parameters(self, element: str) -> dict[str, float]:
        """Return the value of each parameter of an element."""
        return {_text(name): float(value) for name, value, _ in self._parameters(element)}

    def parameter_units(self, element: str) -> dict[str, str]:
        """Return the unit of each parameter of an element."""
        return {_text(name): _text(unit) for name, _, unit in self._parameters(element)}

    def _parameters(self, element: str) -> np.ndarray:
        """Return the table of parameters; an empty one if its writer was killed before it wrote that of the element."""
        path = f"parameters/{element}"
        return self._in[path][:] if path in self._in else np.empty(0)


def read_results(place: str | Path) -> Results:
    """Open a recording: a file, or results.h5 in the folder of a run. Raises MasterError; see Results."""
    file = Path(place)
    if (file / RESULTS).is_file():
        file /= RESULTS
    elif file.is_dir():
        # the resolved path of a folder such as "." has a name, beside which a journal may lie
        file = file.resolve()
    return Results(file)


class _DamageError(Exception):
    """A file is not as HDF5 wrote it."""


_MAGIC = b"\x89HDF\r\n\x1a\n"


def _open(file: Path) -> h5py.File:
    """Open a file that was closed properly, one that is being written, or one whose writer was killed.

    Raises MasterError for a file that is not a recording, and _DamageError.
    """
    try:
        known = checksum.find(file)
        verdict = None if known is None else checksum.verify(file, known)
        with file.open("rb") as stream:
            start = stream.read(len(_MAGIC))
    except IsADirectoryError as error:
        inside = ", ".join(sorted(one.name for one in file.glob("*.h5"))) or "which holds none"
        raise MasterError(f"{file}: a folder, not a recording: name the file in it, {inside}") from error
    except OSError as error:
        raise MasterError(f"{file}: not a readable recording ({error.strerror})") from error
    if verdict is not None and not verdict.intact:
        raise _DamageError("its checksum does not match")
    if start != _MAGIC:
        raise MasterError(f"{file}: not a readable recording (not an HDF5 file)")
    in_progress = is_held(lock_beside(file))
    own = verdict is not None and verdict.own
    try:
        if not own and not in_progress:
            # its writer was killed, or somebody else wrote it: HDF5 may crash or hang on it
            probe(file)
        if in_progress:
            # opened for this alone: HDF5 would show later rows of what it has read once only in part
            with _opened(file, in_progress) as opened:
                check_safety(opened, file.stat().st_size)
                check_layout(opened)
        return _opened(file, in_progress)
    except LayoutError as error:
        raise MasterError(f"{file}: not a recording of a run: {error}") from error
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise _DamageError(str(error)) from error


def _opened(file: Path, in_progress: bool) -> h5py.File:
    """Open a file. Raises MasterError if its writer does not let others read it within PATIENCE_S."""
    end = monotonic() + PATIENCE_S
    while True:
        try:
            return h5py.File(file, "r")
        except (OSError, RuntimeError, ValueError):
            if not in_progress:
                return killed.opened(file)
        try:
            return h5py.File(file, "r", swmr=True, libver="latest")
        except BlockingIOError as error:
            # HDF5 keeps a file locked from its creation until its writer shares it
            if monotonic() > end:
                raise MasterError(f"{file}: its run has just begun, and nobody can read it yet; try again") from error
            sleep(RETRY_S)


@contextmanager
def _closed_after_failure(opened: h5py.File) -> Iterator[None]:
    """Close a file if the block raises an exception."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


def _time(opened: h5py.File, file: Path) -> np.ndarray:
    """Return the times of the rows. Raises MasterError if they are not those of a run, and _DamageError."""
    with _closed_after_failure(opened):
        try:
            time = opened["time"][:]
        except (OSError, RuntimeError, ValueError, KeyError) as error:
            raise _DamageError(str(error)) from error
        if not (np.isfinite(time).all() and (np.diff(time) >= 0.0).all()):
            raise MasterError(f"{file}: not a recording of a run: its times are not finite numbers in order")
    return np.asarray(time, float)


def _salvaged(file: Path, folder: Path, reason: str) -> tuple[h5py.File, str]:
    """Return what can be read of a damaged recording, and a note on what cannot. Raises MasterError."""
    try:
        note = salvage(file, folder / "salvaged.h5")
        opened = h5py.File(folder / "salvaged.h5", "r")
        with _closed_after_failure(opened):
            check_layout(opened)
        return opened, f"{file}: damaged ({reason}): {note}"
    except (OSError, RuntimeError, LayoutError) as error:
        raise MasterError(f"{file}: damaged ({reason}), and nothing can be read of it ({error})") from error


def recover(file: Path) -> Path:
    """Rewrite the recording of a run that was killed, or that filled the disk, so that every HDF5 reader can open it.

    A recording that was closed properly is not changed. A damaged file is replaced by what can be read of it, and kept
    with `.damaged` appended to its name. Raises MasterError for the recording of a run that is still in progress.
    """
    file, rows = Path(file), journal.beside(Path(file))
    if is_held(lock_beside(file)):
        raise MasterError(f"{file}: its run is still in progress; recover it when the run has ended")
    with read_results(file) as results:
        if not (rows.exists() or results.damage):
            return file
        with atomic_file(file) as fresh:
            _rewrite(results, fresh)
            checksum.append(fresh)
            results.close()
            if results.damage:
                file.replace(file.with_name(file.name + ".damaged"))
    rows.unlink(missing_ok=True)
    return file


def _rewrite(results: Results, fresh: Path) -> None:
    """Write everything that can be read to a plain file."""
    with h5py.File(fresh, "w", libver=LIBVER) as out:
        source = results._in
        for name in source:
            source.copy(name, out)
        out.attrs.update(source.attrs)
        columns = {"time": results.time} | {path: results._stored(name) for name, path in results._paths.items()}
        if EXTREMES in source:
            entries = np.concatenate(results._entries)
            columns |= {f"{EXTREMES}/{name}": entries[name] for name in ENTRY.names or ()}
        for path, values in columns.items():
            out[path].resize(len(values), axis=0)
            out[path][:] = values
        if out.attrs.get("status", "running") == "running":
            out.attrs["status"], out.attrs["message"] = "failed", "the process was killed"
            out.attrs["t_end"] = results.time[-1] if len(results.time) else 0.0
