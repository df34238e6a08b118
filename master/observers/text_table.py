"""The texts of a recording: each once in `/texts`, its place there in the column of the variable."""

from __future__ import annotations

from collections.abc import Callable

import h5py
import numpy as np

from master.fmi import strings as texts

NAME = "texts"
BYTES = 256
CUT = "…"


class TextTable:
    """`reserve` is told how many bytes are to be written before they are."""

    def __init__(self, out: h5py.File, reserve: Callable[[int], None]) -> None:
        # not compressed: a chunk of it is written again and again, and must be whole at any time
        self._dataset = out.create_dataset(NAME, (0,), f"S{BYTES}", maxshape=(None,), chunks=(64,))
        self._reserve = reserve
        self._places: dict[int, int] = {}

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """Places in the table of texts that are given by their numbers in this process; new ones are added."""
        distinct, where = np.unique(numbers.astype(int), return_inverse=True)
        fresh = [number for number in distinct.tolist() if number not in self._places]
        if fresh:
            self._reserve(BYTES * (len(fresh) + 64))
            first = len(self._dataset)
            self._dataset.resize(first + len(fresh), axis=0)
            self._dataset[first:] = [_cut(texts.text(number)) for number in fresh]
            self._dataset.flush()
            self._places |= {number: first + k for k, number in enumerate(fresh)}
        return np.array([self._places[number] for number in distinct.tolist()], float)[where]


def _cut(text: str) -> bytes:
    data = text.encode()
    if len(data) < BYTES:
        return data
    return data[: BYTES - 8].decode(errors="ignore").encode() + CUT.encode()


def read(recording: h5py.File) -> list[str]:
    """The texts of a recording in their places."""
    return [data.decode() for data in recording[NAME][:]] if NAME in recording else []
