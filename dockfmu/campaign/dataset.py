"""Rows of runs on disk: one Parquet data set, whose parts also record which runs are done.

A part is written under a hidden name and renamed when it is complete, so readers see complete parts only. Each row is
in the data set once. Any Parquet reader opens the folder as it is: pandas, polars (`*.parquet` in it), duckdb.
"""

from __future__ import annotations

import json
import math
import os
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import WriteError
from dockfmu.base.given_files import check_plain
from dockfmu.base.locks import Lock
from dockfmu.base.messages import storable
from dockfmu.campaign.runner import PEAKS
from dockfmu.master.run.interruption import uninterrupted

if TYPE_CHECKING:
    import pandas

_TYPES = {"whole": pa.int64(), "number": pa.float64(), "text": pa.string(), "numbers": pa.list_(pa.float64())}
PART_ROWS, PART_S = 500, 30.0
"""A part is written when it has this many rows, or when its first row has waited this long."""
STUDY = "study"
"""Entry of the metadata of parts: a digest of the description of the campaign that has made their rows."""
DAMAGED = ".damaged-"
"""Prefix given to the names of unreadable parts; their runs are repeated."""


class DataSetError(DockfmuError):
    """A data set of runs cannot be used."""


class DataSet:
    """The rows of a folder of Parquet parts.

    Parameters
    ----------
    folder : Path
        Folder of the parts.
    columns : mapping of str to str
        Kind of each column by name: "whole", "number", "text", or "numbers", a list over `peaks`.
    peaks : sequence of str
        Names of the outputs whose peaks are kept.
    metadata : mapping of str to str
        Entries stored in the metadata of each part.
    """

    def __init__(
        self,
        folder: Path,
        columns: Mapping[str, str],
        peaks: Sequence[str] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self.folder, self.peaks, self.kinds = folder, tuple(peaks), columns
        fields = [pa.field(name, _TYPES[kind]) for name, kind in columns.items()]
        self.schema = pa.schema(fields, metadata={**(metadata or {}), "peaks": json.dumps(self.peaks)})
        self._lock = Lock(folder.with_name(f".{folder.name}.lock"), f"{folder}")
        self.seen: set[int] = set()
        self.notes: list[str] = []
        self._waiting: list[Mapping[str, Any]] = []
        self._since = 0.0

    def __enter__(self) -> DataSet:
        """Lock the folder for this process, remove incomplete parts, and read which runs are done.

        Raises LockedError if another process is writing to it, WriteError if it cannot be written, and DataSetError
        for a part of a campaign of another description.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.take()
        except OSError as error:
            raise WriteError(f"{self.folder}: cannot be written ({error.strerror or error})") from error
        try:
            self._look()
        except BaseException:
            self._lock.release()
            raise
        return self

    def _look(self) -> None:
        """Remove incomplete parts, and read which runs are done."""
        for unfinished in self.folder.glob(".*.tmp"):
            unfinished.unlink(missing_ok=True)
        self.seen = set()
        for part in self.parts():
            try:
                table = _read_part(part, ["index"], self.kinds)
            except DataSetError as error:
                part.rename(part.with_name(DAMAGED + part.stem))
                self.notes.append(f"{error}; its runs are repeated")
                continue
            self._check_study(part, table.schema.metadata or {})
            self.seen.update(table["index"].to_pylist())

    def _check_study(self, part: Path, metadata: Mapping[bytes, bytes]) -> None:
        """Raise DataSetError for a part whose rows were drawn, run or measured in another way."""
        mine, its = (known.get(STUDY.encode()) for known in (self.schema.metadata, metadata))
        if None not in (mine, its) and mine != its:
            raise DataSetError(
                f"{part}: its rows are of a campaign of another description; runs of both would be mixed: undo the "
                "change, or choose another folder with -o"
            )

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def parts(self) -> list[Path]:
        """Return the complete parts, sorted by name."""
        return sorted(self.folder.glob("*.parquet"))

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row, and write a part if one is due. Raises WriteError."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting.append(row)
        if len(self._waiting) >= PART_ROWS or time.monotonic() - self._since > PART_S:
            self.flush()

    def flush(self) -> None:
        """Write the waiting rows as one complete part; Ctrl-C takes effect afterwards. Raises WriteError."""
        with uninterrupted():
            self.write(self._waiting)
            self._waiting = []

    def write(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows as one part, except those already in the data set. Raises WriteError, with nothing written."""
        fresh = {row["index"]: row for row in rows if row["index"] not in self.seen}
        if not fresh:
            return
        table = pa.Table.from_pylist([self._plain(row) for row in fresh.values()], schema=self.schema)
        name = f"part-{len(self.seen):09d}-{uuid.uuid4().hex[:8]}.parquet"
        unfinished = self.folder / f".{name}.tmp"
        try:
            with unfinished.open("wb") as stream:
                pq.write_table(table, stream, compression="zstd", use_dictionary=False)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.rename(self.folder / name)
            _sync(self.folder)
        except (OSError, pa.ArrowException) as error:
            unfinished.unlink(missing_ok=True)
            raise WriteError(f"{self.folder / name}: cannot be written ({error}); earlier parts are kept") from error
        self.seen.update(fresh)

    def _plain(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row in the columns of the schema; non-finite numbers are kept, missing ones are null."""
        cells = {name: row.get(name) for name in self.schema.names}
        # reasons may name files, whose names are not always UTF-8
        cells |= {name: storable(cell) for name, cell in cells.items() if isinstance(cell, str)}
        peaks = row.get("peaks")
        if peaks is not None and f"peak_{PEAKS[0]}" in cells:
            for k, part in enumerate(PEAKS):
                cells[f"peak_{part}"] = [peaks[name][k] if name in peaks else math.nan for name in self.peaks]
        return cells

    def read(self, columns: Sequence[str] | None = None) -> pandas.DataFrame:
        """Return all rows in the order of their index; by default all columns but the lists of peaks."""
        return read_runs(self.folder, columns, self.kinds)


def _read_part(part: Path, columns: Sequence[str], kinds: Mapping[str, str] | None = None) -> pa.Table:
    """Return columns of a part; `kinds` are those of its columns, as in DataSet, if they are known.

    Raises DataSetError, which names the part, if it is damaged or its columns are not those of runs.
    """
    try:
        check_plain(part)
        # not by name, which pyarrow takes as UTF-8 alone
        with part.open("rb") as stream:
            table = pq.read_table(stream, columns=list(columns))
        # also texts that are not UTF-8, at which a conversion would fail later
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise DataSetError(f"{part}: cannot be read ({error})") from error
    if missing := [name for name in columns if name not in table.column_names]:
        raise DataSetError(f"{part}: has no column {missing[0]!r}")
    for name in columns:
        kind = _TYPES.get("whole" if name == "index" else (kinds or {}).get(name, ""))
        if kind is not None and table.schema.field(name).type != kind:
            raise DataSetError(f"{part}: the column {name!r} holds {table.schema.field(name).type}, not {kind}")
    index = table["index"]
    if index.null_count or (len(index) and pc.min(index).as_py() < 0):
        raise DataSetError(f"{part}: has rows without a valid index")
    return table


def read_runs(
    folder: Path, columns: Sequence[str] | None = None, kinds: Mapping[str, str] | None = None
) -> pandas.DataFrame:
    """Return the rows of a data set in the order of their index; by default all columns but the lists of peaks.

    A run is one row, however often a part of somebody else repeats it. `kinds` are those of the columns, as in DataSet;
    without them only the index is checked. Raises DataSetError for a folder without parts, and for a damaged part.
    """
    import pandas

    parts = sorted(folder.glob("*.parquet"))
    if not parts:
        raise DataSetError(f"{folder}: there are no runs; `dockfmu campaign` makes them")
    if columns is None:
        peaks = {f"peak_{part}" for part in PEAKS}
        known = _schema(parts[0]).names if kinds is None else kinds
        columns = [name for name in known if name not in peaks]
    wanted = list(dict.fromkeys(["index", *columns]))
    found = pandas.concat([_read_part(part, wanted, kinds).to_pandas() for part in parts], ignore_index=True)
    return found.drop_duplicates("index").sort_values("index", kind="stable", ignore_index=True)


def _schema(part: Path) -> pa.Schema:
    """Return the schema of a part. Raises DataSetError."""
    try:
        check_plain(part)
        with part.open("rb") as stream:
            return pq.read_schema(stream)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataSetError(f"{part}: cannot be read ({error})") from error


def read_peaks(folder: Path, output: str, part: str = "max") -> np.ndarray:
    """Return the peaks of one output in the order of the runs: "max" or "min", "t_max" or "t_min" in s.

    NaN for runs that have none. Raises DataSetError for an output whose peaks were not kept.
    """
    parts = sorted(folder.glob("*.parquet"))
    names = _names_of_peaks(parts[0]) if parts else []
    if output not in names:
        raise DataSetError(f"{folder}: has no peaks of {output!r}; `keep.peaks` keeps those of all Real outputs")
    k = names.index(output)
    rows: dict[int, float] = {}
    column = f"peak_{part}"
    for file in parts:
        table = _read_part(file, ["index", column], {column: "numbers"})
        for index, peaks in zip(table["index"].to_pylist(), table[column].to_pylist(), strict=True):
            if peaks is not None and len(peaks) != len(names):
                raise DataSetError(f"{file}: run {index} has {len(peaks)} peaks of {len(names)}")
            rows[index] = math.nan if peaks is None else peaks[k]
    return np.array([rows[index] for index in sorted(rows)])


def _names_of_peaks(part: Path) -> list[str]:
    """Return the names of the outputs whose peaks a part has. Raises DataSetError."""
    try:
        names = json.loads((_schema(part).metadata or {}).get(b"peaks", b"[]"))
    except (ValueError, RecursionError) as error:
        raise DataSetError(f"{part}: the names of its peaks cannot be read ({error})") from error
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise DataSetError(f"{part}: the names of its peaks are not a list of names")
    return names


def _sync(folder: Path) -> None:
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
