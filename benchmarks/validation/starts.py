"""Limiter and swing of V1, V2 and V3 from many equal starts: items 24 and 25 of spec/06 9.6.

    python -m benchmarks.validation.starts [SEEDS]

The starts of the ATV and of the Soyuz, that of `soyuz_near_maxima`, and SEEDS (default: 8) draws of all eleven initial
conditions for either craft. Prints the table of docs/validation/published.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import dockfmu
from benchmarks.validation.docking import Docking
from dockfmu.declare.declaration import read

VARIANTS = ("", "_v2", "_v3")
STOP = 60.0
"""Time up to which pulses and swing are evaluated, s: before the drive has acted."""
HARD = 1000.0
"""Force above which a pulse counts as hard, N."""
CONDITIONS = ("miss", "angles", "velocity", "angular_velocity")
DEEP = "mechanism.probe_cone.parameters.law_limiter.penetration_limit"


@dataclass(frozen=True)
class Limited:
    """Work of the limiter from one start.

    Largest force, N; number of hard pulses; largest angle between the docking axes after the capture, rad; first
    contact after the capture, s, negative before it, NaN for none.
    """

    force: float
    hard: int
    tilt: float
    contact: float


def starts(seeds: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (title, system of V1, settings) of each start."""
    yield "`atv_probe_cone`", "atv_probe_cone", {}
    yield "`soyuz_probe_cone`", "soyuz_probe_cone", {}
    given = read("soyuz_near_maxima").initial_conditions
    near = {f"initial_conditions.{name}": [float(x) for x in getattr(given, name)] for name in CONDITIONS}
    yield "`soyuz_near_maxima`", "soyuz_probe_cone", {**near, DEEP: 0.010}
    for craft in ("atv", "soyuz"):
        for seed in range(1, seeds + 1):
            yield f"{craft}, seed {seed}", f"{craft}_probe_cone", {"initial_conditions.seed": seed}


def limited(system: str, settings: dict[str, Any], stop: float = STOP) -> Limited | None:
    """Run a docking to `stop`, s. Return None if the head is not captured. Raises DockfmuError if the run fails."""
    done = Docking(system, settings, stop)
    if "capture" not in done.events:
        return None
    capture = done.events["capture"]
    touching = done.time[done["mechanism.flag.limiter_contact"] > 0.0]
    return Limited(
        float(done.limiter.max()),
        len(done.pulses(stop, HARD)),
        float(done.tilt[done.time >= capture].max()),
        float(touching[0] - capture) if len(touching) else np.nan,
    )


def row(title: str, system: str, settings: dict[str, Any]) -> str:
    """Return the row of the table for a start."""
    cells = []
    for variant in VARIANTS:
        try:
            found = limited(system + variant, settings)
        except dockfmu.DockfmuError:
            cells.append("beyond the limits of the model")
            continue
        if found is None:
            cells.append("not captured")
            continue
        contact = "no contact" if np.isnan(found.contact) else f"{found.contact:.2f} s"
        cells.append(f"{1e-3 * found.force:.1f} kN, {found.hard}, {np.degrees(found.tilt):.1f}°, {contact}")
    return f"| {title} | {' | '.join(cells)} |"


def main(seeds: int = 8) -> None:
    """Run all starts and print the table."""
    print("| start | V1 | V2 | V3 |\n|---|---|---|---|")
    for title, system, settings in starts(seeds):
        print(row(title, system, settings), flush=True)


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
