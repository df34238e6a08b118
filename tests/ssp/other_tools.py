"""Other tools that run packages: each gives Real outputs after every step, shape (steps, names)."""

import os
import re
import stat
import subprocess
from pathlib import Path

import fmpy.ssp.simulation
import numpy as np
import pytest
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver

from components.core.sources import ROOT
from ssp.coupling import to_system
from ssp.read import read_ssp

OTHERS = Path(os.environ.get("DOCKFMU_IMPORTERS", ROOT / "build" / "importers"))


def system_of(package, folder):
    """Our own reading of a package, unpacked into `folder`."""
    return to_system(read_ssp(package, folder))[0]


def with_fmpy(package, names, steps, h):
    """It takes parameters from a set that it is told."""
    values = fmpy.ssp.ssd.read_ssv(str(package), f"resources/{package.stem}.ssv")
    # times add up: with half a step less it ends after the last one
    found = fmpy.ssp.simulation.simulate_ssp(
        str(package), stop_time=(steps - 0.5) * h, step_size=h, parameter_set=values
    )
    return np.column_stack([found[name] for name in names])


def with_libcosim(package, names, steps, h, folder):
    execution = CosimExecution.from_ssp_file(str(package), round(h * 1e9))
    observer = CosimObserver.create_time_series(buffer_size=steps + 1)
    execution.add_observer(observer)
    system = system_of(package, folder / "unpacked for libcosim")
    places = []
    for name in names:
        element, variable = system.resolve(name)
        places.append((execution.slave_index_from_instance_name(element), variable.reference))
        observer.start_time_series(*places[-1], CosimVariableType.REAL)
    assert execution.step(steps)
    return np.column_stack([observer.time_series_real_samples(*place, 1, steps)[2][:steps] for place in places])


def with_ecos(package, names, steps, h, folder):
    """It writes six decimals, and may stop one step short: 2.0 is not 200 times 0.01 there."""
    program = next(OTHERS.glob("lib/python*/site-packages/ecospy/binaries/ecos"), None)
    library = next(OTHERS.glob("lib/libtbb.so.12"), None)
    if program is None or library is None:
        pytest.skip("ecos is not installed in build/importers")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    arguments = ["--stepSize", str(h), "--stopTime", str(steps * h), "--parameterSet", package.stem, "--noParallel"]
    done = subprocess.run(
        [program, "simulate", "--path", package, *arguments],
        cwd=folder, env={**os.environ, "LD_LIBRARY_PATH": str(library.parent)},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    header, *lines = (folder / f"{package.stem}.csv").read_text().splitlines()
    # names hold commas; iteration and time go before
    titles = re.findall(r"\w+::.+?\[(?:REAL|INT|BOOL)\]", header)
    columns = [2 + next(i for i, t in enumerate(titles) if t.startswith(n.replace(".", "::", 1) + "[")) for n in names]
    rows = [line.split(", ") for line in lines]
    found = np.array([[float(row[column]) for column in columns] for row in rows])[1 : steps + 1]
    assert len(found) >= steps - 1
    return found
