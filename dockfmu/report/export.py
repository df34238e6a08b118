"""Export results to other programs: CSV and MATLAB files."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from scipy.io import savemat

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import atomic_file
from dockfmu.master.observers.recording.results import read_results

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
    with atomic_file(file) as unfinished, unfinished.open("w", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerow(header)
        np.savetxt(out, columns, delimiter=",", fmt="%.17g")
    return file


def write_mat(results: Path, file: Path, signals: Sequence[str] = ("*",), every: int = 1) -> Path:
    """Write a MATLAB 5 file: `time`, one column vector per variable, and `names`, which maps them to the variables.

    `signals` and `every` are as for write_csv. MATLAB names may contain only letters, digits and underscores:
    `mechanism.base.force[1]` becomes `mechanism_base_force_1`. They end after 63 characters, as MATLAB cuts them there.
    Raises ExportError for variables that would get the same name.
    """
    original = {"time": "the time", "names": "the list of names"}
    with read_results(results) as content:
        fields: dict[str, object] = {"time": content.time[::every, None]}
        for name in content.select(*signals) if content.variables else []:
            legal = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
            legal = (f"x_{legal}" if not legal[:1].isalpha() else legal)[:MATLAB_NAME]
            if legal in original:
                raise ExportError(
                    f"{name} and {original[legal]} have the same MATLAB name {legal}: leave one out (--signals), or "
                    "write a CSV file"
                )
            original[legal] = name
            fields[legal] = np.asarray(content[name], float)[::every, None]
    fields["names"] = np.array([[legal, original[legal]] for legal in fields if legal != "time"], dtype=object)
    with atomic_file(file) as unfinished:
        savemat(unfinished, fields, appendmat=False, long_field_names=True, do_compression=True)
    return file
