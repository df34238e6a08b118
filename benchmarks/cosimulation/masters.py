"""Every co-simulation master available on PyPI, on the same systems: time of a macro step, and error at equal step.

    python -m benchmarks masters [--rounds N] [--contact SYSTEM] [--write docs/validation/benchmarks.md] [NAME ...]

There are two systems: a ring of five small FMUs with twelve Real outputs and inputs each, which do next to nothing, so
that the figures are the cost of the masters; and the central impact of two spacecraft with mechanism and control
sequence, whose kernels take most of the time. Each other master runs in its own environment under build/masters, with
the requirements that its runner in `other_masters` states. One that cannot be installed or does not run is listed with
the reason. Rounds are interleaved, because the speed of a machine drifts; the best of them counts.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import expm

import dockfmu
from benchmarks.cosimulation.inside import share_of_fmus
from benchmarks.cosimulation.macro_step import ROOT
from benchmarks.cosimulation.other_masters.job import Connection, Job, Stopwatch, best
from benchmarks.page import machine, replace_table
from dockfmu import System
from dockfmu.master.algorithms import by_name
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from tests.master.fmus import third_party

RUNNERS = Path(__file__).parent / "other_masters"
BUILD = ROOT / "build"
ENVIRONMENTS = BUILD / "masters"
COUNT, CHANNELS = 5, 12
TIMEOUT_S = 600.0


@dataclass(frozen=True)
class Master:
    """One row: its title, the module that runs it, and its number of steps in the ring (about a second's worth)."""

    title: str
    runner: str
    ring_steps: int
    known: str = ""
    """Why a system does not run, or gives other results, as far as is known."""


NO_PROPAGATION = "outputs are not passed on before the first step, but the mechanism needs the attitudes of the craft"
MASTERS = (
    Master("fmpy 0.3.32, container FMU", "fmpy_container", 100_000),
    Master("fmu-manipulation-toolbox 2.0, container FMU", "fmucontainer", 100_000, NO_PROPAGATION),
    Master("fmu-manipulation-toolbox 2.0, sequential container", "fmucontainer_sequential", 100_000, NO_PROPAGATION),
    Master("ecos 0.7.2 (ecospy)", "ecos", 50_000),
    Master("fmpy 0.3.32, plain loop", "fmpy_loop", 10_000),
    Master("libcosim (libcosimpy 0.0.6)", "libcosim", 10_000),
    Master("PyCosimLibrary 0.0.5", "pycosimlibrary_jacobi", 5_000),
    Master("fmpy 0.3.32, simulate_ssp", "fmpy_ssp", 2_000, NO_PROPAGATION),
    Master(
        "CoFMPy 0.2.0",
        "cofmpy_jacobi",
        1_000,
        "it sets all inputs by fmi2SetReal, whatever their type. In the ring the Boolean `enable` and the String "
        "`text_in` have the value references of u[1] and u[2], which it therefore holds at 1 and 0. With u[1] and u[2] "
        "held at these values dockfmu gives 60 bitwise equal outputs; the other ten channels are those of Jacobi",
    ),
    Master("gemseo-fmu 3.1.1", "gemseo_jacobi", 300, "it cannot read start values of Booleans"),
    Master("SysSimX 0.4.3", "syssimx_jacobi", 100),
    Master("PathSim (pathsim-fmi 0.1.1)", "pathsim_blocks", 1_000, "it reads all outputs as Reals"),
)

NOT_MASTERS = {
    "FMUGym 0.2.0": "wraps a single FMU for reinforcement learning; it couples none",
    "energysim 2.1.9.1": "cannot be imported: module 'pypsa' has no attribute 'pf'",
    "pycosim 0.6.5": "runs the command-line program of libcosim, which has a row",
    "OMPython 4.1.0": "needs an installed OpenModelica, which PyPI does not have",
    "modelica 0.0.205": "exports and imports FMI 3.0 only",
}
"""Packages that can be installed, but have no row of their own."""

CANNOT_BE_INSTALLED = ("pyfmi", "omsimulator", "fmipp", "mosaik-fmi")
"""Masters whose packages are tried in each run of the benchmark."""


@dataclass
class Row:
    title: str
    costs: dict[str, list[float]] = field(default_factory=dict)
    """us per macro step of each round, by system"""
    errors: dict[str, float] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)


def ring(file: Path) -> System:
    """Five lags y' = gain (u - y). A constant at one input of the first passes through all their channels."""
    system = System("ring")
    for i in range(COUNT):
        system.add(f"lag{i}", file, {"gain": 1.0 + i, "enable": True})
    system.set({"lag1.bias": 1.0})
    system.connect("lag1.through", "lag0.u[12]")
    for i in range(COUNT - 1):
        system.connect(f"lag{i}.y", f"lag{i + 1}.u")
    for k in range(2, CHANNELS + 1):
        system.connect(f"lag{COUNT - 1}.y[{k}]", f"lag0.u[{k - 1}]")
    return system


def exact_ring(t: float) -> list[float]:
    """Return the values of all outputs at time t, from the differential equations."""
    size = COUNT * CHANNELS
    matrix, source = np.zeros((size + 1, size + 1)), np.zeros(size + 1)
    for i in range(COUNT):
        for k in range(CHANNELS):
            row = i * CHANNELS + k
            matrix[row, row] = -(1.0 + i)
            if i > 0:
                matrix[row, row - CHANNELS] = 1.0 + i
            elif k < CHANNELS - 1:
                matrix[row, (COUNT - 1) * CHANNELS + k + 1] = 1.0
            else:
                matrix[row, size] = 1.0
    source[size] = 1.0
    return (expm(matrix * t) @ source)[:size].tolist()


def job_of(system: System, observed: Sequence[str], step: float, steps: int, folder: Path) -> Job:
    """Return the system as other masters get it.

    Connected inputs start with the values that they get at initialisation: some masters do not pass on outputs before
    the first step, and the mechanism cannot start without the attitudes of the craft.
    """
    inner = system.structure
    package = system.write(folder / f"{system.name}.ssp")
    resolved = [inner.resolve(name) for name in observed]
    connections = []
    for c in inner.connections:
        assert inner.transformation(c) == (1.0, 0.0), c
        kind = inner.description(c.source).variables[c.output].type
        connections.append(Connection(c.source, c.output, c.target, c.input, kind))
    order = inner.execution_order()
    inputs: dict[str, dict[str, Any]] = {}
    with CoSimulation(inner, Schedule(step=step)).open() as simulation:
        for c in inner.connections:
            inputs.setdefault(c.target, {})[c.input] = simulation.get([f"{c.target}.{c.input}"])[0]
    return Job(
        name=system.name,
        files={name: str(inner.elements[name].file) for name in order},
        start={name: _typed(inner, name, inner.elements[name].start) | inputs.get(name, {}) for name in order},
        connections=tuple(connections),
        observed=tuple((element, variable.name) for element, variable in resolved),
        step=step,
        steps=steps,
        ssp=str(package),
        folder=str(folder),
    )


def _typed(system: Structure, element: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return start values in the types of their variables: a Boolean may have been declared as 0.0."""
    kinds = {"Boolean": bool, "Integer": int}
    variables = system.description(element).variables
    return {name: kinds.get(variables[name].type, lambda v: v)(value) for name, value in values.items()}


def ours(system: System, job: Job, algorithm: str) -> tuple[float, list[float]]:
    """Return (seconds of the steps, values at the end) of this master."""
    names = [f"{element}.{variable}" for element, variable in job.observed]

    def once(job: Job) -> tuple[float, list[float]]:
        with CoSimulation(system.structure, Schedule(step=job.step), algorithm=by_name(algorithm)).open() as simulation:
            watch = Stopwatch()
            simulation.advance(job.stop)
            return watch.seconds(), simulation.get(names)

    return best(job, once)


def environment(name: str, requirements: Sequence[str]) -> Path:
    """Return the Python of a virtual environment with the requirements. Raises RuntimeError with the reason of pip."""
    folder = ENVIRONMENTS / name
    python, done = folder / "bin" / "python", folder / "installed.json"
    if done.is_file() and json.loads(done.read_text()) == list(requirements):
        return python
    venv.create(folder, with_pip=True, clear=True)
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    pip = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S)
    if pip.returncode:
        raise RuntimeError(_reason(pip.stdout + pip.stderr))
    done.write_text(json.dumps(list(requirements)))
    return python


def _reason(output: str) -> str:
    """Return the most informative line of a log."""
    lines = [
        line.strip() for line in output.splitlines() if re.search(r"error|exception|not found|no module", line, re.I)
    ]
    telling = [line for line in lines if not re.search(r"subprocess|exited with|pip\b|wheel", line)]
    text = (telling or lines or output.splitlines() or ["no output"])[-1 if not telling else 0]
    text = re.sub(r"\(Caused by.*|with url: \S+", "", text).strip()
    return text[:160]


def requirements(runner: str) -> list[str]:
    """Return the requirements that a runner states (inline script metadata of Python packaging)."""
    text = (RUNNERS / f"{runner}.py").read_text()
    block = re.search(r"^# /// script$(.*?)^# ///$", text, re.M | re.S)
    assert block is not None, runner
    return list(tomllib.loads(re.sub(r"^# ?", "", block[1], flags=re.M))["dependencies"])


def other(python: Path, runner: str, job: Job) -> tuple[float, list[float]]:
    """Return (seconds of the steps, values at the end) of another master. Raises RuntimeError with the reason."""
    file = Path(job.folder) / "job.json"
    file.write_text(json.dumps(asdict(job)))
    command = [str(python), str(RUNNERS / f"{runner}.py"), str(file)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=TIMEOUT_S, cwd=job.folder, errors="replace"
    )
    found = re.search(r"^ANSWER (.*)$", done.stdout, re.M)
    if found is None:
        raise RuntimeError(_last_words(done))
    answer = json.loads(found[1])
    return answer["seconds"], answer["values"]


def _last_words(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    told = [line for line in done.stdout.splitlines() if re.match(r"\[ERROR\] .*: ", line)]
    lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
    return (told + lines)[-1 if not told else 0][:200] if told or lines else f"exit status {done.returncode}"


class Bench:
    """The systems, their exact or reference solutions, and the rows so far."""

    def __init__(self, folder: Path, contact: System) -> None:
        self.folder = folder
        self.ring = ring(third_party.build(folder, "Ring", channels=CHANNELS))
        self.outputs = [f"lag{i}.y[{k}]" for i in range(COUNT) for k in range(1, CHANNELS + 1)]
        self.exact = exact_ring(1.0)
        self.contact = contact
        crafts = ("chaser", "station")
        self.motion = [
            f"{c}.body.{v}[{k}]" for c in crafts for v in ("velocity", "angular_velocity") for k in (1, 2, 3)
        ]
        fine = job_of(contact, self.motion, 1e-4, 10_000, folder)
        self.reference = ours(contact, fine, "gauss_seidel")[1]

    def ring_job(self, steps: int) -> Job:
        return job_of(self.ring, self.outputs, 1e-3, steps, self.folder)

    def contact_job(self) -> Job:
        return replace(job_of(self.contact, self.motion, 1e-3, 1000, self.folder), repetitions=3)

    def measure(self, row: Row, run: Any, ring_steps: int, rounds: int) -> None:
        """Make one more round of a row; the first one also computes the errors."""
        for name, job in (("ring", self.ring_job(ring_steps)), ("contact", self.contact_job())):
            if name in row.faults or len(row.costs.get(name, ())) >= rounds:
                continue
            try:
                if name == "ring" and name not in row.errors:
                    row.errors[name] = distance(run(self.ring, self.ring_job(1000))[1], self.exact)
                seconds, values = run(getattr(self, name), job)
                if name == "contact":
                    row.errors[name] = distance(values, self.reference)
                row.costs.setdefault(name, []).append(1e6 * seconds / job.steps)
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                row.faults[name] = str(error)


def distance(values: Sequence[float], reference: Sequence[float]) -> float:
    """Return the largest difference, relative to the largest value."""
    return float(np.abs(np.subtract(values, reference)).max() / np.abs(reference).max())


def table(rows: Sequence[Row], fmus: float) -> str:
    """Return the table; `fmus` is the time of the FMUs of the contact system in a macro step, us."""
    best = {name: min(min(r.costs[name]) for r in rows if r.costs.get(name)) for name in ("ring", "contact")}
    lines = [
        "| master | ring, us/step | ratio | ring, error "
        "| contact, us/step | ratio | outside the FMUs, us | contact, error |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(rows, key=lambda r: min(r.costs.get("ring", [np.inf]))):
        cells = [row.title]
        for name, digits in (("ring", ".3g"), ("contact", ".3g")):
            costs = row.costs.get(name)
            if costs:
                cost = min(costs)
                cells += [f"{cost:{digits}}", f"{cost / best[name]:.3g}"]
                cells += [f"{cost - fmus:.3g}"] if name == "contact" else []
                cells += [f"{row.errors[name]:.2g}"]
            else:
                cells += ["not run", *[""] * (3 if name == "contact" else 2)]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="runners; all of them by default")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved repetitions")
    parser.add_argument("--contact", default="central_impact_20t", help="system of the two spacecraft")
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="put the table into this file, too")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), dockfmu.load(chosen.contact, folder=BUILD))
        todo: list[tuple[Row, Any, int]] = []
        for algorithm in ("jacobi", "gauss_seidel", "gauss_seidel_linear"):
            todo.append((Row(f"dockfmu, {algorithm}"), lambda system, job, a=algorithm: ours(system, job, a), 500_000))
        for entry in MASTERS:
            if chosen.names and entry.runner not in chosen.names:
                continue
            row = Row(entry.title)
            try:
                python = environment(entry.runner, requirements(entry.runner))
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                row.faults = dict.fromkeys(("ring", "contact"), f"cannot be installed: {error}")
                python = Path(sys.executable)
            todo.append((row, lambda system, job, p=python, r=entry.runner: other(p, r, job), entry.ring_steps))
        for _ in range(chosen.rounds):
            for row, run, steps in todo:
                bench.measure(row, run, steps, chosen.rounds)
                print(f"{row.title}: {row.costs} {row.faults}", file=sys.stderr, flush=True)
        share = share_of_fmus(bench.contact.structure, 1e-3, 1.0, by_name("gauss_seidel"))
        fmus = share * min(next(row for row, *_ in todo if row.title == "dockfmu, gauss_seidel").costs["contact"])
    rows = [row for row, _, _ in todo]
    text = [machine(), "", table(rows, fmus), ""]
    text += [
        f"- fmi2DoStep of the four FMUs of the contact system takes {fmus:.3g} us of a macro step with every master"
    ]
    text += [f"- {row.title}, {system}: {fault}" for row in rows for system, fault in row.faults.items()]
    text += [f"- {entry.title}: {entry.known}" for entry in MASTERS if entry.known]
    if not chosen.names:
        text += [f"- {package}: {reason}" for package, reason in NOT_MASTERS.items()]
        text += [f"- {package}: {refusal(package)}" for package in CANNOT_BE_INSTALLED]
    print("\n".join(text))
    if chosen.write:
        replace_table(chosen.write, "masters", "\n".join(text))


def refusal(package: str) -> str:
    """Return why a package of a master cannot be installed here, or that it can be."""
    try:
        environment(package, [package])
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return f"cannot be installed: {error}"
    return "can be installed; it has no runner yet"


if __name__ == "__main__":
    main()
