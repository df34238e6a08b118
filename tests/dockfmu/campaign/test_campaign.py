"""Campaigns of a real system: rows, any run again, recordings, answers, the command, and refusals."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

import dockfmu
from dockfmu.base.fmi import OUTCOMES, outcome_category
from dockfmu.campaign.answers import domain, rare, worst
from dockfmu.campaign.answers.censoring import distance, finished, reached
from dockfmu.campaign.answers.evaluation import EvaluationError, Evaluations
from dockfmu.campaign.answers.measures import deciding
from dockfmu.campaign.campaign import make_runs
from dockfmu.campaign.dataset import DataSetError
from dockfmu.campaign.description import Measure, read_study
from dockfmu.campaign.folder import data_set
from dockfmu.campaign.runner import Runner, RunPoint, columns, outcome_of, resolve
from dockfmu.cli import main
from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Plan
from dockfmu.declare.toml.tables import DeclarationError, Table
from dockfmu.fmus.catalogue import component, names
from dockfmu.master.observers.outcomes import OutcomeRule
from dockfmu.master.result import Result
from dockfmu.master.system import Structure
from tests.dockfmu.small_systems import PLAN, as_toml, write_pair

ROOT = Path(__file__).parents[3]

CONTENT = {
    "name": "pairs",
    "system": "pair.ssp",
    "runs": 24,
    "seed": 4,
    "run": {"stop": 1.0},
    "vary": [
        {"name": "first.parameters.initial_position", "law": "uniform", "low": "-20cm", "high": 3.0},
        {"name": "second.parameters.mass", "law": "normal", "mean": 1.0, "deviation": 0.1, "limit": 0.3},
        {
            "name": "fault",
            "law": "choice",
            "options": [
                {"label": "none", "weight": 3},
                {"label": "heavy", "values": {"first.parameters.mass": "5kg"}},
                {"label": "light", "values": {"first.parameters.mass": 0.9}},
            ],
        },
        # no damping is negative: every fifth run is invalid, and nothing else changes
        {"name": "second.parameters.damping", "law": "uniform", "low": -5e-301, "high": 2e-300},
    ],
    "end": [{"event": "pushed_far", "after": "100ms"}],
    "measures": {
        "reach": {"signal": "second.position"},
        "lowest": {"signal": "second.position", "kind": "min"},
        "last": {"signal": "first.velocity", "kind": "final"},
    },
    "keep": {"worst": {"reach": 1}, "every": 20},
}


DOCKING = {
    "system": "atv_probe_cone", "run": {"stop": 0.1}, "keep": {},
    "vary": [{"name": "initial_conditions.miss", "law": "disc", "radius": 0.2}],
    "measures": {"force": {"signal": "mechanism.target.force_now"}},
}  # fmt: skip

REST = np.linalg.norm([1 / 7, 1 / 7, 1.5 / 7, 1 / 7, 1 / 7, 0.05, 0.05, 0.05])
"""R1 of the conditions of atv_probe_cone without its miss: severity is that of all eleven parameters, of which the
closing speed, at its nominal value, adds nothing (ruling R60)."""


@pytest.fixture(scope="module")
def folder(oscillator, tmp_path_factory):
    """A folder with the system, and the campaign file."""
    place = tmp_path_factory.mktemp("campaign")
    write_pair(oscillator, place)
    return place


def study(folder, **changes):
    return read_study(CONTENT | changes, folder, "the test")[0]


def test_rows_are_those_of_runs_alone(folder):
    made = study(folder)
    runner = Runner(made)
    warm = [runner.run(RunPoint(k)) for k in range(24)]
    for k in (23, 5, 0):
        alone = Runner(made).run(RunPoint(k))
        for row in (alone, warm[k]):
            row.pop("wall_s", None)
        assert alone == warm[k]
    impossible = [row for row in warm if row["second.parameters.damping"] < 0.0]
    assert 0 < len(impossible) < 24
    assert all((row["outcome"] == "invalid") == (row in impossible) for row in warm)
    assert "second.parameters.damping" in impossible[0]["reason"]
    assert {row["fault"] for row in warm if row["outcome"] == "completed"} == {"none", "heavy", "light"}


def test_measures_and_endings_are_those_of_a_recorded_run(folder):
    made = study(folder)
    runner = Runner(made)
    rows = [runner.run(RunPoint(k)) for k in range(24)]
    seen = set()
    for row in rows:
        if row["outcome"] == "invalid":
            continue
        system = dockfmu.load(folder / "pair.ssp")
        system.set(
            {
                "first.parameters.initial_position": row["first.parameters.initial_position"],
                "second.parameters.mass": row["second.parameters.mass"],
            }
        )
        system.set({"first.parameters.mass": {"none": 1.0, "heavy": 5.0, "light": 0.9}[row["fault"]]})
        outcome = system.run(stop=row["t_end"])
        position = outcome["second.position"]
        assert row["reach"] == position.max()
        assert row["t_reach"] == outcome.time[position.argmax()]
        assert row["lowest"] == position.min()
        assert row["last"] == outcome["first.velocity"][-1]
        assert row["peaks"]["second.position"][0] == position.max()
        if "t_pushed_far" in row:
            assert row["t_end"] == pytest.approx(min(1.0, row["t_pushed_far"] + 0.1), abs=1e-9)
        else:
            assert row["t_end"] == 1.0
        seen.add("t_pushed_far" in row)
    assert seen == {True, False}


def test_a_tenth_of_the_step_is_that_of_the_system_that_is_chosen(folder, oscillator):
    write_pair(oscillator, folder, replace(PLAN, step=2.0 * PLAN.step), "coarse")
    options = [{"label": "pair"}, {"label": "coarse", "system": "coarse.ssp"}]
    made = study(folder, vary=[{"name": "kind", "law": "choice", "options": options}], end=[])
    runner = Runner(made)
    for kind, step in (("pair", PLAN.step), ("coarse", 2.0 * PLAN.step)):
        row = runner.run(RunPoint(0, {"kind": kind}, 0.1))
        assert (row["step"], row["step_factor"], row["status"]) == (0.1 * step, 0.1, "completed")
        assert row["macro_steps"] == pytest.approx(1.0 / row["step"], abs=1.0)


def test_a_tenth_of_the_step_has_ten_times_the_time(folder):
    runner = Runner(study(folder, run={"stop": 1.0, "time_limit": 1e-9}, end=[]))
    for factor, limit in ((1.0, "1e-09"), (0.1, "1e-08")):
        row = runner.run(RunPoint(0, {"fault": "none"}, factor))
        assert row["outcome"] == "time_limit"
        assert f"took longer than {limit} s" in row["reason"]


def test_loads_are_those_of_runs_that_came_to_an_end(folder):
    measure = study(folder).measure("reach")
    outcomes = ["completed", "failed", "time_limit", "crashed", "invalid", "limit_exceeded", "missed", "docked"]
    values = [1.0, 9.0, 8.0, np.nan, np.nan, 7.0, 2.0, np.nan]
    table = pandas.DataFrame({"index": range(8), "outcome": outcomes, "reach": values})
    assert finished(table, measure)["index"].tolist() == [0, 5, 6]
    assert deciding(table, measure, 0.5) == [5, 6]


@pytest.mark.parametrize(
    ("kind", "above", "distances", "left_open"),
    [
        # what was reached decides where going on could not take it back
        ("max", True, [-1.0, 1.0, -1.0, 1.0, np.inf], [False, False, False, True, True]),
        ("max", False, [1.0, -1.0, 1.0, np.inf, np.inf], [False, False, False, True, True]),
        ("min", False, [1.0, -1.0, 1.0, -1.0, np.inf], [False, False, True, False, True]),
        ("min", True, [-1.0, 1.0, np.inf, 1.0, np.inf], [False, False, True, False, True]),
        ("final", True, [-1.0, 1.0, np.inf, np.inf, np.inf], [False, False, True, True, True]),
    ],
)
def test_what_runs_that_fail_decide(kind, above, distances, left_open):
    measure = Measure("m", ("a.m",), kind, "m")
    outcomes = ["docked", "limit_exceeded", "failed", "time_limit", "crashed"]
    rows = pandas.DataFrame({"outcome": outcomes, "m": [6.0, 4.0, 6.0, 4.0, np.nan]})
    found, open_ = distance(rows, measure, 5.0, above=above)
    assert found.tolist() == distances
    assert open_.tolist() == left_open
    known = [6.0, 4.0, np.nan, np.nan, np.nan] if kind == "final" else rows["m"]
    assert np.array_equal(reached(rows, measure), known, equal_nan=True)


@pytest.mark.parametrize(
    ("kind", "above", "open_there"),
    [("max", True, True), ("max", False, False), ("min", False, True), ("min", True, False)],
)
def test_at_its_bound_a_measure_is_not_beyond_it(kind, above, open_there):
    """A run that failed there leaves it open where going on could have brought it beyond."""
    rows = pandas.DataFrame({"outcome": ["docked", "failed"], "m": [5.0, 5.0]})
    found, open_ = distance(rows, Measure("m", ("a.m",), kind, "m"), 5.0, above=above)
    assert found.tolist() == [0.0, 0.0]
    assert open_.tolist() == [False, open_there]


def asked(folder, tmp_path, made, **changes):
    """Return a campaign that varies one variable, and a cluster whose rows `made` gives for values."""
    file = folder / "asked.toml"
    file.write_text(as_toml(CONTENT | {"vary": CONTENT["vary"][:1], "end": []} | changes))

    def run(points, **_):
        for point in points:
            row = {"index": point.index, "status": "completed", "step_factor": point.step_factor}
            yield row | made(*(float(value) for value in point.values.values() if not isinstance(value, str)))

    return dockfmu.Campaign(file, tmp_path), SimpleNamespace(run=run)


def test_a_domain_says_which_runs_did_not_come_to_an_end(folder, tmp_path):
    """Runs fail at x > 0: captured where they had been before, outside the domain where they had not."""

    def made(x, y):
        return {"outcome": "failed" if x > 0.0 else "docked", "lowest": 0.5 if y > 0.1 else -0.5}

    campaign, cluster = asked(folder, tmp_path, made)
    entries = {"measure": "lowest", "parameters": ["first.parameters.initial_position", "second.parameters.mass"],
               "first": [-1.0, 1.0], "second": [-1.0, 1.0], "cells": 4, "divisions": 1}  # fmt: skip
    answer = domain.read(campaign, "where", Table(entries, "the test"))(cluster)
    inside, outside, undecided = (np.array([part.x, part.y]) for part in answer.chart.parts[:3])
    assert [part.name for part in answer.chart.parts[:3]] == ["below 0", "0 or above", "undecided"]
    assert (inside[1] <= 0.1).all()
    assert ((outside[0] <= 0.0) & (outside[1] > 0.1)).all()
    assert ((undecided[0] > 0.0) & (undecided[1] > 0.1)).all()
    count = int((np.hstack([inside, outside, undecided])[0] > 0.0).sum())
    assert answer.sentences[-2:] == (
        f"{count} of the runs did not finish ({count} failed); the values that they had reached are used",
        f"{undecided.shape[1]} of the runs do not decide the question and count as outside the domain",
    )


def test_a_rare_event_counts_what_failed_runs_had_reached(folder, tmp_path):
    """All runs with large values fail, half of them when they are beyond the bound already."""

    def made(x):
        reach = x if x < 2.8 or int(1e6 * x) % 2 else 0.0
        return {"outcome": "failed" if x > 2.5 else "docked", "reach": reach}

    campaign, cluster = asked(folder, tmp_path, made)
    entries = {"measure": "reach", "above": 2.9, "runs_per_level": 500}
    answer = rare.read(campaign, "seldom", Table(entries, "the test"))(cluster)
    # uniform between -0.2 and 3: 0.1 of 3.2, of which half is an event
    found = [row[1] for row in answer.table]
    assert np.mean(found) == pytest.approx(0.05 / 3.2, rel=0.5)
    # those of the simulations alone, without the samples that are made again
    simulations = campaign_runs(campaign, "seldom").query("step_factor == 1.0")
    failed = simulations["outcome"] == "failed"
    assert len(simulations) == sum(row[3] for row in answer.table)
    assert answer.sentences[-2:] == (
        f"{failed.sum()} of the runs did not finish ({failed.sum()} failed); the values that they had reached are used",
        f"{(failed & (simulations['reach'] <= 2.9)).sum()} of the runs do not decide the question and "
        "count as no events, so that the probability may be larger",
    )


def campaign_runs(campaign, name):
    """Return the runs that the answer to a question has taken."""
    return pandas.read_parquet(campaign.folder / "answers" / f"{name}.parquet")


def test_a_rare_event_among_equal_runs_is_told_as_such(folder, tmp_path):
    """No force in 95 % of all runs; uniform between -0.2 and 3."""
    campaign, cluster = asked(folder, tmp_path, lambda x: {"outcome": "docked", "reach": float(x > 2.84)})
    entries = {"measure": "reach", "above": 0.0, "runs_per_level": 500}
    answer = rare.read(campaign, "seldom", Table(entries, "the test"))(cluster)
    each = [row[1] for row in answer.table]
    assert np.mean(each) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 1000))
    told = [sentence for sentence in answer.sentences if "did not reach" in sentence]
    assert told == [
        f"the levels of simulation {k} did not reach the event: they stopped falling where most samples have the same "
        f"value; {round(500 * share)} of the last samples are events"
        for k, share in enumerate(each, 1)
    ]


def test_the_worst_case_of_a_run_that_failed_is_told_to_be_a_bound(folder, tmp_path):
    campaign, cluster = asked(
        folder, tmp_path, lambda x, y: {"outcome": "failed" if x > 0.03 else "docked", "force": x - y * y}, **DOCKING
    )
    entries = {"measure": "force", "at_most": 0.7, "runs": 60, "restarts": 1,
               "names": ["initial_conditions.miss[1]", "initial_conditions.miss[2]"]}  # fmt: skip
    answer = worst.read(campaign, "extreme", Table(entries, "the test"))(cluster)
    assert "that run did not finish (failed), and its force is a bound" in answer.sentences[0]
    assert any("of the runs did not finish" in sentence for sentence in answer.sentences)
    miss = [value for _, value, _ in answer.table]
    assert np.hypot(np.linalg.norm(np.array(miss) / 0.24), REST) <= 0.7 + 1e-9


def test_the_severity_of_a_worst_case_is_that_with_the_chosen_option(folder, tmp_path):
    """The option turns the craft by half of the limit, instead of by a seventh."""
    tilted = {"label": "tilted", "values": {"initial_conditions.angles[1]": "3.5 deg"}}
    vary = [*DOCKING["vary"], {"name": "fault", "law": "choice", "options": [{"label": "none"}, tilted]}]
    campaign, cluster = asked(
        folder, tmp_path, lambda x, y: {"outcome": "docked", "force": float(np.hypot(x, y))}, **DOCKING | {"vary": vary}
    )
    entries = {"measure": "force", "at_most": 0.9, "runs": 100, "restarts": 1, "values": {"fault": "tilted"},
               "names": ["initial_conditions.miss"]}  # fmt: skip
    answer = worst.read(campaign, "extreme", Table(entries, "the test"))(cluster)
    others = np.sqrt(REST**2 - (1 / 7) ** 2 + 0.5**2)
    largest = 0.24 * np.sqrt(0.9**2 - others**2)
    assert float(answer.sentences[0].split()[0]) == pytest.approx(largest, rel=1e-5)
    # each number has its unit, a label has none
    assert {name: unit for name, _, unit in answer.table} == {"fault": "", "miss[1]": "m", "miss[2]": "m"}
    entries["names"] = ["initial_conditions.yaw"]
    with pytest.raises(dockfmu.OptionError, match=r"yaw cannot vary: fault = tilted sets it"):
        worst.read(campaign, "twice", Table(entries, "the test"))


def test_a_smallest_severity_that_all_runs_leave_open_is_told(folder, tmp_path):
    docking = DOCKING | {"measures": {"lowest": {"signal": "mechanism.capture.margin", "kind": "min"}}}
    campaign, cluster = asked(folder, tmp_path, lambda x, y: {"outcome": "failed", "lowest": 1.0}, **docking)
    entries = {"measure": "lowest", "failing_above": 0.0, "runs": 30, "restarts": 1,
               "names": ["initial_conditions.miss"]}  # fmt: skip
    answer = worst.read(campaign, "mild", Table(entries, "the test"))(cluster)
    runs = len(campaign_runs(campaign, "mild"))
    assert answer.sentences == (
        f"all {runs} runs leave open whether lowest is above 0",
        f"{runs} of the runs did not finish ({runs} failed); the values that they had reached are used",
        f"{runs} of the runs do not decide the question and count as not failing",
    )


def test_smallest_severity_counts_runs_that_leave_it_open_as_not_failing(folder, tmp_path):
    """The measure is above its bound beyond a miss of 0.12 m; runs beyond 0.2 m do not come to an end."""

    def made(x, y):
        miss = float(np.hypot(x, y))
        return {"outcome": "time_limit" if miss > 0.2 else "docked", "lowest": 0.0 if miss > 0.2 else miss - 0.12}

    docking = DOCKING | {"measures": {"lowest": {"signal": "mechanism.capture.margin", "kind": "min"}}}
    campaign, cluster = asked(folder, tmp_path, made, **docking)
    entries = {"measure": "lowest", "failing_above": 0.0, "at_most": 1.0, "runs": 300, "restarts": 2,
               "names": ["initial_conditions.miss"]}  # fmt: skip
    answer = worst.read(campaign, "mild", Table(entries, "the test"))(cluster)
    smallest = np.hypot(0.12 / 0.24, REST)
    found = float(answer.sentences[0].split()[2])
    # told with four digits
    assert smallest - 5e-5 <= found < 1.05 * smallest


WHERE = {
    "kind": "domain", "measure": "lowest", "values": {"fault": "none"}, "first": [-1.0, 1.0], "second": [0.5, 1.0],
    "parameters": ["first.parameters.initial_position", "first.parameters.mass"],
}  # fmt: skip
SELDOM = {"kind": "rare", "measure": "lowest", "below": 0.0}


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ({"kind": "domian"}, "kind"),
        (WHERE | {"cels": 4}, "'cels'.*did you mean cells"),
        (WHERE | {"measure": "lowst"}, "lowest"),
        (WHERE | {"parameters": ["first.parameters.initial_position"]}, "2 strings"),
        (WHERE | {"first": [1.0]}, "two ends"),
        (WHERE | {"second": [1.0, 1.0]}, r"second = \[1, 1\]: the first end must be below the second"),
        (WHERE | {"second": ["1000 g", 0.5]}, r"second = \[1, 0\.5\]: the first end must be below the second"),
        (WHERE | {"first": [-1e308, 1e308]}, r"first = \[-1e\+308, 1e\+308\]: the first end must be below"),
        (WHERE | {"second": ["1 m", "2 m"]}, "mass"),
        (WHERE | {"values": {}}, "must say which fault the runs have, one of none, heavy, light"),
        (WHERE | {"values": {"fault": "havy"}}, "havy"),
        (WHERE | {"values": {"fault": "none", "second.parameters.mas": 1.0}}, r"parameters\.mass"),
        (WHERE | {"values": {"fault": "heavy"}}, "first.parameters.mass cannot vary: fault = heavy sets it"),
        (WHERE | {"cells": 1}, "2 cells"),
        (WHERE | {"cells": 10**6}, "1000 at most"),
        (WHERE | {"divisions": 40}, "0 to 20 divisions"),
        (SELDOM | {"runs_per_level": 10**9, "below": 0.0}, "up to 1000000"),
        (WHERE | {"divisions": -1}, "divisions = -1: must be a non-negative integer"),
        (SELDOM | {"above": 1.0}, "one of 'above' and 'below'"),
        (SELDOM | {"runs_per_level": 55}, "55 runs per level"),
        ({"kind": "worst", "measure": "reach", "values": {"fault": "none"}}, "no initial conditions"),
        ({"kind": "worst", "measure": "reach", "runs": 50}, "at least 20 runs for each of 3 starts, not 50"),
        ({"kind": "compare"}, "lacks 'with'"),
        ({"kind": "compare", "with": "nowhere"}, "nowhere.*folder of a campaign"),
    ],
)
def test_questions_with_mistakes_are_refused_before_any_run(folder, tmp_path, question, text):
    campaign = dockfmu.Campaign(as_absolute(folder, answers={"a": question}), tmp_path, where="the test")
    with pytest.raises(dockfmu.DockfmuError, match=text) as error:
        campaign.run(workers=1)
    assert all(line.startswith("the test") for line in str(error.value).splitlines())
    assert "Traceback" not in str(error.value)
    assert not (tmp_path / "runs.parquet").exists()


def test_a_rare_event_on_a_grid_is_refused_before_any_run(folder, tmp_path):
    content = as_absolute(folder, answers={"a": SELDOM}, sampling="grid", points=2, vary=CONTENT["vary"][:1])
    with pytest.raises(dockfmu.OptionError, match="not with rejected draws or grids"):
        dockfmu.Campaign(content, tmp_path).run(workers=1)
    assert not (tmp_path / "runs.parquet").exists()


def test_a_domain_whose_corner_cannot_be_has_a_boundary(folder, tmp_path):
    """No body has a mass of 0: those runs are invalid one by one."""
    campaign, _ = asked(folder, tmp_path, None)
    runner = Runner(campaign.study)
    cluster = SimpleNamespace(run=lambda points, **_: map(runner.run, points))
    entries = {name: value for name, value in WHERE.items() if name not in ("kind", "values")}
    answer = domain.read(
        campaign, "edge", Table(entries | {"second": [0.0, 1.0], "cells": 2, "divisions": 0}, "the test")
    )(cluster)
    assert campaign_runs(campaign, "edge")["outcome"].value_counts().to_dict() == {"completed": 6, "invalid": 3}
    assert "3 of the runs do not decide the question and count as outside the domain" in answer.sentences


def test_a_domain_is_refused_only_where_no_contact_can_be(folder, tmp_path):
    campaign, _ = asked(folder, tmp_path, None, **DOCKING)
    entries = {"measure": "force", "parameters": ["initial_conditions.miss[1]", "initial_conditions.miss[2]"]}
    # no corner has a contact, but the middle has
    assert domain.read(campaign, "wide", Table(entries | {"first": [-0.6, 0.6], "second": [-0.6, 0.6]}, "the test"))
    with pytest.raises(dockfmu.DeclarationError, match="reduce the miss"):
        domain.read(campaign, "off", Table(entries | {"first": [0.55, 0.6], "second": [0.55, 0.6]}, "the test"))


def test_a_question_is_put_to_the_system_that_its_option_names(folder, tmp_path, oscillator):
    alone = Structure("renamed")
    alone.add("third", oscillator)
    bundle.write_bundle(alone, Plan(step=0.01, stop=1.0, order=("third",)), "one oscillator", folder / "renamed.ssp")
    options = [{"label": "pair"}, {"label": "renamed", "system": "renamed.ssp"}]
    campaign, _ = asked(folder, tmp_path, None, vary=[{"name": "kind", "law": "choice", "options": options}])
    there = WHERE | {"parameters": ["third.parameters.initial_position", "third.parameters.mass"]}
    entries = {name: value for name, value in there.items() if name != "kind"}
    assert domain.read(campaign, "there", Table(entries | {"values": {"kind": "renamed"}}, "the test"))
    with pytest.raises(dockfmu.DockfmuError, match="third"):
        domain.read(campaign, "here", Table(entries | {"values": {"kind": "pair"}}, "the test"))


def as_absolute(folder, **changes):
    return CONTENT | {"system": str(folder / "pair.ssp")} | changes


def test_questions_need_a_value_of_each_choice_and_take_units(folder, tmp_path):
    campaign, _ = asked(folder, tmp_path, None, vary=CONTENT["vary"])
    seen = []
    runner = Runner(campaign.study)

    def run(points, **_):
        for point in points:
            seen.append(point.values)
            yield runner.run(point)

    entries = {"measure": "lowest", "parameters": ["first.parameters.initial_position", "first.parameters.mass"],
               "first": [-1.0, 1.0], "second": ["500 g", "1 kg"], "cells": 2, "divisions": 1}  # fmt: skip
    with pytest.raises(dockfmu.DeclarationError, match="must say which fault the runs have, one of none, heavy"):
        domain.read(campaign, "where", Table(entries, "the test"))
    wrong = entries | {"values": {"fault": "none", "second.parameters.mas": 1.0}}
    with pytest.raises(dockfmu.StructureError, match=r"parameters\.mass"):
        domain.read(campaign, "where", Table(wrong, "the test"))
    fixed = {"fault": "none", "second.parameters.mass": "750 g"}
    domain.read(campaign, "where", Table(entries | {"values": fixed}, "the test"))(SimpleNamespace(run=run))
    assert {values["second.parameters.mass"] for values in seen} == {0.75}
    kept = campaign.folder / "answers" / "where.parquet"
    assert set(pandas.read_parquet(kept)["second.parameters.mass"]) == {0.75}
    # what is kept is of these values alone, also of those that are no column of the campaign
    other = entries | {"values": fixed, "second": ["500 g", "2 kg"]}
    with pytest.raises(EvaluationError, match=r"was made with asked_values = .*but .*is requested"):
        domain.read(campaign, "where", Table(other, "the test"))(SimpleNamespace(run=run))


def test_kept_rows_of_another_step_are_refused(folder, tmp_path):
    """A search that is given fewer runs asks for its last one, refined, where another was kept."""
    campaign, _ = asked(folder, tmp_path, None)
    runner = Runner(campaign.study)
    cluster = SimpleNamespace(run=lambda points, **_: map(runner.run, points))
    values = [{"first.parameters.initial_position": 0.1}]
    with Evaluations(campaign, cluster, "search") as runs:
        assert runs.rows(values)["step_factor"].tolist() == [1.0]
        assert runs.rows(values, 0.1)["step_factor"].tolist() == [0.1]
    with Evaluations(campaign, cluster, "search") as runs:
        assert runs.rows(values)["step_factor"].tolist() == [1.0]
        with pytest.raises(EvaluationError, match=r"run 1 was made with step_factor = 0\.1, but 1\.0 is requested"):
            runs.rows(values)


@pytest.mark.slow
@pytest.mark.parametrize("change", [{"seed": 5}, {"run": {"stop": 0.5}}, {"vary": CONTENT["vary"][1:2]}])
def test_a_manifest_that_was_edited_by_hand_mixes_no_rows(folder, tmp_path, change):
    """Regression: with another seed in campaign.json the campaign went on, with rows of both."""
    campaign, cluster = asked(folder, tmp_path / "out", lambda x: {"outcome": "completed"})
    with data_set(campaign) as data:
        data.write(list(cluster.run([RunPoint(0, values={"x": 1.0})])))
    campaign.write_manifest(campaign.identify())
    manifest = json.loads((tmp_path / "out" / "campaign.json").read_text())
    manifest["description"] |= {"runs": 7, "answers": {}, "description": "more of them"}
    (tmp_path / "out" / "campaign.json").write_text(json.dumps(manifest))
    with data_set(dockfmu.Campaign(tmp_path / "out")) as data:
        assert data.seen == {0}
    manifest["description"] |= change
    (tmp_path / "out" / "campaign.json").write_text(json.dumps(manifest))
    edited = dockfmu.Campaign(tmp_path / "out")
    for _ in range(2):
        with pytest.raises(DataSetError, match=r"part-.*: its rows are of a campaign of another description"):
            data_set(edited).__enter__()


def test_failed_runs_are_recorded_but_for_those_whose_values_cannot_be(folder, tmp_path):
    broken = {"label": "broken", "values": {"first.parameters.initial_position": 1e308, "first.parameters.mass": 1e-3}}
    vary = [CONTENT["vary"][0], CONTENT["vary"][2] | {"options": [*CONTENT["vary"][2]["options"], broken]}]
    vary += CONTENT["vary"][3:]
    content = as_absolute(folder, vary=vary, keep={"peaks": False, "failed": True}, refined=0.0)
    campaign = dockfmu.Campaign(content, tmp_path / "out")
    runner = Runner(campaign.study)
    cluster = SimpleNamespace(run=lambda points, **_: map(runner.run, points))
    with data_set(campaign) as data:
        make_runs(data, cluster, 24)
    table = campaign.runs()
    assert set(table["outcome"]) == {"completed", "failed", "invalid"}
    campaign._conclude(cluster, lambda text: None)
    recorded = {int(place.name): place for place in (tmp_path / "out" / "series").iterdir()}
    assert set(recorded) == set(table.loc[table["outcome"] == "failed", "index"])
    for index, place in recorded.items():
        summary = json.loads((place / "summary.json").read_text())
        assert summary["status"] == "failed"
        assert summary["message"] == table.set_index("index").loc[index, "reason"]
    assert (tmp_path / "out" / "report.html").is_file()


def test_the_recording_of_a_run_is_that_of_its_row(folder, tmp_path):
    campaign = dockfmu.Campaign(CONTENT | {"system": str(folder / "pair.ssp")}, tmp_path / "out")
    seen = set()
    for k in range(12):
        row = campaign.row(k)
        if row["outcome"] == "invalid":
            continue
        summary = campaign.record(k, report=False).summary
        for name in ("status", "outcome", "t_end", "macro_steps"):
            assert summary[name] == row[name], name
        assert summary["message"] == row["reason"]
        assert summary["peaks"]["second.position"]["max"] == row["reach"]
        assert {event["name"]: event["t"] for event in summary["events"]}.get("pushed_far") == row.get("t_pushed_far")
        seen.add(row["reason"].startswith("ended 0.1 s after pushed_far at t = ") if row["reason"] else None)
    assert seen == {True, None}


@pytest.mark.slow
def test_a_campaign_on_workers_from_the_command_line(folder, tmp_path, capsys):
    file = folder / "pairs.toml"
    file.write_text(
        as_toml(
            CONTENT
            | {
                "refined": 0.1,
                "answers": {
                    "where": {
                        "kind": "domain",
                        "measure": "lowest",
                        "cells": 2,
                        "divisions": 1,
                        "values": {"fault": "none"},
                        "parameters": ["first.parameters.initial_position", "second.parameters.mass"],
                        "first": [-1.0, 1.0],
                        "second": [0.5, 2.0],
                    },
                    "seldom": {"kind": "rare", "measure": "reach", "above": 0.45, "runs_per_level": 50},
                },
            }
        )
    )
    out = tmp_path / "out"
    assert main(["campaign", str(file), "-o", str(out), "--workers", "2"]) == 0
    table = pandas.read_parquet(out / "runs.parquet").sort_values("index", ignore_index=True)
    assert table["index"].tolist() == list(range(24))
    campaign = dockfmu.Campaign(out)
    completed = table.index[table["outcome"] == "completed"]
    for k in (completed[1], completed[-1]):
        row = campaign.row(k)
        for name in ("reach", "t_reach", "last", "t_end", "outcome", "fault"):
            assert table.loc[k, name] == row[name] or (row[name] != row[name])
    best = int(table["reach"].idxmax())
    assert sorted(p.name for p in (out / "series").iterdir()) == [
        f"{k:06d}" for k in sorted({0, 20, best} & set(completed))
    ]
    with dockfmu.read_results(out / "series" / f"{best:06d}" / "results.h5") as results:
        assert results["second.position"].max() == table.loc[best, "reach"]
    answers = {answer["name"]: answer for answer in json.loads((out / "answers" / "answers.json").read_text())}
    assert {"outcomes", "reach", "where", "seldom"} <= answers.keys()
    # the largest values again: two of some 16 runs, as alone with a tenth of the step
    fine = pandas.read_parquet(out / "answers" / "refined.parquet").set_index("index")
    top = table.dropna(subset=["reach"]).nlargest(2, "reach")["index"]
    assert set(top) <= set(fine.index)
    runner = Runner(campaign.study)
    for k in top:
        assert runner.run(RunPoint(k, step_factor=0.1))["reach"] == fine.loc[k, "reach"]
    assert answers["reach"]["chart"]["parts"][2]["x"] == sorted(fine.loc[top, "reach"])
    assert (out / "report.html").stat().st_size > 1e6
    assert (out / "answers" / "where.png").is_file()
    capsys.readouterr()
    # more runs, and one of them again
    assert main(["campaign", str(out), "--runs", "26", "--workers", "1", "--no-answers"]) == 0
    assert len(pandas.read_parquet(out / "runs.parquet")) == 26
    assert main(["campaign", str(out), "--index", "17"]) == 0
    assert "equal to its row" in capsys.readouterr().out
    # another campaign in the same folder
    file.write_text(as_toml(CONTENT | {"seed": 5}))
    assert main(["campaign", str(file), "-o", str(out), "--workers", "1"]) == 2
    assert "another seed" in capsys.readouterr().err


PASSED = "the head passed the docking plane"
# what a message says of a part that has left the range in which its model holds
BEYOND = (
    "penetration {status.value", "penetrates its socket by", "exceeds its depth_limit", "deep in a stop",
    "deep in its stop", "does not hold", "angle_limit = ",
    "roll_limit = ", "rotation_limit = ", "parameters.legs.margin", "travel_margin", "more than stop_limit",
)  # fmt: skip


def test_failures_of_components_that_decide_outcomes_have_their_categories():
    """Every message on a bound of the model is `limit_exceeded`, the one on the docking plane `missed`; no other."""
    messages = [m for name in names() for m in component(name).messages.values()]
    deciding = {m.text: m.outcome for m in messages if m.outcome}
    assert len(deciding) > 20
    assert any(PASSED in text for text in deciding)
    assert deciding == {text: "missed" if PASSED in text else "limit_exceeded" for text in deciding}
    assert all(any(words in text for words in (PASSED, *BEYOND)) for text in deciding)
    others = [m.text for m in messages if not m.outcome]
    assert [text for text in others if any(words in text for words in (PASSED, *BEYOND))] == []


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_outcomes_of_failed_runs_come_from_categories_not_from_words(outcome):
    """Regression: any FMU whose message has the words "exceeds its limit" decided the outcome."""
    said = "penetration 0.00501 m exceeds its limit; outside the passive unit"
    result = Result("docking", "gauss_seidel", 1e-3, status="failed", message=said)
    result.failure = {"says": said, "category": "logStatusError"}
    assert outcome_of(result, Plan(), None) == "failed"
    result.failure["category"] = outcome_category(outcome)
    assert outcome_of(result, Plan(), None) == outcome
    for category in ("outcome.docked", outcome, "outcome."):
        result.failure["category"] = category
        assert outcome_of(result, Plan(), None) == "failed"


@pytest.mark.parametrize(
    ("status", "message", "events", "closing", "outcome"),
    [
        ("failed", "output became nan", [], None, "failed"),
        ("stopped", "took longer than 5 s", [], None, "time_limit"),
        ("completed", "", [], 0.1, "missed"),
        ("completed", "", ["first_contact"], -0.1, "bounced"),
        ("completed", "", ["first_contact"], 0.0005, "jammed"),
        ("completed", "", ["first_contact"], 0.02, "undecided"),
    ],
)
def test_outcomes_that_the_system_does_not_decide(status, message, events, closing, outcome):
    result = Result("docking", "gauss_seidel", 1e-3, status=status, message=message, decided="none")
    result.events = [{"t": 0.0, "name": name} for name in events]
    plan = Plan(outcome=OutcomeRule("cyclogram.outcome", ("docked",)))
    assert outcome_of(result, plan, closing) == outcome
    result.decided = "docked"
    if status == "completed":
        assert outcome_of(result, plan, closing) == "docked"


MASS = {"name": "first.parameters.mass", "law": "uniform"}
FAIR = MASS | {"low": 1.0, "high": 2.0}


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"sytem": "x"}, "sytem"),
        ({"system": "pair.sp"}, "pair.sp"),
        ({"runs": 0}, "runs = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"sampling": "halton"}, "sampling"),
        ({"vary": [{"name": "first.parameters.mas", "law": "uniform", "low": 0, "high": 1}]}, "parameters.mass"),
        ({"vary": [{"name": "first.parameters.mass", "law": "uniform", "low": "1 m", "high": 2}]}, "mass"),
        ({"vary": [{"name": "first.parameters.mass", "law": "unifrom"}]}, "unifrom"),
        ({"vary": [{"name": "first.parameters.mass", "law": "uniform", "low": 1.0}]}, "lacks 'high'"),
        ({"vary": [{"law": "documented"}]}, "initial_conditions"),
        ({"vary": [MASS | {"low": 2.0, "high": 1.0}]}, "the test, vary 1: .*low = .* must be below high"),
        ({"vary": [MASS | {"law": "disc", "radius": 1.0}]}, "the test, vary 1: .*a disc needs two variables"),
        ({"vary": [{"name": "x", "law": "choice", "options": [{"label": "a"}, {"label": "a"}]}]}, "vary 1: x: options"),
        ({"vary": [FAIR, FAIR]}, "the test: first.parameters.mass has two laws"),
        ({"sampling": "grid"}, "the test: a grid needs `points`"),
        ({"values": {"first.parameters.mas": 1.0}}, "the test: .*parameters.mass"),
        ({"run": {"algorithm": "jacoby"}}, "the test, run: .*jacobi"),
        ({"run": {"step": 2.0, "stop": 1e-3, "adaptive": -1.0}}, "the test, run: "),
        ({"vary": [{"name": "initial_conditions.miss", "law": "disc", "radius": 1.0}]}, "initial_conditions"),
        ({"end": [{"event": "pushed_fra"}]}, "pushed_far"),
        ({"measures": {"m": {"signal": "second.posit"}}}, "position"),
        ({"measures": {"not a word": {"signal": "second.position"}}}, "word"),
        ({"run": {"stop": "3 kg"}}, "stop"),
        ({"severity": {"at_most": 1.0}}, "limits"),
        ({"answers": {"refined": {"kind": "domain"}}}, "'refined' is reserved for the repeated runs"),
        ({"answers": {"../runs": {"kind": "domain"}}}, r"answers: the name '\.\./runs'"),
    ],
)  # fmt: skip
def test_mistakes_are_named(folder, changes, text):
    """Regression: laws, draws and options of runs did not name the file."""
    with pytest.raises(dockfmu.DockfmuError, match=text) as error:
        study(folder, **changes)
    assert all(line.startswith("the test") for line in str(error.value).splitlines())


@pytest.mark.parametrize("name", ["status", "asked_values", "step", "fault", "t_reach", "peak_max"])
def test_names_of_other_columns_are_refused(folder, tmp_path, name):
    measures = CONTENT["measures"] | {name: {"signal": "second.position"}}
    campaign = dockfmu.Campaign(as_absolute(folder, measures=measures), tmp_path)
    with pytest.raises(dockfmu.DeclarationError, match=f"two columns would have the name '{name}'"):
        campaign.run(workers=1)
    assert not (tmp_path / "runs.parquet").exists()


def test_a_measure_may_be_called_by_most_words(folder, tmp_path):
    measures = {"values": {"signal": "second.position"}, "peak_force": {"signal": "second.position"}}
    campaign, _ = asked(folder, tmp_path, None, measures=measures, keep={})
    runner = Runner(campaign.study)
    cluster = SimpleNamespace(run=lambda points, **_: map(runner.run, points))
    with data_set(campaign) as data:
        make_runs(data, cluster, 3)
    alone = [runner.run(RunPoint(k)) for k in range(3)]
    for name in measures:
        assert campaign.runs()[name].tolist() == [row[name] for row in alone]
    with Evaluations(campaign, cluster, "search") as runs:
        values = [campaign.values(k) for k in range(3)]
        for _ in range(2):
            found = runs.distance(values, campaign.study.measure("peak_force"), 0.0, above=False)
            assert found.tolist() == [row["peak_force"] for row in alone]


@pytest.mark.slow
def test_the_documented_example_is_sound():
    file = ROOT / "docs/examples/atv_campaign.toml"
    made, system = read_study(tomllib.loads(file.read_text()), file.parent, str(file))
    assert system.name == "atv_probe_cone"
    assert (made.draws.runs, made.refined, made.options.stop) == (1000, 0.01, 15.0)
    assert [measure.name for measure in made.measures] == ["compression", "shear", "bending", "margin"]
    # every variable of the file is one of the system, with its unit
    values = made.draws.values(0)
    assert abs(values["chaser.parameters.mass"] - 20e3) <= 900.0
    assert np.hypot(values["initial_conditions.miss[1]"], values["initial_conditions.miss[2]"]) <= 0.2


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"values": {"first.parameters.mas": 1.0}}, "option 'wrong': .*has no variable 'parameters.mas'"),
        ({"values": {"frist.parameters.mass": 1.0}}, "option 'wrong': .*frist"),
        ({"values": {"first.parameters.mass": "1 m"}}, "option 'wrong': first.parameters.mass.* m"),
        ({"values": {"first.parameters.mass": "heavy"}}, "option 'wrong': first.parameters.mass"),
        ({"values": {"first.parameters.mass": -1.0}}, "first.parameters.mass = -1.0: less than its minimum 1e-09 kg"),
        ({"values": {"first.parameters.mass": [1.0, 2.0]}}, "option 'wrong': first.parameters.mass"),
        ({"values": {"initial_conditions.miss": [0.0, 0.0]}}, "initial_conditions.miss: the system pair has no"),
        ({"swap": {"third": "other.fmu"}}, "third"),
        ({"parameters": ["missing.ssv"]}, "missing.ssv"),
        ({"system": "missing.ssp"}, "missing.ssp"),
    ],
)
def test_options_of_a_choice_are_checked_before_the_first_run(folder, tmp_path, option, text):
    """Regression: every run with the option was `invalid`, and the campaign ended well."""
    options = [{"label": "right", "weight": 1e6}, {"label": "wrong", "weight": 1.0, **option}]
    varied = [{"name": "kind", "law": "choice", "options": options}]
    campaign = dockfmu.Campaign(as_absolute(folder, vary=varied, keep={}), tmp_path / "out", where="the test")
    with pytest.raises(dockfmu.DockfmuError, match=text) as error:
        campaign.run(workers=1)
    # a file that cannot be loaded is named itself
    assert all(line.startswith("the test") or "missing" in line for line in str(error.value).splitlines())
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"values": {"first.parameters.mass": float("nan")}}, "values: first.parameters.mass = nan: must be a finite"),
        ({"values": {"first.position": 1.0}}, "values: first.position cannot be set: it is an output"),
        (
            {"vary": [{"name": "first.position", "law": "uniform", "low": 0.0, "high": 1.0}]},
            "first.position cannot vary: it is an output that the FMU calculates",
        ),
    ],
)
def test_values_of_all_runs_are_checked_before_the_first_run(folder, tmp_path, change, text):
    """Every run was `invalid`, and the campaign ended well."""
    campaign = dockfmu.Campaign(as_absolute(folder, **{"keep": {}, **change}), tmp_path / "out", where="the test")
    with pytest.raises(dockfmu.DockfmuError, match=text) as error:
        campaign.run(workers=1)
    assert all(line.startswith("the test") for line in str(error.value).splitlines())
    assert not (tmp_path / "out").exists()


def test_values_of_an_option_are_checked_for_the_system_that_another_chooses(folder, tmp_path, oscillator):
    """The one system has a variable that the other lacks."""
    other = Structure("single")
    other.add("first", oscillator)
    bundle.write_bundle(other, Plan(step=0.01, stop=1.0), "one alone", tmp_path / "single.ssp")
    vary = [
        {"name": "system", "law": "choice", "options": [
            {"label": "pair"}, {"label": "single", "system": str(tmp_path / "single.ssp")}
        ]},
        {"name": "mass", "law": "choice", "options": [
            {"label": "as it is"}, {"label": "heavy", "values": {"second.parameters.mass": 5.0}}
        ]},
    ]  # fmt: skip
    campaign = dockfmu.Campaign(as_absolute(folder, vary=vary, keep={}, measures={}, end=[]), tmp_path / "out")
    with pytest.raises(dockfmu.OptionError, match=r"mass, option 'heavy': .*second"):
        campaign.identify()


def test_a_range_that_no_number_spans_and_a_law_for_whole_numbers_are_refused(folder, habits):
    """Before the first run: every row would be refused."""
    mass = {"name": "first.parameters.mass", "law": "uniform", "low": -1.7e308, "high": 1.7e308}
    with pytest.raises(
        dockfmu.DeclarationError, match=r"first.parameters.mass: from -1.7e\+308 to 1.7e\+308 is a wider"
    ):
        study(folder, vary=[mass])
    alone = Structure("alone")
    alone.add("h", habits())
    bundle.write_bundle(alone, Plan(step=0.01, stop=1.0, order=("h",)), "", folder / "alone.ssp")
    habit = {"name": "h.habit", "law": "uniform", "low": 0, "high": 3}
    content = {"system": "alone.ssp", "runs": 2, "vary": [habit]}
    with pytest.raises(dockfmu.DeclarationError, match=r"h.habit is of type Integer: give its values by law = .choice"):
        read_study(content, folder, "the test")


def test_measures_take_several_signals(folder):
    """Over the rows of one run: the largest of both, the smallest, the largest magnitude, the resultant."""
    both = ["first.position", "second.position"]
    kinds = ("max", "min", "magnitude", "resultant")
    made = study(folder, measures={kind: {"signal": both, "kind": kind} for kind in kinds}, keep={}, end=[])
    row = Runner(made).run(RunPoint(1))
    system = dockfmu.load(folder / "pair.ssp")
    _, settings = resolve(made, made.draws.values(1))
    outcome = system.with_values(settings).run(stop=1.0)
    values = np.column_stack([outcome[name] for name in both])
    assert row["max"] == values.max()
    assert row["min"] == values.min()
    assert row["magnitude"] == np.abs(values).max()
    assert row["resultant"] == pytest.approx(np.linalg.norm(values, axis=1).max(), rel=1e-14)
    assert row["t_min"] == outcome.time[values.min(axis=1).argmin()]


@pytest.mark.parametrize(
    ("measure", "says"),
    [
        ({"signal": ["first.position", "second.velocity"]}, "one unit: first.position in m, second.velocity in m/s"),
        ({"signal": ["first.position", "second.position"], "kind": "final"}, "needs one variable"),
        ({"signal": []}, "at least one"),
    ],
)
def test_signals_of_a_measure_that_do_not_fit_are_refused(folder, measure, says):
    with pytest.raises(DeclarationError, match=says):
        study(folder, measures={"reach": measure}, keep={})


@pytest.mark.slow
def test_rows_have_all_initial_conditions(folder):
    """Varied or not: the drawn miss, and the declared angles and velocities of the system."""
    made = study(folder, **DOCKING | {"end": []})
    system = dockfmu.load("atv_probe_cone")
    row = Runner(made).run(RunPoint(2))
    drawn = made.draws.values(2)
    assert [row["miss[1]"], row["miss[2]"]] == [drawn[f"initial_conditions.miss[{k}]"] for k in (1, 2)]
    assert [row[f"angles[{k}]"] for k in (1, 2, 3)] == list(system.conditions.angles)
    assert [row[f"velocity[{k}]"] for k in (1, 2, 3)] == list(system.conditions.velocity)
    assert {"miss[1]", "angles[3]", "angular_velocity[2]", "R1"} <= columns(made, system).keys()
