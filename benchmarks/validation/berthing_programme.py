"""Ten NRT and ten RT berthings of MIM-1 from initial conditions drawn by seed, as in the source's test programme.

    python -m benchmarks.validation.berthing_programme [FIRST_SEED LAST_SEED]

The source does not publish its conditions. Here misses are uniform within 0.10 m along y and z, angles within 3 deg
(stand 5); the travel along the axis is that of the reference systems. Prints the table in
docs/validation/berthing.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import dockfmu

SYSTEMS = {"NRT": "mim1_ssrms_nrt74", "RT": "mim1_ssrms_rt3"}


def conditions(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (miss y, z in m; yaw, pitch, roll in rad) of a seed."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.10, 0.10, 2), np.radians(rng.uniform(-3.0, 3.0, 3))


def berth(script: str, seed: int) -> dict[str, Any]:
    """Run one berthing; return its conditions, outcome, times and peaks."""
    miss, angles = conditions(seed)
    settings: dict[str, Any] = {
        "initial_conditions.miss": [float(x) for x in miss],
        "initial_conditions.angles": [float(a) for a in angles],
    }
    if script == "RT":
        settings["sequence.parameters.operator.seed"] = seed
    done = dockfmu.load(SYSTEMS[script], settings).run()
    force = done["mechanism.target.force_now[1]"]
    return {
        "miss": miss,
        "angles": np.degrees(angles),
        "outcome": done.outcome,
        "capture": done.events.get("capture"),
        "contact": float(np.abs(force).max()),
        "load": float(done["sequence.load.peak_force"][-1]),
    }


def rows(first: int, last: int) -> Iterator[str]:
    """Yield the lines of the table."""
    yield "| seed | miss y, z, mm | yaw, pitch, roll, deg | NRT: outcome, capture, axial force, load | RT: the same |"
    yield "|---|---|---|---|---|"
    for seed in range(first, last + 1):
        cells = []
        for script in SYSTEMS:
            found = berth(script, seed)
            capture = "no capture" if found["capture"] is None else f"{found['capture']:.1f} s"
            cells.append(f"{found['outcome']}, {capture}, {found['contact']:.0f} N, {found['load']:.0f} N")
        miss = ", ".join(f"{1e3 * x:.0f}" for x in found["miss"])
        angles = ", ".join(f"{x:.1f}" for x in found["angles"])
        yield f"| {seed} | {miss} | {angles} | {cells[0]} | {cells[1]} |"


if __name__ == "__main__":
    bounds = [int(x) for x in sys.argv[1:3]] or [1, 10]
    for line in rows(*bounds):
        print(line, flush=True)
