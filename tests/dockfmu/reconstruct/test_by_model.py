"""Estimation by the model: a central impact whose truth is known, interrupted, continued, and with a wrong model."""

import json
import math

import h5py
import numpy as np
import pyarrow.parquet
import pytest

import dockfmu
from dockfmu.base.numbers import figure_text
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.runner import RunPoint
from dockfmu.master.observers.recording.results import read_results
from dockfmu.reconstruct.by_model import estimate
from dockfmu.reconstruct.chosen_data import ReconstructionError, outputs_of
from dockfmu.reconstruct.model_findings import band_of, findings
from dockfmu.reconstruct.model_page import write_model_page
from dockfmu.reconstruct.model_problem import models, read_problem
from dockfmu.reconstruct.model_result import (
    BANDS,
    BOTH,
    SUMMARY,
    UNKNOWNS,
    compare_models,
    reconstruct_by_model,
    write_estimate,
)
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.reconstruct.readings_runner import READINGS, DriftingRun, ReadingsRunner, fitted_delay
from dockfmu.reconstruct.unknowns import START, UNTIL
from dockfmu.telemetry.make import write_telemetry
from tests.dockfmu.small_systems import as_toml

SYSTEM, STOP = "central_impact_20t", 0.4
TRUTH = {"initial_conditions.velocity": [0.12, 0.0, 0.0], "chaser.parameters.mass": 19400.0}
SENSORS = {
    "frame": [
        {
            "name": "unit",
            "rate": "50 Hz",
            "signal": [
                {"column": "stroke", "variable": "mechanism.axial.stroke", "unit": "mm", "noise": "0.3 mm"},
                {
                    "column": "axial", "port": "station.port[1]", "axis": [1.0, 0.0, 0.0], "measures": "acceleration",
                    "unit": "mm/s2", "noise": "0.2 mm/s2", "average": "20 ms",
                },
            ],
            "event": [{"name": "capture"}],
        }
    ]
}  # fmt: skip
UNKNOWN = [
    {"name": "initial_conditions.velocity[1]", "law": "uniform", "low": "0.05 m/s", "high": "0.2 m/s"},
    {"name": "chaser.parameters.mass", "law": "normal", "mean": "20 t", "deviation": "0.5 t", "limit": "2 t"},
]
ENSEMBLE = {"members": 12, "start": 0.0, "unknown": UNKNOWN, "model_error": 0.001}


@pytest.fixture(scope="module")
def impact(tmp_path_factory):
    """The folder of telemetry of a recorded impact, and its true peak."""
    folder = tmp_path_factory.mktemp("impact")
    dockfmu.load(SYSTEM, TRUTH).record(folder / "run", stop=STOP, every=1, report=False)
    (folder / "sensors.toml").write_text(as_toml(SENSORS))
    write_telemetry(folder / "run", folder / "sensors.toml", folder / "telemetry", seed=5)
    summary = json.loads((folder / "run" / "summary.json").read_text())
    return folder, summary["peaks"]["mechanism.load.compression"]["max"]


def problem(impact, folder, label="", life=None, **changes):
    """Return the problem of the impact with other entries of `[ensemble]`, and the table `[life]`."""
    source = impact[0]
    file = source / f"{folder.name}.toml"
    file.write_text(
        as_toml(
            {"system": SYSTEM, "folder": "telemetry", "sensors": "sensors.toml", "ensemble": {**ENSEMBLE, **changes}}
            | ({"life": life} if life else {})
        )
    )
    return read_problem(read_telemetry(file), folder, label)


@pytest.mark.slow
def test_speed_and_mass_of_an_impact_are_restored_with_its_load(impact, tmp_path):
    found = estimate(problem(impact, tmp_path / "runs"), workers=0)
    truth = np.array([0.12, 19400.0])
    values = found.values()
    assert (np.abs(values.mean(axis=0) - truth) < 4.0 * values.std(axis=0, ddof=1)).all()
    assert values[:, 0].std() < 0.002
    said = findings(found)
    peak = next(peak for peak in said.peaks if peak.name == "compression")
    # 1 % of the speed is 1 % of the peak
    assert peak.middle == pytest.approx(impact[1], rel=0.03)
    assert peak.low < peak.middle < peak.high
    assert [signal.explained for signal in said.residuals] == [True] * len(said.residuals)
    files = write_estimate(found, findings(found), tmp_path / "out")
    assert [file.name for file in files] == [BOTH, UNKNOWNS, BANDS, SUMMARY]
    with read_results(tmp_path / "out" / "mean" / "results.h5") as mean:
        assert np.max(np.abs(mean["mechanism.load.compression"])) == pytest.approx(impact[1], rel=0.03)
    about = json.loads((tmp_path / "out" / SUMMARY).read_text())
    assert about["unknowns"]["velocity[1]"]["width"] < 0.1
    assert about["runs"] == found.posterior.runs > 12 * len(found.posterior.steps)


@pytest.mark.slow
def test_the_report_shows_what_was_estimated(impact, tmp_path):
    """Each model has a page of its own: bands of peaks, unknowns and event times, residuals, the models compared."""
    file = impact[0] / "reported.toml"
    compared = [
        {"label": "as built", "values": {}},
        {"label": "loose", "values": {"mechanism.parameters.axial.spring_preload": 0.0}},
    ]
    sensor = [{"of": "unit.stroke", "error": "bias", "law": "normal", "deviation": 1.0}]
    asked = {**ENSEMBLE, "model": compared, "sensor": sensor, "members": 10, "steps": 2, "refinements": 0}
    file.write_text(as_toml({"system": SYSTEM, "folder": "telemetry", "sensors": "sensors.toml", "ensemble": asked}))
    found = reconstruct_by_model(file, tmp_path, workers=0)
    for label, said in found.findings.items():
        page = (tmp_path / label / "report.html").read_text(encoding="utf-8")
        assert f"Model: {label}" in page
        assert f"{figure_text(said.peaks[0].middle)}</td>" in page
        unknown = {unknown.name: unknown for unknown in said.unknowns}["velocity[1]"]
        begin, end = 100.0 * unknown.begin, 100.0 * unknown.end
        # the prior is uniform from 0.05 to 0.2 m/s
        assert [begin, end] == pytest.approx([(v - 0.05) / 0.0015 for v in (unknown.low, unknown.high)], abs=5.0)
        assert f"from {begin:.0f} to {end:.0f} % of the probability of the prior" in page
        assert [unknown.unit for unknown in said.unknowns] == ["m/s", "kg", "mm"]
        assert page.count("<td>m/s</td>") == page.count("<td>mm</td>") == 1
        for test in said.residuals:
            assert f'>{test.name}</th><td class="{"good" if test.explained else "bad"}">' in page
        for name, chance in found.probabilities.items():
            own = " (this page)" if name == label else ""
            assert f'{name}{own}</th><td class="number">{figure_text(chance)}</td>' in page
        figures = json.loads(page.partition('id="figures">')[2].partition("</script>")[0])
        titles = [plot["title"] for plot in figures["plots"]]
        assert titles[0] == "mechanism.load.compression, with 90 % bands"
        assert titles[-2:] == ["unit.stroke", "unit.axial"]
        assert {trace["name"] for trace in figures["plots"][-1]["traces"]} == {"read", "model"}


@pytest.mark.slow
def test_an_interrupted_estimation_goes_on_with_what_is_there(impact, tmp_path):
    """The same members as without the interruption, and no run twice."""

    class Stopped(Exception):
        pass

    def stop(line):
        if "assimilated" in line:
            raise Stopped

    whole = estimate(problem(impact, tmp_path / "whole"), workers=0)
    with pytest.raises(Stopped):
        estimate(problem(impact, tmp_path / "part"), workers=0, progress=stop)
    again = estimate(problem(impact, tmp_path / "part"), workers=0)
    assert np.array_equal(again.posterior.unknowns, whole.posterior.unknowns)
    assert np.array_equal(outputs_of(again.rows, again.problem), outputs_of(whole.rows, whole.problem))
    # each run is stored once
    parts = (tmp_path / "part" / "runs.parquet").parent / "answers" / "ensemble.parquet"
    indices = read_runs(parts, ["index"])["index"]
    assert indices.tolist() == list(range(again.posterior.runs))
    assert sum(len(pyarrow.parquet.read_table(part, columns=["index"])) for part in parts.glob("*.parquet")) == len(
        indices
    )


@pytest.mark.slow
def test_a_folder_of_other_telemetry_is_refused(impact, tmp_path):
    estimate(problem(impact, tmp_path / "runs", steps=1, refinements=0), workers=0)
    with pytest.raises(ReconstructionError, match="with other windows, smoother"):
        estimate(problem(impact, tmp_path / "runs", steps=1, refinements=0, windows=[0.2], model_error=0.1), workers=0)


@pytest.mark.slow
def test_a_prior_that_excludes_the_data_is_named(impact, tmp_path):
    narrow = [{**UNKNOWN[0], "low": "0.05 m/s", "high": "0.06 m/s"}, UNKNOWN[1]]
    found = estimate(problem(impact, tmp_path / "runs", unknown=narrow, steps=2, refinements=1), workers=0)
    warnings = " ".join(findings(found).warnings)
    assert "the prior excludes the readings of unit.stroke" in warnings


@pytest.mark.slow
def test_evidence_tells_a_spring_with_25_percent_less_preload(impact, tmp_path):
    """The wrong model is told by its residuals, and has no chance against the right one."""
    compared = [
        {"label": "as built", "values": {}},
        {"label": "weak spring", "values": {"mechanism.parameters.axial.spring_preload": 0.75 * 1500.0}},
    ]
    asked = problem(impact, tmp_path / "all", model=compared)
    labels = models(asked.telemetry)
    said = [findings(estimate(problem(impact, tmp_path / label, label, model=compared), workers=0)) for label in labels]
    chances = compare_models(labels, said)
    assert chances["as built"] > 0.99
    assert all(signal.explained for signal in said[0].residuals)
    assert any("the model does not explain it" in warning for warning in said[1].warnings)


@pytest.mark.slow
def test_workers_make_the_same_runs_as_this_process(impact, tmp_path):
    here, there = (
        estimate(problem(impact, tmp_path / f"{workers}", steps=1, refinements=0), workers=workers)
        for workers in (0, 1)
    )
    assert np.array_equal(here.posterior.unknowns, there.posterior.unknowns)
    assert np.array_equal(here.posterior.outputs, there.posterior.outputs)


def test_files_have_the_life_that_members_spent(impact, tmp_path):
    """Damage of a section by compression: of Basquin's exponent 4, so that 1 % of the load is 4 % of the damage."""
    source = impact[0]
    section = {
        "name": "ring", "source": "test", "allowable": "60 MPa", "stress": {"mechanism.load.compression": "10 kPa/N"},
        "fatigue": {"ranges": ["100 MPa", "1 MPa"], "cycles": [1e4, 1e12]},
    }  # fmt: skip
    (source / "sections.toml").write_text(as_toml({"section": [section]}))
    asked = problem(impact, tmp_path / "runs", life={"sections": "sections.toml"}, members=10, steps=1, refinements=0)
    found = estimate(asked, workers=0)
    said = findings(found)
    write_estimate(found, said, tmp_path / "out")
    members = pyarrow.parquet.read_table(tmp_path / "out" / UNKNOWNS).to_pydict()
    stress, damage = (np.array(members[name]) for name in ("stress ring", "damage ring"))
    assert stress == pytest.approx(1e4 * np.array(members["compression"]), rel=1e-3)
    assert damage == pytest.approx(damage.max() * (stress / stress.max()) ** 4, rel=0.02)
    (life,) = said.life
    assert life.damage == pytest.approx(band_of(damage))
    assert life.exceeds == np.mean(stress > 60e6)
    with h5py.File(tmp_path / "out" / BOTH) as both:
        assert both["unknowns/damage ring"][:].tolist() == damage.tolist()
        assert both["unknowns/stress ring"].attrs["unit"] == "Pa"
        bands = pyarrow.parquet.read_table(tmp_path / "out" / BANDS).to_pydict()
        assert set(both["load_bands"]) == set(bands)
        name = "mechanism.load.compression high"
        assert np.array_equal(both["load_bands"][name][:], np.array(bands[name], float), equal_nan=True)
        assert both["load_bands"][name].attrs["unit"] == "N"
    about = json.loads((tmp_path / "out" / SUMMARY).read_text())
    assert about["life"][0]["damage"] == list(life.damage)
    assert ">ring</th>" in write_model_page(found, said, tmp_path).read_text(encoding="utf-8")


@pytest.mark.parametrize("start", [0.0, "capture"])
def test_a_run_that_ends_early_reads_the_same(impact, tmp_path, start):
    """Up to its end, to the bit; where an event is the start, the end counts from that on, and it may come late."""
    asked = problem(impact, tmp_path / "runs", start=start)
    times, until = asked.telemetry.time, 0.2
    values = dict.fromkeys(asked.unknowns.names, 0.0) | {"initial_conditions.velocity[1]": 0.12}
    values["chaser.parameters.mass"] = 19400.0
    runner = ReadingsRunner(asked.instruments, asked.campaign.study)
    try:
        whole, part = (runner.run(RunPoint(0, values | more)) for more in ({}, {UNTIL: until}))
    finally:
        runner.close()
    assert part["macro_steps"] < 0.8 * whole["macro_steps"]
    readings = np.array([row[READINGS][: len(times)] for row in (whole, part)])
    here = times <= until
    assert np.isfinite(readings[:, here & (times > 0.1)]).all()
    assert np.array_equal(readings[0, here], readings[1, here], equal_nan=True)
    assert np.isnan(readings[1, times > until + 0.02]).all()


@pytest.mark.slow
def test_a_bias_of_a_sensor_is_an_unknown(impact, tmp_path):
    """A prior of 10 mm on a stroke of 30 mm, of which the data leave less than 1 mm."""
    sensor = [{"of": "unit.stroke", "error": "bias", "law": "normal", "deviation": 10.0}]
    found = estimate(problem(impact, tmp_path / "runs", sensor=sensor), workers=0)
    place = found.problem.unknowns.names.index("sensor:unit.stroke.bias")
    bias = found.values()[:, place]
    assert abs(bias.mean()) < 4.0 * bias.std(ddof=1) + 0.1
    assert bias.std(ddof=1) < 1.0


@pytest.mark.slow
def test_the_start_is_where_a_run_tells_the_first_readings(impact, tmp_path):
    """Readings at 50 Hz tell it to 0.5 ms of an interval of 60 ms; one shorter than two samples leaves an unknown."""
    asked = problem(impact, tmp_path / "runs", start=[-0.04, 0.02])
    assert START not in asked.unknowns.names
    assert START in problem(impact, tmp_path / "other", start=[-0.01, 0.01]).unknowns.names
    instruments = asked.instruments
    run = dockfmu.load(SYSTEM, TRUTH).run(stop=STOP, record=instruments.variables, every=1)
    late = fitted_delay(instruments.telemetry, DriftingRun(run), -0.04, instruments.start, instruments.model_error)
    assert late == pytest.approx(0.04, abs=5e-4)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"unknown": []}, "nothing to estimate"),
        ({"members": 3}, "members = 3"),
        ({"windows": ["touch"]}, "events that are told"),
        ({"start": "touch"}, "no such event is told"),
        ({"start": [1.0, 0.0]}, "an earliest and a latest time"),
        ({"sensor": [{"of": "unit.strok", "error": "bias", "law": "normal"}]}, "did you mean unit.stroke"),
        ({"sensor": [{"of": "unit", "error": "bias", "law": "normal"}]}, "clock_offset"),
        ({"unknown": [{"name": "fault", "law": "choice", "options": [{"label": "a"}]}]}, "compares models"),
        ({"unknown": [{"name": "initial_conditions.miss[1]", "law": "uniform", "low": 1, "high": 0}]}, "below high"),
        ({"model_error": -0.1}, "must be a share"),
        ({"membres": 3}, "members"),
    ],
    ids=["nothing", "members", "windows", "event", "range", "sensor", "clock", "choice", "law", "error", "entry"],
)
def test_what_is_wrong_in_the_table_is_named(impact, tmp_path, changes, words):
    with pytest.raises(dockfmu.DockfmuError, match=rf"runs\.toml.*{words}"):
        problem(impact, tmp_path / "runs", **changes)


def test_the_mean_of_a_disc_of_unknowns_is_its_centre():
    """Radius and azimuth would have none: the disc is an image of the plane, uniform by area."""
    from dockfmu.campaign.sampling.distributions import UniformDisc
    from dockfmu.reconstruct.unknowns import Unknowns

    unknowns = Unknowns((UniformDisc(("a", "b"), 2.0),))
    members = np.random.default_rng(1).normal(size=(4000, 2))
    radius = np.linalg.norm(unknowns.table(members), axis=1)
    assert np.mean(radius < 1.0) == pytest.approx(0.25, abs=5.0 * math.sqrt(0.25 * 0.75 / 4000))
    assert list(unknowns.values(np.zeros(2)).values()) == [0.0, 0.0] or radius.min() >= 0.0
    near = unknowns.table(np.array([[1e-3, 0.0], [-1e-3, 0.0]]))
    assert np.allclose(near[0], -near[1])
    assert np.linalg.norm(near[0]) < 2e-3
