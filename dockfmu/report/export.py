"""Results for other programs: CSV and MATLAB files."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.io import savemat

from base.errors import DockfmuError
from base.files import atomic_file
from master.observers.recording.results import read_results


class ExportError(DockfmuError, RuntimeError):
    """Results that the wanted format cannot hold."""


def write_csv(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write recorded variables as columns after `time`, the header with units as in FMPy: `name [unit]`.

    `signals` are patterns as of Results.select, which raises MasterError for one that selects nothing; of the rows one
    in `every` is written, from the first on.
    """
    with read_results(results) as content:
        names = content.select(*signals) if content.variables else []
        header = ["time [s]", *(f"{name} [{unit}]" if (unit := content.unit(name)) else name for name in names)]
        columns = np.column_stack([content.time, *(np.asarray(content[name], float) for name in names)])[::every]
    with atomic_file(file) as unfinished, unfinished.open("w", encoding="utf-8") as out:
        out.write(",".join(f'"{title}"' if "," in title else title for title in header) + "\n")
        np.savetxt(out, columns, delimiter=",", fmt="%.17g")
    return file


def write_mat(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write a MATLAB 5 file: `time`, one column vector per variable, and `names` that maps them to the variables.

    `signals` and `every` are as of write_csv.

    MATLAB's names allow letters, digits and underscores only: `mechanism.base.force[1]` is `mechanism_base_force_1`.
    Raises ExportError for variables that would get the same name.
    """
    original: dict[str, str] = {}
    with read_results(results) as content:
        fields: dict[str, object] = {"time": content.time[::every, None]}
        for name in content.select(*signals) if content.variables else []:
            legal = re.sub(r"\W+", "_", name).strip("_")
            if legal in fields:
                raise ExportError(f"{name} and {original.get(legal, 'the time')} have the same MATLAB name {legal}")
            original[legal] = name
            fields[legal] = np.asarray(content[name], float)[::every, None]
    fields["names"] = np.array([[legal, name] for legal, name in original.items()], dtype=object)
    with atomic_file(file) as unfinished:
        savemat(unfinished, fields, appendmat=False, long_field_names=True, do_compression=True)
    return file
