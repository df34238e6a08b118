"""Extremes between recorded rows against a recording of all steps, also after failures of the run or its file."""

import shutil

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dockfmu.master.drivers.driver import Function
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.recording import journal, recording_file, row_writer
from dockfmu.master.observers.recording.envelope import ENTRY, Envelope, envelope
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results, recover
from dockfmu.master.observers.recording.selection import Dense
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

STEP = 1e-3
NAMES = ["a.through", "a.y[1]", "a.count"]


@pytest.fixture
def noisy(lag):
    """Return a lag that passes its input through, and a driver that changes its input in each step."""
    system = Structure("noisy")
    system.add("a", lag, {"gain": 50.0, "feed": 1.0})

    def noise(time):
        return {"a.u[1]": float(np.random.default_rng(round(time / STEP)).normal())}

    return system, Function(["a.u[1]"], noise)


def recorded(noisy, file, *observers, stop=0.5, **how):
    system, driver = noisy
    result = CoSimulation(
        system, Schedule(step=STEP, stop=stop), drivers=[driver], observers=[Recorder(file, NAMES, **how), *observers]
    ).run()
    return result, read_results(file)


def between(every, few, name):
    """Return the extremes between the rows of `few`, from a recording of every step."""
    ends = np.searchsorted(every.time, few.time - 0.1 * STEP)
    pieces = [every[name][max(a, 0) : b + 1] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    pieces[-1] = every[name][ends[-2] :] if len(ends) > 1 else pieces[-1]
    return np.array([p.min() for p in pieces]), np.array([p.max() for p in pieces])


def agree(every, few):
    for name in NAMES[:2]:
        assert np.array_equal(few.envelope(name), between(every, few, name)), name
        assert np.array_equal(few[name], every[name][np.searchsorted(every.time, few.time - 0.1 * STEP)])


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 9))
@settings(max_examples=30, deadline=None)
def test_steps_in_chunks_of_any_size_give_the_extremes_between_the_kept_ones(seed, size, every):
    random = np.random.default_rng(seed)
    values = random.normal(size=(100, 3)).round(1)
    keep = np.arange(100) % every == 0
    folded, entries = Envelope(3), []
    for first in range(0, 100, size):
        entries.append(folded.fold(values[first : first + size], keep[first : first + size]))
    entries = np.concatenate([*entries, folded.rest()])
    starts = np.flatnonzero(keep)
    for k in range(3):
        low, high = envelope(values[keep, k], entries[entries["variable"] == k])
        ends = [*starts[1:-1], 99] if len(starts) > 1 else []
        expected = [values[0, k] if len(starts) > 1 else values[:, k].min()]
        expected += [values[a : b + 1, k].min() for a, b in zip(starts, ends, strict=False)]
        assert low.tolist() == expected
        assert (high >= low).all()
        assert high.max() == values[:, k].max()


@pytest.mark.parametrize("every", [2, 7, 1000])
@pytest.mark.parametrize("peaks", [False, True])
def test_a_run_has_the_extremes_of_all_its_steps(noisy, tmp_path, every, peaks):
    """The last interval may be shorter, and other observers may read the same variables."""
    _, whole = recorded(noisy, tmp_path / "whole.h5")
    result, few = recorded(noisy, tmp_path / "few.h5", *([Peaks(NAMES[:2])] if peaks else []), every=every)
    assert result.status == "completed", result.message
    assert few.time[-1] == whole.time[-1]
    agree(whole, few)
    if peaks:
        low, high = few.envelope("a.through")
        assert (low.min(), high.max()) == (result.peaks["a.through"]["min"], result.peaks["a.through"]["max"])


def test_a_pulse_of_one_step_between_two_rows_is_there(noisy, tmp_path):
    pulse = Function(["a.u[1]"], lambda t: {"a.u[1]": 6322.0 if abs(t - 0.2345) < 0.5 * STEP else 0.0})
    result, few = recorded((noisy[0], pulse), tmp_path / "r.h5", Peaks(["a.through"]), every=10)
    low, high = few.envelope("a.through")
    assert few["a.through"].max() == 0.0
    assert result.peaks["a.through"]["max"] == high.max() == 6322.0
    k = int(high.argmax())
    assert few.time[k - 1] < result.peaks["a.through"]["t_max"] <= few.time[k]
    assert not low.any()


def test_around_events_every_step_is_a_row_and_elsewhere_the_extremes_are_there(noisy, tmp_path):
    _, whole = recorded(noisy, tmp_path / "whole.h5")
    dense = Dense((Event("a.y[1]", "above", 0.2),), before=0.01, after=0.02)
    _, few = recorded(noisy, tmp_path / "few.h5", every=20, dense=dense)
    assert 26 < len(few.time) < 501
    agree(whole, few)


def test_what_was_reached_between_the_last_row_and_a_failure_belongs_to_that_row(noisy, tmp_path):
    noisy[0].elements["a"].start |= {"fail.function": 1, "fail.status": 3, "fail.time": 0.2345}
    first, whole = recorded(noisy, tmp_path / "whole.h5")
    result, few = recorded(noisy, tmp_path / "few.h5", Peaks(NAMES[:1]), every=100)
    assert (first.status, result.status) == ("failed", "failed")
    assert few.time[-1] == pytest.approx(0.2)
    agree(whole, few)
    assert few.envelope("a.through")[1].max() == result.peaks["a.through"]["max"]


def test_a_run_resumed_within_an_interval_begins_with_a_row_and_loses_nothing(noisy, tmp_path):
    system, driver = noisy
    _, whole = recorded(noisy, tmp_path / "whole.h5")
    with CoSimulation(system, Schedule(step=STEP, stop=0.5), drivers=[driver]).open() as simulation:
        simulation.advance(0.123)
        checkpoint = simulation.save()
    result = CoSimulation(
        system,
        Schedule(step=STEP, stop=0.5),
        drivers=[driver],
        observers=[Recorder(tmp_path / "rest.h5", NAMES, every=10)],
        resume=Resumption(checkpoint),
    ).run()
    assert result.status == "completed", result.message
    with read_results(tmp_path / "rest.h5") as rest:
        assert rest.time[:2] == pytest.approx([0.123, 0.13])
        for name in NAMES[:2]:
            after = slice(int(np.searchsorted(whole.time, 0.1225)), None)

            class After:
                time = whole.time[after]

                def __getitem__(self, name, after=after):
                    return whole[name][after]

            assert np.array_equal(rest.envelope(name), between(After(), rest, name))


class Snapshots(Observer):
    """Observer that copies a recording with its journal during the run, as a kill would leave them."""

    def __init__(self, file, folder):
        self.file, self.folder, self.calls, self.count = file, folder, 0, 0

    def progress(self, time, wall):
        self.calls += 1
        if self.calls % 701:
            return
        folder = self.folder / f"snapshot{self.count}"
        folder.mkdir()
        for path in (self.file, journal.beside(self.file)):
            shutil.copyfile(path, folder / path.name)
        self.count += 1


@pytest.mark.filterwarnings("ignore::dockfmu.master.observers.recording.results.DamagedRecording")
@pytest.mark.slow
def test_what_a_kill_leaves_has_the_extremes_of_its_rows(noisy, tmp_path, monkeypatch):
    """Rows are in HDF5, in the journal, or in both; read before and after `recover`."""
    monkeypatch.setattr(row_writer, "FLUSH_S", 0.0)
    monkeypatch.setattr(recording_file, "CHUNK_ROWS", 64)
    monkeypatch.setattr(row_writer, "BLOCK_ROWS", 128)
    file = tmp_path / "r.h5"
    snapshots = Snapshots(file, tmp_path)
    _, few = recorded(noisy, file, snapshots, every=5, stop=4.0)
    assert snapshots.count == 5
    lengths = set()
    for k in range(snapshots.count):
        copy = tmp_path / f"snapshot{k}" / "r.h5"
        with read_results(copy) as results:
            rows = len(results.time)
            lengths.add(rows)
            found = {name: results.envelope(name) for name in NAMES[:2]}
        recover(copy)
        assert not journal.beside(copy).exists()
        with read_results(copy) as results:
            assert len(results.time) == rows
            for name in NAMES[:2]:
                assert np.array_equal(found[name], np.array(few.envelope(name))[:, :rows]), (k, rows)
                assert np.array_equal(results.envelope(name), found[name])
    assert max(lengths) > 128


@pytest.mark.filterwarnings("ignore::dockfmu.master.observers.recording.results.DamagedRecording")
def test_a_damaged_file_keeps_the_extremes_of_the_rows_that_can_be_read(noisy, tmp_path):
    file = tmp_path / "r.h5"
    _, few = recorded(noisy, file, every=5)
    low, high = few.envelope("a.through")
    few.close()
    data = bytearray(file.read_bytes())
    with h5py.File(file) as content:
        # behind what is damaged nothing of the rows matters
        where = content["a/count"].id.get_chunk_info(0).byte_offset
    data[where] ^= 0xFF
    file.write_bytes(data)
    with read_results(file) as results:
        rows = len(results.time)
        assert "a/count" in results.damage or rows < 101
        if rows:
            assert np.array_equal(results.envelope("a.through"), (low[:rows], high[:rows]))


@given(st.integers(0, 10**6), st.integers(1, 12))
@settings(max_examples=30, deadline=None)
def test_a_journal_gives_entries_back_however_narrow_it_is(tmp_path_factory, seed, names):
    random = np.random.default_rng(seed)
    count = int(random.integers(0, 60))
    entries = np.empty(count, ENTRY)
    entries["row"] = np.sort(random.integers(4, 14, count))
    entries["variable"], entries["low"], entries["high"] = (
        random.integers(0, names, count),
        *random.normal(size=(2, count)),
    )
    file = tmp_path_factory.mktemp("journal") / "j"
    written = journal.Journal(file, [f"v{k}" for k in range(names)])
    time, values = np.arange(10.0), random.normal(size=(10, names))
    # row 5 of the recording is number 4 from 0; in two parts
    for part in (slice(0, 6), slice(6, 10)):
        of_part = entries[(entries["row"] >= 4 + part.start) & (entries["row"] < 4 + part.stop)]
        written.append(5 + part.start, time[part], values[part], of_part)
    written.close(remove=False)
    rows = journal.read(file)
    assert (rows.first, rows.damage) == (5, "")
    assert np.array_equal(rows.time, time)
    assert np.array_equal(np.column_stack(list(rows.values.values())), values)
    assert np.array_equal(rows.entries, entries)
    # cut anywhere: whole rows with all their entries
    data = file.read_bytes()
    file.write_bytes(data[: int(random.integers(0, len(data)))])
    cut = journal.read(file)
    assert np.array_equal(cut.time, time[: len(cut.time)])
    assert np.array_equal(cut.entries, entries[entries["row"] < 4 + len(cut.time)])


def test_a_recording_without_extremes_says_so(noisy, tmp_path):
    _, few = recorded(noisy, tmp_path / "r.h5", every=10, extremes=False)
    assert not few.has_envelope("a.through")
    with pytest.raises(MasterError, match=r"r\.h5: holds no extremes of a\.through between its rows"):
        few.envelope("a.through")


def test_whole_numbers_have_no_extremes_and_systems_of_them_are_recorded(noisy, tmp_path):
    system, driver = noisy
    file = tmp_path / "r.h5"
    result = CoSimulation(
        system,
        Schedule(step=STEP, stop=0.1),
        drivers=[driver],
        observers=[Recorder(file, ["a.count", "a.text"], every=10)],
    ).run()
    assert result.status == "completed", result.message
    with read_results(file) as results:
        assert len(results.time) == 11
        assert results["a.count"].tolist() == list(range(0, 101, 10))
        assert not results.has_envelope("a.count")
