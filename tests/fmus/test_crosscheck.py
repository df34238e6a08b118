"""The files of the FMI cross-check, as other tools read them."""

import csv
from itertools import pairwise

import fmpy
import numpy as np
import pytest
from fmpy.util import read_csv

from dockfmu.components.oscillator import component as oscillator
from dockfmu.fmus import crosscheck
from dockfmu.fmus.description import package_version


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("crosscheck")
    (made,) = crosscheck.write(oscillator(), root, ("linux64",))
    assert made == root / "fmus/2.0/cs/linux64/dockfmu" / package_version() / "Oscillator"
    assert sorted(file.name for file in made.iterdir()) == [
        "Oscillator.fmu",
        "Oscillator_in.csv",
        "Oscillator_ref.csv",
        "Oscillator_ref.opt",
    ]
    return made


def options(folder):
    return dict(line.split(", ") for line in (folder / "Oscillator_ref.opt").read_text().splitlines())


def test_options_are_complete(folder):
    given = options(folder)
    assert {"StartTime", "StopTime", "StepSize", "RelTol"} <= given.keys()
    assert (float(given["StartTime"]), float(given["StopTime"]), float(given["StepSize"])) == (0.0, 0.2, 1e-3)


def test_tables_keep_the_rules(folder):
    names = {v.name for v in fmpy.read_model_description(str(folder / "Oscillator.fmu")).modelVariables}
    files = list(folder.glob("*.csv"))
    assert files
    for file in files:
        assert file.stat().st_size < 1_000_000
        header, *rows = csv.reader(file.read_text().splitlines())
        assert header[0] == "time"
        assert set(header[1:]) <= names
        assert len(header) <= 1 + crosscheck.FEW
        assert file.read_text().startswith('"time","')
        times = [float(row[0]) for row in rows]
        assert (times[0], times[-1]) == (0.0, 0.2)
        assert all(a < b for a, b in pairwise(times))


def test_another_tool_meets_the_reference_results(folder):
    """fmpy, with the inputs and options of the files alone; its step sizes are differences of rounded times."""
    given = options(folder)
    expected = read_csv(str(folder / "Oscillator_ref.csv"))
    result = fmpy.simulate_fmu(
        str(folder / "Oscillator.fmu"),
        stop_time=float(given["StopTime"]),
        output_interval=float(given["StepSize"]),
        input=read_csv(str(folder / "Oscillator_in.csv")),
        output=list(expected.dtype.names[1:]),
    )
    for name in expected.dtype.names[1:]:
        assert np.ptp(expected[name]) > 0.0 or not np.any(expected[name])
        np.testing.assert_allclose(result[name], expected[name], rtol=1e-12, atol=1e-15)


def test_command_writes_them(tmp_path, capsys):
    crosscheck.main(["Oscillator", "-o", str(tmp_path), "--platform", "linux64"])
    assert capsys.readouterr().out.strip().endswith("Oscillator")
    assert len(list(tmp_path.rglob("*_ref.csv"))) == 1
