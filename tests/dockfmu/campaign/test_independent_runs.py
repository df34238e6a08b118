"""The rows of a campaign whose FMUs keep data from one run to the next are those of separate runs."""

import pytest

import dockfmu
from dockfmu.campaign.description import read_study
from dockfmu.campaign.runner import NOT_INDEPENDENT, Runner, RunPoint
from dockfmu.cli import main
from tests.dockfmu.small_systems import as_toml
from tests.master.fmus.habits import ONCE

CONTENT = {
    "name": "counting",
    "system": "counting.ssp",
    "runs": 3,
    "seed": 1,
    "run": {"step": 0.1, "stop": 1.0},
    "vary": [{"name": "a.gain", "law": "uniform", "low": 1.0, "high": 2.0}],
    "measures": {"count": {"signal": "a.count", "kind": "final"}, "sum": {"signal": "a.sum", "kind": "final"}},
}


def study(place, file, **changes):
    system = dockfmu.System("counting")
    system.add("a", file)
    system.write(place / "counting.ssp")
    return read_study(CONTENT | changes, place, "the test")[0]


def rows(made, count=3):
    runner = Runner(made)
    try:
        return [runner.run(RunPoint(k)) for k in range(count)]
    finally:
        runner.close()


@pytest.mark.parametrize("once", ["", ONCE], ids=["silent", "declared"])
def test_each_run_counts_from_zero(habits, tmp_path, once):
    found = rows(study(tmp_path, habits(once)))
    assert [row["count"] for row in found] == [10.0] * 3
    assert [row["sum"] for row in found] == [10.0 * row["a.gain"] for row in found]
    for row in found:
        # what the description declares is no surprise
        assert row["warnings"].startswith(NOT_INDEPENDENT) != bool(once)
    if not once:
        assert "instead of" in found[0]["warnings"]


@pytest.mark.parametrize("once", ["", ONCE], ids=["silent", "declared"])
def test_an_fmu_that_refuses_a_second_instance_runs_again_and_again(habits, tmp_path, monkeypatch, once):
    monkeypatch.setenv("HABITS", "o")
    found = rows(study(tmp_path, habits(once)))
    assert [(row["status"], row["count"]) for row in found] == [("completed", 10.0)] * 3
    assert ("only once per process" in found[0]["warnings"]) != bool(once)


def test_independent_runs_are_repeated_once_and_stay_in_this_process(oscillator, tmp_path, monkeypatch):
    system = dockfmu.System("counting")
    system.add("a", oscillator)
    system.write(tmp_path / "counting.ssp")
    made = read_study(
        CONTENT | {"vary": [{"name": "a.parameters.mass", "law": "uniform", "low": 1.0, "high": 2.0}], "measures": {}},
        tmp_path,
        "the test",
    )[0]
    runner = Runner(made)
    assert [runner.attempts(RunPoint(k)) for k in (0, 1)] == [3, 3]
    found = [runner.run(RunPoint(k)) for k in range(2)]
    assert [runner.attempts(RunPoint(k)) for k in (0, 1)] == [1, 1]
    assert [row["warnings"] for row in found] == ["", ""]
    assert not any(element.process for element in runner.system(()).structure.elements.values())
    runner.close()


def test_a_run_that_its_time_limit_ended_is_not_compared(habits, tmp_path):
    made = study(tmp_path, habits(), run={"step": 0.1, "stop": 1.0, "time_limit": 1e-9})
    runner = Runner(made)
    assert runner.run(RunPoint(0))["status"] == "stopped"
    assert runner.attempts(RunPoint(1)) == 3
    runner.close()


@pytest.mark.slow
def test_the_command_says_which_value_differed(habits, tmp_path, capsys):
    study(tmp_path, habits())
    (tmp_path / "counting.toml").write_text(as_toml(CONTENT))
    where = [str(tmp_path / "counting.toml"), "-o", str(tmp_path / "rows")]
    assert main(["campaign", *where, "--workers", "1", "--no-answers"]) == 0
    told = capsys.readouterr().err
    assert f"warning: {NOT_INDEPENDENT} (repeated, one gave " in told
    assert set(dockfmu.Campaign(tmp_path / "rows").runs()["count"]) == {10.0}
