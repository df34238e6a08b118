"""A failed step names joint, time and value outside too: in fmpy, in the master, and in the FMU that runs in Python."""

import contextlib

import fmpy
import pytest

import dockfmu
from dockfmu import fmus
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.test_failures import STOP

pytestmark = pytest.mark.slow

TOLD = "joint slide.displacement at t = 0.075"
SYSTEM = """
name = "crash"
[elements.ram]
component = "multibody"
model = "ram.toml"
[run]
stop = 1.0
step = 0.05
"""


@pytest.mark.parametrize("kind", ["native", "python"])
def test_a_failed_step_is_told_in_the_log_that_fmpy_shows(kind, tmp_path):
    fmu = str(fmus.build(component_of(read_text(STOP)), tmp_path, kind=kind))
    shown: list[str] = []

    def logger(environment, name, status, category, message):
        shown.append(message.decode())

    # the one in Python discards the step, which ends the simulation
    with contextlib.suppress(fmpy.fmi1.FMICallException):
        fmpy.simulate_fmu(fmu, stop_time=1.0, step_size=0.05, output_interval=0.05, logger=logger, debug_logging=True)
    found = [text for text in shown if TOLD in text]
    assert found, shown
    assert "it is 0.050" in found[0]
    assert "m or rad beyond its stop, more than stop_limit; its stop_stiffness is too low for the impact" in found[0]


def test_a_failed_step_is_told_by_the_master(tmp_path):
    (tmp_path / "ram.toml").write_text(STOP, encoding="utf-8")
    file = tmp_path / "crash.toml"
    file.write_text(SYSTEM, encoding="utf-8")
    system = dockfmu.load(file, folder=tmp_path)
    with pytest.raises(dockfmu.DockfmuError) as told:
        system.run()
    assert "ram" in str(told.value)
    assert TOLD in str(told.value)
