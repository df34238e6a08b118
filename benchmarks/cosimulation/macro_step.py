"""Cost of a macro step: this master compared with a C program, a plain fmpy loop, and libcosim.

    python -m benchmarks macro_step [--rounds N]

Five small FMUs in a ring, twelve Real values from each to the next, coupled by Jacobi. The FMUs do next to nothing, so
that the figures are the cost of the masters. Rounds are interleaved, because the speed of a machine drifts.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import fmpy
import fmpy.fmi2

from dockfmu.master.algorithms.gauss_seidel import GaussSeidel
from dockfmu.master.algorithms.jacobi import Jacobi
from dockfmu.master.fmi.instance import Fmu
from dockfmu.master.observers.audit import Audit
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system
from tests.master.fmus import third_party

ROOT = Path(__file__).resolve().parents[2]
COUNT, CHANNELS, H = 5, 12, 1e-3


def ring(file: Path) -> Structure:
    system = Structure("ring")
    for i in range(COUNT):
        system.add(f"lag{i}", file, {"gain": 1.0 + i})
    for i in range(COUNT):
        for k in range(1, CHANNELS + 1):
            target = f"lag{(i + 1) % COUNT}"
            system.connect(f"lag{i}", f"y[{k}]", target, f"u[{k}]", offset=1.0 if i == COUNT - 1 else 0.0)
    return system


def ours(system: Structure, steps: int, **options: object) -> float:
    result = CoSimulation(system, Schedule(step=H, stop=steps * H), **options).run()  # type: ignore[arg-type]
    assert result.status == "completed", result.message
    return 1e6 * result.wall_s / result.macro_steps


def audit() -> Audit:
    """Outputs treated as ten vectors and five energies: the cost of the sums does not depend on their meaning."""
    momenta = [f"lag{i}.y" for i in range(COUNT)]
    return Audit(momentum=momenta, angular_momentum=momenta, stored=[f"lag{i}.y[4]" for i in range(COUNT)])


def in_c(folder: Path, file: Path) -> Callable[[int], float]:
    program = folder / "ring"
    environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(ROOT / "build" / "cache" / "zig")}
    source = Path(__file__).with_suffix(".c")
    command = [sys.executable, "-m", "ziglang", "cc", "-O2", "-o", str(program), str(source), "-ldl"]
    subprocess.run(command, check=True, env=environment)
    fmpy.extract(str(file), unzipdir=str(folder / "c"))
    library = next((folder / "c" / "binaries").rglob("*.so"))

    def measure(steps: int) -> float:
        arguments = [str(program), str(library), "lag", str(COUNT), str(CHANNELS), str(steps), str(H)]
        return float(subprocess.run(arguments, check=True, capture_output=True, text=True).stdout.split()[0])

    return measure


def plain_fmpy(file: Path, steps: int) -> float:
    """Step with one call of fmpy after the other, as its documentation shows."""
    folder = fmpy.extract(str(file))
    description = fmpy.read_model_description(folder)
    slaves = []
    for i in range(COUNT):
        slave = fmpy.fmi2.FMU2Slave(
            guid=description.guid, unzipDirectory=folder, modelIdentifier="Lag", instanceName=f"lag{i}"
        )
        slave.instantiate()
        slave.setReal([2 * CHANNELS], [1.0 + i])
        slave.setupExperiment(startTime=0.0)
        slave.enterInitializationMode()
        slave.exitInitializationMode()
        slaves.append(slave)
    inputs, outputs = list(range(CHANNELS)), list(range(CHANNELS, 2 * CHANNELS))
    began = time.perf_counter()
    for k in range(steps):
        y = [slave.getReal(outputs) for slave in slaves]
        for i, slave in enumerate(slaves):
            slave.setReal(inputs, [value + 1.0 for value in y[-1]] if i == 0 else y[i - 1])
        for slave in slaves:
            slave.doStep(currentCommunicationPoint=k * H, communicationStepSize=H)
    cost = 1e6 * (time.perf_counter() - began) / steps
    for slave in slaves:
        slave.terminate()
        slave.freeInstance()
    shutil.rmtree(folder, ignore_errors=True)
    return cost


def libcosim(package: Path, steps: int) -> float:
    from libcosimpy.CosimExecution import CosimExecution
    from libcosimpy.CosimLogging import CosimLogLevel, log_output_level

    log_output_level(CosimLogLevel.WARNING)
    execution = CosimExecution.from_ssp_file(str(package), round(H * 1e9))
    execution.step(10)
    began = time.perf_counter()
    execution.step(steps)
    return 1e6 * (time.perf_counter() - began) / steps


def python_calls(file: Path, steps: int) -> float:
    """Step with this package's own calls by name from Python, without the compiled loop."""
    inputs, outputs = [f"u[{k + 1}]" for k in range(CHANNELS)], [f"y[{k + 1}]" for k in range(CHANNELS)]
    with Fmu(file) as fmu:
        instances = [fmu.instantiate(f"lag{i}") for i in range(COUNT)]
        for i, instance in enumerate(instances):
            instance.set({"gain": 1.0 + i})
            instance.initialize()
        began = time.perf_counter()
        for k in range(steps):
            y = [instance.get(outputs) for instance in instances]
            for i, instance in enumerate(instances):
                values = [value + 1.0 for value in y[-1]] if i == 0 else y[i - 1]
                instance.set(dict(zip(inputs, values, strict=True)))
            for instance in instances:
                instance.step(k * H, H)
        return 1e6 * (time.perf_counter() - began) / steps


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=12, help="interleaved repetitions")
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = third_party.build(folder, "Ring", channels=CHANNELS)
        system = ring(file)
        package = write_ssp(from_system(system, stop_time=1.0, step=H), folder / "ring.ssp")
        recording = folder / "r.h5"
        events = {f"high{i}": Event(f"lag{i}.high") for i in range(COUNT)}
        program = in_c(folder, file)
        rows: dict[str, Callable[[], float]] = {
            "C program": lambda: program(200_000),
            "master, Jacobi": lambda: ours(system, 200_000, algorithm=Jacobi()),
            "master, Gauss-Seidel": lambda: ours(system, 200_000, algorithm=GaussSeidel()),
            "  and 5 events watched": lambda: ours(system, 200_000, observers=[Events(events)]),
            "  and peaks of 60 values": lambda: ours(system, 200_000, observers=[Peaks(system.select("*.y[*"))]),
            "  and an audit of 10 momenta, 5 energies": lambda: ours(system, 200_000, observers=[audit()]),
            "  and 60 values recorded every 10 steps": lambda: ours(
                system, 200_000, observers=[Recorder(recording, system.select("*.y[*"), every=10)]
            ),
            "  and 60 values recorded every step": lambda: ours(
                system, 200_000, observers=[Recorder(recording, system.select("*.y[*"))]
            ),
            "master's calls by name from Python": lambda: python_calls(file, 1_000),
            "plain fmpy loop": lambda: plain_fmpy(file, 2_000),
            "libcosim": lambda: libcosim(package, 20_000),
        }
        for measure in rows.values():
            measure()
        costs: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(rounds):
            for row, measure in rows.items():
                costs[row].append(measure())
    # other programs on the machine can only add time: the best of the rounds is the cost
    reference = min(costs["C program"])
    print(f"{'five FMUs, 60 connected Reals; us/step':42} {'best':>9} {'median':>9} {'ratio to C':>11}")
    for row, found in costs.items():
        best = min(found)
        print(f"{row:42} {best:9.3f} {statistics.median(found):9.3f} {best / reference:11.2f}")


if __name__ == "__main__":
    main()
