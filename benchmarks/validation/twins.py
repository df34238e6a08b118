"""Loads from telemetry of dockings whose truth is known.

    python -m benchmarks.validation.twins [STARTS [FIRST [MEMBERS]]]

Runs `atv_probe_cone` from STARTS (default: 8) random starts as `initial_conditions.seed` draws them, FIRST (default: 1)
the first seed, makes telemetry of each with two layouts of sensors, estimates the eleven initial conditions and the
time of the start from it with MEMBERS (default: 28) members, and compares peaks of the loads up to SPAN after the
capture with the true ones. Prints the rows of a table of docs/validation/published.md and the share of true peaks
inside the 90 % bands.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import dockfmu
from dockfmu.base.errors import DockfmuError
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
    """ModelEstimate a recorded run from telemetry of it up to a time, s."""
    folder.mkdir(parents=True)
    (folder / "sensors.toml").write_text(sensors(everything))
    write_telemetry(run, folder / "sensors.toml", folder / "telemetry", seed=seed)
    (folder / "file.toml").write_text(
        f'system = "{SYSTEM}"\nfolder = "telemetry"\nsensors = "sensors.toml"\nwindow = [-1.0, {end}]\n'
        f'[ensemble]\nmembers = {members}\nseed = {seed}\nrun.step = {STEP}\n[[ensemble.unknown]]\nlaw = "documented"\n'
    )
    return estimate(
        read_problem(read_telemetry(folder / "file.toml"), folder / "runs"),
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


def main(starts: int = 8, first: int = 1, members: int = 28) -> None:
    """Print a row for each start and layout, and the summary."""
    within: dict[bool, list[bool]] = {True: [], False: []}
    errors: dict[bool, list[float]] = {True: [], False: []}
    for seed in range(first, first + starts):
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            system = dockfmu.load(SYSTEM, {"initial_conditions.seed": seed})
            outcome = system.run(stop=LONGEST, step=STEP, record=["mechanism.load.compression"])
            capture = outcome.events.get("capture")
            if capture is None or capture + SPAN > LONGEST:
                print(f"| {seed} | no capture before {LONGEST - SPAN:g} s |", flush=True)
                continue
            end = float(np.ceil(20.0 * (capture + SPAN)) / 20.0)
            system.record(place / "run", stop=end + 0.1, step=STEP, every=1, report=False)
            true = true_peaks(place / "run", end)
            for everything in (True, False):
                began, used = time.time(), time.process_time()
                try:
                    found = reconstruct(place / "run", place / f"{everything}", everything, end, members, seed)
                except DockfmuError as error:
                    print(f"| {seed} | {everything} | {error} |", flush=True)
                    within[everything] += [False] * len(LOADS)
                    errors[everything].append(np.inf)
                    continue
                low, middle, high = band_of(peaks(found, end))
                inside = (low <= true) & (true <= high)
                within[everything] += inside.tolist()
                errors[everything].append(abs(middle[0] / true[0] - 1.0))
                print(
                    f"| {seed} | {'all' if everything else 'gyros, events'} | {capture:.2f} s | {true[0]:.0f} N "
                    f"| {low[0]:.0f} to {high[0]:.0f} N | {100.0 * errors[everything][-1]:.2f} % | {inside.sum()} of 5 "
                    f"| {len(found.posterior.steps)} | {time.process_time() - used:.0f} s "
                    f"| {time.time() - began:.0f} s |",
                    flush=True,
                )
                for which, inner in within.items():
                    if inner:
                        print(
                            f"  {'all' if which else 'gyros, events'}: {np.mean(inner):.0%} of {len(inner)} true peaks "
                            f"inside, median error {100.0 * np.median(errors[which]):.2f} %",
                            flush=True,
                        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
