"""`dockfmu compare` finds differences between two runs with different grids or signals, or damaged files."""

import json

import h5py
import numpy as np
import pytest

from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import DamagedRecording
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.report.comparison import compare, open_run, resampled
from dockfmu.report.comparison_lines import sections
from dockfmu.report.overlay import panels, write_comparison
from dockfmu.report.page import write_report
from tests.dockfmu.command_line import status_of
from tests.dockfmu.small_systems import pair_system


def made(pair, folder, *arguments):
    assert status_of("run", pair, "--no-report", "-o", folder, *arguments) in (0, 1)
    return folder


@pytest.fixture(scope="module")
def runs(pair, tmp_path_factory):
    """Return folders of runs of the pair: unchanged twice, with a larger displacement, with shorter steps, failed."""
    folder = tmp_path_factory.mktemp("runs")
    further = ("--set", "first.parameters.initial_position=1.1")
    return {
        "plain": made(pair, folder / "plain"),
        "again": made(pair, folder / "again"),
        "further": made(pair, folder / "further", *further),
        "fine": made(pair, folder / "fine", "--step", 0.005, "--every", 3, "--stop", 1.0),
        "failed": made(pair, folder / "failed", "--set", "second.parameters.travel_limit=205mm"),
    }


def summary(folder):
    return json.loads((folder / "summary.json").read_text())


def found(runs, a, b, *signals, **tolerances):
    return compare(open_run(runs[a]), open_run(runs[b]), signals or ("*",), **tolerances)


def test_a_run_agrees_with_itself_repeated(runs):
    same = found(runs, "plain", "again")
    assert same.same
    assert same.compared > 10
    assert [same.parameters, same.fmus, same.settings, same.peaks, same.signals] == [[]] * 5


def test_parameters_events_peaks_and_signals_that_differ(runs):
    differ = found(runs, "plain", "further")
    assert not differ.same
    ((name, a, b, unit),) = [(p.name, p.a, p.b, p.unit) for p in differ.parameters]
    assert (name, a, b, unit) == ("first.parameters.initial_position", 1.0, 1.1, "m")
    one, other = (summary(runs[run]) for run in ("plain", "further"))
    (event,) = differ.events
    assert event.name == "pushed_far"
    assert event.difference == other["events"][0]["t"] - one["events"][0]["t"] < 0.0
    peaks = {pair.name: pair for pair in differ.peaks}
    assert peaks["first.position max"].a == one["peaks"]["first.position"]["max"]
    assert peaks["first.position max"].difference == pytest.approx(0.1, rel=1e-12)
    # the system is linear: everything that moves is greater by a tenth
    largest = {signal.name: signal for signal in differ.signals}
    assert largest["first.position"].largest == pytest.approx(0.1, rel=1e-12)
    assert largest["first.position"].time == 0.0
    assert largest["second.position"].share == pytest.approx(0.1 / 1.1, rel=1e-9)


def test_tolerances(runs):
    positions = (runs, "plain", "further", "*.position")
    assert not found(*positions, tolerance=0.2).same
    assert found(*positions, tolerance=0.2, event_tolerance=0.5).same
    assert not found(*positions, tolerance=0.01, event_tolerance=0.5).same


def test_other_grids_are_compared_where_both_are(runs):
    coarse = found(runs, "plain", "fine", "*.position", tolerance=0.02)
    assert coarse.span == (0.0, 0.99) or coarse.span == (0.0, 1.0)
    assert coarse.compared == 2
    # first order in the step: half a step of the other's force
    assert not coarse.signals
    assert [pair.name for pair in coarse.settings] == ["step", "record_every"]


def test_samples_between_those_of_the_other():
    time, values = np.array([0.0, 1.0, 3.0]), np.array([0.0, 2.0, 6.0])
    at = np.array([0.0, 0.5, 2.0, 3.0])
    assert resampled(time, values, at, step=False).tolist() == [0.0, 1.0, 4.0, 6.0]
    assert resampled(time, values, at, step=True).tolist() == [0.0, 0.0, 2.0, 6.0]
    assert resampled(time, values, time, step=False) is values


def test_a_failed_run_is_compared_as_far_as_it_goes(runs):
    short = found(runs, "plain", "failed")
    assert not short.same
    assert short.b["status"] == "failed"
    assert short.span is not None
    assert short.span[1] < 2.0
    assert not short.signals  # until it failed it was the same
    assert not short.problems


@pytest.fixture
def copied(runs, tmp_path):
    """Return a copy of the unchanged run, to be damaged."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for name in ("results.h5", "summary.json"):
        (folder / name).write_bytes((runs["plain"] / name).read_bytes())
    return folder


def test_a_damaged_recording_is_compared_as_far_as_it_goes(runs, copied):
    content = (copied / "results.h5").read_bytes()
    (copied / "results.h5").write_bytes(content[: len(content) * 9 // 10])
    damaged = compare(open_run(runs["plain"]), open_run(copied))
    assert not damaged.same
    assert any(problem.startswith("B: ") and "damaged" in problem for problem in damaged.problems)
    assert [event.difference for event in damaged.events] == [0.0]  # the summary is whole


def test_infinite_values_agree_with_themselves(runs, copied):
    with h5py.File(copied / "results.h5", "r+") as file:
        file["first/position"][5:8] = np.inf, -np.inf, np.nan
    assert compare(open_run(copied), open_run(copied)).same
    (signal,) = compare(open_run(runs["plain"]), open_run(copied)).signals
    assert (signal.name, signal.largest) == ("first.position", np.inf)


def shortened(file, rows):
    """Leave the first rows of a recording."""
    with h5py.File(file, "r+") as content:
        columns = [f"{group}/{name}" for group in ("first", "second") for name in content[group]]
        for name in ["time", *columns]:
            kept = dict(content[name].attrs), content[name][:rows]
            del content[name]
            content.create_dataset(name, data=kept[1]).attrs.update(kept[0])


@pytest.mark.parametrize("alone", [False, True], ids=["summary", "alone"])
def test_a_recording_that_is_cut_off_does_not_agree(runs, copied, alone):
    """Regression: both agreed over the time that both cover, and the summary of the copied run was whole."""
    shortened(copied / "results.h5", 50)
    if alone:
        (copied / "summary.json").unlink()
    cut = compare(open_run(runs["plain"]), open_run(copied))
    assert cut.problems[-1] == f"B: {copied / 'results.h5'}: is cut off: its rows end at 0.49 s, and its run at 2 s"
    assert not cut.same
    assert cut.signals == []
    with pytest.warns(DamagedRecording, match="is cut off: its rows end at 0.49 s"):
        write_report(copied)
    assert "is cut off: its rows end at 0.49 s" in (copied / "report.html").read_text()


def test_a_recording_without_rows_does_not_agree(runs, copied):
    shortened(copied / "results.h5", 0)
    empty = compare(open_run(runs["plain"]), open_run(copied))
    assert empty.problems == ["B: nothing was recorded"]
    assert not empty.same
    assert compare(open_run(copied), open_run(copied)).same


def test_a_recording_alone_and_a_summary_alone(runs, copied):
    (copied / "summary.json").unlink()
    without = compare(open_run(runs["plain"]), open_run(copied))
    assert without.b["status"] == "completed"
    assert not without.signals
    assert not without.same
    (copied / "results.h5").unlink()
    (copied / "summary.json").write_bytes((runs["plain"] / "summary.json").read_bytes())
    alone = compare(open_run(copied), open_run(runs["plain"]))
    assert alone.span is None
    assert [event.difference for event in alone.events] == [0.0]
    assert any("results.h5: there is no such file" in problem for problem in alone.problems)


@pytest.mark.parametrize("text", ["[]", "{", '{"events": [3]}', '{"peaks": {"a": 3}}'])
def test_a_summary_of_something_else_is_told(runs, copied, text):
    (copied / "summary.json").write_text(text)
    other = compare(open_run(runs["plain"]), open_run(copied))
    assert any("summary.json" in problem for problem in other.problems)


def test_other_sets_of_signals(runs, oscillator, tmp_path):
    system = pair_system(oscillator)
    system.elements["third"] = system.elements.pop("second")
    system.connections.clear()
    system.name = "other"
    from dockfmu.declare.packages import bundle
    from dockfmu.declare.plan import Plan

    file = bundle.write_bundle(system, Plan(step=0.01, stop=2.0), "", tmp_path / "other.ssp")
    made(file, tmp_path / "other")
    differ = compare(open_run(runs["plain"]), open_run(tmp_path / "other"))
    assert {name.split(".")[0] for name in differ.only_a} == {"second"}
    assert {name.split(".")[0] for name in differ.only_b} == {"third"}
    assert {pair.name for pair in differ.fmus} == {"second", "third"}
    assert "system" in {pair.name for pair in differ.settings}


def test_the_overlay_has_both_runs(runs, pair, tmp_path):
    a, b = open_run(runs["plain"]), open_run(runs["failed"])
    differ = compare(a, b)
    chosen = panels(a, b, None, differ)
    assert chosen == [("Displacements", ["first.position", "second.position"])]
    text = write_comparison(a, b, differ, chosen, tmp_path / "overlay.html").read_text()
    for letter, dash in (("A", "solid"), ("B", "dash")):
        assert f"{letter}: first.position" in text
        assert f'"dash": "{dash}"' in text.replace('":"', '": "')
    # between rows that are far apart
    sparse = open_run(made(pair, tmp_path / "sparse", "--every", 17))
    speeds = [("speeds", ["first.velocity", "second.velocity"])]
    boxes = write_comparison(sparse, b, compare(sparse, b), speeds, tmp_path / "boxes.html").read_text()
    drawn = [page.partition('id="figures">')[2].partition("</script>")[0] for page in (text, boxes)]
    assert ["toself" in figures for figures in drawn] == [False, True]
    assert panels(a, b, ["x.y[1]", "x.y[2]", "z"], compare(a, b)) == [("x.y", ["x.y[1]", "x.y[2]"]), ("z", ["z"])]


def test_the_command(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert status_of("compare", runs["plain"], runs["again"] / "results.h5", "--no-figure") == 0
    assert "the results agree" in capsys.readouterr().out
    assert not (tmp_path / "compare.html").exists()
    assert status_of("compare", runs["plain"], runs["further"]) == 1
    told = capsys.readouterr().out
    assert "first.parameters.initial_position  1" in told
    assert "pushed_far" in told
    assert (tmp_path / "compare.html").is_file()
    assert status_of("compare", runs["plain"], runs["further"], "--json", "--signals", "first", "--no-figure") == 1
    content = json.loads(capsys.readouterr().out)
    assert content["compared"] == len([n for n in open_run(runs["plain"]).results.variables if n.startswith("first.")])
    assert content["same"] is False


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nosuch",), "nosuch: there is no such file or folder"),
        (("plain", "--signals", "first.positon"), "did you mean first.position"),
        (("plain", "-o", "x.png"), "the overlay is a page"),
        (("plain", "--tolerance", "-1"), "must be a number of at least 0"),
        (("plain", "--signals", "a,,b"), "is not a list of patterns"),
    ],
)
def test_wrong_commands(runs, arguments, words, capsys):
    other = runs.get(arguments[0], arguments[0])
    assert status_of("compare", runs["plain"], other, *arguments[1:]) == 2
    assert words in capsys.readouterr().err


def test_a_run_that_does_not_exist_is_not_that_of_the_present_folder(runs, monkeypatch, capsys):
    """The present folder holds the summary of another run."""
    monkeypatch.chdir(runs["plain"])
    assert status_of("compare", runs["plain"], "nosuch", "--no-figure") == 2
    assert "nosuch: there is no such file or folder" in capsys.readouterr().err


def test_export_of_chosen_signals_and_rows(runs, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    chosen = ("--signals", "second.position,*.audit.momentum[1]", "--every", 10, "-o", "out.csv")
    assert status_of("export", runs["plain"], "--csv", *chosen) == 0
    header = (tmp_path / "out.csv").read_text().splitlines()[0]
    assert header == "time [s],first.audit.momentum[1] [N.s],second.audit.momentum[1] [N.s],second.position [m]"
    rows = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    results = open_run(runs["plain"]).results
    assert np.array_equal(rows[:, 0], results.time[::10])
    assert np.array_equal(rows[:, 3], results["second.position"][::10])
    capsys.readouterr()
    assert status_of("export", runs["plain"], "--csv", "--signals", "momentum") == 2
    assert "holds no 'momentum'" in capsys.readouterr().err


def test_runs_that_end_at_other_times_do_not_agree(pair, runs, tmp_path):
    """All that both have agrees to the last bit."""
    runs = runs | {"shorter": made(pair, tmp_path / "shorter", "--stop", 1.5)}
    differ = found(runs, "plain", "shorter", "first.position", tolerance=10.0)
    assert (differ.signals, differ.peaks, differ.same) == ([], [], False)
    assert found(runs, "plain", "shorter", "first.position", tolerance=10.0, event_tolerance=0.6).same


def test_strings_are_compared(tmp_path, lag):
    folders = {}
    for label in ("one", "two", "again"):
        system = Structure("lag")
        system.add("a", lag, {"label": label.replace("again", "one")})
        folders[label] = tmp_path / label
        folders[label].mkdir()
        CoSimulation(
            system, Schedule(step=0.1, stop=1.0), observers=[Recorder(folders[label] / "results.h5", ["a.text"])]
        ).run()
    (text,) = found(folders, "one", "two").signals
    assert (text.name, text.share) == ("a.text", np.inf)
    assert found(folders, "one", "again").signals == []


@pytest.fixture(scope="module")
def impacts(tmp_path_factory):
    """Return folders of two short impacts, with another miss and yaw."""
    place = tmp_path_factory.mktemp("impacts")
    conditions = {"a": ("initial_conditions.yaw=2deg",), "b": ("initial_conditions.yaw=2.5deg",
                                                               "initial_conditions.miss=10mm,0mm")}  # fmt: skip
    for name, settings in conditions.items():
        given = [word for setting in settings for word in ("--set", setting)]
        status = status_of("run", "central_impact_20t", "--stop", "0.7", "--no-report", *given, "-o", place / name)
        assert status in (0, 3)
    return place / "a", place / "b"


@pytest.mark.slow
def test_the_question_of_a_comparison_comes_first_and_causes_last(impacts):
    """Conditions as given, not the states that follow from them; rounding beside large values of its unit is last."""
    a, b = map(open_run, impacts)
    differ = compare(a, b)
    given = {pair.name: (pair.a, pair.b, pair.unit) for pair in differ.conditions}
    assert given["miss y"] == (0.0, pytest.approx(10.0), "mm")
    assert given["yaw"] == (pytest.approx(2.0), pytest.approx(2.5), "°")
    assert {"R1", "R2"} <= given.keys()
    assert len(given) == 4
    titles = [section.title.partition(":")[0] for section in sections(differ)]
    order = ["initial conditions that differ", "events", "loads", "peaks that differ", "signals that differ"]
    assert titles[: len(order)] == order
    assert any(pair.name.startswith("chaser.parameters.initial.") for pair in differ.parameters)
    shown = [row[0] for section in sections(differ) for row in section.rows]
    assert not any(".parameters.initial." in name for name in shown)
    (loads,) = [section for section in sections(differ) if section.title == "loads"]
    assert {"mechanism.load.compression", "mechanism.target.force_now lateral"} <= {row[0] for row in loads.rows}
    largest = max(signal.largest for signal in differ.signals if signal.unit == "N.m")
    nothing = [signal.unit == "N.m" and signal.largest <= 1e-9 * largest for signal in differ.signals]
    # those that are nothing follow all that are something
    assert not any(nothing[: len(differ.signals) // 2])
    for names in ([pair.name for pair in differ.peaks], [signal.name for signal in differ.signals]):
        errors = [".audit." in name and "_error" in name for name in names]
        # errors of a balance are no answer: they follow what the runs answer, however much they differ
        assert any(errors)
        assert not any(errors[: len(names) // 2])


@pytest.mark.slow
def test_the_page_of_a_comparison_is_that_of_the_report(impacts, browser, tmp_path):
    """Its font, its tables, values by name at their ticks; nothing is wider than a phone."""
    file = tmp_path / "compare.html"
    assert status_of("compare", *impacts, "-o", file) == 1
    for width in (390, 1280):
        page = browser.new_page(viewport={"width": width, "height": 800})
        errors = []
        page.on("pageerror", lambda error, found=errors: found.append(error))
        page.goto(file.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("document.querySelectorAll('.plot .main-svg').length") > 10
        assert "system-ui" in page.evaluate("document.querySelector('.plot').layout.font.family")
        assert "sensor.first_contact" in page.evaluate("document.querySelectorAll('.plot')[10].textContent")
        assert not errors
        page.close()
