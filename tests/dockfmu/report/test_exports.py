"""Exports for other programs: CSV of FMI tools, Parquet with units, short numbers that read back bitwise."""

import csv
import sys
from pathlib import Path

import numpy as np
import pytest

from dockfmu.master.observers.recording.results import read_results
from tests.dockfmu.command_line import status_of


@pytest.fixture(scope="module")
def run(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert status_of("run", pair, "--no-report", "-o", folder) == 0
    return folder


def test_csv_has_short_numbers_that_read_back(run):
    assert status_of("export", run, "--csv", "--signals", "*.position") == 0
    text = (run / "results.csv").read_text()
    assert "\n0.01," in text
    assert "0.010000000000000000" not in text
    rows = np.loadtxt(run / "results.csv", delimiter=",", skiprows=1)
    with read_results(run / "results.h5") as results:
        assert np.array_equal(rows[:, 1], results["first.position"])


def test_fmi_csv_is_what_fmpy_reads(run):
    fmpy = pytest.importorskip("fmpy.util")
    assert status_of("export", run, "--fmi-csv", "-o", run / "fmi.csv") == 0
    first = (run / "fmi.csv").read_text().splitlines()[0]
    assert first.startswith('"time","')
    assert "[m]" not in first
    assert "first.position" in next(csv.reader([first]))
    read = fmpy.read_csv(run / "fmi.csv")
    with read_results(run / "results.h5") as results:
        assert np.array_equal(read["time"], results.time)
        assert np.array_equal(read["first.position"], results["first.position"])


def test_parquet_has_types_units_and_the_same_values(run):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert status_of("export", run, "--parquet", "--every", 10, "-o", run / "some.parquet") == 0
    table = parquet.read_table(run / "some.parquet")
    with read_results(run / "results.h5") as results:
        assert set(table.column_names) == {"time", *results.variables}
        assert np.array_equal(table["second.position"].to_numpy(), results["second.position"][::10])
    assert table.schema.field("first.position").metadata[b"unit"] == b"m"


def test_list_fits_a_terminal(monkeypatch, capsys):
    from dockfmu.commands import catalogue

    monkeypatch.setattr(catalogue, "width", lambda stream: 72)
    assert status_of("list") == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 72
    place = next(k for k, line in enumerate(lines) if "atv_missing_first_contact" in line)
    assert lines[place].strip() == "atv_missing_first_contact"
    assert lines[place + 1].startswith(" " * 27 + "Fault: DK1")


def test_what_parquet_and_campaigns_need_is_told_with_the_command_that_installs_it(run, monkeypatch, capsys):
    """The target that it names is one of the Makefile."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert status_of("export", run, "--parquet") == 2
    assert "make campaign" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "dockfmu.campaign.campaign", None)
    assert status_of("campaign", "nothing.toml") == 2
    assert "make campaign" in capsys.readouterr().err
    assert "\ncampaign: $(VENV)/.campaign\n" in (Path(__file__).parents[3] / "Makefile").read_text()
