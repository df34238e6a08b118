"""Complete runs of FMUs written independently of this master."""

import numpy as np
import pytest

from dockfmu.master.algorithms.gauss_seidel import GaussSeidel
from dockfmu.master.algorithms.jacobi import Jacobi
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.events import Event, Events
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure


def ring(file, gains=(1.0, 2.0, 3.0), channels=1):
    """Return a ring of lags; the last one passes its value plus one, so that the ring does not stay at zero."""
    system = Structure("ring")
    for i, gain in enumerate(gains):
        system.add(f"lag{i}", file, {"gain": gain})
    for i in range(len(gains)):
        for k in range(1, channels + 1):
            offset = 1.0 if i == len(gains) - 1 else 0.0
            target = f"lag{(i + 1) % len(gains)}"
            system.connect(f"lag{i}", f"y[{k}]", target, f"u[{k}]", offset=offset)
    return system


def in_plain_python(gains, steps, h, sequential):
    """Compute the same ring of explicit Euler lags step by step."""
    y = np.zeros(len(gains))
    rows = [y.copy()]
    for _ in range(steps):
        seen = y if sequential else y.copy()
        for i, gain in enumerate(gains):
            u = seen[i - 1] + (1.0 if i == 0 else 0.0)
            y[i] += h * gain * (u - y[i])
        rows.append(y.copy())
    return np.array(rows)


@pytest.mark.parametrize("algorithm", [GaussSeidel(), Jacobi()])
def test_every_value_of_a_run_is_the_one_computed_by_hand(lag, tmp_path, algorithm):
    gains, steps, h = (1.0, 2.0, 3.0), 300, 0.01
    recorder = Recorder(tmp_path / "results.h5")
    result = CoSimulation(
        ring(lag, gains), Schedule(step=h, stop=steps * h), algorithm=algorithm, observers=[recorder]
    ).run()
    expected = in_plain_python(gains, steps, h, sequential=algorithm.name == "gauss_seidel")
    with read_results(tmp_path / "results.h5") as results:
        got = np.column_stack([results[f"lag{i}.y[1]"] for i in range(3)])
        assert np.allclose(results.time, np.arange(steps + 1) * h, rtol=1e-15)
    assert result.status == "completed"
    assert result.macro_steps == steps
    # bit for bit: the library is compiled without contraction of multiplication and addition
    assert np.array_equal(got, expected)


def test_decimated_records_are_rows_of_the_full_recording_and_hold_the_end(lag, tmp_path):
    for every in (1, 7):
        CoSimulation(
            ring(lag), Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / f"{every}.h5", every=every)]
        ).run()
    with read_results(tmp_path / "1.h5") as full, read_results(tmp_path / "7.h5") as thin:
        assert thin.time[-1] == full.time[-1] == pytest.approx(1.0, rel=1e-12)
        rows = np.append(np.arange(0, 101, 7), 100)
        assert np.array_equal(thin.time, full.time[rows])
        assert np.array_equal(thin["lag1.y[1]"], full["lag1.y[1]"][rows])


def test_observers_do_not_change_a_run(lag, tmp_path):
    variables = ["lag0.y[1]", "lag2.y[1]", "lag1.count"]
    CoSimulation(ring(lag), Schedule(step=0.01, stop=2.0), observers=[Recorder(tmp_path / "alone.h5", variables)]).run()
    CoSimulation(
        ring(lag),
        Schedule(step=0.01, stop=2.0),
        observers=[
            Recorder(tmp_path / "watched.h5", variables),
            Events({"high": Event("lag1.high"), "count": Event("lag0.count", "change", once=False)}),
            Peaks(["lag1.y[1]"]),
        ],
    ).run()
    with read_results(tmp_path / "alone.h5") as alone, read_results(tmp_path / "watched.h5") as watched:
        for name in variables:
            assert np.array_equal(alone[name], watched[name])


def test_a_last_shorter_step_reaches_the_stop_time(lag, tmp_path):
    result = CoSimulation(ring(lag), Schedule(step=0.01, stop=0.125), observers=[Recorder(tmp_path / "r.h5")]).run()
    assert result.t_end == 0.125
    assert result.macro_steps == 13
    with read_results(tmp_path / "r.h5") as results:
        assert results.time[-1] == pytest.approx(0.125, rel=1e-15)
        assert results["lag0.y[1]"][-1] > results["lag0.y[1]"][-2]


def test_the_stop_signal_ends_the_run_after_its_step(lag, tmp_path):
    system = ring(lag)
    result = CoSimulation(
        system,
        Schedule(step=0.01, stop=100.0, stop_when="lag1.high"),
        observers=[Recorder(tmp_path / "r.h5", every=50), Events({"high": Event("lag1.high")})],
    ).run()
    assert result.status == "completed"
    assert "stop signal" in result.message
    assert result.events == [{"t": result.t_end, "name": "high", "signal": "lag1.high"}]
    with read_results(tmp_path / "r.h5") as results:
        assert results.time[-1] == result.t_end
        assert results["lag1.high"][-1]
        assert results["lag1.y[1]"][-1] > 0.5


def test_signals_of_all_types_are_passed_on(lag, tmp_path):
    system = ring(lag)
    system.add("counter", lag, {"gain": 0.5, "u[1]": 1.0})
    system.connect("lag0", "count", "counter", "count_in")
    system.connect("lag0", "high", "counter", "enable")
    CoSimulation(system, Schedule(step=0.01, stop=3.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as results:
        enabled = results["lag0.high"]
        y = results["counter.y[1]"]
        # the counter steps with the flag that lag0 gives in the same step, and holds without it
        assert np.array_equal(np.diff(y) > 0.0, enabled[1:])
        assert results["counter.count"][-1] == 600


def test_units_and_linear_transformations(lag, third_party, tmp_path):
    millimetres = third_party.build(tmp_path, "Millimetres", unit="mm")
    system = Structure("units")
    system.add("metres", lag, {"u[1]": 1.0})
    system.add("converted", millimetres, {"gain": 100.0})
    system.add("plain", millimetres, {"gain": 100.0})
    system.connect("metres", "y[1]", "converted", "u[1]", factor=2.0, offset=5.0)
    system.connect("metres", "y[1]", "plain", "u[1]", convert_units=False)
    CoSimulation(system, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5")]).run()
    with read_results(tmp_path / "r.h5") as results:
        metres = results["metres.y[1]"][1:]
        # with gain 100 and step 0.01 a lag gives its input of the step
        assert np.allclose(results["converted.y[1]"][1:], 2000.0 * metres + 5.0, rtol=1e-12)
        assert np.allclose(results["plain.y[1]"][1:], metres, rtol=1e-12)


def test_what_cannot_be_run_is_refused_before_anything_is_loaded(lag):
    system = ring(lag)
    for arguments, words in [
        ({"step": 0.0, "stop": 1.0}, "must be positive"),
        ({"step": 0.1, "stop": 0.0}, "must lie after"),
        ({"step": 0.1, "stop": 1.0, "stop_when": "lag1.y[1]"}, "cannot end a run"),
        ({"step": 0.1, "stop": 1.0, "stop_when": "lag1.hihg"}, "did you mean high"),
    ]:
        with pytest.raises(StructureError, match=words):
            CoSimulation(system, Schedule(**arguments)).run()
