"""Nearness of initial conditions to their limits (spec/04 section 8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dockfmu.declare.declaration import LIMITED, InitialConditions


@dataclass(frozen=True)
class Severity:
    """Nearness of initial conditions to their limits (spec/04 section 8), of p_i over its limit, i = 1..11.

    Attributes
    ----------
    root_sum_square : R1, the root of the sum of squares; nominal below 1, at most 3.32
    sum : R2, the sum of magnitudes (the source forgets to take them); nominal below 1, at most 11
    worst : the parameter nearest to its limit, and how near
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
        for name in LIMITED
        for i, (value, limit) in enumerate(zip(getattr(conditions, name), conditions.limits[name], strict=True), 1)
    }
    values = np.array(list(shares.values()))
    worst = max(shares, key=lambda name: shares[name])
    return Severity(float(np.linalg.norm(values)), float(values.sum()), (worst, shares[worst]))
