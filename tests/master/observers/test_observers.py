"""Events, peaks, progress and recordings against the values of the run."""

import io

import h5py
import numpy as np
import pytest

from dockfmu.master.errors import MasterError, StructureError
from dockfmu.master.fmi import archive
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.progress import Progress
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.observers.series import Series
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure


def test_events_are_those_of_the_full_recording_whatever_the_decimation(swing, tmp_path):
    rules = {
        "rise": Event("a.high", "rise", once=False),
        "first": Event("a.high", "rise"),
        "fall": Event("a.high", "fall", once=False),
        "above": Event("b.y[1]", "above", 0.9, once=False),
        "below": Event("b.y[1]", "below", 0.9, once=False),
        "change": Event("a.high", "change", once=False),
    }
    result = CoSimulation(
        swing,
        Schedule(step=0.001, stop=3.0),
        observers=[Recorder(tmp_path / "r.h5"), Events(rules), Recorder(tmp_path / "thin.h5", every=100)],
    ).run()
    with read_results(tmp_path / "r.h5") as results:
        time, high, y = results.time, results["a.high"].astype(int), results["b.y[1]"] > 0.9
        rises, falls = time[1:][np.diff(high) > 0], time[1:][np.diff(high) < 0]

        def with_start(up, times):
            """A signal that is set at the start counts as an event there."""
            return np.concatenate([time[:1], times]) if up[0] else times

        expected = {
            "rise": with_start(high > 0, rises),
            "first": with_start(high > 0, rises)[:1],
            "fall": falls,
            "above": with_start(y, time[1:][np.diff(y.astype(int)) > 0]),
            "below": with_start(~y, time[1:][np.diff(y.astype(int)) < 0]),
            "change": np.sort(np.concatenate([rises, falls])),
        }
    assert len(rises) > 2
    for name, times in expected.items():
        assert np.allclose([e["t"] for e in result.events if e["name"] == name], times, rtol=1e-14)
    assert [e["t"] for e in result.events] == sorted(e["t"] for e in result.events)
    change = next(e for e in result.events if e["name"] == "change")
    assert (change["old"], change["new"], change["signal"]) == (0.0, 1.0, "a.high")


def test_of_an_event_without_end_the_first_ones_are_kept_and_all_are_counted(swing, monkeypatch):
    monkeypatch.setattr("dockfmu.master.observers.events.MOST", 100)
    rules = {"n": Event("a.count", "change", once=False), "once": Event("a.count", "above", 5.0)}
    result = CoSimulation(swing, Schedule(step=1e-3, stop=1.0), observers=[Events(rules)]).run()
    assert [round(1e3 * e["t"]) for e in result.events if e["name"] == "n"] == list(range(1, 101))
    assert result.warnings == ["event n happened 1000 times; the first 100 are kept, the last was at t = 1 s"]


def test_more_events_than_the_log_holds_are_all_kept(swing):
    result = CoSimulation(
        swing, Schedule(step=1e-4, stop=1.0), observers=[Events({"n": Event("a.count", "change", once=False)})]
    ).run()
    assert [e["new"] for e in result.events] == list(range(1, 10001))


def test_an_event_on_what_has_none_is_refused(swing):
    with pytest.raises(StructureError, match=r"event odd: a\.gain is a parameter"):
        CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Events({"odd": Event("a.gain")})]).run()
    with pytest.raises(StructureError, match=r"a has no variable 'hihg'; did you mean high"):
        CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Events({"odd": Event("a.hihg")})]).run()
    with pytest.raises(StructureError, match="names no element"):
        CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Peaks(["c.high"])]).run()


def test_peaks_are_those_of_the_full_recording(swing, tmp_path):
    names = ["a.y[1]", "b.y[1]", "a.count"]
    result = CoSimulation(
        swing, Schedule(step=0.001, stop=3.0), observers=[Recorder(tmp_path / "r.h5"), Peaks(names)]
    ).run()
    with read_results(tmp_path / "r.h5") as results:
        for name in names:
            values, peak = results[name], result.peaks[name]
            assert (peak["max"], peak["min"]) == (values.max(), values.min())
            assert (peak["t_max"], peak["t_min"]) == (results.time[values.argmax()], results.time[values.argmin()])
    assert result.peaks["a.y[1]"]["unit"] == "m"


def test_the_recording_says_what_was_run(swing, lag, tmp_path):
    CoSimulation(
        swing, Schedule(step=0.01, stop=0.5), observers=[Recorder(tmp_path / "r.h5", attributes={"plan": "none"})]
    ).run()
    with read_results(tmp_path / "r.h5") as results:
        assert results.unit("a.y[1]") == "m"
        assert results.attribute("a.high")["type"] == "Boolean"
        assert results["a.high"].dtype == bool
        assert results.variability("a.count") == "discrete"
        assert results.display_unit("a.y[1]") == ""
        assert results.parameters("a")["gain"] == 1.0
        assert results.fmus["a"]["sha256"] == archive.digest(lag)
        attributes = results.attributes
        assert (attributes["system"], attributes["algorithm"], attributes["step"]) == ("swing", "gauss_seidel", 0.01)
        assert (attributes["plan"], attributes["status"], attributes["t_end"]) == ("none", "completed", 0.5)
        assert "a.none" not in results
        with pytest.raises(MasterError, match=r"holds no 'a\.none'"):
            results["a.none"]


def test_any_reader_of_hdf5_finds_the_variables(swing, tmp_path):
    CoSimulation(swing, Schedule(step=0.01, stop=0.5), observers=[Recorder(tmp_path / "r.h5")]).run()
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["a/y[1]"].shape == file["time"].shape == (51,)
        assert file["a/y[1]"].attrs["unit"] == "m"


def test_what_is_no_recording_is_refused(tmp_path):
    (tmp_path / "r.h5").write_text("text")
    with pytest.raises(MasterError, match="not a readable recording"):
        read_results(tmp_path / "r.h5")


def test_a_line_of_progress(swing):
    stream = io.StringIO()
    CoSimulation(swing, Schedule(step=0.001, stop=2.0), observers=[Progress(stream, always=True)]).run()
    assert "swing: completed at t = 2.000 s" in stream.getvalue()
    assert "2000 macro steps" in stream.getvalue()
    quiet = io.StringIO()
    CoSimulation(swing, Schedule(step=0.001, stop=2.0), observers=[Progress(quiet)]).run()
    assert quiet.getvalue() == ""


def test_rows_far_apart_make_no_chunks_of_single_steps(swing):
    class Visits(Observer):
        count = 0

        def progress(self, t, wall):
            self.count += 1

    visits = Visits()
    CoSimulation(swing, Schedule(step=1e-3, stop=5.0), observers=[Series(every=1_000_000), visits]).run()
    # chunks of 16, 32, 64 ... steps
    assert visits.count < 20


def test_a_terminal_that_goes_away_does_not_end_a_run(alone, monkeypatch):
    class Gone:
        def write(self, text):
            raise BrokenPipeError

        def flush(self):
            raise BrokenPipeError

    monkeypatch.setattr("dockfmu.master.observers.progress.PERIOD_S", 0.0)
    assert (
        CoSimulation(alone, Schedule(step=0.1, stop=1.0), observers=[Progress(Gone(), always=True)]).run().status
        == "completed"
    )


@pytest.mark.parametrize(
    ("when", "level", "expected"),
    [("below", 0.0, [0.01]), ("below", -0.5, [0.69]), ("above", 0.0, []), ("above", -0.5, [0.0]), ("below", -1.0, [])],
)
def test_a_signal_that_starts_at_its_level(lag, when, level, expected):
    """The output falls from 0 towards -1, which it never passes: 0.99^69 < 0.5."""
    system = Structure("decay")
    system.add("a", lag, {"gain": 1.0, "u[1]": -1.0})
    result = CoSimulation(
        system, Schedule(step=0.01, stop=1.0), observers=[Events({"level": Event("a.y[1]", when, level)})]
    ).run()
    assert [event["t"] for event in result.events] == pytest.approx(expected)


@pytest.mark.parametrize("wrong", [{"when": "rising"}, {"when": "above", "level": np.nan}, {"level": "1"}])
def test_an_event_that_cannot_be_is_refused(wrong):
    with pytest.raises(StructureError, match=r"event of a\.y: "):
        Event("a.y", **wrong)
