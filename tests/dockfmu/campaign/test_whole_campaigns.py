"""Small campaigns of a real docking, from description to report, beside runs that are loaded and made one by one."""

import json
import shutil

import numpy as np
import pytest
from scipy import stats

import dockfmu
from dockfmu.ssp.model import SsvParameter, SsvParameterSet
from dockfmu.ssp.write import write_parameter_set
from tests.dockfmu.small_systems import as_toml

pytestmark = pytest.mark.slow

SYSTEM, STOP, FORCE, SPEED = "atv_probe_cone", 0.1, "mechanism.target.force_now", "chaser.body.velocity[1]"
LIMITS = np.array([0.24, 0.24, *[np.radians(7.0)] * 3, 0.35, 0.07, 0.07, *[np.radians(1.0)] * 3])
ELEVEN = [
    *(f"initial_conditions.miss[{k}]" for k in (1, 2)), *(f"initial_conditions.angles[{k}]" for k in (1, 2, 3)),
    *(f"initial_conditions.{name}[{k}]" for name in ("velocity", "angular_velocity") for k in (1, 2, 3)),
]  # fmt: skip


def description(name, **changes):
    return {
        "name": name, "system": SYSTEM, "runs": 12, "seed": 5, "run": {"stop": STOP}, "refined": 0.0,
        "vary": [{"law": "documented"}], "keep": {"peaks": False},
        "measures": {"force": {"signal": FORCE}, "speed": {"signal": SPEED, "kind": "final"}},
    } | changes  # fmt: skip


def alone(values, parameters=(), swap=None, system=SYSTEM):
    """Return (largest force, last speed) of a run by a system of its own, recorded in each step."""
    system = dockfmu.System.load(system, values, parameters=list(parameters))
    for element, file in (swap or {}).items():
        system.swap(element, file)
    outcome = system.run(stop=STOP, record=[FORCE, SPEED], every=1)
    return np.sqrt((outcome[FORCE] ** 2).sum(axis=1)).max(), outcome[SPEED][-1]


def shares(values):
    """Return the eleven shares of limits; of the closing speed its deviation from 0.07 m/s, to 0 and to 0.35 m/s."""
    found = np.array([values[name] for name in ELEVEN]) / LIMITS
    deviation = values["initial_conditions.velocity[1]"] - 0.07
    found[5] = deviation / (0.28 if deviation > 0.0 else 0.07)
    return found


def test_documented_draws_within_a_severity_with_options(tmp_path):
    """Options that set values, take a parameter set, swap an FMU, and name another system."""
    elastic, system = tmp_path / "elastic.fmu", dockfmu.load(SYSTEM)
    shutil.copy(system.structure.elements["station"].file, elastic)
    light = SsvParameterSet("light", [SsvParameter("chaser.parameters.mass", "Real", 15e3)])
    (tmp_path / "light.ssv").write_bytes(write_parameter_set(light))
    options = {
        "none": {},
        "heavy": {"values": {"chaser.parameters.mass": "25 t"}},
        "light": {"parameters": ["light.ssv"]},
        "elastic": {"swap": {"chaser": "elastic.fmu"}},
        "external": {"system": "atv_probe_cone_external"},
    }
    choice = {"name": "kind", "law": "choice", "options": [{"label": label} | o for label, o in options.items()]}
    content = description("options", severity={"measure": "R1", "at_most": 0.9})
    content["vary"] = [{"law": "documented"}, choice]
    file = tmp_path / "options.toml"
    file.write_text(as_toml(content))
    campaign = dockfmu.Campaign(file, tmp_path / "out")
    table = campaign.run(workers=2, answer=False).set_index("index")
    assert table.index.tolist() == list(range(12))
    assert set(table["kind"]) == set(options)
    made = {
        "heavy": {"values": {"chaser.parameters.mass": 25e3}}, "light": {"parameters": [tmp_path / "light.ssv"]},
        "elastic": {"swap": {"chaser": elastic}}, "external": {"system": "atv_probe_cone_external"}, "none": {},
    }  # fmt: skip
    first = {label: int((table["kind"] == label).idxmax()) for label in options}
    for k in range(12):
        values = campaign.values(k)
        kind = values.pop("kind")
        assert np.linalg.norm(shares(values)) == pytest.approx(table.loc[k, "R1"], rel=1e-12)
        assert np.abs(shares(values)).sum() == pytest.approx(table.loc[k, "R2"], rel=1e-12)
        assert table.loc[k, "R1"] <= 0.9
        if k in first.values():
            how = dict(made[kind])
            found = alone(values | how.pop("values", {}), **how)
            assert (table.loc[k, "force"], table.loc[k, "speed"]) == found, kind
            if kind != "none":
                assert found != alone(values), kind


def test_comparison_and_worst_case(tmp_path):
    severity = {"measure": "R1", "at_most": 0.8}
    light = dockfmu.Campaign(description("light", severity=severity), tmp_path / "light")
    one = light.run(workers=2, answer=False).set_index("index")
    answers = {
        "mass": {"kind": "compare", "with": str(tmp_path / "light")},
        "extreme": {"kind": "worst", "measure": "force", "at_most": 0.8, "runs": 40, "restarts": 1},
    }
    content = description(
        "heavy", severity=severity, values={"chaser.parameters.mass": "25 t"}, refined=0.1, answers=answers
    )
    heavy = dockfmu.Campaign(content, tmp_path / "heavy")
    two = heavy.run(workers=2).set_index("index")
    # equal draws, other results
    assert (one["miss[1]"] == two["miss[1]"]).all()
    assert heavy.values(7) == light.values(7)
    assert two.loc[7, "force"] == alone(heavy.values(7) | {"chaser.parameters.mass": 25e3})[0]
    told = {entry["name"]: entry for entry in json.loads((tmp_path / "heavy/answers/answers.json").read_text())}
    compared = {row[0]: row[1:] for row in told["mass"]["table"]}
    mean_two, mean_one, low, high, pairs = compared["mean of force"]
    assert pairs == 12
    assert (mean_one, mean_two) == pytest.approx((one["force"].mean(), two["force"].mean()), rel=1e-12)
    difference = one["force"] - two["force"]
    exact = stats.t.interval(0.95, 11, difference.mean(), stats.sem(difference))
    assert (low, high) == pytest.approx(exact, rel=1e-9)
    # the worst case lies within its severity, is what it says, and not below the random points, which lie within it too
    best = {f"initial_conditions.{name}": value for name, value, _ in told["extreme"]["table"]}
    assert np.linalg.norm(shares(best)) <= 0.8 + 1e-9
    worst, _ = alone(best | {"chaser.parameters.mass": 25e3})
    assert f"{worst:.6g} N after" in told["extreme"]["sentences"][0]
    assert "tenth of the step" in told["extreme"]["sentences"][1]
    assert (two["R1"] <= 0.8).all()
    assert worst >= two["force"].max()
    # what decides the load, again with smaller steps: one of twelve
    k = int(two["force"].idxmax())
    assert told["force"]["table"][-1][0] == "largest at a tenth of the step"
    system = dockfmu.System.load(SYSTEM, heavy.values(k) | {"chaser.parameters.mass": 25e3})
    fine = system.run(step=1e-4, stop=STOP, record=[FORCE], every=1)[FORCE]
    assert told["force"]["table"][-1][1] == np.sqrt((fine * fine).sum(axis=1)).max()
    page = (tmp_path / "heavy/report.html").read_text()
    assert "Largest force within R1 of 0.8" in page
    assert "Two campaigns on 12 equal draws" in page
