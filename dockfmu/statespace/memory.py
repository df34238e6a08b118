"""The float64 of a serialised state of a native FMU of dockfmu: their names, and how to read and change them.

The FMU lists them in `resources/saved_state.csv`; see `dockfmu.fmus.resources.saved_state`.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dockfmu.base.compiler import jit
from dockfmu.fmus.resources import SAVED_STATE
from dockfmu.master.errors import ArchiveError
from dockfmu.master.fmi import archive

_CHECKSUM, _CHECKED = 56, 64
"""Offsets of the checksum, and of the first byte that it covers."""
_PRIME, _BASIS = np.uint64(1099511628211), np.uint64(14695981039346656037)


@partial(jit, _nrt=False)
def _digest(words: np.ndarray) -> None:
    """Replace the first of 64-bit words by the FNV-1a checksum of all of them."""
    digest = _BASIS
    for k in range(words.size):
        digest = (digest ^ words[k]) * _PRIME
    words[0] = digest


@dataclass(frozen=True)
class Place:
    """One float64 of a serialised state; `number` counts them from 0 in the order of memory."""

    name: str
    unit: str
    type: str
    causality: str
    variability: str
    number: int

    @property
    def continuous(self) -> bool:
        """Whether it can be part of a continuous state: a Real that the component changes by itself."""
        computed = self.causality in ("output", "local", "private", "previous")
        return computed and self.type == "Real" and self.variability == "continuous"

    @property
    def drives(self) -> bool:
        """Whether it is a continuous input."""
        return (self.causality, self.type, self.variability) == ("input", "Real", "continuous")


@dataclass(frozen=True)
class SavedState:
    """The float64 of a serialised state that hold the memory of the component, from byte `first` on."""

    first: int
    places: tuple[Place, ...]

    def read(self, state: bytes) -> np.ndarray:
        """Return the memory in a serialised state, a copy."""
        return np.frombuffer(state, "<f8", len(self.places), self.first).copy()

    def write(self, state: bytes, memory: np.ndarray) -> bytes:
        """Return a serialised state with other memory, and the checksum that it then needs."""
        changed = bytearray(state)
        changed[self.first : self.first + 8 * len(self.places)] = np.asarray(memory, "<f8").tobytes()
        words = np.frombuffer(changed, "<u8", -1, _CHECKED).astype(np.uint64)
        with np.errstate(over="ignore"):
            _digest(words)
        changed[_CHECKSUM:_CHECKED] = words[:1].astype("<u8").tobytes()
        return bytes(changed)


def read_layout(file: Path) -> SavedState | None:
    """Return the layout of the states of an FMU, None if it does not publish one."""
    try:
        text = archive.read_member(file, SAVED_STATE).decode()
    except ArchiveError:
        return None
    rows = list(csv.DictReader(io.StringIO(text)))
    places = tuple(
        Place(row["name"], row["unit"], row["type"], row["causality"], row["variability"], number)
        for number, row in enumerate(rows)
    )
    return SavedState(int(rows[0]["offset"]), places)
