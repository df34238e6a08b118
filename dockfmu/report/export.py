"""Export results to other programs: CSV, MATLAB and Parquet files."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import savemat

from dockfmu.base.errors import DockfmuError
from dockfmu.base.extras import load_extra
from dockfmu.base.files import atomic_file
from dockfmu.master.observers.recording.labelled import whole_arrays
from dockfmu.master.observers.recording.results import Results, read_results

MATLAB_NAME = 63
"""Characters of a name that MATLAB reads (namelengthmax)."""


class ExportError(DockfmuError, RuntimeError):
    """The results cannot be represented in the requested format."""


def write_csv(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write recorded variables as columns after `time`, with a header that gives units as FMPy does: `name [unit]`.

    `signals` are patterns as for Results.select, which raises MasterError for a pattern that selects nothing. One row
    in `every` is written, starting with the first.
    """
    with read_results(results) as content:
        names = content.select(*signals) if content.variables else []
        header = ["time [s]", *(f"{name} [{unit}]" if (unit := content.unit(name)) else name for name in names)]
        columns = np.column_stack([content.time, *(np.asarray(content[name], float) for name in names)])[::every]
    # the shortest digits that read back as the same number
    return write_rows(file, header, columns.tolist())


def write_rows(
    file: Path, header: Sequence[str], rows: Iterable[Sequence[Any]], quoting: Any = csv.QUOTE_MINIMAL
) -> Path:
    """Write a CSV file of a header, quoted as `quoting` says, and rows; return `file`. Raises WriteError."""
    with atomic_file(file) as unfinished, unfinished.open("w", encoding="utf-8", errors="backslashreplace") as out:
        # a carriage return ends a line too, but the writer quotes only what ends its own
        quoting = csv.QUOTE_ALL if any("\r" in name for name in header) else quoting
        csv.writer(out, lineterminator="\n", quoting=quoting).writerow(header)
        csv.writer(out, lineterminator="\n").writerows(rows)
    return file


def write_fmi_csv(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write a CSV file as FMI tools exchange results: quoted names without units, `"time"` first, numbers alone.

    `signals` and `every` are as for write_csv. Strings, which such files cannot hold, are left out.
    """
    with read_results(results) as content:
        names = [name for name in (content.select(*signals) if content.variables else []) if _is_number(content, name)]
        columns = np.column_stack([content.time, *(np.asarray(content[name], float) for name in names)])[::every]
    return write_rows(file, ["time", *names], columns.tolist(), csv.QUOTE_ALL)


def write_parquet(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write a Parquet file with a column for `time` and each variable, in their own types.

    `signals` and `every` are as for write_csv. The unit and the description of a column are metadata of its field.
    """

    def columns(content: Results) -> Iterator[tuple[str, str, str, np.ndarray]]:
        yield "time", "s", "time of the row", content.time[::every]
        for name in content.select(*signals) if content.variables else []:
            about = content.attribute(name)
            yield name, str(about["unit"]), str(about["description"]), content[name][::every]

    with read_results(results) as content:
        return write_columns(file, columns(content))


def write_columns(file: Path, columns: Iterable[tuple[str, str, str, np.ndarray]]) -> Path:
    """Write a Parquet file of columns (name, unit, description, values); return `file`.

    Raises MissingPackageError without pyarrow, WriteError for a file that cannot be written.
    """
    pyarrow = load_extra("pyarrow", "a Parquet file", "campaign")
    parquet = load_extra("pyarrow.parquet", "a Parquet file", "campaign")
    arrays, fields = [], []
    for name, unit, description, values in columns:
        arrays.append(pyarrow.array(values.tolist() if values.dtype.kind in "SUO" else values))
        fields.append(_field(name, arrays[-1].type, unit, description))
    # not by name, which pyarrow takes as UTF-8 alone
    with atomic_file(file) as unfinished, unfinished.open("wb") as out:
        parquet.write_table(pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields)), out)
    return file


def _field(name: str, kind: Any, unit: str, description: str) -> Any:
    import pyarrow

    return pyarrow.field(name, kind, metadata={"unit": unit, "description": description})


def _is_number(content: Results, name: str) -> bool:
    return bool(content.attribute(name)["type"] != "String")


def write_mat(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write a MATLAB 5 file: `time`, one array per variable with a row for each time, and `names`.

    `signals` and `every` are as for write_csv. A scalar is a column, an array of three elements n x 3, a matrix
    n x 3 x 3; elements that were chosen alone are columns. `names` maps the names to those of the variables: names of
    MATLAB have only letters, digits and underscores, `mechanism.base.force` becomes `mechanism_base_force`. They end
    after 63 characters, as MATLAB cuts them there. Raises ExportError for variables that would get the same name.
    """
    original = {"time": "the time", "names": "the list of names"}
    with read_results(results) as content:
        fields: dict[str, object] = {"time": content.time[::every, None]}
        for name in whole_arrays(content.select(*signals) if content.variables else []):
            legal = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
            legal = (f"x_{legal}" if not legal[:1].isalpha() else legal)[:MATLAB_NAME]
            if legal in original:
                raise ExportError(
                    f"{name} and {original[legal]} have the same MATLAB name {legal}: leave one out (--signals), or "
                    "write a CSV file"
                )
            original[legal] = name
            values = np.asarray(content[name], float)[::every]
            fields[legal] = values[:, None] if values.ndim == 1 else values
    fields["names"] = np.array([[legal, original[legal]] for legal in fields if legal != "time"], dtype=object)
    with atomic_file(file) as unfinished:
        savemat(unfinished, fields, appendmat=False, long_field_names=True, do_compression=True)
    return file
