"""Final values that a system declares: in the result, the summary, on the console and in the report."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dockfmu as package
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.errors import StructureError
from tests.dockfmu.command_line import dockfmu
from tests.dockfmu.small_systems import TOML

pytestmark = pytest.mark.slow

FINAL = """
[final]
where_it_ends = "mass.position"
"""


def test_final_values_are_those_of_the_last_step(tmp_path):
    file = tmp_path / "alone.toml"
    file.write_text(TOML + FINAL)
    done = dockfmu("run", file, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    outcome = package.load(str(file)).run()
    last = float(outcome["mass.position"][-1])
    expected = {"where_it_ends": {"signal": "mass.position", "value": last, "unit": "m"}}
    assert summary["finals"] == outcome.result.finals == expected
    assert np.isfinite(last)
    assert last != 0.5
    line = next(line for line in done.stdout.splitlines() if "where it ends" in line)
    assert line.split()[-2:] == [f"{last:.4g}", "m"]
    assert "where it ends" in (tmp_path / "run" / "report.html").read_text()


@pytest.mark.parametrize(
    ("signal", "says"), [('"mass.positions"', "position"), ('"mass.parameters.mass"', "parameter"), ("3", "3")]
)
def test_a_final_value_that_is_no_output_is_refused_by_name(tmp_path, signal, says):
    file = tmp_path / "alone.toml"
    file.write_text(TOML + FINAL.replace('"mass.position"', signal))
    with pytest.raises((StructureError, DeclarationError), match=says) as caught:
        package.load(str(file)).run()
    assert "where_it_ends" in str(caught.value)
