"""The HDF5 file of a recording: its header, and its columns, which grow by whole chunks.

Layout: `/time`; `/<element>/<variable>`, one dataset each with the attributes unit, description, causality, type
(String variables hold indices into `/strings`); `/extremes`, the extremes of Real variables between two rows, see
envelope.ENTRY; `/parameters/<element>`, a table of name, value, unit; `/fmus/<element>`, attributes that identify the
FMU. Attributes of the file itself are system, algorithm, step, status and whatever the caller adds. Datasets are
chunked, shuffled and compressed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from dockfmu.base.files import Reserve, open_in_place
from dockfmu.base.messages import storable
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import Variable
from dockfmu.master.observers.observer import RunContext
from dockfmu.master.observers.recording import checksum
from dockfmu.master.observers.recording.datasets import Columns, GrowingTable, StringTable
from dockfmu.master.observers.recording.envelope import ENTRY, EXTREMES, FIELDS, NAMES
from dockfmu.master.observers.recording.results import LIBVER
from dockfmu.master.result import Result

CHUNK_ROWS = 2048
"""Number of rows in a chunk. A compressor clears 200 KB for each chunk, whatever its length."""
RESERVE_BYTES = 1 << 16
"""Space reserved to close the file when the disk is full."""
COLUMN_BYTES = 8192
"""Space for what HDF5 stores besides the values of a variable: its attributes, the index of its chunks."""

_DTYPE = {"Real": np.float64, "Integer": np.int32, "Enumeration": np.int32, "Boolean": np.bool_, "String": np.int32}


class RecordingFile:
    """A file with columns for `variables`, pairs of an element and a variable, and for `extremes` of some of them.

    After a failed write, HDF5 cannot close a file and crashes the process. The space that it may need is therefore
    allocated before each write. All methods raise OSError, RuntimeError or ValueError if the file cannot be written.
    """

    def __init__(
        self,
        file: Path,
        variables: Sequence[tuple[str, Variable]],
        extremes: Sequence[str] | None,
        compression: int | None,
        attributes: Mapping[str, str | float | int],
    ) -> None:
        self.file = file
        self._width = len(variables) + 1
        self._fields: GrowingTable | None = None
        """The columns of extremes, in the order of ENTRY; there are none yet when space for the header is allocated."""
        open_in_place(file, "wb").close()
        try:
            self._reserved = Reserve(file.with_name(f"{file.name}.reserve"), RESERVE_BYTES + len(variables) * 256)
        except OSError:
            file.unlink()
            raise
        try:
            self._allocate(0, 0)
        except OSError:
            self._reserved.release()
            file.unlink()
            raise
        self._out = h5py.File(file, "w", libver=LIBVER)
        try:
            self._create(variables, extremes, Columns(self._out, CHUNK_ROWS, compression), attributes)
        except BaseException:
            self.abandon()
            raise

    def _create(
        self,
        variables: Sequence[tuple[str, Variable]],
        extremes: Sequence[str] | None,
        columns: Columns,
        attributes: Mapping[str, str | float | int],
    ) -> None:
        self._out.attrs["created"] = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        self._out.attrs["status"] = "running"
        for name, value in attributes.items():
            # a command may hold bytes of file names that are not UTF-8
            self._out.attrs[name] = storable(value) if isinstance(value, str) else value
        self._time = columns.table([columns.create("/", "time", np.float64, {"unit": "s"})])
        created = []
        for element, variable in variables:
            column = columns.create(element, variable.name, _DTYPE[variable.type], _about(variable))
            if variable.items:
                column.dataset.attrs["items"] = [f"{value}={name}" for name, value in variable.items]
            created.append(column)
        self._values = columns.table(created)
        if extremes is not None:
            names = np.array([name.encode() for name in extremes], "S")
            self._out.create_dataset(f"{EXTREMES}/{NAMES}", data=names, **_checked(names))
            self._fields = columns.table([columns.create(EXTREMES, name, ENTRY[name]) for name in FIELDS])

    def describe(self, run: RunContext) -> None:
        """Write what identifies the FMUs of a run, and the values of all their parameters, as they report them."""
        for element in run.system.elements:
            self._write_fmu(run, element)
            self._write_parameters(run, element)

    def _write_fmu(self, run: RunContext, element: str) -> None:
        description, file = run.descriptions[element], run.system.elements[element].file
        group = self._out.require_group(f"fmus/{element}")
        group.attrs["file"] = file.name
        group.attrs["sha256"] = archive.digest(file)
        group.attrs["guid"] = description.guid
        group.attrs["model_name"] = description.model_name
        group.attrs["description"] = description.description
        group.attrs["generation_tool"] = description.generation_tool
        group.attrs["fmi_version"] = description.fmi_version

    def _write_parameters(self, run: RunContext, element: str) -> None:
        chosen = [v for v in run.descriptions[element].select("parameter") if v.type != "String"]
        values = run.read([f"{element}.{v.name}" for v in chosen])
        text = h5py.string_dtype()
        table = np.array(
            [(v.name, float(value), v.unit or "1") for v, value in zip(chosen, values, strict=True)],
            np.dtype([("name", text), ("value", np.float64), ("unit", text)]),
        )
        self._out.require_group("parameters").create_dataset(element, data=table, **_checked(table))

    def string_table(self, before: Callable[[], None]) -> StringTable:
        """Create the table of strings; `before` is called before strings are added to it."""

        def reserve(count: int) -> None:
            before()
            self._allocate(self._out.id.get_filesize(), count)

        return StringTable(self._out, reserve)

    def start(self) -> None:
        """Let others read while rows are added; from here on nothing else can be."""
        self._out.swmr_mode = True

    def write(self, times: np.ndarray, values: np.ndarray, entries: np.ndarray) -> None:
        """Append rows, shapes (n,) and (n, variables), and their extremes."""
        # whole chunks only: repeat the last entry to fill the chunk
        padding = np.repeat(entries[-1:], -len(entries) % CHUNK_ROWS)
        entries = np.concatenate([entries, padding])
        self._allocate(self._out.id.get_filesize(), 8 * len(times), entries.nbytes)
        self._values.append(values)
        if self._fields is not None:
            self._fields.append(np.stack([entries[name].astype(float) for name in FIELDS], axis=1))
        # the time comes last: the rows that it counts are complete and on disk
        self._out.flush()
        self._time.append(times[:, None])
        self._out.flush()

    def _allocate(self, used: int, column: int, extremes: int = 0) -> None:
        """Allocate as many bytes on disk as HDF5 may need for the next rows, `column` bytes for each variable."""
        if hasattr(os, "posix_fallocate"):
            with self.file.open("r+b") as out:
                fields = len(FIELDS) if self._fields is not None else 0
                needed = self._width * (column + COLUMN_BYTES) + extremes + fields * COLUMN_BYTES
                os.posix_fallocate(out.fileno(), used, needed)

    def close(self, result: Result) -> None:
        """Close the file with the end of the run and the checksum of all of it."""
        self._reserved.release()
        self._out.close()
        with h5py.File(self.file, "r+", libver=LIBVER) as out:
            out.attrs["status"], out.attrs["message"] = result.status, storable(result.message)
            out.attrs["outcome"], out.attrs["t_end"] = storable(result.outcome), result.t_end
        checksum.append(self.file)

    def abandon(self) -> None:
        """Remove a file to which no rows were added."""
        self._reserved.release()
        with suppress(OSError, RuntimeError, ValueError):
            self._out.close()
        self.file.unlink(missing_ok=True)


def _checked(table: np.ndarray) -> dict[str, Any]:
    """Return the options of a dataset with a checksum that detects damage."""
    return {"chunks": table.shape, "fletcher32": True} if len(table) else {}


def _about(variable: Variable) -> dict[str, str]:
    """Return the attributes of a variable's dataset."""
    about = {
        "unit": variable.unit or ("1" if variable.type == "Real" else ""),
        "description": variable.description,
        "causality": variable.causality,
        "variability": variable.variability,
        "type": variable.type,
    }
    return about | {"display_unit": variable.display_unit} if variable.display_unit else about
