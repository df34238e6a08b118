"""Read the columns of files of telemetry: CSV, Parquet and HDF5, with the units and the times that stand in them."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from dockfmu.base.extras import load_extra
from dockfmu.base.given_files import check_plain
from dockfmu.base.messages import shortened, shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.number_text import any_number
from dockfmu.base.units import UnitError, conversion, parse_unit
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.observers.recording.layout import LayoutError
from dockfmu.master.observers.recording.salvage import probe_columns

SECOND = parse_unit("s")
LARGEST_FILE = 1 << 30
"""Largest file of telemetry, bytes."""
MOST_LISTED = 20
"""Most columns that a message lists."""
MOST_CELLS = 100_000_000
"""Most cells of a Parquet file."""
_ERRORS = (
    OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, IndexError, MemoryError, OverflowError,
    csv.Error, LayoutError,
)  # fmt: skip
"""What the readers of the three formats raise for a file that is damaged or of another kind."""


@dataclass(frozen=True)
class TelemetryColumns:
    """The columns of a file: by name, what stands in it and the unit that the file gives, empty for none."""

    file: Path
    values: dict[str, np.ndarray]
    units: dict[str, str]

    def of(self, name: str, where: str) -> tuple[np.ndarray, str]:
        """Return a column as it stands in the file, and its unit. Raises DeclarationError, with near matches."""
        if name not in self.values:
            first = ", ".join(shortened(one) for one in list(self.values)[:MOST_LISTED])
            more = f" and {len(self.values) - MOST_LISTED} more" if len(self.values) > MOST_LISTED else ""
            hint = did_you_mean(name, self.values) or f"; it has {first}{more}"
            raise DeclarationError(f"{where}: {self.file} has no column {shown(name)}{hint}")
        return self.values[name], self.units[name]

    def numbers(self, name: str, where: str) -> tuple[np.ndarray, str]:
        """Return a column as numbers, NaN for an empty cell, and its unit. Raises DeclarationError for text."""
        values, unit = self.of(name, where)
        if values.dtype.kind in "fiub":
            return values.astype(float), unit
        numbers = np.full(len(values), np.nan)
        for row, cell in enumerate(values.tolist()):
            text = (
                cell.decode(errors="replace") if isinstance(cell, bytes) else "" if cell is None else str(cell)
            ).strip()
            if text.lower() in ("", "nan", "none", "null"):
                continue
            try:
                number = any_number({"true": "1", "false": "0"}.get(text.lower(), text))
            except ValueError as error:
                raise DeclarationError(f"{where}: {self.file}, row {row + 1}: {shown(text)} is not a number") from error
            numbers[row] = number if math.isfinite(number) else np.nan
        return numbers, unit

    def times(self, name: str, where: str) -> tuple[np.ndarray, bool]:
        """Return a column of times, s: of a clock, or since 1970 in UTC where it has calendar times; and which it is.

        Raises DeclarationError for a cell that is neither, and for one that is empty.
        """
        values, unit = self.of(name, where)
        if values.dtype.kind == "M":
            if np.isnat(values).any():
                raise DeclarationError(f"{where}: {self.file}: a time is missing")
            # whole seconds and the rest apart: s since 1970 with ns need more than 53 bits
            whole = values.astype("datetime64[s]")
            rest = (values - whole).astype("timedelta64[ns]").astype(float) * 1e-9
            return whole.astype(np.int64).astype(float) + rest, True
        texts = values.tolist() if values.dtype.kind in "OSU" else []
        first = texts[0].decode(errors="replace") if texts and isinstance(texts[0], bytes) else texts[0] if texts else 0
        if isinstance(first, str) and _moment(first) is not None:
            return np.array([self._calendar(cell, row, where) for row, cell in enumerate(texts)]), True
        numbers, _ = self.numbers(name, where)
        if not np.isfinite(numbers).all():
            row = int(np.argmin(np.isfinite(numbers)))
            raise DeclarationError(f"{where}: {self.file}, row {row + 1}: the time is missing")
        return numbers * unit_factor(unit or "s", "s", f"{where}: {self.file}, {name}"), False

    def _calendar(self, cell: Any, row: int, where: str) -> float:
        text = cell.decode(errors="replace") if isinstance(cell, bytes) else str(cell)
        moment = _moment(text)
        if moment is None:
            raise DeclarationError(f"{where}: {self.file}, row {row + 1}: {shown(text)} is not a calendar time")
        return moment


def unit_factor(given: str, wanted: str, where: str) -> float:
    """Return the factor from the unit that a file gives to another one. Raises DeclarationError."""
    try:
        scale, offset = conversion(parse_unit(given), parse_unit(wanted))
    except UnitError as error:
        raise DeclarationError(f"{where}: {error}") from error
    if offset:
        raise DeclarationError(f"{where}: {given} and {wanted} differ by more than a factor")
    return scale


def _moment(text: str) -> float | None:
    """Return a calendar time as s since 1970; None for text that is none. One without a zone is taken for UTC."""
    text = text.strip()
    if len(text) < 10 or text[4:5] != "-":
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def read_columns(file: Path, where: str) -> TelemetryColumns:
    """Read a file of telemetry by its ending: .csv, .parquet, .h5 or .hdf5.

    A header of CSV gives a unit as `name [unit]`, the metadata of a Parquet field or the attributes of an HDF5 dataset
    as `unit`. The columns of an HDF5 file are its datasets of one dimension, called by their paths. Raises
    DeclarationError.
    """
    readers: dict[str, Callable[[Path], tuple[dict[str, np.ndarray], dict[str, str]]]] = {
        ".csv": _csv, ".parquet": _parquet, ".h5": _hdf5, ".hdf5": _hdf5,
    }  # fmt: skip
    reader = readers.get(file.suffix.lower())
    if reader is None:
        raise DeclarationError(f"{where}: {file}: its name must end in {', '.join(readers)}")
    try:
        check_plain(file)
        if (size := file.stat().st_size) > LARGEST_FILE:
            raise ValueError(f"it has {size} bytes, of {LARGEST_FILE} that are read")
        values, units = reader(file)
    except _ERRORS as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise DeclarationError(f"{where}: {file}: cannot be read ({reason})") from error
    return TelemetryColumns(file, values, units)


def _named(header: str) -> tuple[str, str]:
    """Return name and unit of a header such as `yaw_rate [deg/s]`."""
    name, bracket, unit = header.strip().rpartition(" [")
    return (name, unit[:-1]) if bracket and unit.endswith("]") else (header.strip(), "")


def _csv(file: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    with file.open(newline="", encoding="utf-8-sig") as stream:
        header, *rows = list(csv.reader(stream)) or [[]]
    if ragged := next((k for k, row in enumerate(rows, 1) if row and len(row) != len(header)), 0):
        raise ValueError(f"row {ragged} has {len(rows[ragged - 1])} cells, the header {len(header)}")
    return _table(header, [[row[k] for row in rows if row] for k in range(len(header))])


def _table(headers: Sequence[str], columns: Sequence[list[str]]) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    named = [_named(header) for header in headers]
    if twice := sorted({name for name, _ in named if [one for one, _ in named].count(name) > 1}):
        raise ValueError(f"several columns are called {shown(twice[0])}")
    values = {name: np.array(column, object) for (name, _), column in zip(named, columns, strict=True)}
    return values, dict(named)


def _parquet(file: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    parquet = load_extra("pyarrow.parquet", "a Parquet file", "campaign")
    with file.open("rb") as stream:
        opened = parquet.ParquetFile(stream)
        # what is repeated takes next to no room in the file
        if (cells := opened.metadata.num_rows * opened.metadata.num_columns) > MOST_CELLS:
            raise ValueError(f"it has {cells} cells, of {MOST_CELLS} that are read")
        table = opened.read()
    values, units = {}, {}
    for field, column in zip(table.schema, table.columns, strict=True):
        name, unit = _named(field.name)
        if name in values:
            raise ValueError(f"several columns are called {shown(name)}")
        found = column.to_numpy()
        values[name] = found if found.dtype.kind in "fiubM" else np.array(column.to_pylist(), object)
        units[name] = (field.metadata or {}).get(b"unit", b"").decode(errors="replace") or unit
    return values, units


def _hdf5(file: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    values, units = {}, {}

    def visit(path: str, item: h5py.Dataset | h5py.Group) -> None:
        if isinstance(item, h5py.Dataset) and item.ndim == 1 and item.dtype.kind in "fiubOS":
            name, unit = _named(path)
            if name in values:
                raise ValueError(f"several datasets are called {shown(name)}")
            values[name] = item[:]
            given = item.attrs.get("unit", "")
            units[name] = (given.decode(errors="replace") if isinstance(given, bytes) else str(given)) or unit

    # a file of strangers may lead out of itself, claim any size, and crash the library
    probe_columns(file)
    with h5py.File(file) as opened:
        opened.visititems(visit)
    return values, units
