"""Contact inside the mechanism compared with contact in a separate FMU: cost and error of both.

The reference docking without thrust, from first contact to latch pulse, is compared with the inside version with
micro-steps of a sixteenth: errors of the relative position of the docking units, of loads and of the energy balance,
and CPU time.

python -m benchmarks contact_interface
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import assemble
from dockfmu.watch.audit import audit
from master.observers.recording.recorder import Recorder
from master.observers.recording.results import read_results
from master.run.simulation import run

INSIDE, OUTSIDE = "atv_probe_cone", "atv_probe_cone_external"
STOP = 5.0
RECORD = 1e-3
"""Interval between the times at which runs are compared, s; a multiple of all macro steps."""

FORCE, TRAVEL = "mechanism.target.force_now[1]", "mechanism.sensor.axial_travel"
POSITION = [f"mechanism.docking.position[{k}]" for k in (1, 2, 3)]


@dataclass(frozen=True)
class Outcome:
    """Results of a run: CPU seconds per simulated second, position of the units (rows of m), force N, travel m, and the
    residual of the energy balance, J."""

    cpu: float
    position: np.ndarray
    force: np.ndarray
    travel: np.ndarray
    energy: float


class Bench:
    """Return systems by name, without thrust, with their FMUs built into `folder`."""

    def __init__(self, folder: Path, names: tuple[str, ...] = (INSIDE, OUTSIDE)) -> None:
        self.folder = folder
        self.assembled = {name: assemble(declaration.read(name), folder, lambda _: None) for name in names}
        for system, _ in self.assembled.values():
            system.elements["cyclogram"].start["parameters.fault.push"] = 1.0

    def run(self, name: str, step: float, micro_step: float, stop: float = STOP) -> Outcome:
        """Make a run with a macro step and a micro-step of the mechanism, s. Raises RuntimeError if it fails."""
        system, plan = self.assembled[name]
        system.elements["mechanism"].start |= {
            "parameters.micro_step": micro_step,
            "parameters.micro_tolerance": 0.0,
        }
        file = self.folder / "run.h5"
        balance = audit(system, plan)
        recorder = Recorder(file, [FORCE, TRAVEL, *POSITION], every=max(1, round(RECORD / step)))
        start = time.process_time()
        result = run(system, step=step, stop=stop, observers=[recorder, balance])
        spent = time.process_time() - start
        if result.status != "completed":
            raise RuntimeError(result.message)
        with read_results(file) as found:
            position = np.column_stack([found[name] for name in POSITION])
            energy = float(np.abs(balance.series["energy"]).max())
            return Outcome(spent / stop, position, found[FORCE][:], found[TRAVEL][:], energy)


CASES = (
    (INSIDE, 1e-3, 1e-4),
    (INSIDE, 1e-3, 5e-5),
    (INSIDE, 1e-4, 1e-4),
    (OUTSIDE, 5e-4, 1e-4),
    (OUTSIDE, 2e-4, 1e-4),
    (OUTSIDE, 1e-4, 1e-4),
    (OUTSIDE, 5e-5, 5e-5),
    (OUTSIDE, 2.5e-5, 2.5e-5),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder))
        exact = bench.run(INSIDE, 1.25e-4, 6.25e-6)
        print(f"{'contact':9s}{'H':>7s}{'micro':>8s}{'CPU ms/s':>10s}{'0.1 s':>10s}{'1 s':>10s}{'5 s':>10s}", end="")
        print(f"{'push':>8s}{'pull':>8s}{'travel':>9s}{'energy':>10s}")
        print(
            f"{'':9s}{'us':>7s}{'us':>8s}{'':10s}{'nm':>10s}{'nm':>10s}{'nm':>10s}{'N':>8s}{'N':>8s}{'mm':>9s}{'mJ':>10s}"
        )
        for name, step, micro_step in CASES:
            print(f"{'inside' if name == INSIDE else 'outside':9s}{step * 1e6:7.0f}{micro_step * 1e6:8.0f}", end="")
            try:
                got = bench.run(name, step, micro_step)
            except RuntimeError as error:
                print(f"  {error}")
                continue
            print(f"{got.cpu * 1e3:10.1f}", end="")
            for at in (0.1, 1.0, 5.0):
                row = round(at / RECORD)
                print(f"{np.linalg.norm(got.position[row] - exact.position[row]) * 1e9:10.1f}", end="")
            print(f"{got.force.max():8.1f}{-got.force.min():8.1f}{got.travel.max() * 1e3:9.4f}{got.energy * 1e3:10.3f}")


if __name__ == "__main__":
    main()
