"""Dockings with the movable limiter and its shortened cone: oracles 22, 24 to 26 of central-docking 9.6, and 5.11."""

import numpy as np
import pytest

from benchmarks.validation.starts import limited, starts
from dockfmu import load
from tests.dockfmu.command_line import run_system
from tests.dockfmu.dockings.test_limiter import limiter_force

pytestmark = pytest.mark.slow

RETURN_FORCE = 2200.0 / 3.0
"""of FrB1 in set AX-2, N"""
FORWARD, RATE = 330.0, 85.0 / 0.200
"""force and rate of the limiter's springs in set ML-3, N and N/m"""


@pytest.fixture(scope="module")
def atv(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("atv_v3"), "atv_probe_cone_v3", "--no-report")


SIGNALS = [
    "mechanism.sensor.capture", "mechanism.sensor.socket_bottom", "mechanism.flag.limiter_contact",
    "mechanism.docking.angles[1]", "mechanism.docking.angles[2]", "mechanism.target.force_now[1]",
    "mechanism.axial.stroke", "mechanism.limiter.travel", "mechanism.sensor.axial_travel",
]  # fmt: skip


def start(system, stop):
    """Return the first seconds of a docking at every macro step, and the angle between the docking axes in degrees."""
    run = load(system).run(stop=stop, record=SIGNALS, every=1, check=False)
    yaw, pitch = run["mechanism.docking.angles[1]"], run["mechanism.docking.angles[2]"]
    return run, np.degrees(np.arccos(np.cos(yaw) * np.cos(pitch)))


def first(run, signal):
    """Return the time at which a flag or sensor rises, s."""
    return run.time[np.argmax(run[signal] > 0.0)]


def test_spec06_oracle_14_15_docking_with_the_movable_limiter_closes(atv):
    assert atv.summary["outcome"] == "docked"
    audit = atv.summary["audit"]
    assert audit["linear_momentum_drift"] < 1e-6
    assert audit["energy_residual"] < 1e-3
    # 100 N from one step to the next while FrB1 is re-cocked: samples at the macro steps were 4.5e-3 off
    assert audit["base_impulse_error"] < 1e-6


def test_spec06_oracle_22_limiter_contacts_turn_mechanism_station_and_craft(atv):
    """Several contacts before the drive starts, with torques across the axis on station and craft."""
    results = atv.results
    early = results.time < 38.0
    touching = results["mechanism.flag.limiter_contact"][early] > 0.0
    assert (np.diff(touching.astype(int)) > 0).sum() >= 2
    for port in ("target", "base"):
        torques = [np.abs(results[f"mechanism.{port}.torque_now[{k}]"][early][touching]).max() for k in (2, 3)]
        assert max(torques) > 50.0
    angles = [np.abs(results[f"mechanism.joint.angle[{j}]"][early][touching]).max() for j in (1, 2)]
    assert max(angles) > np.radians(0.5)


def test_spec06_oracle_24_no_series_of_hard_peaks_with_the_movable_limiter():
    """Compare with V1, which strikes the cone with 10 kN.

    The springs of V3 give way at 2 kN; at 30 % of the start below 1 kN.
    """
    assert limiter_force(1.0, "soyuz_probe_cone_v3").max() < 2.5e3
    assert limiter_force(0.3, "soyuz_probe_cone_v3").max() < 1.0e3


def test_spec06_oracle_25_relative_rotation_is_smaller_than_with_v2():
    """At the start of `atv_probe_cone`, after the capture: at least 1.5 times, as ruling R46 has it.

    The source has about 1.5 times; here it is more, since V2 turns until its limiter acts at 7.8 deg."""
    (modified, of_v2), (movable, of_v3) = (start(f"atv_probe_cone_{v}", 60.0) for v in ("v2", "v3"))
    largest = [tilt[run["mechanism.sensor.capture"] > 0.0].max() for run, tilt in ((modified, of_v2), (movable, of_v3))]
    assert 1.5 < largest[0] / largest[1] < 3.0
    # not before the capture
    assert first(movable, "mechanism.flag.limiter_contact") > first(movable, "mechanism.sensor.capture")


def test_spec06_oracle_25_oscillation_ends_before_the_planes_meet(atv):
    """From 3 deg in the first minute to less than 0.4 deg where the pushers have done their work."""
    results = atv.results
    angles = [results[f"mechanism.docking.angles[{k}]"] for k in (1, 2)]
    tilt = np.degrees(np.arccos(np.cos(angles[0]) * np.cos(angles[1])))
    last = results.time > results.time[-1] - 20.0
    assert tilt[results.time < 60.0].max() > 2.5
    assert tilt[last].max() < 0.4


def test_spec06_section_5_11_nut_and_limiter_stand_while_the_first_brake_is_re_cocked(atv):
    """The pushers hold the probe by its latches; the drive takes the stroke of FrB1 back at 1 mm/s.

    In the beginning the craft still swing between their pushers, and the probe goes on with every swing.
    """
    results = atv.results
    t, stroke = results.time, results["mechanism.axial.stroke"]
    during = (t > 60.0) & (stroke > 1e-3) & (stroke < 0.03)
    assert t[during][-1] - t[during][0] > 25.0
    assert np.polyfit(t[during], stroke[during], 1)[0] == pytest.approx(-1e-3, rel=0.03)
    assert np.ptp(results["mechanism.sensor.axial_travel"][during]) < 1.5e-3
    assert np.ptp(results["mechanism.limiter.travel"][during]) < 1.5e-3
    assert results["mechanism.docking.plane_gap"][during] == pytest.approx(24.5e-3, abs=1.5e-3)
    # and it is compressed again when the retraction goes on
    assert stroke[-1] == 0.0
    assert results["mechanism.limiter.travel"][-1] > results["mechanism.limiter.travel"][during][-1] + 0.01
    assert results["mechanism.docking.plane_gap"][-1] < 0.0105


def recoil(run):
    """Return (largest energy of the limiter's springs, what FrB1 can absorb of it, J; largest pull of latches, N)."""
    travel = run["mechanism.limiter.travel"]
    turn = int(np.argmax(travel[run.time < 4.0]))
    springs = FORWARD * travel[turn] + 0.5 * RATE * travel[turn] ** 2
    stroke = run["mechanism.axial.stroke"][: turn + 1].max()
    return springs, RETURN_FORCE * stroke, -run["mechanism.target.force_now[1]"].min()


def test_spec06_oracle_26_springs_of_the_limiter_throw_the_craft_back():
    """The limiter meets the cone before the head is at the bottom; FrB1 has too little stroke for what its springs
    store (criterion of central-docking 5.10), and the latches strike. With stroke enough the pulse is that of FrB1."""
    (bad, _), (good, _) = (start(name, 6.0) for name in ("soyuz_limiter_recoil_v3", "soyuz_probe_cone_v3"))
    assert first(bad, "mechanism.flag.limiter_contact") < first(bad, "mechanism.sensor.socket_bottom")
    stored, taken, pulse = recoil(bad)
    assert stored > 1.5 * taken
    assert pulse > 1.7e3
    stored, taken, damped = recoil(good)
    assert stored < taken
    # force of FrB1 behind the screw, hysteresis and damping of the gears
    assert damped < 1.25 * RETURN_FORCE / 0.9
    assert pulse > 1.7 * damped


@pytest.mark.parametrize("seed", [2, 4])
def test_spec06_oracles_24_25_from_drawn_starts(seed):
    """All eleven initial conditions drawn; 20 s. The springs of V3 give way at 2 kN, less than half of what V2 strikes
    with where it does; its axes turn no more.

    From starts turned by 6 deg and more the limiter of V3 touches up to 0.2 s before the capture:
    docs/validation/published.md.
    """
    of_v2, of_v3 = (limited(f"soyuz_probe_cone_{v}", {"initial_conditions.seed": seed}, 20.0) for v in ("v2", "v3"))
    assert of_v3.force < max(1.5e3, 0.5 * of_v2.force)
    assert of_v3.tilt < 1.05 * of_v2.tilt
    assert of_v3.contact > -0.2


def test_spec06_oracle_24_25_near_the_maxima():
    """From three quarters of all maxima V1 strikes in a series of hard peaks, V2 with less than half of its force, and
    V3 with less than half of that and at most one hard pulse; its axes turn less."""
    _, system, near = list(starts(0))[2]
    of_v1, of_v2, of_v3 = (limited(system + v, near, 20.0) for v in ("", "_v2", "_v3"))
    assert of_v1.hard >= 10
    assert of_v1.force > 10e3
    assert of_v2.force < 0.5 * of_v1.force
    assert of_v3.force < 0.5 * of_v2.force
    assert of_v3.hard <= 1
    assert of_v3.tilt < of_v2.tilt


def test_spec06_section_5_10_a_delayed_release_strikes_the_cone_even_after_a_nominal_approach(atv):
    """The alternative that the source rejects: small mass, strong springs, peaks of high frequency at the cone.

    The same start as `atv_probe_cone_v3`, whose deployed limiter gives no such load then, and a smaller one at its
    first contact.
    """
    signals = ["mechanism.limiter.rate", "mechanism.flag.limiter_contact", "cyclogram.command.limiter_release",
               *[f"mechanism.load.{name}" for name in ("compression", "bending")]]  # fmt: skip
    run = load("atv_probe_cone_v3_delayed").run(stop=14.0, record=signals, every=1, check=False)
    release = first(run, "cyclogram.command.limiter_release")
    assert release > 8.0
    assert not run["mechanism.flag.limiter_contact"][run.time < release].any()
    after = run.time >= release
    usual = atv.results
    then = (usual.time >= release) & (usual.time <= 14.0)
    assert np.abs(run["mechanism.limiter.rate"][after]).max() > 1.5
    assert run["mechanism.load.compression"][after].max() > 20.0 * usual["mechanism.load.compression"][then].max()
    assert run["mechanism.load.compression"][after].max() > 2.0 * usual["mechanism.load.compression"].max()
    assert run["mechanism.load.bending"][after].max() > 2.0 * usual["mechanism.load.bending"].max()
    # a strike of 4 kg is over within 10 ms
    high = run["mechanism.load.compression"] > 0.5 * run["mechanism.load.compression"][after].max()
    assert 0 < high[after].sum() < 20
