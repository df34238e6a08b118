"""Runs of craft that drift and turn, with scenes of their own."""

import subprocess
import sys
import zipfile
from pathlib import Path

from dockfmu.base.scene import FILE
from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.master.system import Structure


def rescened(source: Path, file: Path, scene: str | None) -> Path:
    """Write an FMU with another scene, or without one."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            if name != FILE:
                new.writestr(name, old.read(name))
        if scene is not None:
            new.writestr(FILE, scene)
    return file


def flown(folder: Path, fmu_of: dict[str, Path], title: str = "drift") -> tuple[Path, str]:
    """Run craft that drift and turn for 2 s; return the folder of results, and what the run said."""
    system = Structure(title)
    for k, (name, file) in enumerate(fmu_of.items()):
        start = {f"parameters.inertia[{i},{i}]": 1000.0 for i in (1, 2, 3)}
        start |= {"parameters.mass": 1000.0, "parameters.initial.position[1]": 2.0 * k}
        start |= {"parameters.initial.velocity[2]": 0.5, "parameters.initial.angular_velocity[3]": 0.4}
        system.add(name, file, start)
    file = bundle.write_bundle(system, Plan(step=0.01, stop=2.0, record_every=1), "x <b>y</b>", folder / "drift.ssp")
    command = [sys.executable, "-m", "dockfmu", "run", str(file), "--no-report", "-o", str(folder / "r")]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return folder / "r", done.stdout + done.stderr
