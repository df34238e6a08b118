"""Telemetry of runs: clocks, errors, losses and events of sensors, points of craft, and files that are wrong."""

import csv
import json
import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

import dockfmu
from dockfmu.base.units import parse_unit
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.telemetry.make import write_telemetry
from dockfmu.telemetry.readings import read_frame
from dockfmu.telemetry.sensors import Clock, Frame, PortPoint, Sensor, read_sensors
from tests.dockfmu.command_line import status_of

pytestmark = pytest.mark.slow

METRE = parse_unit("m")
FILE = """
[[frame]]
name = "frame"
rate = "20 Hz"
[[frame.signal]]
column = "travel"
variable = "first.position"
unit = "mm"
noise = "1 mm"
"""


class Recorded:
    """A recording of given series, at these times."""

    file = Path("results.h5")

    def __init__(self, time, discrete=(), **series):
        self.time, self._series, self._discrete = np.asarray(time, float), series, discrete
        self.variables = [name.replace("_I_", "[").replace("_J_", "].").replace("_K_", "]") for name in series]
        self._of = dict(zip(self.variables, series.values(), strict=True))

    def __getitem__(self, name):
        return self._of[name]

    def unit(self, name):
        return "rad/s" if "angular_velocity" in name else "m"

    def variability(self, name):
        return "discrete" if name in self._discrete else "continuous"


def frame(sensor, **clock):
    return Frame("frame", Clock(**{"rate": 10.0, **clock}), (sensor,), {})


def told(results, sensor, seed=1, **clock):
    readings = read_frame(results, frame(sensor, **clock), [], np.random.default_rng(seed))
    return readings.time, readings.values[:, 0]


TIME = np.linspace(0.0, 10.0, 1001)
RAMP = Recorded(TIME, x=2.0 * TIME)


def test_a_sensor_without_errors_tells_the_truth():
    time, values = told(RAMP, Sensor("x", {"x": 1.0}, METRE))
    assert time == pytest.approx(np.arange(101) / 10.0, abs=1e-12)
    assert values == pytest.approx(2.0 * time, abs=1e-12)


def test_an_integrating_sensor_tells_the_mean_over_the_time_before():
    """The ramp 2 t has the mean 2 t - T over T; before the run its first value holds. A step counts by its share."""
    time, values = told(RAMP, Sensor("x", {"x": 1.0}, METRE, average=0.5))
    inside = time >= 0.5
    assert values[inside] == pytest.approx(2.0 * time[inside] - 0.5, abs=1e-9)
    assert values[:5] == pytest.approx(time[:5] ** 2 / 0.5, abs=1e-9)
    spike = Recorded(TIME, x=np.where(np.abs(TIME - 5.05) < 0.006, 1.0, 0.0))
    missed, caught = (told(spike, Sensor("x", {"x": 1.0}, METRE, average=average))[1] for average in (0.0, 0.1))
    assert missed.max() == 0.0
    assert caught.sum() * 0.1 == pytest.approx(np.trapezoid(spike["x"], TIME))


def test_delay_and_clock():
    """A sample that the clock stamps s shows the value at (s - offset) / (1 + drift) - delay."""
    time, values = told(RAMP, Sensor("x", {"x": 1.0}, METRE), delay=0.25, offset=3.0, drift=0.01)
    assert np.diff(time) == pytest.approx(np.full(len(time) - 1, 0.1), abs=1e-12)
    assert values == pytest.approx(2.0 * ((time - 3.0) / 1.01 - 0.25), abs=1e-9)
    assert values[0] == pytest.approx(0.0, abs=1e-12)


def test_scale_bias_limits_and_quantum_in_the_unit_of_the_column():
    sensor = Sensor("x", {"x": 1.0}, parse_unit("mm"), scale=1.5, bias=20.0, quantum=50.0, limits=(0.0, 12_000.0))
    _, values = told(RAMP, sensor)
    truth = np.clip(1.5 * 2000.0 * np.arange(101) / 10.0 + 20.0, 0.0, 12_000.0)
    assert np.abs(values - truth).max() <= 25.0 + 1e-9
    assert np.all(values % 50.0 == 0.0)
    assert values.max() == 12_000.0


def test_a_misaligned_axis_takes_part_of_its_neighbour():
    both = Recorded(TIME, x=TIME, y=np.full(1001, 7.0))
    _, values = told(both, Sensor("x", {"x": 0.5, "y": -2.0}, METRE))
    assert values == pytest.approx(0.5 * np.arange(101) / 10.0 - 14.0, abs=1e-12)


def test_a_discrete_variable_is_held():
    step = Recorded(TIME, discrete=("x",), x=np.where(TIME < 5.005, 0.0, 1.0))
    _, values = told(step, Sensor("x", {"x": 1.0}, METRE), rate=97.0)
    assert set(values) == {0.0, 1.0}


def test_noise_and_losses_have_the_given_size():
    """Within four standard deviations of their estimates."""
    still = Recorded(np.linspace(0.0, 1000.0, 10_001), x=np.zeros(10_001))
    time, values = told(still, Sensor("x", {"x": 1.0}, METRE, noise=0.3, lost=0.2), lost=0.1)
    n = 10_001
    assert len(time) == pytest.approx(0.9 * n, abs=4.0 * math.sqrt(n * 0.09))
    here = np.isfinite(values)
    assert here.mean() == pytest.approx(0.8, abs=4.0 * math.sqrt(0.16 / len(time)))
    assert values[here].std() == pytest.approx(0.3, rel=4.0 / math.sqrt(2.0 * here.sum()))
    assert values[here].mean() == pytest.approx(0.0, abs=4.0 * 0.3 / math.sqrt(here.sum()))
    assert abs(np.corrcoef(values[here][1:], values[here][:-1])[0, 1]) < 4.0 / math.sqrt(here.sum())


def test_an_event_falls_after_the_sample_before_and_by_the_sample_that_tells_it():
    random = np.random.default_rng(3)
    times = np.sort(random.uniform(1.0, 9.0, 50))
    events = [("contact", float(time)) for time in times]
    clock = Clock(10.0, delay=0.03, offset=0.4, drift=-0.02, lost=0.3)
    readings = read_frame(RAMP, Frame("f", clock, (), {"contact": 0.0}), events, random)
    assert len(readings.events) == 50
    for (_, after, by), time in zip(readings.events, times, strict=True):
        low, high = ((stamp - 0.4) / 0.98 - 0.03 for stamp in (after, by))
        assert low - 1e-9 < time <= high + 1e-9
        # as many samples were lost between as are missing
        assert (by - after) * 10.0 == pytest.approx(round((by - after) * 10.0), abs=1e-6)


def test_a_point_of_a_craft_that_turns_steadily_and_spins_up():
    """Centripetal acceleration w^2 r towards the axis, tangential one alpha r; compared with the motion itself."""
    rate, spin = 0.3 + 0.05 * TIME, 0.05
    zero = np.zeros(1001)
    series = {f"port.angular_velocity_I_{k}_K_": value for k, value in ((1, zero), (2, zero), (3, rate))}
    series |= {f"port.angular_acceleration_I_{k}_K_": value for k, value in ((1, zero), (2, zero), (3, zero + spin))}
    series |= {f"port.acceleration_I_{k}_K_": value for k, value in ((1, zero + 1.0), (2, zero), (3, zero))}
    craft = Recorded(TIME, **series)
    unit = parse_unit("m/s2")
    for axis, expected in (([1, 0, 0], lambda w: 1.0 - w**2 * 2.0), ([0, 1, 0], lambda w: spin * 2.0 + 0.0 * w)):
        point = PortPoint("port", np.array([2.0, 0.0, 5.0]), np.array(axis, float), "acceleration")
        time, values = told(craft, Sensor("a", point, unit))
        assert values == pytest.approx(expected(0.3 + 0.05 * time), abs=1e-12)


@pytest.fixture(scope="module")
def run(pair, tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    assert status_of("run", pair, "--stop", 2, "--no-report", "-o", folder) == 0
    return folder


def rows(file):
    with file.open(newline="") as stream:
        return list(csv.reader(stream))


def test_the_same_seed_gives_the_same_bytes_and_another_one_others(run, tmp_path):
    sensors = tmp_path / "sensors.toml"
    sensors.write_text(FILE)
    made = {}
    for name, seed in (("a", 4), ("b", 4), ("c", 5)):
        assert status_of("telemetry", run, "--sensors", sensors, "--seed", seed, "-o", tmp_path / name) == 0
        made[name] = (tmp_path / name / "frame.csv").read_bytes()
    assert made["a"] == made["b"] != made["c"]
    about = json.loads((tmp_path / "a" / "telemetry.json").read_text())
    assert about["seed"] == 4
    header, *body = rows(tmp_path / "a" / "frame.csv")
    assert header == ["time [s]", "travel [mm]"]
    with dockfmu.read_results(run / "results.h5") as results:
        truth = 1e3 * np.interp([float(time) for time, _ in body], results.time, results["first.position"])
    error = np.array([float(value) for _, value in body]) - truth
    assert 0.0 < np.abs(error).max() < 5.0


def test_frames_draw_apart_so_that_a_new_frame_changes_no_other(run, tmp_path):
    sensors = tmp_path / "sensors.toml"
    sensors.write_text(FILE)
    write_telemetry(run, sensors, tmp_path / "one")
    sensors.write_text(FILE + FILE.replace('"frame"', '"second"').replace("20 Hz", "7 Hz"))
    write_telemetry(run, sensors, tmp_path / "two")
    assert (tmp_path / "one" / "frame.csv").read_bytes() == (tmp_path / "two" / "frame.csv").read_bytes()


def test_calendar_time(run, tmp_path):
    sensors = tmp_path / "sensors.toml"
    sensors.write_text("epoch = 2026-11-27T12:00:00+02:00\n" + FILE)
    write_telemetry(run, sensors, tmp_path)
    header, first, second, *_ = rows(tmp_path / "frame.csv")
    assert header[0] == "time"
    assert datetime.fromisoformat(first[0]) == datetime(2026, 11, 27, 10, tzinfo=UTC)
    assert second[0] == "2026-11-27T10:00:00.050000Z"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("first.position", "first.positio", r"holds no 'first.positio'; did you mean first.position"),
        ('"mm"\nnoise = "1 mm"', '"N"', "first.position"),
        ('noise = "1 mm"', 'noise = "1 N"', "another quantity"),
        ('noise = "1 mm"', "noise = -1.0", "must not be negative"),
        ('"20 Hz"', '"20 s"', "another quantity"),
        ('"20 Hz"', "0.0", "must be from 0.001 to 1e"),
        ('"20 Hz"', '"1 Hz"\ndelay = -1.0', "delay must not be negative"),
        ('"20 Hz"', '"5000 Hz"', "record it with --every 1"),
        ('name = "frame"', 'name = "../frame"', "must serve as the name of a file"),
        ('unit = "mm"', 'unit = "mm"\nrange = [2.0, 1.0]', "a lower and a higher value"),
        ('unit = "mm"', 'unit = "mm"\nlost = 1.0', "a share from 0 to below 1"),
        ('unit = "mm"', 'unit = "mm"\nport = "first"', "either `variable` or `port`"),
        ('unit = "mm"', 'unit = "mm"\naxis = [1, 0, 0]', "axis belongs to a `port`"),
        ('variable = "first.position"', 'port = "first"\naxis = [1, 1, 0]\nmeasures = "rate"', "a unit vector"),
        (
            'variable = "first.position"',
            'port = "first"\naxis = [1, 0, 0]\nmeasures = "load"',
            "acceleration or rate",
        ),
        ("[[frame.signal]]", '[[frame.event]]\nname = "capture"\n[[frame.signal]]', "has no event 'capture'"),
        ("[[frame]]", "epoch = 3\n[[frame]]", "must be such as 2026-11-27"),
        ("[[frame]]", "[[fram]]", "no entry 'fram' here"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(run, tmp_path, old, new, says):
    sensors, folder = tmp_path / "sensors.toml", tmp_path / "telemetry"
    assert old in FILE
    sensors.write_text(FILE.replace(old, new, 1))
    with pytest.raises(DeclarationError, match=says):
        write_telemetry(run, sensors, folder)
    assert not folder.exists()


def test_the_example_of_the_guide_is_read():
    sensors = read_sensors(Path("docs/examples/docking_telemetry.toml"))
    assert [frame.name for frame in sensors.frames] == ["gyros", "accelerometer", "docking_unit"]
    assert sensors.epoch == datetime(2026, 11, 27, 10, tzinfo=UTC)


def test_all_occurrences_of_an_event_are_told(run, tmp_path):
    """Those of a change have the old and the new value too."""
    copied = tmp_path / "results.h5"
    copied.write_bytes((run / "results.h5").read_bytes())
    entry = {"t": 0.31, "name": "phase", "signal": "first.phase", "old": 0.0, "new": 2.0}
    events = [entry, {**entry, "t": 1.2}, {"t": 1.99, "name": "phase", "signal": "first.phase"}]
    (tmp_path / "summary.json").write_text(json.dumps({"events": events}))
    sensors = tmp_path / "sensors.toml"
    sensors.write_text(FILE + '[[frame.event]]\nname = "phase"\n')
    write_telemetry(copied, sensors, tmp_path / "told")
    assert rows(tmp_path / "told" / "events.csv") == [
        ["name", "after [s]", "by [s]"], ["phase", "0.3", "0.35"], ["phase", "1.15", "1.2"], ["phase", "1.95", "2.0"],
    ]  # fmt: skip
    (tmp_path / "summary.json").write_text("{")
    with pytest.raises(DeclarationError, match=r"summary.json.*the events of a run stand there"):
        write_telemetry(copied, sensors, tmp_path / "told")


@pytest.mark.parametrize("delay", [10.0, 1e300])
def test_a_delay_longer_than_the_run_leaves_no_samples(delay):
    """Fuzz seed 900022: ValueError, Maximum allowed size exceeded."""
    results = Recorded([0.0, 1.0, 2.0], x=[0.0, 1.0, 2.0])
    time, _ = told(results, Sensor("x", {"x": 1.0}, METRE), rate=1.0, delay=delay)
    assert len(time) == 0
