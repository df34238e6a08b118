"""Telemetry made of a run, read again."""

import pytest

import dockfmu
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.telemetry.make import write_telemetry
from tests.dockfmu.command_line import status_of
from tests.dockfmu.reconstruct.test_reading import FILE

pytestmark = pytest.mark.slow


def test_what_telemetry_writes_is_read_as_it_was(pair, tmp_path):
    """Noise and resolution apart, readings are what the run itself predicts; each interval has its event."""
    assert status_of("run", pair, "--stop", 2, "--no-report", "-o", tmp_path / "run") == 0
    sensors = tmp_path / "sensors.toml"
    clock = 'rate = "20 Hz"\ndelay = "0.07 s"\nclock_offset = "0.3 s"'
    sensors.write_text("epoch = 2026-11-27T10:00:00Z\n" + FILE.replace('system = "pair"\n', "").replace(
        'rate = "20 Hz"', clock).replace('noise = "3 mm"\nquantum = "4 mm"\n', 'noise = "1e-6 mm"\n'))  # fmt: skip
    write_telemetry(tmp_path / "run", sensors, tmp_path / "told")
    (tmp_path / "file.toml").write_text('system = "pair"\nfolder = "told"\nsensors = "sensors.toml"\n')
    got = read_telemetry(tmp_path / "file.toml")
    with dockfmu.read_results(tmp_path / "run" / "results.h5") as results:
        predicted = got.predict(results)
    # calendar times are told to the microsecond, and the travel changes by up to 1 m/s
    assert predicted[got.mask] == pytest.approx(got.values[got.mask], abs=3e-3)
    assert got.mask.sum() > 25
