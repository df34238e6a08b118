"""Charts as data: parts, labels and scales, which say nothing of how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Mark = Literal["circle", "diamond", "cross"]


@dataclass(frozen=True)
class Bars:
    """A bar of height `y` for each word of `x`, with the interval from `low` to `high` where these are given."""

    name: str
    x: Sequence[str]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Polyline:
    """A line through points; NaN parts it. A `border` divides an area rather than showing values."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    border: bool = False


@dataclass(frozen=True)
class Band:
    """The area between two curves over `x`."""

    name: str
    x: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


@dataclass(frozen=True)
class Points:
    """Points that are marked alike, with a value of each where `values` are given."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    mark: Mark
    values: Sequence[float] = ()


Part = Bars | Polyline | Band | Points


@dataclass(frozen=True)
class Chart:
    """Parts over common axes, in the order in which they are drawn; with `logarithmic`, y is in powers of ten."""

    parts: Sequence[Part]
    x: str = ""
    y: str = ""
    logarithmic: bool = False


class Scatter(Chart):
    """Points over axes of their own, named by their names, of which one is shown at a time; values are run numbers."""
