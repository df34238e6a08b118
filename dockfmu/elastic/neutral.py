"""Neutral files: .npz with matrices and nodes, MatrixMarket with a table of nodes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from dockfmu.base.given_files import check_plain, read_text
from dockfmu.base.number_text import decimal_number, whole_number
from dockfmu.components.physics.elastic.body import ElasticBodyError, read_arrays
from dockfmu.elastic.model import MOST_FREEDOMS, FullModel

LARGEST_TABLE = 1 << 26
"""Largest size of a table of nodes, bytes."""
MOST_ENTRIES = 30_000_000
"""Largest number of stored entries of a matrix."""


def read_npz(file: Path) -> FullModel:
    """Return the model of a .npz file: K, M (n, n), nodes (k), x (k, 3); dof (n, 2) and lines (l, 2) if given.

    Without `dof` the nodes have six degrees of freedom each, in their order. A sparse matrix is given as
    K_data, K_row, K_col. Raises ElasticBodyError.
    """
    arrays = read_arrays(file)
    for name in ("nodes", "x"):
        if name not in arrays:
            raise ElasticBodyError(f"{file}: has no entry {name!r}; it needs K, M (n, n), nodes (k), x (k, 3)")
    nodes = _whole(file, "nodes", arrays["nodes"], (-1,))
    place = arrays["x"]
    if place.shape != (len(nodes), 3) or place.dtype.kind not in "fiu" or not np.all(np.isfinite(place)):
        raise ElasticBodyError(f"{file}: entry 'x' is {place.shape}, expected ({len(nodes)}, 3) finite numbers")
    freedom = _whole(file, "dof", arrays["dof"], (-1, 2)) if "dof" in arrays else six_each(nodes)
    if len(freedom) and not (freedom[:, 1].min() >= 0 and freedom[:, 1].max() <= 6):
        raise ElasticBodyError(f"{file}: entry 'dof' has components beyond 0 to 6")
    lines = _whole(file, "lines", arrays["lines"], (-1, 2)) if "lines" in arrays else np.zeros((0, 2), int)
    return FullModel(
        name=file.stem,
        source=str(file),
        stiffness=_matrix(file, "K", arrays, len(freedom)),
        mass=_matrix(file, "M", arrays, len(freedom)),
        freedom=freedom,
        nodes=nodes,
        position=np.asarray(place, float),
        lines=_indices(file, lines, nodes),
    )


def read_matrix_market(stiffness: Path, mass: Path | None, nodes: Path | None) -> FullModel:
    """Return the model of two MatrixMarket files and a table of nodes. Raises ElasticBodyError."""
    if mass is None or nodes is None:
        raise ElasticBodyError(f"{stiffness}: a MatrixMarket stiffness needs --mass-file FILE.mtx and --nodes FILE.csv")
    ids, place = read_nodes(nodes)
    return FullModel(
        name=stiffness.stem,
        source=str(stiffness),
        stiffness=read_market(stiffness),
        mass=read_market(mass),
        freedom=six_each(ids),
        nodes=ids,
        position=place,
        lines=np.zeros((0, 2), int),
    )


def read_nodes(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers and positions of a table of nodes: number, x, y, z in each line. Raises ElasticBodyError."""
    try:
        text = read_text(file, LARGEST_TABLE)
    except (OSError, UnicodeDecodeError) as error:
        raise ElasticBodyError(f"{file}: cannot be read as a table of nodes ({error})") from error
    ids, place = [], []
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words or (number == 1 and words[0].isalpha()):
            continue
        try:
            node, values = whole_number(words[0]), [decimal_number(word) for word in words[1:]]
            if len(values) != 3 or not np.all(np.isfinite(values)) or not 0 < node < 2**53:
                raise ValueError("not number, x, y, z")
        except ValueError as error:
            raise ElasticBodyError(f"{file}:{number}: {line[:60]!r} must be a node number and x, y, z") from error
        ids.append(node)
        place.append(values)
    return np.array(ids, int), np.array(place, float).reshape(-1, 3)


def six_each(nodes: np.ndarray) -> np.ndarray:
    """Return the degrees of freedom of nodes with six each, in their order."""
    return np.column_stack([np.repeat(nodes, 6), np.tile(np.arange(1, 7), len(nodes))]).astype(int)


def read_market(file: Path) -> Any:
    """Return the real matrix of a MatrixMarket file: coordinate or array, general or symmetric.

    The reader of scipy ends the process at some damaged files. Raises ElasticBodyError.
    """
    try:
        check_plain(file)
        with file.open(encoding="utf-8") as stream:
            kind, symmetry = _market_header(file, stream.readline(200))
            line = stream.readline(1000)
            while line.startswith("%") or (line and not line.strip()):
                line = stream.readline(1000)
            size = [whole_number(word) for word in line.split()]
            if len(size) != (3 if kind == "coordinate" else 2) or min(size) < 0 or not line.endswith("\n"):
                raise ValueError(f"{line[:40]!r} is no size of a matrix")
            n, entries = size[0], size[2] if kind == "coordinate" else size[0] * size[1]
            if size[1] != n or n > MOST_FREEDOMS or entries > MOST_ENTRIES:
                raise ElasticBodyError(
                    f"{file}: is {n} x {size[1]} with {entries} entries; square up to {MOST_FREEDOMS} is read"
                )
            if kind == "array" and symmetry == "symmetric":
                entries = n * (n + 1) // 2
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a matrix without entries
                values = np.loadtxt(stream, comments="%", ndmin=2, max_rows=entries + 1)
        columns = 3 if kind == "coordinate" else 1
        if values.size != columns * entries or (entries and values.shape[1] != columns):
            raise ValueError(f"it has {len(values)} entries of {entries}")
    except (OSError, ValueError, OverflowError, MemoryError) as error:
        raise ElasticBodyError(f"{file}: cannot be read as MatrixMarket ({error}); is it cut off?") from error
    if kind == "array":
        return _of_columns(values.ravel(), n, symmetry)
    return _of_entries(file, values.reshape(-1, 3), n, symmetry)


def _market_header(file: Path, line: str) -> tuple[str, str]:
    """Return format and symmetry of a header."""
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise ValueError(f"{line[:40]!r} is no header")
    kind, numbers, symmetry = words[2:]
    known = kind in ("coordinate", "array") and numbers in ("real", "double", "integer")
    if not known or symmetry not in ("general", "symmetric"):
        raise ElasticBodyError(
            f"{file}: is {' '.join(words[2:])[:60]}; real matrices are read, coordinate or array, general or symmetric"
        )
    return kind, symmetry


def _of_columns(values: np.ndarray, n: int, symmetry: str) -> np.ndarray:
    """Return a matrix from its columns; of a symmetric one these begin at the diagonal."""
    if symmetry == "general":
        return values.reshape(n, n).T
    found = np.zeros((n, n))
    columns, rows = np.triu_indices(n)
    found[rows, columns] = found[columns, rows] = values
    return found


def _of_entries(file: Path, entries: np.ndarray, n: int, symmetry: str) -> Any:
    """Return a sparse matrix from (row, column, value), counted from 1; values of one place are added."""
    row, column, data = entries.T
    places = entries[:, :2]
    if not np.all((places >= 1.0) & (places <= n) & (places == np.floor(places))):
        raise ElasticBodyError(f"{file}: has entries at rows or columns that are not from 1 to {n}")
    row, column = row.astype(int) - 1, column.astype(int) - 1
    if symmetry == "symmetric":
        if np.any(row > column) and np.any(row < column):
            raise ElasticBodyError(
                f"{file}: is symmetric, but has entries on both sides of the diagonal; give one side"
            )
        aside = row != column
        data = np.concatenate([data, data[aside]])
        row, column = np.concatenate([row, column[aside]]), np.concatenate([column, row[aside]])
    return sparse.coo_array((data, (row, column)), shape=(n, n)).tocsc()


def _matrix(file: Path, name: str, arrays: dict[str, np.ndarray], size: int) -> Any:
    if name in arrays:
        if arrays[name].dtype.kind not in "fiuc":
            raise ElasticBodyError(f"{file}: entry {name!r} is {arrays[name].dtype}, expected numbers")
        if arrays[name].ndim != 2:
            raise ElasticBodyError(f"{file}: entry {name!r} has {arrays[name].ndim} dimensions, expected a matrix")
        return arrays[name]
    parts = [f"{name}_{part}" for part in ("data", "row", "col")]
    if any(part not in arrays for part in parts):
        raise ElasticBodyError(f"{file}: has no entry {name!r}, nor {', '.join(parts)}")
    data, row, column = (arrays[part] for part in parts)
    try:
        return sparse.coo_array((data, (row, column)), shape=(size, size)).tocsc()
    except (ValueError, TypeError) as error:
        raise ElasticBodyError(f"{file}: entries {', '.join(parts)} are no matrix of {size} rows ({error})") from error


def _whole(file: Path, name: str, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    right = array.ndim == len(shape) and all(s in (-1, n) for s, n in zip(shape, array.shape, strict=False))
    if not right or array.dtype.kind not in "iu":
        raise ElasticBodyError(f"{file}: entry {name!r} is {array.dtype} {array.shape}; whole numbers are expected")
    return array.astype(int)


def _indices(file: Path, lines: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Return lines as indices of nodes, from numbers of nodes."""
    index = {int(node): k for k, node in enumerate(nodes)}
    strange = [int(node) for node in lines.ravel() if int(node) not in index]
    if strange:
        raise ElasticBodyError(f"{file}: entry 'lines' names node {strange[0]}, which is not in 'nodes'")
    return np.array([[index[int(a)], index[int(b)]] for a, b in lines], int).reshape(-1, 2)
