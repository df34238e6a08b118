"""NASTRAN files by pyyeti: external superelements (.op4, .asm, .pch), OP4 matrices, DMIG in bulk data."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.extras import load_extra
from dockfmu.base.nastran_files import bounded_size, guarded
from dockfmu.components.physics.elastic.body import ElasticBodyError
from dockfmu.elastic.model import FullModel

MOST_DENSE = 5000
"""Largest number of degrees of freedom of NASTRAN matrices, which pyyeti reads as dense ones."""
STIFFNESS, MASS = ("kxx", "kaa", "kaax", "kgg", "kmtx"), ("mxx", "maa", "maax", "mgg", "mmtx")
"""Names of matrices that are taken, lower case, in this order."""


def read_nastran(file: Path, nodes: Path | None) -> FullModel:
    """Return the model of an .op4 file with its .asm or bulk data, or of a file with DMIG cards.

    The nodes are those of `nodes`, or of the .asm file of the same name. Raises ElasticBodyError or
    MissingPackageError.
    """
    bulk = load_extra("pyyeti.nastran.bulk", f"{file}: NASTRAN input", "elastic")
    if file.suffix.lower() == ".op4":
        check_op4(file)
        reader = load_extra("pyyeti.nastran.op4", f"{file}: NASTRAN input", "elastic")
        names, sizes, *_ = _guarded(file, "OP4 matrices", lambda: reader.OP4().dir(str(file), verbose=False))
        picked = [_named(file, names, wanted) for wanted in (STIFFNESS, MASS)]
        for name in picked:
            rows, columns = sizes[names.index(name)]
            if not 0 < rows == columns <= MOST_DENSE:
                raise ElasticBodyError(
                    f"{file}: {name.upper()} is {rows} x {columns}; square up to {MOST_DENSE} is read"
                )
        matrices = _guarded(file, "OP4 matrices", lambda: reader.read(str(file), namelist=picked))
        stiffness, mass = (np.asarray(matrices[name]) for name in picked)
        table = nodes or file.with_suffix(".asm")
        if not table.is_file():
            raise ElasticBodyError(
                f"{file}: there is no {table}; give --nodes FILE with the GRID cards of these matrices"
            )
        uset = _uset(bulk, table)
    else:
        bounded_size(file, ElasticBodyError)
        if not any(line[:4].upper() == b"DMIG" for line in file.read_bytes().splitlines()):
            raise ElasticBodyError(
                f"{file}: has no DMIG card; give the file that NASTRAN punched with EXTSEOUT(DMIGPCH)"
            )
        frames = _guarded(file, "DMIG cards", lambda: bulk.rddmig(str(file), expanded=False, square=True))
        table = nodes or (file.with_suffix(".asm") if file.with_suffix(".asm").is_file() else file)
        uset = _uset(bulk, table)
        stiffness, mass, uset = _of_dmig(file, frames, uset)
    return _model(file, uset, stiffness, mass, reduced=table.suffix.lower() == ".asm")


def check_op4(file: Path) -> None:
    """Check the records of a binary OP4 file; raise ElasticBodyError that names the record where it is damaged."""
    size = bounded_size(file, ElasticBodyError)
    with file.open("rb") as stream:
        head = stream.read(4)
        order = next((o for o in "<>" if len(head) == 4 and struct.unpack(f"{o}i", head)[0] in (24, 48)), None)
        if order is None:
            line = head + stream.read(80)
            if (line[:32].strip()[:1].isdigit() or line[:1] in b" -") and b"\0" not in line:
                return  # text
            raise ElasticBodyError(
                f"{file}: record 1 is no header of an OP4 matrix; is it another kind of file (.op2)?"
            )
        place, number = 0, 0
        while place < size:
            number += 1
            stream.seek(place)
            mark = stream.read(4)
            length = struct.unpack(f"{order}i", mark)[0] if len(mark) == 4 else -1
            if length < 0 or place + 8 + length > size:
                raise ElasticBodyError(
                    f"{file}: record {number} at byte {place} is cut off; copy the file again, in binary mode"
                )
            stream.seek(place + 4 + length)
            if stream.read(4) != mark:
                raise ElasticBodyError(f"{file}: record {number} at byte {place} is damaged: its two lengths differ")
            place += 8 + length


def _guarded(file: Path, what: str, read: Callable[[], Any]) -> Any:
    return guarded(file, what, ElasticBodyError, read)


def _uset(bulk: Any, file: Path) -> Any:
    bounded_size(file, ElasticBodyError)
    if file.suffix.lower() == ".asm":
        # the .pch of the same name says which components the matrices have
        punched = file.with_suffix(".pch").is_file()
        return _guarded(
            file, "SECONCT, GRID and CORD2x cards", lambda: bulk.asm2uset(str(file), try_rdextrn=punched)[0]
        )
    return _guarded(file, "GRID cards", lambda: bulk.bulk2uset(str(file), follow_includes=False)[0])


def _named(file: Path, names: list[str], wanted: tuple[str, ...]) -> str:
    """Return the name in the file of the first matrix that is wanted."""
    lower = {name.lower(): name for name in names}
    found = next((lower[name] for name in wanted if name in lower), None)
    if found is None:
        listed = ", ".join(names).upper() or "none"
        raise ElasticBodyError(f"{file}: has no matrix {' or '.join(name.upper() for name in wanted)}; it has {listed}")
    return found


def _of_dmig(file: Path, frames: dict[str, Any], uset: Any) -> tuple[Any, Any, Any]:
    picked = [frames[_named(file, list(frames), wanted)] for wanted in (STIFFNESS, MASS)]
    rows = sorted({(int(node), int(c)) for frame in picked for node, c in frame.index})
    if len(rows) > MOST_DENSE:
        raise ElasticBodyError(f"{file}: {len(rows)} degrees of freedom; up to {MOST_DENSE} are reduced")
    known = {int(node) for node, component in uset.index if component}
    strange = next((node for node, component in rows if component and node not in known), None)
    if strange is not None:
        raise ElasticBodyError(f"{file}: DMIG names grid {strange}, which has no GRID card; give --nodes FILE")
    stiffness, mass = (frame.reindex(index=rows, columns=rows, fill_value=0.0).to_numpy() for frame in picked)
    return stiffness, mass, (rows, uset)


def _model(file: Path, uset: Any, stiffness: Any, mass: Any, *, reduced: bool) -> FullModel:
    """Return the model in the basic axes: coordinates of the nodes are turned from their output systems."""
    geometry = load_extra("pyyeti.nastran.n2p", f"{file}: NASTRAN input", "elastic")
    rows, table = uset if isinstance(uset, tuple) else (None, uset)
    freedom = np.array(rows if rows is not None else [(int(n), int(c)) for n, c in table.index], int).reshape(-1, 2)
    if len(freedom) != len(stiffness):
        raise ElasticBodyError(
            f"{file}: its matrices have {len(stiffness)} rows, but the nodes {len(freedom)} degrees of freedom; "
            "give --nodes FILE with the GRID cards of these matrices"
        )
    ids = np.array(sorted({int(n) for n, c in table.index if c and int(n) in set(freedom[freedom[:, 1] > 0, 0])}), int)
    everything = {(int(n), int(c)): k for k, (n, c) in enumerate(table.index)}
    values = table.loc[:, "x":"z"].to_numpy(dtype=float)
    row_of = {(int(n), int(c)): k for k, (n, c) in enumerate(freedom)}
    for node in ids:
        if any((int(node), c) not in rows for c in range(1, 7) for rows in (everything, row_of)):
            raise ElasticBodyError(
                f"{file}: grid {node} has not all of its six components in the matrices, which is not supported; "
                "put all six in the boundary of the superelement (ASET1, BSET1)"
            )
    motions = _guarded(file, "the coordinate systems of the nodes", lambda: geometry.rbgeom_uset(table))
    turn, place = np.eye(len(freedom)), []
    for node in ids:
        first = everything[int(node), 1]
        place.append(values[first])
        axes = motions[first : first + 3, :3]  # basic to output axes
        for block in (1, 4):
            at = [row_of[int(node), block + k] for k in range(3)]
            turn[np.ix_(at, at)] = axes
    turned = [turn.T @ np.asarray(matrix) @ turn for matrix in (stiffness, mass)]
    return FullModel(
        name=file.stem,
        source=str(file),
        stiffness=turned[0],
        mass=turned[1],
        freedom=freedom,
        nodes=ids,
        position=np.array(place).reshape(-1, 3),
        lines=np.zeros((0, 2), int),
        reduced=reduced or bool(np.any(freedom[:, 1] == 0)),
    )
