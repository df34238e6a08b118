"""Laws of varied variables: transformations of numbers uniform between 0 and 1 to values.

Every law transforms as many uniform numbers as its `dimension`. Random, low-discrepancy, Latin hypercube and grid
samples, and the standard normal space of rare-event methods, therefore all use it in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from dockfmu.errors import OptionError


class Law(Protocol):
    """A law of one or several variables."""

    @property
    def names(self) -> tuple[str, ...]:
        """Full names of the variables."""
        ...

    @property
    def dimension(self) -> int:
        """Number of uniform numbers that it takes."""
        ...

    def values(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return the values, by full names, for uniform numbers in (0, 1), shape (dimension,)."""
        ...

    def levels(self, points: int) -> list[list[float]]:
        """Return the uniform numbers of a grid: `points` in each dimension, or one for each possible option."""
        ...


@dataclass(frozen=True)
class Uniform:
    """Independent uniform variables between `low` and `high`, which have one number for each name."""

    names: tuple[str, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]

    def __post_init__(self) -> None:
        if not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise OptionError(
                [
                    f"{', '.join(self.names)}: low = {self.low} must be below high = {self.high}; a value that does "
                    "not vary belongs to [values]"
                ]
            )

    @property
    def dimension(self) -> int:
        """One uniform number for each variable."""
        return len(self.names)

    def values(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return low + u (high - low)."""
        low, high = np.array(self.low), np.array(self.high)
        return dict(zip(self.names, (low + uniform * (high - low)).tolist(), strict=True))

    def levels(self, points: int) -> list[list[float]]:
        """Return equal steps from end to end."""
        return [np.linspace(0.0, 1.0, points).tolist()] * self.dimension


@dataclass(frozen=True)
class Normal:
    """Normal variables: mean + factor z, with independent standard normal z; `factor` has shape (n, n).

    With `low` and `high`, which need a diagonal factor, the law is truncated to the range between them.
    """

    names: tuple[str, ...]
    mean: tuple[float, ...]
    factor: tuple[tuple[float, ...], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        factor = np.array(self.factor)
        diagonal = bool((factor == np.diag(np.diag(factor))).all())
        if self.low and not diagonal:
            raise OptionError([f"{', '.join(self.names)}: limits need independent variables, not a covariance"])
        if self.low and not all(low < high for low, high in zip(self.low, self.high, strict=True)):
            raise OptionError([f"{', '.join(self.names)}: low = {self.low} must be below high = {self.high}"])
        if self.low and not (self._shares()[1] > 0.0).all():
            raise OptionError(
                [
                    f"{', '.join(self.names)}: values between {self.low} and {self.high} are too rare to draw with a "
                    f"mean of {self.mean} and a deviation of {tuple(np.diag(factor).tolist())}"
                ]
            )

    def _shares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (probability below the range, probability of the range, sign), of the mirrored law where it is -1.

        Above the mean the law is mirrored: the distribution function has few digits near 1, and many near 0.
        """
        mean, deviation = np.array(self.mean), np.diag(np.array(self.factor))
        first, last = (np.array(self.low) - mean) / deviation, (np.array(self.high) - mean) / deviation
        sign = np.where(first > 0.0, -1.0, 1.0)
        below = ndtr(np.where(sign > 0.0, first, -last))
        return below, ndtr(np.where(sign > 0.0, last, -first)) - below, sign

    @property
    def dimension(self) -> int:
        """One uniform number for each variable."""
        return len(self.names)

    def values(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return mean + factor z, with z from the inverse of the distribution function."""
        mean, factor = np.array(self.mean), np.array(self.factor)
        if not self.low:
            return dict(zip(self.names, (mean + factor @ ndtri(uniform)).tolist(), strict=True))
        low, high, deviation = np.array(self.low), np.array(self.high), np.diag(factor)
        below, share, sign = self._shares()
        mirrored = np.where(sign > 0.0, uniform, 1.0 - uniform)
        found = np.clip(mean + sign * deviation * ndtri(below + mirrored * share), low, high)
        return dict(zip(self.names, found.tolist(), strict=True))

    def levels(self, points: int) -> list[list[float]]:
        """Return midpoints of intervals of equal probability; with limits, equal steps of the value from end to end."""
        if not self.low:
            return [((np.arange(points) + 0.5) / points).tolist()] * self.dimension
        levels = []
        ranges = zip(self.low, self.high, self.mean, np.diag(self.factor), *self._shares(), strict=True)
        for low, high, mean, deviation, below, share, sign in ranges:
            steps = (ndtr(sign * (np.linspace(low, high, points) - mean) / deviation) - below) / share
            levels.append((steps if sign > 0.0 else 1.0 - steps).tolist())
        return levels


@dataclass(frozen=True)
class UniformDisc:
    """Two variables uniformly distributed in a disc about `centre`."""

    names: tuple[str, ...]
    radius: float
    centre: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        if len(self.names) != 2 or not self.radius > 0.0:
            raise OptionError([f"{', '.join(self.names)}: a disc needs two variables and a positive radius"])

    @property
    def dimension(self) -> int:
        """Radius and azimuth."""
        return 2

    def values(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return the point at radius r sqrt(u1) and azimuth 2 pi u2."""
        r, azimuth = self.radius * np.sqrt(uniform[0]), 2.0 * np.pi * uniform[1]
        point = np.array(self.centre) + r * np.array([np.cos(azimuth), np.sin(azimuth)])
        return dict(zip(self.names, point.tolist(), strict=True))

    def levels(self, points: int) -> list[list[float]]:
        """Return rings of equal area at equally spaced azimuths."""
        return [((np.arange(points) + 0.5) / points).tolist(), (np.arange(points) / points).tolist()]


@dataclass(frozen=True)
class SeverityBall:
    """Variables uniformly distributed where their severity is at most `radius`, or with `surface` exactly `radius`.

    The severity is that of spacecraft section 8, of these variables alone: `measure` R1 is the root of the sum of the
    squares of value / limit, R2 the sum of their magnitudes. `pairs` are places of two variables that are limited by
    their vector sum, which counts once in R2. `values_at` has functions that turn the share of a variable into its
    value, in place of share times limit: that of the closing speed is counted from the nominal one.
    """

    names: tuple[str, ...]
    limits: tuple[float, ...]
    measure: str
    radius: float
    surface: bool = False
    pairs: tuple[tuple[int, int], ...] = ()
    values_at: Mapping[str, Callable[[float], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.measure not in ("R1", "R2") or not self.radius > 0.0:
            raise OptionError([f"severity: must be R1 or R2 and a positive number, not {self.measure} {self.radius}"])

    @property
    def dimension(self) -> int:
        """One uniform number for each variable, and one for the radius."""
        return len(self.names) + (not self.surface)

    def values(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return a uniform direction times a radius; for R2 from ratios of exponential variables."""
        n = len(self.names)
        if self.measure == "R1":
            z = ndtri(uniform[:n])
            shares = z / np.linalg.norm(z) * (1.0 if self.surface else uniform[n] ** (1.0 / n))
        else:
            signed = 2.0 * uniform[:n] - 1.0
            magnitude = -np.log1p(-np.abs(signed))
            rest = 0.0 if self.surface else -np.log1p(-uniform[n])
            shares = np.sign(signed) * magnitude / (magnitude.sum() + rest)
            for one, other in self.pairs:
                # radius: the sum of two exponential variables, as in a plane; azimuth: their uniform ratio and signs
                size = abs(shares[one]) + abs(shares[other])
                quarter = (shares[one] < 0.0) + 2 * (shares[other] < 0.0)
                azimuth = 0.5 * np.pi * (quarter + abs(shares[one]) / size) if size > 0.0 else 0.0
                shares[one], shares[other] = size * np.cos(azimuth), size * np.sin(azimuth)
        shares = self.radius * shares
        found = dict(zip(self.names, (shares * np.array(self.limits)).tolist(), strict=True))
        for name, share in zip(self.names, shares.tolist(), strict=True):
            if name in self.values_at:
                found[name] = self.values_at[name](share)
        return found

    def levels(self, points: int) -> list[list[float]]:
        """Return midpoints of intervals of equal probability."""
        return [((np.arange(points) + 0.5) / points).tolist()] * self.dimension


@dataclass(frozen=True)
class Option:
    """One option of a choice: values, parameter sets, other FMUs, or another system.

    Attributes
    ----------
    label : str
        Word for the option in the results.
    weight : float
        Probability relative to those of the other options.
    values : mapping of str to value
        Values by full names, such as those of a fault.
    parameters : tuple of str
        .ssv files.
    swap : mapping of str to str
        Element -> .fmu file.
    system : str
        System in place of the campaign's own; empty to keep that.
    """

    label: str
    weight: float = 1.0
    values: Mapping[str, Any] = field(default_factory=dict)
    parameters: tuple[str, ...] = ()
    swap: Mapping[str, str] = field(default_factory=dict)
    system: str = ""

    @property
    def loads(self) -> bool:
        """Whether the option needs its own loaded system, and not only other values."""
        return bool(self.parameters or self.swap or self.system)


@dataclass(frozen=True)
class Choice:
    """A choice between several options; its value, under its name, is the label of the chosen option."""

    name: str
    options: tuple[Option, ...]

    def __post_init__(self) -> None:
        labels = [option.label for option in self.options]
        if len(set(labels)) < len(labels) or not labels:
            raise OptionError([f"{self.name}: options need distinct labels, not {', '.join(labels)}"])
        if not all(option.weight >= 0.0 for option in self.options) or not sum(o.weight for o in self.options) > 0.0:
            raise OptionError([f"{self.name}: weights must not be negative, and one must be positive"])

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the choice."""
        return (self.name,)

    @property
    def dimension(self) -> int:
        """One uniform number."""
        return 1

    def option(self, label: str) -> Option:
        """Return the option with a label. Raises OptionError."""
        chosen = next((option for option in self.options if option.label == label), None)
        if chosen is None:
            raise OptionError([f"{self.name} = {label!r}: must be one of {', '.join(o.label for o in self.options)}"])
        return chosen

    def values(self, uniform: np.ndarray) -> dict[str, Any]:
        """Return the label of the option in whose share of the weights the number lies."""
        ends = np.cumsum([option.weight for option in self.options])
        k = int(np.searchsorted(ends, float(uniform[0]) * ends[-1], side="right"))
        return {self.name: self.options[min(k, len(self.options) - 1)].label}

    def levels(self, points: int) -> list[list[float]]:
        """Return the midpoint of the share of each option that has one: an option of weight 0 is never chosen."""
        ends = np.cumsum([0.0, *(option.weight for option in self.options if option.weight > 0.0)])
        return [((ends[:-1] + ends[1:]) / 2.0 / ends[-1]).tolist()]


def names_of(laws: Sequence[Law]) -> tuple[str, ...]:
    """Return the names of all laws. Raises OptionError for a name in two laws."""
    names = [name for law in laws for name in law.names]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise OptionError([f"{name} has two laws" for name in twice])
    return tuple(names)
