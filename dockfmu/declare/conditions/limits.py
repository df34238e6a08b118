"""Limits of the initial conditions (spec/04 section 8): severity of conditions, and draws within the limits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from base.messages import shown
from dockfmu.declare.conditions.initial_conditions import ANGLES, CONDITIONS, LIMITED, SEED, InitialConditions
from dockfmu.declare.toml.tables import DeclarationError

SIGMAS = 3.0
"""Standard deviations from the mean to a limit: a parameter reaches its limit in a few cases per thousand."""


@dataclass(frozen=True)
class Severity:
    """Nearness of initial conditions to their limits (spec/04 section 8), from the ratios p_i / limit_i, i = 1..11.

    Attributes
    ----------
    root_sum_square : R1, the root of the sum of squares; nominal below 1, at most 3.32
    sum : R2, the sum of magnitudes (the source omits the magnitude signs); nominal below 1, at most 11
    worst : the parameter nearest to its limit, and its ratio
    """

    root_sum_square: float
    sum: float
    worst: tuple[str, float]

    def __str__(self) -> str:
        name, share = self.worst
        return (
            f"R1 = {self.root_sum_square:.2f}, R2 = {self.sum:.2f} of their limits (nominal below 1), "
            f"most {name} with {share:.0%}"
        )


def severity(conditions: InitialConditions) -> Severity | None:
    """Return the severity of the conditions, or None if no limits are declared."""
    if not conditions.limits:
        return None
    shares = {
        f"{name}[{i}]": abs(value) / limit
        for name in conditions.limited
        for i, (value, limit) in enumerate(zip(getattr(conditions, name), conditions.limits[name], strict=True), 1)
    }
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

    Each parameter is normally distributed, with a third of its limit as standard deviation, truncated at the limit.
    Means are zero, except that of the closing speed, which is the declared speed; the limit of its deviation is the
    distance to 0 or to its own limit, whichever is nearer. Raises DeclarationError if no limits are declared, or if the
    closing speed is not within its limit.
    """
    from scipy.special import ndtr, ndtri

    if not conditions.limits:
        raise DeclarationError(f"{CONDITIONS}.{SEED}: the system declares no {CONDITIONS}.limits to draw within")
    speed, fastest = conditions.velocity[0], conditions.limits.get("velocity", (0.0,))[0]
    if not 0.0 <= speed <= fastest:
        raise DeclarationError(
            f"{CONDITIONS}.velocity[1] = {speed:g}: to draw, it must lie between 0 and {fastest:g} m/s"
        )
    # uniform numbers from a generator with a fixed stream: numpy's distributions may change between its versions
    bits = np.random.PCG64(seed).random_raw(sum(conditions.limited.values()))
    uniform = (bits >> np.uint64(11)).astype(float) * 2.0**-53
    below, above = ndtr(-SIGMAS), ndtr(SIGMAS)
    deviations = iter(np.clip(ndtri(below + uniform * (above - below)) / SIGMAS, -1.0, 1.0).tolist())
    drawn = {name: [limit * next(deviations) for limit in conditions.limits[name]] for name in conditions.limited}
    if "velocity" in drawn:
        drawn["velocity"][0] = speed + drawn["velocity"][0] / fastest * min(speed, fastest - speed)
    sources = {key: text for key, text in conditions.sources.items() if key not in (*LIMITED, *ANGLES)}
    changed: dict[str, Any] = {name: tuple(values) for name, values in drawn.items()}
    return replace(conditions, **changed, sources=sources)
