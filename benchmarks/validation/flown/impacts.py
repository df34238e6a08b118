"""Impacts before capture of the Soyuz of 1967 and of 1971, from the same starts."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np

from benchmarks.validation.docking import changed

MISSES, SPEEDS = (0.08, 0.12, 0.16, 0.2), (0.15, 0.2, 0.25)
"""Starts: m aside; m/s."""
APART = 0.02
"""Contacts that are closer are one impact, s."""
LEAST = 1.0
"""Force of a contact, N."""


def impacts(
    system: str, miss: float, speed: float, others: Mapping[str, Any] = MappingProxyType({})
) -> tuple[int, float]:
    """Return how often the head meets the cone before capture, and the time of capture, s; infinite without one."""
    settings = {**others, "initial_conditions.miss": [miss, 0.0], "initial_conditions.velocity": [speed, 0.0, 0.0]}
    run = changed(system, settings).run(stop=6.0, every=1)
    capture = run.events.get("capture", float("inf"))
    force = np.linalg.norm([run[f"mechanism.target.force[{k}]"] for k in (1, 2, 3)], axis=0)
    touching = run.time[(force > LEAST) & (run.time < capture)]
    return 1 + int((np.diff(touching) > APART).sum()), capture


def found() -> dict[str, list[tuple[int, float]]]:
    """Return impacts and time of capture of both devices, from all starts."""
    return {
        system: [impacts(system, *start) for start in product(MISSES, SPEEDS)]
        for system in ("soyuz_1967", "soyuz_1971")
    }


def main() -> None:
    """Print impacts and time of capture from each start."""
    result = found()
    print("| aside | speed | 1967: impacts, capture | 1971: impacts, capture |\n|---|---|---|---|")
    for k, (miss, speed) in enumerate(product(MISSES, SPEEDS)):
        cells = " | ".join(f"{count}, {time:.2f} s" for count, time in (result[name][k] for name in result))
        print(f"| {miss} m | {speed} m/s | {cells} |")
    print(f"| all | | {' | '.join(str(sum(count for count, _ in rows)) for rows in result.values())} |")
