"""Limits of the initial conditions (spacecraft section 8): severity of conditions, and draws within the limits.

What counts are deviations from the nominal approach (ruling R60): of the closing speed from the nominal one, over the
distance to the limit on its side; of everything else from 0. A quantity that is limited by its vector sum counts once.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.declare.conditions.initial_conditions import (
    ACROSS,
    ANGLES,
    CONDITIONS,
    LIMITED,
    SEED,
    InitialConditions,
)
from dockfmu.declare.toml.tables import DeclarationError

SIGMAS = 3.0
"""Standard deviations from the mean to a limit: a parameter reaches its limit in a few cases per thousand."""


CONDITION_WORDS = {
    "miss[1]": "miss y", "miss[2]": "miss z", "start_gap": "gap at the start", "gap": "gap before the berth",
    **{f"{name}[{k}]": f"{name.replace('_', ' ')} {axis}"
       for name in ("velocity", "angular_velocity", "orbital_rate") for k, axis in enumerate("xyz", 1)},
}  # fmt: skip
"""Words for the initial conditions whose names are no words."""

_ANGLES = {f"angles[{k}]": name for k, name in enumerate(ANGLES, 1)} | {"angles[1, 2]": "yaw and pitch"}


def severity_text(root_sum_square: float, total: float, nearest: str, share: float) -> str:
    """Return R1, R2 and the condition nearest to its limit in words."""
    words = _ANGLES.get(nearest) or CONDITION_WORDS.get(nearest, nearest.replace("_", " "))
    return (
        f"R1 = {root_sum_square:.2f} (nominal below 1), R2 = {total:.2f} of the limits, most {words} with {share:.0%}"
    )


@dataclass(frozen=True)
class Severity:
    """Nearness of initial conditions to their limits (spacecraft section 8), from the shares deviation / limit.

    Attributes
    ----------
    root_sum_square : R1, the root of the sum of squares; nominal below 1, at most 3.32 with eleven shares
    sum : R2, the sum of magnitudes (the source omits the magnitude signs), at least R1, at most 11
    worst : the parameter nearest to its limit, and its share
    """

    root_sum_square: float
    sum: float
    worst: tuple[str, float]

    def __str__(self) -> str:
        return severity_text(self.root_sum_square, self.sum, *self.worst)


def nominal_speed(conditions: InitialConditions) -> float:
    """Return the closing speed from which deviations count, m/s."""
    given = conditions.nominal_speed
    return conditions.velocity[0] if given is None else given


def rooms(conditions: InitialConditions) -> tuple[float, float]:
    """Return the largest deviations of the closing speed within its limits, m/s: to slower and to faster speeds."""
    nominal = nominal_speed(conditions)
    return nominal - conditions.slowest, conditions.limits["velocity"][0] - nominal


def speed_at(conditions: InitialConditions, share: float) -> float:
    """Return the closing speed with this share of its limit, m/s.

    A positive share is a faster approach, unless nothing is faster within the limits, or a negative speed would follow.
    """
    nominal, (slower, faster) = nominal_speed(conditions), rooms(conditions)
    sides = ((1.0, faster), (-1.0, slower))
    for sign, room in sides if share > 0.0 else sides[::-1]:
        speed = nominal + sign * abs(share) * room
        if room > 0.0 and speed >= 0.0:
            return speed
    return nominal


def _closing_share(conditions: InitialConditions) -> float:
    """Return the deviation of the closing speed over the largest one on its side."""
    deviation = conditions.velocity[0] - nominal_speed(conditions)
    room = rooms(conditions)[deviation > 0.0]
    if deviation == 0.0:
        return 0.0
    return abs(deviation) / room if room > 0.0 else float("inf")


def severity(conditions: InitialConditions) -> Severity | None:
    """Return the severity of the conditions, or None if no limits are declared."""
    if not conditions.limits:
        return None
    shares: dict[str, float] = {}
    for name in conditions.limited:
        values, limits = getattr(conditions, name), conditions.limits[name]
        across = ACROSS[name] if name in conditions.vector_sums else ()
        for k, (value, limit) in enumerate(zip(values, limits, strict=True)):
            if k not in across:
                shares[f"{name}[{k + 1}]"] = abs(value) / limit
        if across:
            place = "" if name == "miss" else f"[{across[0] + 1}, {across[1] + 1}]"
            shares[f"{name}{place}"] = float(np.hypot(*(values[k] for k in across))) / limits[across[0]]
    if "velocity" in conditions.limited:
        shares["velocity[1]"] = _closing_share(conditions)
    values = np.array(list(shares.values()))
    worst = max(shares, key=lambda name: shares[name])
    return Severity(float(np.linalg.norm(values)), float(values.sum()), (worst, shares[worst]))


def seed_of(value: Any) -> int:
    """Return a seed from a number or a string. Raises DeclarationError unless it is a non-negative integer."""
    try:
        seed = int(value) if isinstance(value, str) else value
    except ValueError:
        seed = None
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise DeclarationError(f"{CONDITIONS}.{SEED} = {shown(value)}: must be a non-negative integer")
    return seed


def draw(conditions: InitialConditions, seed: int) -> InitialConditions:
    """Return conditions whose eleven parameters are drawn within their limits; a seed gives the same everywhere.

    A berthing has five: misses and angles.

    Each parameter is normally distributed, with a third of its limit as standard deviation, truncated at the limit. The
    two components of a quantity limited by its vector sum are uniformly distributed in the disc of that radius. Means
    are zero, except that of the closing speed, which is the nominal one; the limit of its deviation is the distance to
    the nearer end of its range. Raises DeclarationError if no limits are declared, or if the nominal speed is not
    within them.
    """
    from scipy.special import ndtr, ndtri

    if not conditions.limits:
        raise DeclarationError(f"{CONDITIONS}.{SEED}: the system declares no {CONDITIONS}.limits to draw within")
    if "velocity" in conditions.limited and min(rooms(conditions)) < 0.0:
        raise DeclarationError(
            f"{CONDITIONS}.velocity[1] = {nominal_speed(conditions):g}: to draw, it must lie between "
            f"{conditions.slowest:g} and {conditions.limits['velocity'][0]:g} m/s"
        )
    # uniform numbers from a generator with a fixed stream: numpy's distributions may change between its versions
    bits = np.random.PCG64(seed).random_raw(sum(conditions.limited.values()))
    uniform = (bits >> np.uint64(11)).astype(float) * 2.0**-53
    below, above = ndtr(-SIGMAS), ndtr(SIGMAS)
    deviations = np.clip(ndtri(below + uniform * (above - below)) / SIGMAS, -1.0, 1.0).tolist()
    drawn: dict[str, list[float]] = {}
    first = 0
    for name, count in conditions.limited.items():
        drawn[name] = [limit * deviations[first + k] for k, limit in enumerate(conditions.limits[name])]
        if name in conditions.vector_sums:
            one, other = ACROSS[name]
            radius = conditions.limits[name][one] * np.sqrt(uniform[first + one])
            azimuth = 2.0 * np.pi * uniform[first + other]
            drawn[name][one], drawn[name][other] = float(radius * np.cos(azimuth)), float(radius * np.sin(azimuth))
        first += count
    if "velocity" in drawn:
        deviation = drawn["velocity"][0] / conditions.limits["velocity"][0]
        drawn["velocity"][0] = nominal_speed(conditions) + deviation * min(rooms(conditions))
    sources = {key: text for key, text in conditions.sources.items() if key not in (*LIMITED, *ANGLES)}
    changed: dict[str, Any] = {name: tuple(values) for name, values in drawn.items()}
    return replace(conditions, **changed, sources=sources)
