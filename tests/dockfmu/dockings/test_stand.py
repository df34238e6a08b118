"""The docking on the virtual 6-DOF stand: the real mechanism between platform and balance, the craft simulated."""

import numpy as np
import pytest

import dockfmu
from benchmarks.validation.docking import changed
from dockfmu.declare.parameters import parameters
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow

MOTION = ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
WRENCH = ("force", "torque", "force_now", "torque_now")
RECORD = [
    *(f"{craft}.{port}.{name}" for craft in ("chaser", "station") for port in ("port[1]",) for name in MOTION),
    *(f"mechanism.{port}.{name}" for port in ("base", "target") for name in WRENCH),
    "mechanism.joint.angle", "mechanism.sensor.axial_travel", "cyclogram.phase",
]  # fmt: skip


# of atv_probe_cone, without the mechanism, which acts on the craft where the stand is bypassed
CRAFT = {
    p.full_name: p.value
    for p in parameters("atv_probe_cone", {})
    if p.full_name in ("chaser.parameters.mass", "chaser.parameters.inertia", "chaser.parameters.port[1].position")
}


def test_bypass_gives_the_bits_of_the_system_without_a_stand():
    """Through first contact, capture, socket bottom and the first latch pulse."""
    alike = {"mechanism.parameters.cover.present": 1}
    plain = changed("atv_probe_cone", alike).run(stop=4.0, record=RECORD)
    values = {"platform.parameters.bypass": 1, "balance.parameters.bypass": 1, **CRAFT}
    stand = changed("atv_stand", {**alike, **values}).run(stop=4.0, record=RECORD)
    assert np.abs(plain["mechanism.target.force_now"]).max() > 5e3
    for name in RECORD:
        assert plain[name].tobytes() == stand[name].tobytes(), name


def test_bypass_gives_the_bits_of_the_berthing_without_a_stand():
    """Start 0.15 instead of 0.9 m before the cone; contact, capture, bottom of the socket."""
    record = ["manipulator.interface.position", "mechanism.target.force_now", "manipulator.joint[4].motor_torque"]
    arm = {"initial_conditions.gap": 0.64}
    plain = changed("mim1_ssrms_nrt74", arm).run(stop=10.5, record=record)
    bypass = {f"{name}.parameters.bypass": 1 for name in ("platform", "balance")}
    stand = changed("mim1_ssrms_nrt74_stand", {**arm, **bypass}).run(stop=10.5, record=record)
    assert np.abs(plain["mechanism.target.force_now"]).max() > 500.0
    for name in record:
        assert plain[name].tobytes() == stand[name].tobytes(), name


def test_mim_1_berths_on_the_stand_and_its_probe_rings_in_the_socket():
    """The stand puts energy into the contact at the bottom, which a run without a stand damps out.

    The hysteresis of the gears (ruling R49) damps the ringing on the stand, from 141 to 89 N; without a stand it is
    31 N.
    """
    works = ["manipulator.audit.work_interface", "mechanism.audit.work_base", "mechanism.audit.work_target"]
    run = dockfmu.load("mim1_ssrms_nrt74_stand").run(record=[*works, "mechanism.target.force_now"])
    plain = dockfmu.load("mim1_ssrms_nrt74").run(record=["mechanism.target.force_now"])
    assert (run.outcome, plain.outcome) == ("berthed", "berthed")
    assert sum(run[name][-1] for name in works) > 1.0
    ringing = [one["mechanism.target.force_now"][one.time > one.time[-1] - 2.0, 0].std() for one in (run, plain)]
    assert ringing[0] > 2.5 * ringing[1]


def quiet(**more):
    """Return settings of a stand without noise, changed by `more`: platform parameters with underscores for dots."""
    return {"balance.parameters.noise": 0.0, **{f"platform.parameters.{name}": value for name, value in more.items()}}


def test_a_fast_stand_comes_to_the_system_without_a_stand():
    """From first contact into the socket: a tenth of the delays reduces the error at least threefold."""
    plain = dockfmu.load(
        "atv_probe_cone",
        {
            "mechanism.parameters.cover.present": 1,
            "chaser.parameters.mass": 20000.0,
        },
    ).run(stop=1.5, record=["chaser.port[1].velocity"])
    error = []
    for scale in (1.0, 0.1):
        values = quiet(frequency=10.0 / scale, delay=5e-3 * scale, frame_time=2e-3 * scale)
        values |= {"balance.parameters.cutoff": 100.0 / scale, "balance.parameters.frame_time": 2e-3 * scale}
        run = changed("atv_stand", values).run(stop=1.5, record=["chaser.port[1].velocity"])
        error.append(np.abs(run["chaser.port[1].velocity"] - plain["chaser.port[1].velocity"])[-1].max())
    assert 1e-6 < error[1] < error[0] / 3.0 < 1e-2


@pytest.fixture(scope="module")
def docking():
    return dockfmu.load("atv_stand").run()


def test_the_stand_docks_until_capture_and_keeps_momentum(docking):
    assert docking.outcome == "captured"
    assert docking.result.t_end == pytest.approx(30.0)
    assert all(check["ok"] for check in docking.result.checks.values())
    assert docking.result.audit["linear_momentum_drift"] < 1e-9
    assert docking.result.audit["angular_momentum_drift"] < 1e-6


def test_the_stand_makes_energy_and_so_stronger_latch_pulses():
    """The work on craft and mechanism adds up to the energy that the stand supplies, more for a slower stand."""
    works = ["chaser.audit.work_port[1]", "station.audit.work_port[1]", "mechanism.audit.work_base",
             "mechanism.audit.work_target"]  # fmt: skip
    made = []
    for values in (quiet(frequency=100.0, delay=0.0), quiet(), quiet(frequency=7.0)):
        run = changed("atv_stand", values).run(stop=6.0, record=works)
        made.append(sum(run[name][-1] for name in works))
    assert made[0] < made[1] < made[2]
    assert made[1] > 5.0


def test_two_runs_are_bitwise_equal_and_another_seed_is_not():
    record = ["balance.measured.force", "chaser.port[1].position"]
    first, again, other = (
        changed("atv_stand", {"balance.parameters.seed": seed}).run(stop=1.0, record=record) for seed in (1, 1, 2)
    )
    for name in record:
        assert first[name].tobytes() == again[name].tobytes()
        assert first[name].tobytes() != other[name].tobytes()


def test_a_resumed_run_carries_delay_line_and_noise(tmp_path):
    """In contact, with commands on their way."""
    whole = run_system(tmp_path / "whole", "atv_stand", "--stop", 0.06, "--no-report").results
    run_system(tmp_path / "part", "atv_stand", "--stop", 0.04, "--no-report")
    file = tmp_path / "part" / "run.checkpoint"
    rest = run_system(tmp_path / "rest", "atv_stand", "--stop", 0.06, "--no-report", "--resume", file).results
    at = np.searchsorted(whole.time, rest.time[1:])
    assert len(at) > 1
    for name in ("balance.measured.force[1]", "chaser.port[1].position[1]", "mechanism.target.force[1]"):
        assert np.array_equal(whole[name][at], rest[name][1:]), name
    assert np.abs(rest["mechanism.target.force[1]"]).max() > 5.0


def test_emergency_stop_ends_the_test():
    run = dockfmu.load("atv_stand_emergency_stop").run()
    assert run.outcome == "emergency_stop"
    assert 2.0 < run.result.t_end < 5.0
