"""Telemetry that is read: columns of three formats, clocks, gaps, what a run would tell, and files that are wrong."""

import csv
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import h5py
import numpy as np
import pytest

from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.observers.recording.salvage import check_columns
from dockfmu.reconstruct import columns
from dockfmu.reconstruct.reading import read_telemetry

pytestmark = pytest.mark.quick

FILE = """
system = "pair"
[[frame]]
name = "frame"
rate = "20 Hz"
[[frame.signal]]
column = "travel"
variable = "first.position"
unit = "mm"
noise = "3 mm"
quantum = "4 mm"
range = ["-900 mm", "900 mm"]
"""


@dataclass
class Run:
    """A run in memory: positions of a pendulum over 10 s."""

    time: np.ndarray = field(default_factory=lambda: np.linspace(0.0, 10.0, 10_001))
    variables: tuple[str, ...] = ("first.position",)

    def __getitem__(self, name):
        return np.sin(self.time)

    def unit(self, name):
        return "m"

    def variability(self, name):
        return "continuous"


@pytest.fixture(autouse=True)
def check_here(monkeypatch):
    """Check HDF5 files in this process: those of these tests are whole."""

    def check(file):
        with h5py.File(file) as opened:
            check_columns(opened, file.stat().st_size)

    monkeypatch.setattr(columns, "probe_columns", check)


def write(folder, stamps, values, header=("time [s]", "travel [mm]"), name="frame.csv"):
    with (folder / name).open("w", newline="") as stream:
        csv.writer(stream).writerows([header, *zip(stamps, values, strict=True)])


def read(folder, text=FILE):
    (folder / "file.toml").write_text(text)
    return read_telemetry(folder / "file.toml")


STAMPS = np.round(np.arange(0.0, 5.0, 0.05), 6)
VALUES = np.round(800.0 * np.sin(STAMPS), 3)


def test_values_sigma_and_mask(tmp_path):
    cells = [*VALUES.tolist()]
    cells[3], cells[7] = "", 900.0
    write(tmp_path, STAMPS, cells)
    got = read(tmp_path)
    assert got.names == ["frame.travel"]
    assert got.system == "pair"
    assert got.time == pytest.approx(STAMPS)
    # noise, and the variance of a rounding error: 4^2 / 12
    assert got.sigma == pytest.approx(np.full(100, np.sqrt(9.0 + 16.0 / 12.0)))
    assert np.flatnonzero(~got.mask).tolist() == [3, 7]
    assert np.isnan(got.values[3])
    assert got.values[got.mask] == pytest.approx(np.delete(VALUES, [3, 7]))
    assert got.notes == ("frame frame, travel: 1 readings at an end of the range, the first at 0.350 s",)


def test_a_clock_is_taken_off_and_a_run_predicts_what_was_told(tmp_path):
    clock = 'rate = "20 Hz"\ndelay = "0.2 s"\nclock_offset = "3 s"\nclock_drift = 0.01'
    true = STAMPS + 0.5
    write(tmp_path, 1.01 * (true + 0.2) + 3.0, 1e3 * np.sin(true - 0.1) * 0.5 + 7.0)
    text = FILE.replace('rate = "20 Hz"', clock).replace('"3 mm"', '"3 mm"\nscale = 0.5\nbias = "7 mm"')
    got = read(tmp_path, text)
    assert got.time == pytest.approx(true, abs=1e-9)
    # the run began 0.1 s after the true time zero; interpolation between its rows 1 ms apart errs by 1e-7
    assert got.predict(Run(), shift=0.1) == pytest.approx(got.values, abs=2e-4)
    late = got.predict(Run(), shift=3.0)
    assert np.isnan(late[true < 2.99]).all()
    assert np.isfinite(late[true > 3.01]).all()


def test_errors_of_sensors_and_clocks_can_be_changed(tmp_path):
    write(tmp_path, STAMPS, VALUES)
    text = FILE + '[[frame.event]]\nname = "contact"\n'
    write(tmp_path, ["contact"], [1.0], ("name", "after [s]"), "events.csv")
    (tmp_path / "events.csv").write_text("name,after [s],by [s]\ncontact,1.0,1.05\n")
    got = read(tmp_path, text)
    other = got.with_errors({"frame.travel": {"bias": 5.0, "scale": 2.0}, "frame": {"clock_offset": 0.5, "delay": 0.1}})
    assert other.time == pytest.approx(STAMPS - 0.6)
    assert (other.events[0].after, other.events[0].by) == pytest.approx((0.4, 0.45))
    assert other.predict(Run())[20] == pytest.approx(2.0 * 1e3 * np.sin(STAMPS[20] - 0.6) + 5.0, abs=1e-3)
    assert got.time == pytest.approx(STAMPS)
    with pytest.raises(DeclarationError, match=r"no signal or frame 'frame.trave'; did you mean frame.travel"):
        got.with_errors({"frame.trave": {"bias": 1.0}})
    with pytest.raises(DeclarationError, match="no error 'noise'; there are scale, bias"):
        got.with_errors({"frame.travel": {"noise": 1.0}})


def test_three_formats_and_another_unit_give_the_same(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    told = []
    for name in ("csv", "parquet", "h5"):
        folder = tmp_path / name
        folder.mkdir()
        if name == "csv":
            write(folder, 1e3 * STAMPS, 1e-3 * VALUES, ("time [ms]", "travel [m]"))
        elif name == "parquet":
            moments = np.datetime64("2026-11-27T10:00:00", "ns") + (1e9 * STAMPS).astype("timedelta64[ns]")
            fields = [pyarrow.field("time", pyarrow.timestamp("ns")), pyarrow.field("travel", pyarrow.float64())]
            fields[1] = fields[1].with_metadata({"unit": "m"})
            columns = [pyarrow.array(moments), pyarrow.array(1e-3 * VALUES)]
            parquet.write_table(
                pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields)), folder / "frame.parquet"
            )
        else:
            with h5py.File(folder / "frame.h5", "w") as file:
                file["unit/time"], file["unit/travel"] = STAMPS, 1e-3 * VALUES
                file["unit/travel"].attrs["unit"] = "m"
        text = FILE.replace('"20 Hz"', '"20 Hz"\ntime = "unit/time"').replace('"travel"', '"unit/travel"')
        epoch = "epoch = 2026-11-27T10:00:00Z\n" if name == "parquet" else ""
        got = read(folder, epoch + (text if name == "h5" else FILE))
        assert "converted from m to mm" in got.notes[0]
        told.append((got.time, got.values))
    for time, values in told:
        assert time == pytest.approx(STAMPS, abs=1e-6)
        assert values == pytest.approx(VALUES, abs=1e-9)


def test_calendar_times_of_a_file_and_their_epoch(tmp_path):
    begin = datetime(2026, 11, 27, 12, tzinfo=UTC)
    moments = [(begin + timedelta(seconds=float(t))).isoformat() for t in STAMPS]
    write(tmp_path, moments, VALUES, ("time", "travel [mm]"))
    without = read(tmp_path)
    assert without.time == pytest.approx(STAMPS, abs=2e-6)
    assert "times count from 2026-11-27T12:00:00+00:00" in without.notes[0]
    given = read(tmp_path, "epoch = 2026-11-27T12:00:01Z\n" + FILE)
    assert given.time == pytest.approx(STAMPS - 1.0, abs=2e-6)


def test_gaps_repeated_late_and_backward_rows_are_told_and_nothing_is_lost(tmp_path):
    kept = np.delete(np.arange(100), np.arange(40, 46))
    rows = [*kept[:60], kept[59], *kept[60:]]
    rows.insert(30, rows.pop(20))
    write(tmp_path, STAMPS[rows], VALUES[rows])
    got = read(tmp_path)
    assert len(got.time) == 95
    assert got.mask.sum() == 94
    assert np.all(np.diff(got.time[got.mask]) > 0.0)
    assert got.values[got.mask] == pytest.approx(VALUES[kept])
    assert any("1 late rows were put into their places" in note for note in got.notes)
    assert any("1 rows repeat a time, the first 3.250 s by its clock" in note for note in got.notes)
    assert any("1 gaps, the longest 0.350 s at 1.950 s" in note for note in got.notes)


def test_a_clock_that_was_set_back_is_told(tmp_path):
    stamps = STAMPS.copy()
    stamps[50:] -= 0.52
    write(tmp_path, stamps, VALUES)
    got = read(tmp_path)
    assert "the clock runs back by 0.470 s at row 51; 10 rows of times that had passed do not count" in got.notes[0]
    assert got.mask.sum() == 90
    assert len(got.values) == 100


def test_another_unit_of_time_is_suspected(tmp_path):
    write(tmp_path, 1e3 * STAMPS, VALUES)
    assert "is the time of the file in another unit?" in read(tmp_path).notes[0]


def test_noise_is_taken_from_the_scatter_if_none_is_given(tmp_path):
    random = np.random.default_rng(1)
    stamps = np.arange(0.0, 100.0, 0.05)
    write(tmp_path, stamps, 800.0 * np.sin(0.5 * stamps) + 2.0 * random.standard_normal(len(stamps)))
    got = read(tmp_path, FILE.replace('noise = "3 mm"\nquantum = "4 mm"\n', ""))
    # 2000 third differences: their median is known to about 3 %
    assert got.sigma[0] == pytest.approx(2.0, rel=0.1)
    assert "by the scatter of the readings" in got.notes[0]


def test_a_window_and_the_events_in_it(tmp_path):
    write(tmp_path, STAMPS, VALUES)
    (tmp_path / "events.csv").write_text(
        "name,after [s],by [s]\ncontact,1.0,1.05\nother,1.5,1.6\nlatched,3.0,3.05\ncontact,2.0,2.05\n"
    )
    text = FILE + '[[frame.event]]\nname = "contact"\n[[frame.event]]\nname = "latched"\n'
    got = read(tmp_path, text)
    assert [(event.name, event.by) for event in got.events] == [("contact", 1.05), ("contact", 2.05), ("latched", 3.05)]
    times = got.predict_events({"contact": [1.2, 2.1], "other": 7.0}, shift=-0.1)
    assert times[:2] == pytest.approx([1.1, 2.0])
    assert np.isnan(times[2])
    part = read(tmp_path, "window = [1.5, 2.5]\n" + text)
    assert [event.by for event in part.events] == [2.05]
    assert (part.time.min(), part.time.max()) == (1.5, 2.5)
    assert part.signals[0].part == slice(0, 21)
    with pytest.raises(DeclarationError, match=r"window = \[50, 60\] has no readings; they cover 0 to 4.95 s"):
        read(tmp_path, "window = [50, 60]\n" + text)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('column = "travel"', 'column = "trave"', r"has no column 'trave'; did you mean travel"),
        ('unit = "mm"', 'unit = "N"', "travel: .*m.* another quantity|mm.*N"),
        ('name = "frame"', 'name = "fram"', r"has no fram\.csv"),
        ('system = "pair"', 'system = "pair"\nsensors = "x.toml"', "either `sensors`, the file of the frames"),
        ('system = "pair"', "systems = 3", "no entry 'systems' here"),
        ('name = "frame"', 'name = "frame"\nfile = "frame.txt"', r"must end in \.csv, \.parquet"),
        ('name = "frame"', 'name = "frame"\ntime = "t"', "has no column 't'"),
        ('"20 Hz"', '"20 Hz"\n[[frame.event]]\nname = "x"', r"events\.csv: cannot be read"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, old, new, says):
    write(tmp_path, STAMPS, VALUES)
    text = FILE.replace('quantum = "4 mm"\nrange = ["-900 mm", "900 mm"]\n', "").replace('noise = "3 mm"\n', "")
    assert old in text
    with pytest.raises(DeclarationError, match=says):
        read(tmp_path, text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("time [s],travel [mm]\n0.0,1\n0.05,x\n", "row 2: 'x' is not a number"),
        ("time [s],travel [mm]\n0.0,1\n,2\n", "row 2: the time is missing"),
        ("time [s],travel [mm]\n0.0,1\n0.05\n", "row 2 has 1 cells, the header 2"),
        ("time [s],travel [mm]\n", "has no rows"),
        ("time [s],travel [mm]\n0.0,\n0.05,nan\n", "no reading of it that counts"),
        ("time,travel [mm]\n2026-11-27T10:00:00,1\n2026-11-27T10:00:61,1\n", "is not a calendar time"),
        ("time [s],travel,travel\n0,1,1\n", "several columns are called 'travel'"),
    ],
)
def test_files_that_are_wrong_are_named(tmp_path, content, says):
    (tmp_path / "frame.csv").write_text(content)
    with pytest.raises(DeclarationError, match=says):
        read(tmp_path)
