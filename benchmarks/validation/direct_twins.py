"""Peaks of loads by the direct method, of dockings whose truth is known.

    python -m benchmarks.validation.direct_twins [STARTS [FIRST]]

Runs `atv_probe_cone` from STARTS (default: 30) random starts as `initial_conditions.seed` draws them, FIRST (default:
1) the first seed, for twelve seconds, makes telemetry with the sensors of docs/examples/reconstruct_sensors.toml, and
restores the wrench on the craft. Prints each peak with its band, and the table of docs/theory/loads-from-telemetry.md.
A start takes about 15 s of CPU.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

import dockfmu
from dockfmu.reconstruct.direct import reconstruct_directly
from dockfmu.reconstruct.peaks import LOADS, peak_loads
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.telemetry.make import write_telemetry

SYSTEM, STOP = "atv_probe_cone", 12.0
SENSORS = Path(__file__).parents[2] / "docs" / "examples" / "reconstruct_sensors.toml"


def one_start(seed: int, place: Path) -> dict[str, tuple[float, float, float, float]]:
    """Return the true peak of each load, and the lower end, the middle and the upper end of its band."""
    system = dockfmu.load(SYSTEM, {"initial_conditions.seed": seed})
    system.record(place / "run", stop=STOP, every=1, report=False)
    shutil.copy(SENSORS, place / "sensors.toml")
    write_telemetry(place / "run", place / "sensors.toml", place / "told", seed=seed)
    (place / "file.toml").write_text(f'system = "{SYSTEM}"\nfolder = "told"\nsensors = "sensors.toml"\n')
    loads = reconstruct_directly(read_telemetry(place / "file.toml"), system.structure)
    with dockfmu.read_results(place / "run" / "results.h5") as results:
        wrench = np.hstack([results["mechanism.base.force"], results["mechanism.base.torque"]])
    return {
        peak.load: (float(LOADS[peak.load][1](wrench, -1.0).max()), peak.low, peak.value, peak.high)
        for peak in peak_loads(loads)
    }


def main(starts: int = 30, first: int = 1) -> None:
    """Print each peak, and for each load the median error, the median width and the share inside."""
    found: dict[str, list[tuple[float, float, float, float]]] = {name: [] for name in LOADS}
    for seed in range(first, first + starts):
        with tempfile.TemporaryDirectory() as name:
            for load, row in one_start(seed, Path(name)).items():
                true, low, middle, high = row
                found[load].append(row)
                inside = "inside" if low <= true <= high else "outside"
                print(f"{seed} {load}: true {true:.4g}, {low:.4g} {middle:.4g} {high:.4g}, {inside}", flush=True)
    total = []
    for load, rows in found.items():
        true, low, middle, high = np.array(rows).T
        inside = (low <= true) & (true <= high)
        total += inside.tolist()
        error, width = np.median(np.abs(middle / true - 1.0)), np.median((high - low) / true)
        print(f"| {load} | {100 * error:.2f} % | {100 * width:.1f} % | {inside.sum()} of {len(inside)} |")
    print(f"| all | | | {sum(total)} of {len(total)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
