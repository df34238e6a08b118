"""Real eigenvalues and eigenvectors from the printed output (.f06) of MSC or NX NASTRAN (solution 103)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.number_text import decimal_number, whole_number
from dockfmu.components.spacecraft.modes.model import ModalModel

_SPACED = re.compile(r"\s+")
_FORTRAN_EXPONENT = re.compile(r"(?<=\d)([+-]\d{2,3})$")


class F06Error(DockfmuError, ValueError):
    """A file that is not printed NASTRAN output, or lacks required tables; names the file and, if known, the line."""


def _title(line: str) -> str:
    """Return a spaced heading without spaces: 'R E A L   E I G E N V E C T O R' -> 'REALEIGENVECTOR'."""
    return _SPACED.sub("", line).upper()


def _number(word: str) -> float:
    """Return a printed real; NASTRAN omits the E before an exponent of three digits, and may print D instead."""
    return decimal_number(
        word if "E" in word.upper() else _FORTRAN_EXPONENT.sub(r"E\1", word.upper().replace("D", "E"))
    )


def _eigenvalues(line: str) -> tuple[int, float, float] | None:
    """Return (mode, circular frequency in rad/s, generalized mass) from a row of the table of eigenvalues."""
    words = line.split()
    if len(words) != 7 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    return whole_number(words[0]), _number(words[3]), _number(words[5])


def _displacement(line: str) -> tuple[int, list[float]] | None:
    """Return (grid point, six components) from a row of a table of eigenvectors, or None; scalar points have none."""
    words = line.split()
    if len(words) == 9 and words[0] == "0":
        words = words[1:]  # carriage control of some printers
    if len(words) != 8 or words[1] != "G" or not words[0].isdecimal():
        return None
    return whole_number(words[0]), [_number(word) for word in words[2:]]


def read_f06(file: Path, *, length: float = 1.0, mass: float = 1.0) -> ModalModel:
    """Return the mass-normalised modes of a free-free model at all printed grid points, including rigid-body modes.

    `length` and `mass` are the model's units in m and kg (1e-3 and 1e3 for mm and t). The displacements must be printed
    in axes S: NASTRAN prints them in the output coordinate system of each point (field CD of GRID), which the file does
    not name. Shapes are divided by the square root of the generalized mass, so any normalisation is accepted.
    Raises F06Error.
    """
    values: dict[int, tuple[float, float]] = {}
    vectors: dict[int, dict[int, list[float]]] = {}
    table, mode = "", 0
    number = 0
    try:
        with Path(file).open(encoding="latin-1") as lines:
            for number, line in enumerate(lines, start=1):  # noqa: B007
                if line.startswith("1"):
                    table = ""  # a new page
                title = _title(line)
                if "REALEIGENVALUES" in title:
                    table = "values"
                elif "REALEIGENVECTORNO." in title:
                    table, mode = "vectors", whole_number(title.rsplit(".", 1)[1])
                    vectors.setdefault(mode, {})
                elif table == "values" and (found := _eigenvalues(line)):
                    values[found[0]] = found[1:]
                elif table == "vectors" and (row := _displacement(line)):
                    vectors[mode][row[0]] = row[1]
    except (OSError, ValueError) as error:
        raise F06Error(f"{file}, line {number}: {error}") from error
    return _model(file, values, vectors, length, mass)


def _model(
    file: Path,
    values: dict[int, tuple[float, float]],
    vectors: dict[int, dict[int, list[float]]],
    length: float,
    mass: float,
) -> ModalModel:
    if not values or not vectors:
        missing = "REAL EIGENVALUES" if not values else "REAL EIGENVECTOR"
        raise F06Error(f"{file}: no table {missing}; run solution 103 with DISPLACEMENT = ALL printed")
    modes = sorted(vectors)
    points = sorted(vectors[modes[0]])
    for j in modes:
        if j not in values:
            raise F06Error(f"{file}: mode {j} has an eigenvector but no eigenvalue")
        if sorted(vectors[j]) != points:
            raise F06Error(f"{file}: mode {j} is not printed at the same grid points as mode {modes[0]}")
        if not values[j][1] > 0.0:
            raise F06Error(f"{file}: mode {j} has generalized mass {values[j][1]:g}")
    shape = np.array([[vectors[j][point] for j in modes] for point in points]).transpose(0, 2, 1)
    frequency, masses = np.array([values[j] for j in modes]).T
    return ModalModel.of_nastran(frequency.copy(), masses, np.array(points), shape, None, (length, mass))
