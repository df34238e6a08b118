"""The benchmark of step control runs; each method starts from the states of the reference."""

import sys

import pytest

from benchmarks.coupling import step_control

pytestmark = pytest.mark.slow


def test_two_pieces(monkeypatch, capsys):
    monkeypatch.setattr(step_control, "LONGEST", 0.1)
    monkeypatch.setattr(sys, "argv", ["step_control", "--stop", "0.2"])
    step_control.main()
    printed = capsys.readouterr().out
    assert "2 pieces of 0.1 s to 0.1 s" in printed
    rows = {row.split("|")[1].strip(): row for row in printed.splitlines() if row.startswith("| fixed")}
    assert set(rows) == {"fixed, 0.1 ms", "fixed, 1 ms"}
