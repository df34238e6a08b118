"""Answers for loads engineers: initial conditions as given, resultants with time and phase, the impact first."""

import json
import re

import h5py
import numpy as np
import pytest

from dockfmu.base.names import vector
from dockfmu.declare.plan import Panel
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.observers.resultants import Resultants
from dockfmu.master.result import Result
from dockfmu.report.curves import plots
from dockfmu.report.loads import interface_peaks
from dockfmu.report.words import condition_lines, condition_texts, phase_at, severity_text
from tests.dockfmu.command_line import dockfmu

EVENTS = [
    {"name": "first_contact", "t": 0.0},
    {"name": "capture", "t": 2.0},
    {"name": "socket_bottom", "t": 2.0},
    {"name": "first_contact", "t": 3.0},
]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return output and folder of a short impact with a miss and a yaw."""
    folder = tmp_path_factory.mktemp("impact")
    done = dockfmu(
        "run", "central_impact_20t", "--stop", "0.7", "-o", folder,
        "--set", "initial_conditions.miss=30mm,-4mm", "--set", "initial_conditions.yaw=2deg",
    )  # fmt: skip
    assert done.returncode in (0, 3), done.stderr
    return done.stdout, folder


@pytest.mark.slow
def test_initial_conditions_are_told_as_they_were_given(run):
    said, folder = run
    summary = json.loads((folder / "summary.json").read_text())
    values = summary["initial_conditions"]["values"]
    assert values["miss[1]"]["value"] == pytest.approx(0.030, rel=1e-12)
    assert values["miss[2]"] == {"value": pytest.approx(-0.004, rel=1e-12), "unit": "m", "limit": 0.24}
    assert values["yaw"]["value"] == pytest.approx(np.deg2rad(2.0), rel=1e-12)
    assert values["velocity[1]"]["value"] == 0.15
    assert summary["initial_conditions"]["start"] == "first_contact"
    # yaw 2 of 7 deg is the nearest; R1 of the shares 30/240, 4/240, 2/7
    expected = np.linalg.norm([30 / 240, 4 / 240, 2 / 7])
    assert summary["initial_conditions"]["R1"] == pytest.approx(expected, rel=1e-12)
    text = " ".join(said.split())
    assert "initial conditions: miss y 30 mm, miss z -4 mm, yaw 2°, velocity x 0.15 m/s" in text
    assert f"R1 = {expected:.2f} (nominal below 1)" in text
    assert "most yaw with 29%" in text
    page = (folder / "report.html").read_text()
    assert re.search(r'title="initial_conditions\.miss\[1\]"><th scope="row">miss y</th><td class="number">30<', page)


@pytest.mark.slow
def test_a_report_of_a_killed_run_has_the_initial_conditions_too(run):
    from dockfmu.report.page import write_report

    _, folder = run
    kept = (folder / "summary.json").rename(folder / "kept.json")
    write_report(folder)
    assert "miss y" in (folder / "report.html").read_text()
    kept.rename(folder / "summary.json")
    write_report(folder)


@pytest.mark.slow
def test_resultants_are_those_of_the_recorded_steps(run):
    """Every step is recorded, so that the largest lateral force is that of the rows, to the last bits of the root."""
    _, folder = run
    summary = json.loads((folder / "summary.json").read_text())
    with read_results(folder / "results.h5") as results:
        for array, word, elements in (
            ("force_now", "lateral", (2, 3)), ("force_now", "total", (1, 2, 3)), ("torque_now", "bending", (2, 3)),
        ):  # fmt: skip
            name = f"mechanism.target.{array}"
            sizes = np.linalg.norm([results[f"{name}[{k}]"] for k in elements], axis=0)
            entry = summary["resultants"][f"{name} {word}"]
            assert entry["max"] == pytest.approx(sizes.max(), rel=1e-14)
            assert entry["t_max"] == results.time[sizes.argmax()]
        # its elements have their peaks at other times, so that it cannot be had from them
        peaks = [summary["peaks"][f"mechanism.target.force_now[{k}]"] for k in (2, 3)]
        apart = np.hypot(*(max(abs(peak["max"]), abs(peak["min"])) for peak in peaks))
        assert summary["resultants"]["mechanism.target.force_now lateral"]["max"] < apart


@pytest.mark.slow
def test_peaks_have_phases_and_loads_have_words(run):
    said, folder = run
    page = (folder / "report.html").read_text()
    summary = json.loads((folder / "summary.json").read_text())
    phase = phase_at(summary["events"], summary["peaks"]["mechanism.load.compression"]["t_max"])
    assert phase.startswith("after ")
    assert re.search(rf"compression +[\d.]+ kN at 0\.\d{{3}} s, {phase}\n", said)
    assert page.index("<h2>Interface loads") < page.index("<h2>Resultants") < page.index("<h2>Signals")
    assert f"<td>{phase}</td>" in page
    # a system without limits has no empty columns for them
    assert 'judgement</th><th scope="col">source' not in page


@pytest.mark.quick
def test_phase_is_the_latest_first_occurrence():
    assert phase_at(EVENTS, 1.0) == "after first contact"
    assert phase_at(EVENTS, 2.0) == phase_at(EVENTS, 9.0) == "after capture"
    assert phase_at(EVENTS[1:2], 1.0) == phase_at([], 1.0) == phase_at(EVENTS, None) == "start"


@pytest.mark.quick
def test_conditions_are_words_in_units_of_engineers():
    given = {
        "values": {
            "miss[1]": {"value": 0.01, "unit": "m", "limit": 0.1},
            "pitch": {"value": -0.01, "unit": "rad", "limit": 0.07},
            "roll": {"value": 0.0, "unit": "rad", "limit": 0.07},
        },
        "R1": 0.2, "R2": 0.3, "nearest": ["angles[2]", 0.143], "vector_sums": ["miss", "angles"],
    }  # fmt: skip
    lines = condition_lines(given)
    assert [(line["words"], line["unit"], line["limit"]) for line in lines] == [
        ("miss y", "mm", "100 (vector sum)"), ("pitch", "°", "4.011 (vector sum)"), ("roll", "°", "4.011"),
    ]  # fmt: skip
    assert condition_texts(given) == ["miss y 10 mm", "pitch -0.573°"]
    assert "most pitch with 14%" in severity_text(given)
    assert severity_text({"values": {}}) == ""


@pytest.mark.quick
def test_resultants_over_several_blocks_of_rows(monkeypatch):
    """The largest over blocks is that over all rows; a NaN does not hide it, and the first of equal ones counts."""
    rows = np.array([[9.0, 3.0, 4.0], [1.0, 0.0, 1.0], [0.0, np.nan, 0.0], [-9.0, -4.0, 3.0]])
    observer = Resultants(vector("hull.force"))
    observer._vectors, observer._columns = {"hull.force": "N"}, np.arange(3, dtype=np.uint64).reshape(1, 3)
    observer.begin(type("Run", (), {"start": 0.0})())
    observer.sample(np.array([0.1, 0.2]), rows[:2])
    observer.sample(np.array([0.4]), rows[3:])
    result = Result("s", "a", 0.1)
    observer.end(result)
    assert result.resultants == {
        "hull.force lateral": {"max": 5.0, "t_max": 0.1, "unit": "N"},
        "hull.force total": {"max": float(np.sqrt(106.0)), "t_max": 0.1, "unit": "N"},
    }


def test_components_of_vectors_are_named(tmp_path):
    """Arrays of a vector's name are x, y, z, angles by their description; other arrays keep their subscripts."""
    about = {"unit": "N", "variability": "continuous", "type": "Real"}
    with h5py.File(tmp_path / "results.h5", "w") as out:
        out["time"] = np.arange(3.0)
        for k in (1, 2, 3):
            for name, more in (
                ("force", {}), ("angles", {"unit": "rad", "description": "yaw, pitch, roll of it"}), ("stroke", {}),
            ):  # fmt: skip
                out[f"hull/{name}[{k}]"] = np.arange(3.0)
                out[f"hull/{name}[{k}]"].attrs.update(about | more)
    with read_results(tmp_path / "results.h5") as results:
        drawn = plots(results, [Panel(name, vector(f"hull.{name}")) for name in ("force", "angles", "stroke")])
    labels = [[curve.label for curve in plot.curves] for plot in drawn]
    assert labels == [["x", "y", "z"], ["yaw", "pitch", "roll"], ["stroke[1]", "stroke[2]", "stroke[3]"]]


def test_the_plots_begin_with_the_impact(browser, tmp_path):
    """A long run is drawn from its first event on, with the values of then; a button draws all of it."""
    from dockfmu.report.page import write_report

    time = np.linspace(0.0, 300.0, 3001)
    with h5py.File(tmp_path / "results.h5", "w") as out:
        out["time"] = time
        # of the impact of 1 N, beside 20 N long after it
        out["hull/force"] = np.exp(-((time - 20.0) ** 2)) + 20.0 * np.exp(-((time - 200.0) ** 2))
        out["hull/force"].attrs.update({"unit": "N", "variability": "continuous", "type": "Real"})
    summary = {"system": "s", "status": "completed", "t_end": 300.0, "wall_s": None, "macro_steps": 3000, "step": 0.1,
               "algorithm": "jacobi"}  # fmt: skip
    (tmp_path / "summary.json").write_text(json.dumps(summary))
    (tmp_path / "events.json").write_text(json.dumps([{"t": 19.0, "name": "first_contact", "signal": "hull.force"}]))
    write_report(tmp_path)
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    shown = "document.querySelector('.plot').layout.xaxis.range"
    assert page.evaluate(shown) == [18.5, 33.5]
    values = "document.querySelector('.plot').layout.yaxis.range"
    low, high = page.evaluate(values)
    assert -0.1 < low < 0.0
    assert 1.0 < high < 1.1
    assert page.get_attribute("#windows button >> nth=0", "aria-pressed") == "true"
    page.click("button:has-text('whole run')")
    assert page.evaluate(shown) == [0.0, 300.0]
    low, high = page.evaluate(values)
    assert 20.0 < high < 22.0
    page.close()


@pytest.mark.quick
def test_loads_that_are_rounding_beside_the_others_are_not_listed():
    """List neither zero nor 1e-19 N m beside 10 kN, but what is small and real, and nothing of idle interfaces."""
    values = {"a.load.compression": 1e4, "a.load.torsion": 7.8e-19, "a.load.bending": 0.02, "a.load.tension": 0.0,
              "b.load.compression": 0.0, "b.load.shear": None, "arm.load.total": 3.0}  # fmt: skip
    peaks = interface_peaks({"peaks": {name: {"max": value} for name, value in values.items()}})
    assert {element: list(loads) for element, loads in peaks.items()} == {"a": ["compression", "bending"]}
