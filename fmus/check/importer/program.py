"""Compile the importer for a platform and run it there or in an emulator (Wine, qemu)."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dockfmu.base.cache import cache_root, is_whole, seal
from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.fmus.check.importer.experiment import Experiment
from dockfmu.fmus.toolchain.targets import HOST, TARGETS, Target
from dockfmu.fmus.toolchain.zig import link_program
from dockfmu.master.fmi import archive
from dockfmu.master.fmi.description import Variable, read_description

SOURCE = Path(__file__).with_name("importer.c")
HEADERS = Path(__file__).parents[2] / "native" / "shim"
"""Folder of `fmi2.h`, the types of the standard."""
TIME_LIMIT = 900.0


class RunError(DockfmuError, RuntimeError):
    """The importer, or the FMU in it, failed; the message is its output."""

    exit_status = FAILED


@dataclass(frozen=True)
class ImporterRun:
    """Outputs, shape (steps + 1, number of outputs), and times in s: load, instantiate, initialize, step."""

    outputs: np.ndarray
    times: dict[str, float]


def stand_in(target: Target) -> tuple[str, ...] | None:
    """Return the command that runs programs for `target` here: empty on the platform itself, None if there is none."""
    if target is HOST:
        return ()
    if target.folder == "win64":
        for name in ("wine64", "/usr/lib/wine/wine64", "wine"):
            if found := shutil.which(name):
                return (found,)
    libraries = Path("/usr/aarch64-linux-gnu")
    if target.folder == "aarch64-linux" and (found := shutil.which("qemu-aarch64")) and libraries.is_dir():
        return (found, "-L", str(libraries))
    return None


def program(target: Target) -> Path:
    """Return the importer for `target`, compiled once and kept in the cache. Raises LinkError."""
    digest = hashlib.sha256(SOURCE.read_bytes() + (HEADERS / "fmi2.h").read_bytes()).hexdigest()[:16]
    file = cache_root() / "fmus" / f"importer-{target.folder}-{digest}{'.exe' if target.extension == '.dll' else ''}"
    if not is_whole(file):
        link_program(SOURCE, HEADERS, file, target)
        seal(file)
    return file


def write_plan(file: Path, folder: Path, experiment: Experiment, cycles: int, states: bool) -> None:
    """Write the file from which `importer.c` reads the experiment; the format is described there."""
    description = read_description(folder)

    def listed(variables: Sequence[Variable]) -> str:
        return " ".join([str(len(variables)), *(f"{v.storage[0].lower()} {v.reference}" for v in variables)])

    numbers = (experiment.start.hex(), experiment.step.hex(), experiment.steps, cycles, int(states))
    lines = [
        description.guid,
        (folder / "resources").as_uri(),
        " ".join(map(str, numbers)),
        listed([description.variables[name] for name in experiment.inputs]),
        listed([description.variables[name] for name in experiment.outputs]),
    ]
    for k in range(experiment.steps):
        lines.append(" ".join(float(values[k]).hex() for values in experiment.inputs.values()))
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def run(
    fmu: Path,
    experiment: Experiment,
    platform: str = HOST.folder,
    cycles: int = 1,
    wrapper: Sequence[str] = (),
    library: Path | None = None,
    executable: Path | None = None,
) -> ImporterRun:
    """Run `experiment` with the library of `fmu` for `platform`, `cycles` times from instantiation to its end.

    A state is saved and restored on the way if the FMU can. `wrapper` is a command that runs another, such as valgrind;
    `library` and `executable` replace the library of the FMU and the importer. Raises RunError, LinkError and
    subprocess.TimeoutExpired.
    """
    target = TARGETS[platform]
    command = stand_in(target)
    if command is None:
        raise RunError(f"this machine cannot run programs for {platform}")
    with TemporaryFolder("importer") as folder:
        archive.extract(fmu, folder / "fmu")
        description = read_description(folder / "fmu")
        plan, result = folder / "plan", folder / "result"
        write_plan(plan, folder / "fmu", experiment, cycles, description.can_serialize_state)
        library = library or folder / "fmu" / "binaries" / platform / f"{description.identifier}{target.extension}"
        # Wine needs its own folder and writes many messages
        wine = {"WINEPREFIX": str(cache_root() / "wine"), "WINEDEBUG": "-all"}
        done = subprocess.run(
            [*wrapper, *command, str(executable or program(target)), str(library), str(plan), str(result)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=TIME_LIMIT,
            check=False,
            env={**os.environ, **wine},
        )
        if done.returncode:
            raise RunError(f"{fmu.name} on {platform} ended with {done.returncode}: {done.stderr.strip()}")
        rows = [[float.fromhex(word) for word in line.split()] for line in result.read_text().splitlines()]
        return ImporterRun(np.array(rows), json.loads(done.stdout.splitlines()[-1]))
