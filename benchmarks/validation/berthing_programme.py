"""Ten NRT and ten RT berthings of MIM-1 from initial conditions drawn by seed, as in the source's test programme.

    python -m benchmarks.validation.berthing_programme [FIRST_SEED LAST_SEED]

The source does not publish its conditions. Here misses are uniform within 0.10 m along y and z, angles within 3 deg
(spec/08 5); the travel along the axis is that of the reference systems. Prints the table in
docs/validation/berthing.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import dockfmu
from components.manipulator import component
from components.mechanics.rotation import from_angles

SYSTEMS = {"NRT": "mim1_ssrms_nrt74", "RT": "mim1_ssrms_rt3"}
GAP = 1.39


def conditions(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (miss y, z in m; yaw, pitch, roll in rad) of a seed."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.10, 0.10, 2), np.radians(rng.uniform(-3.0, 3.0, 3))


def target_position(miss: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return where the cone must stand in B, m, for the interface to lie (-GAP, miss) from it."""
    sets = {chosen.name: chosen.values for chosen in component().parameter_sets}
    joints = sets["REF-SSRMS"]["parameters.initial.angle"]
    lengths = np.array(sets["SSRMS"]["parameters.segment.length"]).sum(axis=1)
    axes = sets["SSRMS"]["parameters.link.axis"]
    place, turn = np.array(lengths[0]), np.eye(3)
    for axis, angle, length in zip(axes, joints, lengths[1:], strict=True):
        c, s = np.cos(angle), np.sin(angle)
        i, j = (int(axis) % 3, (int(axis) + 1) % 3)
        alpha = np.eye(3)
        alpha[i, i] = alpha[j, j] = c
        alpha[i, j], alpha[j, i] = s, -s
        turn = alpha @ turn
        place = place + turn.T @ length
    offset = np.subtract(sets["MIM-1"]["parameters.interface.position"], sets["MIM-1"]["parameters.grapple.position"])
    interface = place + np.array(from_angles(*map(float, angles))).T @ offset
    return np.asarray(interface - [-GAP, *miss])


def berth(script: str, seed: int) -> dict[str, Any]:
    """Run one berthing; return its conditions, outcome, times and peaks."""
    miss, angles = conditions(seed)
    place = [float(x) for x in target_position(miss, angles)]
    settings = {
        "manipulator.parameters.initial.payload_angles": [float(a) for a in angles],
        "manipulator.parameters.target.position": place,
        "mechanism.target.position": place,
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
