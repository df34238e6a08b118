"""Other tools that run packages: each gives Real outputs after every step, shape (steps, names)."""

import fmpy.ssp.simulation
import numpy as np
import pytest
from libcosimpy.CosimEnums import CosimVariableType
from libcosimpy.CosimExecution import CosimExecution
from libcosimpy.CosimObserver import CosimObserver

from dockfmu.ssp.archive import read_ssp
from dockfmu.ssp.to_system import to_system
from tests import ecos_program
from tests.importers_environment import Missing


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
    try:
        _, found = ecos_program.simulate(package, names, h, steps * h, folder)
    except Missing as missing:
        pytest.skip(str(missing))
    found = found[1 : steps + 1]
    assert len(found) >= steps - 1
    return found
