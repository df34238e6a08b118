"""Run every available checker on every FMU and package: `python -m dockfmu.conformance [FILE ...]`.

By default the files are those in build/fmus and build/ssp. Nothing is downloaded: third-party programs are taken from
the PATH and from the environment of `make importers`, and a missing one is shown as a dash. The exit status is 1 if any
checker has findings.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import fmpy.ssp.ssd
import numpy as np

from dockfmu.base.cache import ROOT
from dockfmu.base.errors import DockfmuError
from dockfmu.base.processes import python_command
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.fmus.check import examine
from dockfmu.fmus.check.importer import Experiment, RunError, experiment_for
from dockfmu.fmus.check.importer import run as run_in_c
from dockfmu.fmus.check.memory import check_memory
from dockfmu.fmus.toolchain.zig import LinkError
from dockfmu.master.errors import MasterError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.instance import Fmu
from dockfmu.master.system import Structure
from dockfmu.ssp import validate as packages
from dockfmu.ssp.archive import read_ssp, write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.to_system import to_system

FOLDERS = {".fmu": ROOT / "build" / "fmus", ".ssp": ROOT / "build" / "ssp"}
STEPS = 20
"""Steps that other importers take with each file: they check whether a file runs, not its results."""
TIME_LIMIT = 600.0


class MissingToolError(DockfmuError):
    """The checker is not installed, or does not apply to this file."""


@dataclass(frozen=True)
class Checker:
    """A checker for files with one ending.

    `check(file, folder)` returns the findings, one sentence each, and may write to `folder`. Raises MissingToolError.
    """

    name: str
    ending: str
    check: Callable[[Path, Path], Sequence[str]]


def _program(*names: str) -> str:
    """Return the first of some programs on the PATH. Raises MissingToolError."""
    for name in names:
        if found := shutil.which(name):
            return found
    raise MissingToolError(f"no {names[0]} on the PATH")


def _installed(*places: str) -> Path:
    """Return the first match of glob patterns in the environment of the importers. Raises MissingToolError."""
    environment = Path(os.environ.get("DOCKFMU_IMPORTERS", ROOT / "build" / "importers"))
    for place in places:
        for file in sorted(environment.glob(place)):
            return file
    raise MissingToolError(f"no {places[0]} in {environment}: make importers")


def _call(command: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Run a program and return its exit status and all its output."""
    try:
        completed = subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env={**os.environ, **(environment or {})},
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return 1, f"not finished after {TIME_LIMIT:g} s"
    return completed.returncode, completed.stdout + completed.stderr


def _succeeds(command: Sequence[object], folder: Path, environment: Mapping[str, str] | None = None) -> list[str]:
    """Return the last lines of a program's output if it fails, otherwise nothing."""
    status, output = _call(command, folder, environment)
    return [f"ended with {status}: {' | '.join(output.strip().splitlines()[-3:])}"] if status else []


def _description(file: Path, folder: Path) -> list[str]:
    """Check the schema of the standard, fmpy's rules and ours, and the exported functions of all libraries."""
    return [str(finding) for findings in examine(file).values() for finding in findings]


def _experiment(file: Path) -> tuple[Experiment, np.ndarray]:
    """Return an experiment that the FMU can run, with varying inputs if possible, and the C importer's outputs."""
    description = read_description(file)
    if description.needs_execution_tool:
        raise MissingToolError("needs Python in the importer")
    for amplitude in (1e-2, 0.0):
        experiment = experiment_for(description, amplitude, STEPS)
        try:
            return experiment, run_in_c(file, experiment).outputs
        except (RunError, LinkError, subprocess.TimeoutExpired) as fault:
            failure = fault
    raise failure


def _importer(file: Path, folder: Path) -> list[str]:
    """Check that the importer in C gives results bitwise equal to those of the master's calls from Python."""
    try:
        experiment, rows = _experiment(file)
    except (RunError, LinkError, subprocess.TimeoutExpired) as fault:
        return [str(fault)]
    with Fmu(file) as fmu:
        instance = fmu.instantiate("one")
        inputs = [{name: values[k] for name, values in experiment.inputs.items()} for k in range(experiment.steps)]
        types = {name: fmu.description.variables[name].type for name in experiment.inputs}
        instance.set({name: bool(v) if types[name] == "Boolean" else float(v) for name, v in inputs[0].items()})
        instance.initialize(experiment.start)
        ours = [instance.get(experiment.outputs)]
        for k, row in enumerate(inputs):
            instance.set({name: bool(v) if types[name] == "Boolean" else float(v) for name, v in row.items()})
            instance.step(experiment.start + k * experiment.step, experiment.step)
            ours.append(instance.get(experiment.outputs))
    different = np.array(ours, float) != rows
    return [f"{experiment.outputs[i]} differs from Python's calls" for i in np.flatnonzero(different.any(axis=0))]


def _memory(file: Path, folder: Path) -> list[str]:
    found = check_memory(file)
    if found is None:
        raise MissingToolError("no valgrind, or needs Python in the importer")
    return [str(finding) for finding in found]


def _vdmcheck(file: Path, folder: Path) -> list[str]:
    """Check the model description against the formal rules of VDMCheck, from INTO-CPS."""
    _, output = _call((_program("VDMCheck2.sh", "VDMCheck2", "VDMCheck.sh", "VDMCheck"), file), folder)
    return [] if "No errors found" in output else output.strip().splitlines() or ["no output"]


def _fmucheck(file: Path, folder: Path) -> list[str]:
    """Run Modelica's FMU compliance checker with its default options; none of its three counters may be above zero."""
    names = ("fmuCheck", "fmuCheck.linux64", "fmuCheck.win64", "fmuCheck.darwin64")
    status, output = _call((_program(*names), "-o", "fmucheck.csv", file), folder)
    counters = [
        line.strip()
        for line in output.splitlines()
        if (match := re.search(r"(\d+) (warning\(s\) and error\(s\)|warning\(s\)|error\(s\))", line, re.I))
        and int(match[1])
    ]
    return counters or ([f"ended with {status}"] if status else [])


def _fmusim(file: Path, folder: Path) -> list[str]:
    """Run the simulator of the Reference FMUs."""
    return _succeeds((_program("fmusim"), "--output-file", folder / "fmusim.csv", file), folder)


_LIBCOSIM = """
import sys
from libcosimpy.CosimExecution import CosimExecution
execution = CosimExecution.from_ssp_file(sys.argv[1], int(sys.argv[2]))
sys.exit(not execution.step(int(sys.argv[3])))
"""


def _alone(file: Path, folder: Path) -> tuple[Path, float]:
    """Return a package with this FMU alone, for importers that take packages, and its step."""
    description = read_description(file)
    if description.needs_execution_tool:
        raise MissingToolError("needs Python in the importer")
    system = Structure("alone")
    system.add("one", file)
    return write_ssp(from_system(system), folder / "alone.ssp"), description.experiment.step or 1e-3


def _system(file: Path, folder: Path) -> tuple[Path, float]:
    """Return the package itself, and its step."""
    system, _ = to_system(read_ssp(file, folder / "unpacked"))
    return file.resolve(), min(system.description(name).experiment.step or 1e-3 for name in system.elements)


def _libcosim(package: Path, step: float, folder: Path) -> list[str]:
    if find_spec("libcosimpy") is None:
        raise MissingToolError("no libcosimpy")
    return _succeeds((*python_command("-c", _LIBCOSIM, str(package)), round(step * 1e9), STEPS), folder)


def _ecos(package: Path, step: float, folder: Path) -> list[str]:
    program = _installed("lib/python*/site-packages/ecospy/binaries/ecos")
    library = {"LD_LIBRARY_PATH": str(_installed("lib/libtbb.so.12").parent)}
    arguments = ("--stepSize", step, "--stopTime", STEPS * step, "--parameterSet", package.stem, "--noParallel")
    program.chmod(program.stat().st_mode | 0o100)
    return _succeeds((program, "simulate", "--path", package, *arguments), folder, library)


def _container(file: Path, folder: Path) -> list[str]:
    """Check that the FMU gives bitwise equal results inside a container of the FMU manipulation toolbox."""
    python, tool = _installed("bin/python"), _installed("bin/fmucontainer")
    try:
        experiment, rows = _experiment(file)
    except (RunError, LinkError, subprocess.TimeoutExpired) as fault:
        return [str(fault)]
    shutil.copyfile(file, folder / file.name)
    lines = ["rule;from_fmu;from_port;to_fmu;to_port", f"FMU;{file.name};;;"]
    lines += [f"INPUT;;u{i};{file.name};{name}" for i, name in enumerate(experiment.inputs)]
    lines += [f"OUTPUT;{file.name};{name};;y{i}" for i, name in enumerate(experiment.outputs)]
    (folder / "container.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    options = ("-no-auto-input", "-no-auto-output", "-no-auto-link")
    command = (python, tool, "-fmu-directory", folder, "-container", f"container.csv:{experiment.step}", *options)
    if failed := _succeeds(command, folder):
        return failed
    wrapped = replace(
        experiment,
        inputs={f"u{i}": values for i, values in enumerate(experiment.inputs.values())},
        outputs=tuple(f"y{i}" for i in range(len(experiment.outputs))),
    )
    try:
        inside = run_in_c(folder / "container.fmu", wrapped).outputs
    except (RunError, LinkError, subprocess.TimeoutExpired) as fault:
        return [str(fault)]
    different = np.flatnonzero((inside != rows).any(axis=0))
    return [f"{experiment.outputs[i]} differs inside a container" for i in different]


def _fmpy_package(file: Path, folder: Path) -> list[str]:
    """Check the description of the package against the official schema, with fmpy."""
    try:
        fmpy.ssp.ssd.read_ssd(str(file), validate=True)
    except Exception as fault:  # any error of a third-party reader is a finding
        return [str(fault)]
    return []


CHECKERS = (
    Checker("dockfmu", ".fmu", _description),
    Checker("C importer", ".fmu", _importer),
    Checker("valgrind", ".fmu", _memory),
    Checker("VDMCheck", ".fmu", _vdmcheck),
    Checker("fmuCheck", ".fmu", _fmucheck),
    Checker("fmusim", ".fmu", _fmusim),
    Checker("libcosim", ".fmu", lambda file, folder: _libcosim(*_alone(file, folder), folder)),
    Checker("ecos", ".fmu", lambda file, folder: _ecos(*_alone(file, folder), folder)),
    Checker("container", ".fmu", _container),
    Checker("dockfmu", ".ssp", lambda file, _: packages.validate(file)),
    Checker("fmpy", ".ssp", _fmpy_package),
    Checker("libcosim", ".ssp", lambda file, folder: _libcosim(*_system(file, folder), folder)),
    Checker("ecos", ".ssp", lambda file, folder: _ecos(*_system(file, folder), folder)),
)


def check(file: Path) -> dict[str, Sequence[str] | None]:
    """Return the findings of each checker for files of this kind, None for a checker that is not available."""
    results: dict[str, Sequence[str] | None] = {}
    for checker in CHECKERS:
        if checker.ending != file.suffix:
            continue
        with TemporaryFolder("conformance") as folder:
            try:
                results[checker.name] = checker.check(file.resolve(), folder)
            except MissingToolError:
                results[checker.name] = None
            except MasterError as fault:
                results[checker.name] = [str(fault)]
    return results


def table(results: Mapping[str, Mapping[str, Sequence[str] | None]]) -> str:
    """Return a table of the verdicts, with a row for each file and a column for each checker."""
    columns = list(dict.fromkeys(name for found in results.values() for name in found))

    def verdict(found: Mapping[str, Sequence[str] | None], name: str) -> str:
        findings = found.get(name)
        return "-" if findings is None else f"{len(findings)} wrong" if findings else "ok"

    rows = [["", *columns], *([file, *(verdict(found, name) for name in columns)] for file, found in results.items())]
    widths = [max(len(row[k]) for row in rows) for k in range(len(columns) + 1)]
    return "\n".join(
        "  ".join(word.ljust(width) for word, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files, print the findings, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m dockfmu.conformance", description="Run every available checker.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: build/fmus and build/ssp")
    chosen = parser.parse_args(arguments)
    files = chosen.files or [file for ending, folder in FOLDERS.items() for file in sorted(folder.glob(f"*{ending}"))]
    if not files:
        parser.error("there are no files in build/fmus and build/ssp: run `make run`, or name files")
    if wrong := [str(file) for file in files if file.suffix not in FOLDERS or not file.is_file()]:
        parser.error(f"not an .fmu or .ssp: {', '.join(wrong)}")
    results = {}
    for file in files:
        results[file.name] = found = check(file)
        for name, findings in found.items():
            for finding in findings or ():
                print(f"{file.name}: {name}: {finding}", flush=True)
    print(table(results))
    missing = sorted({name for found in results.values() for name, findings in found.items() if findings is None})
    if missing:
        print(f"- not installed, or not applicable: {', '.join(missing)}")
    return int(any(findings for found in results.values() for findings in found.values()))


if __name__ == "__main__":
    sys.exit(main())
