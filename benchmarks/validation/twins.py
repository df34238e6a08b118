"""Loads from telemetry of dockings whose truth is known.

    python -m benchmarks.validation.twins FOLDER [STARTS [FIRST [MEMBERS]]]

Runs `atv_probe_cone` from STARTS (default: 30) random starts as `initial_conditions.seed` draws them, FIRST (default:
101) the first seed, makes telemetry of each with two layouts of sensors, estimates the eleven initial conditions and
the time of the start from it with MEMBERS (default: 28) members, and compares peaks of the loads up to SPAN after the
capture with the true ones. FOLDER keeps a file for each start and layout; a run that was interrupted continues there,
within an estimation too. Prints the rows of the table of docs/theory/estimation.md, and a summary of all in FOLDER.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import dockfmu
from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import write_file
from dockfmu.master.observers.recording.results import read_results
from dockfmu.reconstruct.by_model import ModelEstimate, estimate
from dockfmu.reconstruct.chosen_data import histories_of
from dockfmu.reconstruct.model_findings import band_of
from dockfmu.reconstruct.model_problem import read_problem
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.telemetry.make import write_telemetry

SYSTEM = "atv_probe_cone"
SPAN, LONGEST = 1.2, 7.0
"""Time after the capture up to which loads are compared, and the longest run, s."""
STEP = 2e-3
"""Macro step of all runs, s."""
LAYOUTS = {"all": True, "events": False}
"""Layouts of sensors: gyros, accelerometers, stroke and events; or gyros and events alone."""
LOADS = ("compression", "tension", "shear", "torsion", "bending")
GYROS = "".join(
    f"""
[[frame.signal]]
column = "{column}"
variable = "chaser.body.angular_velocity[{k}]"
unit = "deg/s"
noise = "0.002 deg/s"
quantum = "0.001 deg/s"
"""
    for k, column in enumerate(("roll_rate", "pitch_rate", "yaw_rate"), 1)
)
ACCELEROMETERS = "".join(
    f"""
[[frame.signal]]
column = "{column}"
port = "station.port[1]"
offset = [-12.0, 0.0, 1.5]
axis = {axis}
measures = "acceleration"
unit = "mm/s2"
noise = "0.05 mm/s2"
average = "20 ms"
"""
    for column, axis in (("axial", [1.0, 0.0, 0.0]), ("lateral", [0.0, 1.0, 0.0]))
)
STROKE = """
[[frame.signal]]
column = "stroke"
variable = "mechanism.axial.stroke"
unit = "mm"
noise = "0.5 mm"
quantum = "0.2 mm"
"""
EVENTS = "".join(f'\n[[frame.event]]\nname = "{name}"\n' for name in ("first_contact", "capture"))


def sensors(everything: bool) -> str:
    """Return the sensors of a layout: gyros and events, or accelerometers and the stroke of the absorber too."""
    text = f'[[frame]]\nname = "gyros"\nrate = "10 Hz"\ndelay = "40 ms"\n{GYROS}'
    if everything:
        text += f'\n[[frame]]\nname = "accelerometers"\nrate = "50 Hz"\n{ACCELEROMETERS}'
    return text + f'\n[[frame]]\nname = "unit"\nrate = "20 Hz"\n{STROKE if everything else ""}{EVENTS}'


def reconstruct(run: Path, folder: Path, everything: bool, end: float, members: int, seed: int) -> ModelEstimate:
    """Estimate a recorded run from telemetry of it up to a time, s; an interrupted estimation continues in `folder`."""
    file = folder / "file.toml"
    if not file.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "sensors.toml").write_text(sensors(everything))
        write_telemetry(run, folder / "sensors.toml", folder / "telemetry", seed=seed)
        text = (
            f'system = "{SYSTEM}"\nfolder = "telemetry"\nsensors = "sensors.toml"\nwindow = [-1.0, {end}]\n'
            f"[ensemble]\nmembers = {members}\nseed = {seed}\nrun.step = {STEP}\n"
            '[[ensemble.unknown]]\nlaw = "documented"\n'
        )
        write_file(file, text.encode())
    return estimate(
        read_problem(read_telemetry(file), folder / "runs"),
        workers=0,
        progress=lambda line: print(f"  {line}", flush=True) if "mean square" in line else None,
    )


def peaks(found: ModelEstimate, end: float) -> np.ndarray:
    """Return the peaks of the members up to a time, shape (members, loads)."""
    histories = histories_of(found.rows, found.problem)
    edges = found.problem.instruments.edges
    return np.asarray(np.nanmax(histories[:, :, edges[:-1] < end], axis=2))


def true_peaks(run: Path, end: float) -> np.ndarray:
    """Return the peaks of a recorded run up to a time, shape (loads,)."""
    with read_results(run / "results.h5") as results:
        until = np.asarray(results.time) <= end
        return np.array([np.max(np.asarray(results[f"mechanism.load.{name}"])[until]) for name in LOADS])


def twin(seed: int, everything: bool, folder: Path, members: int) -> dict[str, Any]:
    """Return what the estimate of a start found beside the truth, made in a folder."""
    system = dockfmu.load(SYSTEM, {"initial_conditions.seed": seed})
    outcome = system.run(stop=LONGEST, step=STEP, record=["mechanism.load.compression"])
    capture = outcome.events.get("capture")
    if capture is None or capture + SPAN > LONGEST:
        return {"seed": seed, "excluded": f"no capture before {LONGEST - SPAN:g} s"}
    end = float(np.ceil(20.0 * (capture + SPAN)) / 20.0)
    run = folder / "run"
    system.record(run, stop=end + 0.1, step=STEP, every=1, report=False)
    about = {"seed": seed, "capture": capture, "end": end, "true": true_peaks(run, end).tolist()}
    began = time.process_time()
    try:
        found = reconstruct(run, folder / "estimate", everything, end, members, seed)
    except DockfmuError as error:
        return {**about, "error": str(error)}
    low, middle, high = band_of(peaks(found, end)).tolist()
    return about | {
        "low": low, "middle": middle, "high": high, "misfit": found.posterior.steps[-1].misfit,
        "runs": found.posterior.runs, "cpu_s": time.process_time() - began,
    }  # fmt: skip


def told(row: dict[str, Any], layout: str) -> str:
    """Return the row of the table of a start."""
    if "low" not in row:
        return f"| {row['seed']} | {layout} | {row.get('excluded') or row['error']} |"
    return (
        f"| {row['seed']} | {layout} | {row['capture']:.2f} s | {row['true'][0]:,.0f} N | {row['low'][0]:,.0f} to "
        f"{row['high'][0]:,.0f} N | {inside(row).sum()} of {len(LOADS)} | {row['misfit']:.2f} | {row['runs']} "
        f"| {row['cpu_s']:.0f} s |"
    )


def inside(row: dict[str, Any]) -> np.ndarray:
    """Return which true peaks the bands of a start hold, shape (loads,); none if the estimation failed."""
    if "low" not in row:
        return np.zeros(len(LOADS), bool)
    low, true, high = (np.array(row[name]) for name in ("low", "true", "high"))
    return np.asarray((low <= true) & (true <= high))


def summary(folder: Path, layout: str) -> str:
    """Return what all starts of a layout in a folder say together."""
    rows = [json.loads(file.read_text()) for file in sorted(folder.glob(f"{layout}_*.json"))]
    rows = [row for row in rows if "excluded" not in row]
    if not rows:
        return f"{layout}: no start"
    held = np.array([inside(row) for row in rows])
    errors = [abs(row["middle"][0] / row["true"][0] - 1.0) if "low" in row else np.inf for row in rows]
    return (
        f"{layout}: {len(rows)} starts, {held.mean():.0%} of {held.size} true peaks inside, median error of the axial "
        f"force {100.0 * np.median(errors):.2f} %"
    )


def main(folder: Path, starts: int = 30, first: int = 101, members: int = 28) -> None:
    """Print a row for each start and layout, and the summary."""
    for seed in range(first, first + starts):
        for layout, everything in LAYOUTS.items():
            file = folder / f"{layout}_{seed}.json"
            if not file.exists():
                work = folder / f"{layout}_{seed}"
                work.mkdir(parents=True, exist_ok=True)
                write_file(file, json.dumps(twin(seed, everything, work, members), indent=1).encode())
                shutil.rmtree(work)
            print(told(json.loads(file.read_text()), layout), flush=True)
    for layout in LAYOUTS:
        print(summary(folder, layout))


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:]))
