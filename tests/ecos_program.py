"""Run SSP packages with ecos, a co-simulation program in C++."""

import os
import re
import stat
from pathlib import Path

import numpy as np

from tests.importers_environment import call, installed


def simulate(package: Path, names, step: float, stop: float, folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return (times, values of "element.variable") of a package with its own parameters; NaN where ecos has no value.

    ecos writes six decimals and no enumerations, and may stop one step short, because 200 times 0.01 is not 2.0.
    Raises Missing if it is not installed.
    """
    program = installed("lib/python*/site-packages/ecospy/binaries/ecos")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(installed("lib/libtbb.so.12").parent)}
    arguments = ("--stepSize", step, "--stopTime", stop, "--parameterSet", package.stem, "--noParallel")
    call(program, "simulate", "--path", package, *arguments, cwd=folder, env=environment)
    header, *lines = (folder / f"{package.stem}.csv").read_text().splitlines()
    # names hold commas; iteration and time go before
    titles = re.findall(r"(\w+)::(.+?)\[(?:REAL|INT|BOOL)\]", header)
    column = {f"{element}.{variable}": 2 + k for k, (element, variable) in enumerate(titles)}
    numbers = {"true": "1", "false": "0"}
    rows = [[float(numbers.get(word, word)) for word in line.split(", ")] for line in lines]
    values = [[row[column[name]] if name in column else np.nan for name in names] for row in rows]
    return np.array([row[1] for row in rows]), np.array(values)
