"""Range of the ring's motions, one alone and all at once: independent legs against legs geared by differentials.

The ring of either side of APAS-75, placed by the kinematics of the product. Independent legs (`APAS-75-Apollo`) can
only shorten from where they wait. Of the geared ring (`APAS-75`) the stops are those of its shafts: the centre of the
ring stays at its distance, and the legs go as far as their screws. All motions at once are the same share of the
single ranges, in the least favourable of all senses.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from dockfmu.components.core.component import Instance
from dockfmu.components.physics.linkage import hexapod
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.components.physics.ring_on_legs import platform
from dockfmu.components.ring_mechanism import component
from dockfmu.components.ring_mechanism.legs import geared

MOTIONS = ("lateral", "roll", "tilt")
LARGEST = (0.5, 1.5, 1.2)
"""Where the search for the range of each motion ends, m, rad, rad."""
STEPS = 30
"""Halvings of an interval: 1e-9 of it."""


class Ring:
    """The ring of a set on its legs, which can be put at any pose."""

    def __init__(self, legs: str, chosen: str, others: Mapping[str, float] = MappingProxyType({})) -> None:
        made = component(legs)
        values = next(entry for entry in made.parameter_sets if entry.name == chosen).values
        self.m = Instance(made, **{**values, **{f"parameters.{name}": value for name, value in others.items()}}).m
        self.forward = float(platform.height(self.m.parameters.legs, self.m.parameters.initial_stroke))
        self.stroke = float(self.m.parameters.legs.stroke)

    def strokes(self, height: float, lateral: float, roll: float, tilt: float, azimuth: float) -> np.ndarray:
        """Return the strokes of the legs, m. `azimuth` (rad) is that of the lateral motion and of the tilt's axis."""
        ring = self.m.hexapod.ring
        ring.position[:] = height, lateral * np.cos(azimuth), lateral * np.sin(azimuth)
        ring.rotation[:] = from_angles(tilt * np.sin(azimuth), tilt * np.cos(azimuth), roll)
        if hexapod.follow(self.m.hexapod) != 0:
            return np.full(platform.LEGS, np.nan)
        return np.array([leg.stroke for leg in self.m.hexapod.strut])

    def fits_independent(self, *pose: float) -> bool:
        """Return whether the ring can be at a pose at any height: no leg longer than where it waits, none too short."""
        inside = [self.strokes(height, *pose) for height in np.linspace(self.forward, 0.5 * self.forward, 60)]
        return any(bool(s.min() >= 0.0 and s.max() <= self.stroke) for s in inside)

    def fits_geared(self, *pose: float) -> bool:
        """Return whether the ring can be at a pose with its centre at its distance.

        The shafts stay within their stops, the legs on their screws. The first shaft, that of the mean stroke, is left
        out: its friction brake slips.
        """
        s = self.strokes(self.forward, *pose)
        geared.set_outputs(self.m)
        shafts, margin = self.m.parameters.shafts, self.m.parameters.legs.margin
        angles = np.array([shaft.angle for shaft in self.m.shaft])[1:]
        stops = bool((angles >= shafts.lower_stop[1:]).all() and (angles <= shafts.upper_stop[1:]).all())
        return stops and bool(s.min() >= -margin[0] and s.max() <= self.stroke + margin[1])


def _largest(fits: Callable[[float], bool], end: float) -> float:
    """Return the largest share of `end` up to which a motion fits."""
    low, high = 0.0, end
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _one(fits: Callable[..., bool], motion: int, sense: float, turn: float) -> Callable[[float], bool]:
    """Return whether the motion alone fits, as a function of its size."""
    return lambda size: fits(*(sense * size * float(motion == i) for i in range(len(MOTIONS))), turn)


def ranges(fits: Callable[..., bool], azimuths: int = 6) -> tuple[list[float], float]:
    """Return the ranges of single motions (`MOTIONS`), and the share of them that all can have at once."""
    turns = np.linspace(0.0, 2.0 * np.pi, azimuths, endpoint=False)
    alone = [
        min(_largest(_one(fits, k, sense, turn), end) for sense, turn in product((1.0, -1.0), turns))
        for k, end in enumerate(LARGEST)
    ]
    shares = (
        _largest(lambda q, s=s, a=a: fits(*(q * sign * x for sign, x in zip(s, alone, strict=True)), a), 1.0)
        for s, a in product(product((1.0, -1.0), repeat=3), turns)
    )
    return alone, min(shares)


def edge(ring: Ring, tilt: float) -> float:
    """Return how far the lowest edge of a tilted ring of independent legs is below that of one that keeps its centre.

    The legs can only shorten, so that the centre goes back with the edge: a ratio, 1 for the geared ring.
    """
    radius = float(ring.m.parameters.legs.ring_radius)
    back = _largest(lambda x: not bool(ring.strokes(ring.forward - x, 0.0, 0.0, tilt, 0.0).max() <= ring.stroke), 0.2)
    return (back + radius * np.sin(tilt)) / (radius * np.sin(tilt))


def found() -> dict[str, Any]:
    """Return single ranges, shares and the ratio of the edges of both rings."""
    apollo, soyuz = Ring("hydraulic", "APAS-75-Apollo"), Ring("geared", "APAS-75")
    independent, geared = ranges(apollo.fits_independent), ranges(soyuz.fits_geared)
    return {"independent": independent, "geared": geared, "edge": edge(apollo, np.radians(4.0))}


def main() -> None:
    """Print the ranges."""
    print("| legs | lateral | roll | tilt | all at once | edge at 4° of tilt |\n|---|---|---|---|---|---|")
    result = found()
    for name, ratio in (("independent", result["edge"]), ("geared", 1.0)):
        (lateral, roll, tilt), share = result[name]
        degrees = " | ".join(f"{np.degrees(x):.1f}°" for x in (roll, tilt))
        print(f"| {name} | {1e3 * lateral:.0f} mm | {degrees} | 1/{1.0 / share:.2f} | {ratio:.2f} |")


if __name__ == "__main__":
    main()
