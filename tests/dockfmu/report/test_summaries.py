"""Summaries of strangers: what is wrong with one is said before anything is made of it."""

import json

import pytest

from dockfmu.cli import main
from dockfmu.report.summaries import events_problem, summary_problem

WHOLE = {
    "system": "pair", "status": "completed", "t_end": 2.0, "wall_s": None, "macro_steps": 200, "step": 0.01,
    "algorithm": "jacobi",
}  # fmt: skip
PEAK = {"max": 1.0, "t_max": 0.0, "min": None, "t_min": 1.0, "unit": "m"}
LIMIT = {
    "unit": "N", "static": 1.0, "short": None, "short_time": None, "source": "s", "ok": True, "exceeds": None,
    "t_exceeded": None, "longest": 0.0, "t_longest": None,
}  # fmt: skip


@pytest.mark.quick
def test_a_summary_of_a_run_is_whole():
    assert summary_problem(WHOLE, whole=True) == ""
    assert summary_problem({**WHOLE, "wall_s": 0.1}, whole=True) == "lacks 'real_time_factor'"
    for name in WHOLE:
        assert summary_problem({k: v for k, v in WHOLE.items() if k != name}, whole=True) == f"lacks {name!r}"
    assert summary_problem({}) == ""


@pytest.mark.quick
@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("system", 3, "system: 3 is not a text"),
        ("t_end", "2", "t_end: '2' is not a finite number"),
        ("t_end", 10**400, "is not a finite number"),
        ("t_end", True, "t_end: True is not a finite number"),
        ("step", None, "step: None is not a finite number"),
        ("success", 1, "success: 1 is not true or false"),
        ("peaks", [], "peaks: [] is not a table"),
        ("peaks", {"a": {**PEAK, "t_max": None}}, "peaks: 'a': t_max: None is not a finite number"),
        ("peaks", {"a": {"max": 1.0}}, "peaks: 'a': lacks 't_max'"),
        ("events", [{"t": 1.0, "name": "a"}, {"t": 1.0}], "events: 2: lacks 'name'"),
        ("events", {}, "events: {} is not a list"),
        ("audit", {"a": "x"}, "audit: 'a': 'x' is not a finite number"),
        ("audit_checks", {"a": {"ok": True}}, "audit_checks: 'a': lacks 'limit'"),
        ("initial_conditions", {"R1": 1.0, "R2": 1.0}, "initial_conditions: lacks 'nearest'"),
        ("initial_conditions", {"values": {"a": {"value": 1.0, "unit": 2}}}, "unit: 2 is not a text"),
        ("loads", {"limits": {"a": {**LIMIT, "short": 2.0}}}, "loads: limits: 'a': short_time is missing"),
        ("loads", {"limits": {"a": {**LIMIT, "exceeds": "static"}}}, "loads: limits: 'a': t_exceeded is missing"),
        ("realtime", {"factor": 1.0}, "realtime: lacks 'policy'"),
        ("failure", {"says": 3}, "failure: says: 3 is not a text"),
        ("warnings", [3], "warnings: 1: 3 is not a text"),
    ],
)
def test_what_is_wrong_is_named(entry, value, words):
    assert words in summary_problem({**WHOLE, entry: value})
    assert summary_problem({"peaks": {"a": PEAK}, "loads": {"limits": {"a": LIMIT}}}) == ""


@pytest.mark.quick
def test_events_are_checked():
    assert events_problem([{"t": 1, "name": "a", "old": 2}]) == ""
    assert events_problem([{"t": float("nan"), "name": "a"}]) == "1: t: nan is not a finite number"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("summary.json", {**WHOLE, "peaks": 3}, "summary.json: not from a run: peaks: 3 is not a table"),
        ("summary.json", {"system": "pair"}, "summary.json: not from a run: lacks"),
        ("events.json", [{"t": 10**400, "name": "a"}], "events.json: not from a run: 1: t: "),
    ],
)
def test_report_comparison_and_view_of_a_strange_folder(pair, tmp_path, capsys, file, content, words):
    """Before: AttributeError, TypeError, UndefinedError in 15 of 300 seeds of tests.fuzz.records."""
    out = tmp_path / "out"
    assert main(["run", str(pair), "--stop", "0.1", "-o", str(out), "--no-report"]) == 0
    (out / file).write_text(json.dumps(content))
    capsys.readouterr()
    assert main(["report", str(out)]) == 2
    assert words in capsys.readouterr().err
    assert main(["view", str(out), "--export", str(tmp_path / "x.html")]) == 0
    main(["compare", str(out), str(out), "--no-figure"])
    assert ("not the summary of a run" in capsys.readouterr().out) == ("peaks" in content)
