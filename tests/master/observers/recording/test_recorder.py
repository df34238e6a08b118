"""Recordings are consistent at every moment, dense around events, and readable during the run and after a kill."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from dockfmu.base.locks import Lock
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.events import Event
from dockfmu.master.observers.recording import journal, results, row_writer
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.recording_file import CHUNK_ROWS, RecordingFile
from dockfmu.master.observers.recording.results import lock_beside, read_results, recover
from dockfmu.master.observers.recording.selection import Dense, Selection
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation

ROOT = Path(__file__).parents[4]


ENDLESS = """
import sys
from pathlib import Path
from dockfmu.master.observers.recording import recorder, row_writer
from dockfmu.master.observers.observer import Observer
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

row_writer.FLUSH_S = 0.0

class Tell(Observer):
    "Prints how far the run is recorded: the recorder comes first."
    chunk = 700  # not a divisor of a chunk of the file

    def progress(self, time, wall):
        print(repr(time), flush=True)

system = Structure("endless")
system.add("lag", Path(sys.argv[1]), {f"u[{k}]": float(k) for k in range(1, 13)})
CoSimulation(system, Schedule(step=1e-3, stop=1e6), observers=[recorder.Recorder(Path(sys.argv[2])), Tell()]).run()
"""


@pytest.fixture
def endless(lag12, tmp_path):
    """Start a process that runs and records without end; kill it at the end of the test."""
    file = tmp_path / "r.h5"
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(lag12), str(file)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    yield process, file
    process.kill()
    process.wait()
    process.stdout.close()


def check(results):
    """Check that all rows from start to end have the values of explicit Euler for y' = u - y."""
    n = np.arange(len(results.time))
    assert np.allclose(results.time, n * 1e-3, rtol=0.0, atol=1e-9)
    for k in (1, 12):
        assert np.allclose(results[f"lag.y[{k}]"], k * (1.0 - (1.0 - 1e-3) ** n), rtol=1e-9, atol=1e-12)
    assert np.array_equal(results["lag.count"], n)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.11, 0.37])
def test_a_kill_at_any_moment_leaves_all_that_was_flushed(endless, delay):
    process, file = endless
    time.sleep(delay)
    os.kill(process.pid, signal.SIGKILL)
    told = process.stdout.read().split("\n")
    with read_results(file) as results:
        assert results.attributes["status"] == "running"
        check(results)
        # what was told last may be cut off
        if len(told) > 2:
            assert results.time[-1] >= float(told[-2]) - 1e-9
        before = results.time
    with h5py.File(recover(file)) as plain:
        assert np.array_equal(plain["time"], before)
        assert plain.attrs["status"] == "failed"
        assert plain["lag/y[1]"].attrs["unit"] == "m"
    assert not journal.beside(file).exists()
    with read_results(file) as results:
        check(results)


@pytest.mark.slow
def test_another_process_reads_while_the_run_goes_on(endless):
    process, file = endless
    lengths = []
    for _ in range(20):
        with read_results(file) as results:
            check(results)
            lengths.append(len(results.time))
        time.sleep(0.02)
    assert process.poll() is None
    assert lengths == sorted(lengths)
    assert lengths[-1] > lengths[0] + CHUNK_ROWS


FULL = """
import resource, signal, sys
from pathlib import Path
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
system = Structure("full")
system.add("lag", Path(sys.argv[1]), {f"u[{k}]": float(k) for k in range(1, 13)})
result = CoSimulation(system, Schedule(step=1e-3, stop=1e6), observers=[Recorder(Path(sys.argv[2]))]).run()
print(result.status, result.message)
"""


@pytest.mark.parametrize("limit", [60_000, 300_000, 2_000_000])
def test_a_full_disk_ends_the_run_and_nothing_else(lag12, tmp_path, limit):
    """A limit on file size represents the full disk. HDF5 alone would crash the process at its exit."""
    file = tmp_path / "r.h5"
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(lag12), str(file), str(limit)],
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "failed" in done.stdout
    assert f"{file}: cannot be written ([Errno 27] File too large)" in done.stdout
    assert file.exists() == (limit > 60_000)
    if file.exists():
        with read_results(file) as results:
            check(results)
            assert results.attributes["status"] == "failed"
            assert len(results.time) > 0 or limit < 1_000_000
        with h5py.File(recover(file)) as plain:
            assert plain.attrs["message"] in done.stdout


def test_datasets_are_chunked_and_compressed(swing, tmp_path):
    CoSimulation(
        swing,
        Schedule(step=1e-3, stop=20.0),
        observers=[Recorder(tmp_path / "r.h5"), Recorder(tmp_path / "p.h5", compression=None)],
    ).run()
    with h5py.File(tmp_path / "r.h5") as file:
        dataset = file["a/count"]
        assert (dataset.compression, dataset.shuffle, dataset.chunks) == ("gzip", True, (CHUNK_ROWS,))
        # twenty thousand integers that count up
        assert dataset.id.get_storage_size() < 0.5 * dataset.nbytes
        with h5py.File(tmp_path / "p.h5") as plain:
            assert plain["a/count"].compression is None
            assert np.array_equal(plain["a/y[1]"], file["a/y[1]"])
    assert not journal.beside(tmp_path / "r.h5").exists()


def test_rows_are_dense_around_events_and_sparse_elsewhere(swing, tmp_path):
    event = Event("a.high", "rise")
    dense = Dense((event,), before=0.02, after=0.05)
    full, thin = Recorder(tmp_path / "full.h5"), Recorder(tmp_path / "thin.h5", every=100, dense=dense)
    CoSimulation(swing, Schedule(step=0.001, stop=3.0031), observers=[full, thin]).run()
    with read_results(tmp_path / "full.h5") as results:
        time_, y, high = results.time, results["a.y[1]"], results["a.high"].astype(int)
    rises = time_[1:][np.diff(high) > 0]
    assert len(rises) > 2
    keep = np.arange(len(time_)) % 100 == 0
    keep[-1] = True
    for rise in rises:
        keep |= (time_ > rise - 0.0205) & (time_ < rise + 0.0505)
    with read_results(tmp_path / "thin.h5") as results:
        assert np.array_equal(results.time, time_[keep])
        assert np.array_equal(results["a.y[1]"], y[keep])
    assert keep.sum() < 0.5 * len(keep)


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_the_selection_is_the_same_however_the_rows_come(size):
    selection, time_ = Selection(Dense((), before=0.3, after=0.2), 10), np.arange(200) * 0.1
    kept = []
    for first in range(0, 200, size):
        block = time_[first : first + size]
        kept.append(selection.push(block, block[:, None]))
        for event in (5.04, 12.3):
            if block[0] <= event + 0.06 <= block[-1] + 0.1:
                selection.event(event)
    kept.append(selection.rest())
    times = np.concatenate([times[keep] for times, _, keep in kept])
    assert np.array_equal(np.concatenate([times for times, _, _ in kept]), time_)
    n = np.arange(200)
    windows = ((n >= 48) & (n <= 52)) | ((n >= 120) & (n <= 125))
    assert np.array_equal(times, time_[windows | (n % 10 == 0) | (n == 199)])
    assert np.array_equal(np.concatenate([values[keep, 0] for _, values, keep in kept]), times)


def test_an_event_that_cannot_be_watched_is_refused(swing, tmp_path):
    dense = Dense((Event("a.gain"),))
    with pytest.raises(MasterError, match=r"a\.gain is a parameter"):
        CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5", dense=dense)]).run()


def test_a_torn_row_of_the_journal_is_left_out(tmp_path):
    file = tmp_path / "j"
    book = journal.Journal(file, ["a.y", "b.y"])
    book.append(5, np.array([0.5, 0.6]), np.array([[1.0, 2.0], [3.0, 4.0]]))
    book.append(7, np.array([0.7]), np.array([[5.0, 6.0]]))
    whole = file.read_bytes()
    # three rows of six numbers, room for an entry of extremes; the last cut takes away the end of the names, too
    for cut, rows in ((0, 3), (1, 2), (8, 2), (48, 2), (49, 1), (96, 1), (97, 0), (144, 0), (149, 0)):
        file.write_bytes(whole[: len(whole) - cut])
        found = journal.read(file)
        assert found.time.tolist() == [0.5, 0.6, 0.7][:rows]
        assert [values.tolist()[:rows] for values in found.values.values()][1:] in ([[2.0, 4.0, 6.0][:rows]], [])
    file.write_bytes(whole[:-8] + bytes(8))
    assert len(journal.read(file).time) == 2
    book.restart(8, np.zeros(0), np.zeros((0, 2)))
    assert len(journal.read(file).time) == 0
    book.close(remove=True)
    assert len(journal.read(file).time) == 0


def test_a_journal_that_drops_rows_has_the_others_at_every_moment(tmp_path, monkeypatch):
    """Read what a kill after each system call would leave."""
    file, kept = tmp_path / "j", ([0.6, 0.7], [3.0, 5.0])
    book = journal.Journal(file, ["a.y"])
    book.append(5, np.array([0.5, *kept[0]]), np.array([[1.0], [3.0], [5.0]]))
    seen = []

    def look(call):
        def looked(*arguments, **options):
            result = call(*arguments, **options)
            found = journal.read(file)
            seen.append(found.first)
            assert (found.time.tolist()[-2:], found.values["a.y"].tolist()[-2:]) == kept
            return result

        return looked

    monkeypatch.setattr(Path, "replace", look(Path.replace))
    monkeypatch.setattr(book, "_write", look(book._write))
    book.restart(6, np.array(kept[0]), np.array([[3.0], [5.0]]))
    monkeypatch.undo()
    assert seen == [5, 5, 6]
    book.append(8, np.array([0.8]), np.array([[7.0]]))
    assert journal.read(file).time.tolist() == [0.6, 0.7, 0.8]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j"]
    book.close(remove=True)


def test_rows_that_reach_the_file_in_time_are_not_written_to_the_journal(swing, tmp_path, monkeypatch):
    """The journal takes rows that have waited, also those that the thread has not written yet, without a gap."""
    found, in_file = [], []
    append, write = journal.Journal.append, RecordingFile.write

    def watched(self, first, times, *rest):
        append(self, first, times, *rest)
        rows = journal.read(self.file)
        if len(rows.time) and not journal.unfinished(self.file).exists():
            found.append((rows.first, rows.first + len(rows.time) - 1, self.last, sum(in_file)))

    def slow(self, times, values, entries):
        time.sleep(0.2)
        write(self, times, values, entries)
        in_file.append(len(times))

    monkeypatch.setattr(journal.Journal, "append", watched)
    for name, flush in (("fast", 3600.0), ("slow", 0.01)):
        monkeypatch.setattr(row_writer, "FLUSH_S", flush)
        CoSimulation(swing, Schedule(step=0.001, stop=8.0), observers=[Recorder(tmp_path / f"{name}.h5")]).run()
        assert bool(found) == (name == "slow")
        with read_results(tmp_path / f"{name}.h5") as results:
            assert np.allclose(results.time, np.arange(8001) * 0.001, rtol=0.0, atol=1e-9)
        monkeypatch.setattr(RecordingFile, "write", slow)
    assert max(last for _, last, *_ in found) > 6000
    for first, last, given, written in found:
        # no row is missing, neither within the journal nor between the file and the journal
        assert last == given
        assert first <= written + 1


def test_results_as_tables(swing, tmp_path):
    pandas = pytest.importorskip("pandas")
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as results:
        frame = results.to_pandas(["a.y[1]", "b.count"])
        assert isinstance(frame, pandas.DataFrame)
        assert frame.index.name == "time"
        assert np.array_equal(frame["a.y[1]"], results["a.y[1]"])
        assert np.array_equal(results.table(["a.y[1]", "b.count"]), frame.to_numpy())
        assert list(results.to_pandas().columns) == results.variables
        assert list(results.to_pandas(["a.y"]).columns) == ["a.y[1]"]
        assert frame.attrs["units"] == {"a.y[1]": results.unit("a.y[1]"), "b.count": results.unit("b.count")}


def test_results_with_labels(swing, tmp_path):
    pytest.importorskip("xarray", reason="pip install dockfmu[xarray]")
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as results:
        labelled = results.to_xarray()
        assert labelled["a.y"].dims == ("time", "a.y_1")
        assert np.array_equal(labelled["a.y"].sel(time=0.5, method="nearest"), results["a.y"][5])
        assert labelled["a.y"].attrs["units"] == results.unit("a.y")


def test_a_recording_is_iterated_by_name_as_a_mapping(swing, tmp_path):
    """Iterate over names: by numbers, as a sequence, no recording can be read."""
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as content:
        assert list(content) == content.variables
        assert len(content) == len(content.variables) > 0
        assert {len(content[name]) for name in content} == {len(content.time)}


def test_a_folder_stands_for_the_recording_of_its_run(swing, tmp_path):
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "results.h5")]).run()
    with read_results(tmp_path) as of_the_folder, read_results(tmp_path / "results.h5") as of_the_file:
        assert of_the_folder.file == of_the_file.file
        assert list(of_the_folder.time) == list(of_the_file.time)


def test_the_present_folder_without_a_recording_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MasterError, match="a folder, not a recording"):
        read_results(".")


def test_the_folder_of_another_recording_is_not_a_recording(tmp_path):
    """Name the recording that a folder holds, if it is given in its place."""
    (tmp_path / "r.h5").touch()
    with pytest.raises(MasterError, match=r"a folder, not a recording: name the file in it, r\.h5"):
        read_results(tmp_path)


def test_a_reader_waits_for_a_recording_that_has_just_begun(swing, tmp_path, monkeypatch):
    """Regression: HDF5 keeps a file locked until its writer shares it; a reader in that moment told of damage."""
    fcntl = pytest.importorskip("fcntl")
    file = tmp_path / "r.h5"
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(file)]).run()
    writer = Lock(lock_beside(file), "the test")
    writer.take()
    with file.open("r+b") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        shared = threading.Timer(0.4, lambda: fcntl.flock(held, fcntl.LOCK_UN))
        shared.start()
        with read_results(file) as content:
            assert len(content.time) == 11
            assert content.damage == ""
        shared.join()
        fcntl.flock(held, fcntl.LOCK_EX)
        monkeypatch.setattr(results, "PATIENCE_S", 0.1)
        with pytest.raises(MasterError, match=r"r.h5: its run has just begun, and nobody can read it yet"):
            read_results(file)
    writer.release()


def test_a_recording_that_cannot_begin_leaves_no_file_and_its_reason(swing, tmp_path, monkeypatch):
    def refuse(*_arguments):
        raise ValueError("no attribute of this name")

    monkeypatch.setattr(RecordingFile, "describe", refuse)
    result = CoSimulation(swing, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert result.status == "failed"
    assert result.message.startswith(f"{tmp_path / 'r.h5'}: cannot be written (")
    assert not list(tmp_path.glob("r.h5*"))


def test_attributes_with_bytes_that_are_not_utf_8_are_kept_as_escapes(swing, tmp_path):
    CoSimulation(
        swing,
        Schedule(step=0.01, stop=0.1),
        observers=[Recorder(tmp_path / "r.h5", attributes={"command": "bad\udcff"})],
    ).run()
    with h5py.File(tmp_path / "r.h5") as file:
        assert file.attrs["command"] == "bad\\udcff"


def test_the_recording_of_a_run_in_progress_is_not_recovered(endless):
    process, file = endless
    before = file.stat().st_ino
    with pytest.raises(MasterError, match="its run is still in progress"):
        recover(file)
    assert process.poll() is None
    assert (file.stat().st_ino, journal.beside(file).exists()) == (before, True)
