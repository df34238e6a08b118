"""The report of a run: content of its page and plots, and reports after failures."""

import base64
import json
import re

import h5py
import numpy as np
import pytest

from dockfmu.base.files import WriteError
from dockfmu.declare.plan import Panel
from dockfmu.master.observers.recording.results import read_results
from dockfmu.report.curves import plots
from dockfmu.report.figures import description, figure
from dockfmu.report.page import write_report
from dockfmu.report.shown_units import shown_unit
from tests.dockfmu.command_line import status_of

TIME = np.linspace(0.0, 4.0, 41)
ANGLE = 0.1 * np.sin(TIME)


@pytest.fixture
def recording(tmp_path):
    """Return a recording of an angle, its rate, and an enumeration."""
    items = ["1=PREPARE", "2=PUSH", "3=END_OF_RUN"]
    columns = {
        "craft/angle": (ANGLE, {"unit": "rad", "variability": "continuous", "type": "Real"}),
        "craft/mass": (
            0.0 * TIME + 20e3,
            {"unit": "kg", "variability": "continuous", "type": "Real", "display_unit": "t"},
        ),
        "craft/phase": (
            1 + (TIME > 2.0),
            {"unit": "", "variability": "discrete", "type": "Enumeration", "items": items},
        ),
    }
    with h5py.File(tmp_path / "results.h5", "w") as out:
        out["time"] = TIME
        for path, (values, attributes) in columns.items():
            out[path] = values
            out[path].attrs.update(attributes)
    with read_results(tmp_path / "results.h5") as results:
        yield results


@pytest.fixture(scope="module")
def folder(pair, tmp_path_factory):
    """Return the results of a run of the pair with a changed parameter."""
    folder = tmp_path_factory.mktemp("run")
    assert (
        status_of(
            "run", pair, "--stop", 20, "--every", 7, "--set", "first.parameters.initial_position=0.5", "-o", folder
        )
        == 0
    )
    return folder


def test_angles_are_shown_in_degrees_and_others_as_the_fmu_asks(recording):
    (angle,) = plots(recording, [Panel("Angle", ("craft.angle",))])
    assert angle.axis_label == "°"
    assert angle.curves[0].values.max() == pytest.approx(np.rad2deg(0.1), rel=1e-3)
    (mass,) = plots(recording, [Panel("Mass", ("craft.mass",))])
    assert (mass.axis_label, mass.curves[0].values[0]) == ("t", pytest.approx(20.0))


@pytest.mark.parametrize(
    ("unit", "display", "shown"),
    [
        ("rad/s", "", ("°/s", 180.0 / np.pi)), ("1", "", ("", 1.0)), ("m", "furlong", ("m", 1.0)),
        ("m", "kg", ("m", 1.0)), ("mW/sr", "", ("mW/sr", 1.0)),
    ],
)  # fmt: skip
def test_a_display_unit_that_is_unknown_or_of_another_quantity_is_left(unit, display, shown):
    assert shown_unit(unit, display) == (shown[0], pytest.approx(shown[1]))


def test_phases_are_named_and_only_those_that_occur(recording):
    (phase,) = plots(recording, [Panel("Phase", ("craft.phase",))])
    assert phase.ticks == ((1.0, "prepare"), (2.0, "push"))
    assert phase.axis_label == ""


def test_a_window_keeps_the_samples_at_its_ends(recording):
    (plot,) = plots(recording, [Panel("Angle", ("craft.angle",))], (1.0, 2.0))
    assert plot.curves[0].time[[0, -1]] == pytest.approx([1.0, 2.0])


def test_the_page_says_how_to_run_it_again_and_what_was_changed(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(
        r"dockfmu run \S+pair.ssp --stop 20 --every 7 --set first.parameters.initial_position=0.5 -o ", page
    )
    assert re.search(r"Parameters changed.*first\.parameters\.initial_position</code></td><td>0.5<", page, re.DOTALL)
    assert "<script src" not in page
    assert page.index("<h1>") < page.index('class="outcome') < page.index("Audit") < page.index("Peaks")
    assert re.findall(r"<h(\d)>", page)[:2] == ["1", "2"]


def test_the_figures_of_the_page_hold_the_samples(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    figures = json.loads(re.search(r'<script type="application/json" id="figures">(.*?)</script>', page, re.DOTALL)[1])
    trace = figures["plots"][0]["traces"][-1]
    shown = np.frombuffer(base64.b64decode(trace["y"]["bdata"]), "<f4")
    with read_results(folder / "results.h5") as results:
        name = next(name for name in results.variables if name.endswith(trace["name"]))
        assert shown.max() == np.float32(results[name].max())
    assert figures["end"] == [0.0, 20.0]


def test_numbers_beyond_single_precision_are_plotted(tmp_path):
    with h5py.File(tmp_path / "results.h5", "w") as out:
        out["time"] = TIME
        out["craft/vast"] = values = np.append(np.inf, 1e300 * TIME[1:])
        out["craft/vast"].attrs.update({"unit": "m", "variability": "continuous", "type": "Real"})
    with read_results(tmp_path / "results.h5") as results:
        (trace,) = figure(plots(results, [Panel("", ("craft.vast",))])[0])["traces"]
    assert (trace["x"]["dtype"], trace["y"]["dtype"]) == ("f4", "f8")
    assert np.frombuffer(base64.b64decode(trace["y"]["bdata"]), "<f8")[-1] == values[-1]


def test_plots_reach_the_peaks_of_the_table(folder):
    """Records every 7 steps miss the turning points; the boxes of extremes have them bitwise."""
    with read_results(folder / "results.h5") as results:
        peaks = json.loads((folder / "summary.json").read_text())["peaks"]
        names = [name for name in results.variables if name in peaks and results.has_envelope(name)]
        assert names
        shown = plots(results, [Panel(name, (name,)) for name in names])
        for name, plot in zip(names, shown, strict=True):
            assert plot.curves[0].extremes == (peaks[name]["min"], peaks[name]["max"])
        assert any(len(plot.curves[0].band) for plot in shown)


def test_each_plot_is_told_in_words(recording):
    (plot,) = plots(recording, [Panel("Angle", ("craft.angle",))])
    assert (
        description(plot)
        == f"Angle (craft), over time: angle from {np.rad2deg(ANGLE.min()):.4g} to {np.rad2deg(ANGLE.max()):.4g} °"
    )
    assert figure(plot)["text"] == description(plot)


def test_pictures_are_drawn_on_demand(folder):
    assert [file.name for file in write_report(folder)] == ["report.html"]
    written = write_report(folder, png=True)
    assert [file.name for file in written] == ["report.html", "overview.png", "impact.png"]
    for file in written[1:]:
        assert file.read_bytes().startswith(b"\x89PNG")
        file.unlink()


def test_a_picture_that_cannot_be_written_is_told_and_the_page_is_there(folder):
    page = folder / "report.html"
    page.unlink()
    (folder / "overview.png").mkdir()
    try:
        with pytest.raises(WriteError, match=r"overview\.png"):
            write_report(folder, png=True)
    finally:
        (folder / "overview.png").rmdir()
    assert page.is_file()


@pytest.mark.slow
def test_a_run_that_fails_before_its_first_row_has_a_page_that_says_why(tmp_path, capfd):
    wrong = ("run", "central_impact_20t", "--set", "initial_conditions.yaw=115deg", "-o", tmp_path)
    assert status_of(*wrong) == 1
    assert not (tmp_path / "results.h5").exists()
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for text in ("failed</p>", "exceeds its limit of 0.005 m", "ended before anything was recorded", "yaw</th>"):
        assert text in page
    for text in ("<h2>Signals", "<h2>Peaks", "plotly", "dockfmu view"):
        assert text not in page
    capfd.readouterr()
    assert status_of("view", tmp_path) == 2
    assert "report.html says why" in capfd.readouterr().err


def test_the_page_of_a_run_without_a_recording_is_made_from_its_summary(folder, tmp_path):
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    failed = {"status": "failed", "outcome": "failed", "message": "first: no start", "peaks": {}, "events": []}
    (tmp_path / "summary.json").write_text(json.dumps(summary | failed), encoding="utf-8")
    assert write_report(tmp_path, png=True) == [tmp_path / "report.html"]
    assert '<p class="bad">first: no start</p>' in (tmp_path / "report.html").read_text(encoding="utf-8")
