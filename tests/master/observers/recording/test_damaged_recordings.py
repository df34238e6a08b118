"""Truncated or changed recordings are refused or read correctly: no crash, no wrong values."""

import os
import random
import subprocess
import sys
import warnings
from dataclasses import dataclass

import h5py
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from dockfmu.base.locks import LockedError
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording import checksum, journal
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.recording_file import CHUNK_ROWS
from dockfmu.master.observers.recording.results import DamagedRecording, read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure

pytestmark = pytest.mark.slow

NAMES = ["a.y[1]", "a.count", "a.high", "a.text", "b.y[1]"]
ROWS = 6 * CHUNK_ROWS + 101


@dataclass(frozen=True, repr=False)
class Recorded:
    """A recording as bytes, and what is in it."""

    data: bytes
    time: np.ndarray
    values: dict
    parameters: dict
    attributes: dict


@pytest.fixture(scope="module")
def recorded(lag, tmp_path_factory):
    system = Structure("swing")
    system.add("a", lag, {"gain": 1.0, "label": "Größe"})
    system.add("b", lag, {"gain": 1.0})
    system.connect("a", "y[1]", "b", "u[1]", factor=40.0)
    system.connect("b", "y[1]", "a", "u[1]", factor=-40.0, offset=40.0)
    file = tmp_path_factory.mktemp("recorded") / "r.h5"
    CoSimulation(system, Schedule(step=1e-3, stop=1e-3 * (ROWS - 1)), observers=[Recorder(file, NAMES)]).run()
    with read_results(file) as results:
        assert len(results.time) == ROWS
        values = {name: results[name] for name in NAMES}
        return Recorded(file.read_bytes(), results.time, values, results.parameters("a"), results.attributes)


def read_or_refuse(file, recorded):
    """Return the rows read from a file, all of them correct; None if it is refused by name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with read_results(file) as results:
                count = len(results.time)
                assert np.array_equal(results.time, recorded.time[:count])
                for name in results.variables:
                    assert np.array_equal(results[name], recorded.values[name][:count])
                told = [str(w.message) for w in caught if issubclass(w.category, DamagedRecording)]
                assert told == ([results.damage] if results.damage else [])
                assert not results.damage or str(file) in results.damage
                if not results.damage:
                    assert count == ROWS
                    assert set(results.variables) == set(recorded.values)
                    assert results.parameters("a") == recorded.parameters
                    assert results.attributes == recorded.attributes
                return count
        except MasterError as error:
            refusal = str(error)
    assert str(file) in refusal
    return None


def test_a_recording_is_sealed_and_other_readers_do_not_mind(recorded, tmp_path):
    file = tmp_path / "r.h5"
    file.write_bytes(recorded.data)
    found = checksum.find(file)
    assert found is not None
    assert checksum.verify(file, found) == (True, True)
    with h5py.File(file) as plain:
        assert len(plain["time"]) == ROWS
    # HDF5 cuts off what it does not know when it writes: there is no seal then, and none is missed
    with h5py.File(file, "r+") as plain:
        plain.attrs["note"] = "mine"
    assert checksum.find(file) is None
    with read_results(file) as results:
        assert (results.damage, results.attributes["note"]) == ("", "mine")


@settings(max_examples=10, phases=[Phase.generate])
@given(st.data())
def test_a_changed_byte_is_noticed_wherever_it_is(recorded, tmp_path_factory, data):
    whole = bytearray(recorded.data)
    place = data.draw(st.integers(0, len(whole) - 1) | st.integers(0, 4096))
    whole[place] ^= data.draw(st.integers(1, 255))
    file = tmp_path_factory.mktemp("changed") / "r.h5"
    file.write_bytes(whole)
    read_or_refuse(file, recorded)


@settings(max_examples=6, phases=[Phase.generate])
@given(st.data())
def test_what_is_cut_off_is_named(recorded, tmp_path_factory, data):
    whole = recorded.data
    length = data.draw(st.integers(0, len(whole) - 1))
    file = tmp_path_factory.mktemp("cut") / "r.h5"
    file.write_bytes(whole[:length])
    count = read_or_refuse(file, recorded)
    # the first chunks of all columns lie in the first half of the file
    assert count is not None or length < 0.5 * len(whole)


@pytest.mark.parametrize("seed", range(2))
def test_a_torn_page_costs_the_rows_from_there_on(recorded, tmp_path, seed):
    """Chunks before the torn page are read."""
    whole, noise = bytearray(recorded.data), random.Random(seed)
    place = int(len(whole) * noise.uniform(0.6, 0.95))
    whole[place : place + 512] = noise.randbytes(512)
    file = tmp_path / "r.h5"
    file.write_bytes(whole)
    count = read_or_refuse(file, recorded)
    assert count is not None
    assert count >= CHUNK_ROWS


def test_the_rows_before_a_damaged_chunk_come_back(recorded, tmp_path):
    file = tmp_path / "r.h5"
    file.write_bytes(recorded.data)
    with h5py.File(file) as plain:
        chunk = plain["a/y[1]"].id.get_chunk_info_by_coord((3 * CHUNK_ROWS,))
    with file.open("r+b") as stream:
        stream.seek(chunk.byte_offset + chunk.size // 2)
        byte = stream.read(1)
        stream.seek(-1, 1)
        stream.write(bytes([byte[0] ^ 0x10]))
    assert read_or_refuse(file, recorded) == 3 * CHUNK_ROWS
    with pytest.warns(DamagedRecording, match=f"r.h5: damaged .*: {3 * CHUNK_ROWS} of {ROWS} rows could be read"):
        read_results(file).close()


def test_the_first_bytes_are_kept_twice(recorded, tmp_path):
    file = tmp_path / "r.h5"
    file.write_bytes(bytes(checksum.SUPERBLOCK) + recorded.data[checksum.SUPERBLOCK :])
    assert read_or_refuse(file, recorded) == ROWS


@settings(max_examples=60)
@given(st.data())
def test_rows_of_a_journal_are_true_or_left_out(tmp_path_factory, data):
    file = tmp_path_factory.mktemp("journal") / "j"
    book = journal.Journal(file, ["a.y", "b.y"], "abc")
    time, values = 0.1 * np.arange(20.0), np.arange(40.0).reshape(20, 2) - 7.0
    book.append(1, time, values)
    whole = bytearray(file.read_bytes())
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))) :]
        cut = True
    else:
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
        cut = False
    file.write_bytes(whole)
    rows = journal.read(file)
    count = len(rows.time)
    assert np.array_equal(rows.time, time[:count])
    if count:
        assert (rows.first, rows.recording) == (1, "abc")
        assert np.array_equal(np.column_stack([rows.values["a.y"], rows.values["b.y"]]), values[:count])
    # half a row at the end is what a kill leaves; anything else is said
    assert cut or count == 19 or str(file) in rows.damage
    book.close(remove=True)


def test_a_journal_of_another_recording_is_not_taken(swing, tmp_path):
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5", ["a.y[1]"])]).run()
    journal.Journal(journal.beside(tmp_path / "r.h5"), ["a.y[1]"], "another").append(
        12, np.array([1.1]), np.array([[5.0]])
    )
    with read_results(tmp_path / "r.h5") as results:
        assert len(results.time) == 11


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes in folders")
def test_a_pipe_in_place_of_a_journal_is_not_waited_for(swing, tmp_path):
    CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5", ["a.y[1]"])]).run()
    os.mkfifo(journal.beside(tmp_path / "r.h5"))
    with read_results(tmp_path / "r.h5") as results:
        assert len(results.time) == 11


def test_a_disk_that_fills_up_in_the_middle_of_a_row(tmp_path):
    """Rows that are written again afterwards are in place, once each."""
    file = tmp_path / "j"
    book = journal.Journal(file, ["a.y"])

    class Full:
        """File that accepts a limited number of further bytes."""

        def __init__(self, out, room):
            self.out, self.room = out, room

        def __getattr__(self, name):
            return getattr(self.out, name)

        def write(self, data):
            if not self.room:
                raise OSError(28, "No space left on device")
            taken = self.out.write(bytes(data[: self.room]))
            self.room -= taken
            return taken

    times, values = np.arange(10.0), np.arange(10.0)[:, None]
    book._out = Full(book._out, 3 * 48 + 17)
    with pytest.raises(OSError, match="No space"):
        book.append(1, times, values)
    assert journal.read(file).time.tolist() == [0.0, 1.0, 2.0]
    book._out = book._out.out
    book.append(1, times, values)
    found = journal.read(file)
    assert (found.time.tolist(), found.damage, book.last) == (times.tolist(), "", 10)
    book.close(remove=True)


def test_a_recording_that_is_being_written_is_refused_to_others(swing, tmp_path):
    """This includes another run of the same process; a run that has ended releases the file."""
    with CoSimulation(swing, Schedule(step=0.1), observers=[Recorder(tmp_path / "r.h5")]).open() as simulation:
        simulation.advance(0.5)
        with pytest.raises(LockedError, match=r"r.h5 is being written by process \d+, since"):
            CoSimulation(swing, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
        simulation.advance(1.0)
    with read_results(tmp_path / "r.h5") as results:
        assert len(results.time) == 11
    CoSimulation(swing, Schedule(step=0.1, stop=2.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as results:
        assert len(results.time) == 21
    assert [path.name for path in tmp_path.iterdir()] == ["r.h5"]


def test_variables_keep_their_names_whatever_hdf5_makes_of_them(third_party, tmp_path):
    """Regression: `a|b` was read as `a/b`, and could not be recorded beside an `a/b`."""
    xml = third_party.description(channels=4)
    for old, new in (("y[1]", "a/b"), ("y[2]", "a|b"), ("y[3]", "."), ("y[4]", "a~1|b")):
        assert f'name="{old}"' in xml
        xml = xml.replace(f'name="{old}"', f'name="{new}"')
    system = Structure("odd")
    system.add("a", third_party.build(tmp_path, channels=4, xml=xml), {f"u[{k}]": float(k) for k in range(1, 5)})
    names = ["a.a/b", "a.a|b", "a..", "a.a~1|b"]
    result = CoSimulation(system, Schedule(step=0.5, stop=0.5), observers=[Recorder(tmp_path / "r.h5", names)]).run()
    assert result.status == "completed", result.message
    with read_results(tmp_path / "r.h5") as results:
        assert set(results.variables) == set(names)
        # explicit Euler of y' = u - y
        assert [results[name][-1] for name in names] == [0.5, 1.0, 1.5, 2.0]


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_a_process_with_a_lower_limit_of_memory_reads_and_refuses_alike(recorded, tmp_path):
    """`ulimit -v`: the process that looks at an unsealed file cannot raise the limit that it is started with."""
    file = tmp_path / "r.h5"
    file.write_bytes(recorded.data)
    with h5py.File(file, "r+") as h:  # breaks the seal
        h.attrs["more"] = 1
    code = (
        "import resource, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))\n"
        "from dockfmu.master.observers.recording.results import read_results\n"
        "print(len(read_results(sys.argv[1]).time))\n"
    )
    command = [sys.executable, "-c", code, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(ROWS), done.stderr


@pytest.mark.parametrize("name", ["r.h5", "r.h5.reserve"])
def test_a_link_at_the_place_of_a_file_of_a_recording_is_not_followed(lag, tmp_path, name):
    """Regression: the file that `results.h5.reserve` led to was overwritten by zeros."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / name).symlink_to(precious)
    system = Structure("lag")
    system.add("a", lag)
    result = CoSimulation(system, Schedule(step=0.1, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert precious.read_text() == "precious"
    assert (result.status, "cannot be written" in result.message) == ("failed", True)


def test_a_link_at_the_place_of_a_journal_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("precious")
    (tmp_path / "r.h5.journal").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic link"):
        journal.Journal(tmp_path / "r.h5.journal", ["x"])
    assert precious.read_text() == "precious"
