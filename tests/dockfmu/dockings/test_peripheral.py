"""Dockings with the peripheral mechanism against the published runs and the 1-D prototype of peripheral-docking 12."""

import numpy as np
import pytest

from benchmarks.campaigns.expert_sweep import Signs, conditions
from benchmarks.validation.docking import changed
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow


LOADS = ("compression", "tension", "shear", "torsion", "bending")
# peripheral-docking 11.3, N and N m, at the target port, over all micro-steps (ruling R52)
LIMITS = {"compression": 6500.0, "tension": 3900.0, "shear": 3200.0, "torsion": 1500.0, "bending": 2800.0}
STATIC_COMPRESSION, SHORT = 3500.0, 0.1


@pytest.fixture(scope="module")
def impact(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("impact"), "central_impact_peripheral_25t", "--no-report")


@pytest.fixture(scope="module")
def expert(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("expert"), "expert_peripheral_5t", "--no-report")


@pytest.fixture(scope="module")
def missed(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("missed"), "no_capture_peripheral_5t", "--no-report")


def every_step(name, stop, names=(), **options):
    """Run a system to `stop` with its loads recorded at each macro step."""
    record = [f"mechanism.load.{load}" for load in LOADS] + list(names)
    return changed(name, options.pop("set", {})).run(record=record, every=1, stop=stop, check=False, **options)


def peaks(run):
    return {load: float(run[f"mechanism.load.{load}"].max()) for load in LOADS}


def held(run, load):
    """Return the largest load that lasts for 0.1 s."""
    window = round(SHORT / float(np.median(np.diff(run.time))))
    return float(np.lib.stride_tricks.sliding_window_view(run[f"mechanism.load.{load}"], window).min(1).max())


def strokes(results):
    return np.column_stack([results[f"mechanism.leg[{k}].stroke"] for k in range(1, 7)])


def times(run):
    return {event["name"]: event["t"] for event in run.summary["events"]}


def test_spec07_oracle_T28_central_impact(impact):
    """Capture before loss of the initial position, no unlock; travel up to 35 mm and 15 % of the stroke.

    With the stiffer contact of CP-1R the impact of the ring's 94 kg gave 9.4 kN; T24 itself is in
    `components/peripheral_mechanism/test_central_impact.py`.
    """
    results, t = impact.results, impact.results.time
    travel = 0.144 - strokes(results)
    assert 0.03 < travel.max() <= 0.035 <= 0.15 * 0.24
    lost = t[np.argmax(results["mechanism.sensor.initial_position_lost"] > 0)]
    assert times(impact)["capture"] < lost, "capture first, so that the ring does not extend"
    assert all(np.all(results[f"mechanism.leg[{k}].locked"] == 1) for k in range(1, 7))


def test_spec07_oracle_T28_dynamic_peak_first_then_main_absorption_within_the_limits():
    """The axial peak of the ring on the trains of its legs, then the second, long maximum of the springs.

    The peak is at most a tenth above the second, as a stiff spring before a brake can reach (data 2, rulings R55).
    """
    run = every_step("central_impact_peripheral_25t", 3.0)
    t, load = run.time, run["mechanism.load.compression"]
    peak, capture = t[np.argmax(load)], run.events["capture"]
    assert capture < peak < capture + 0.1
    absorption = (t > peak + 0.1) & (t < 1.1)
    second = t[absorption][np.argmax(load[absorption])]
    assert second - peak > 0.5, "a long maximum"
    assert load.max() > load[absorption].max() > 2500.0
    assert load.max() < 1.1 * load[absorption].max()
    assert all(value < LIMITS[name] for name, value in peaks(run).items())
    assert load.max() < STATIC_COMPRESSION, "the dynamic peak is within the static limit, too"


@pytest.mark.parametrize("attitude", [(0.0, 0.0, 0.0), (40.0, 25.0, -70.0)])
def test_ruling_R54_central_impact_is_symmetric_in_every_frame(attitude):
    """Shear below 1e-6 of the axial force, over the impact, the absorption and the rebound, with each macro step.

    The structural frame of the craft is turned by yaw, pitch and roll. With single points of contact it was 2 kN.
    """
    turn = np.radians(attitude)
    found = []
    for step in (1e-3, 5e-4):
        run = every_step("central_impact_peripheral_25t", 3.0, step=step, set=turned(turn))
        found.append(run["mechanism.load.compression"].max())
        assert run["mechanism.load.shear"].max() < 1e-6 * found[-1]
        assert run["mechanism.load.torsion"].max() < 1e-6 * found[-1]
        assert run["mechanism.load.bending"].max() < 1e-6 * found[-1]
    assert found[0] == pytest.approx(found[1], rel=0.01)


def turned(angles):
    """Return settings that give the active craft in a structural frame against which its port is turned."""
    A = np.array(from_angles(*map(float, angles)))
    inertia = A.T @ np.diag([6.3e4, 2.4e5, 2.4e5]) @ A
    place = A.T @ [5.0, 0.0, 0.0]
    settings = {f"chaser.parameters.port[1].position[{i + 1}]": float(place[i]) for i in range(3)}
    settings |= {f"chaser.parameters.port[1].angles[{i + 1}]": float(angles[i]) for i in range(3)}
    return settings | {
        f"chaser.parameters.inertia[{i + 1},{j + 1}]": float(inertia[i, j]) for i in range(3) for j in range(3)
    }


def test_published_run_stays_within_the_loads_of_the_interface(expert):
    """All of peripheral-docking 11.3 at the target port.

    It was 14.7 kN of compression, 8.7 kN of shear, 5.1 kN m of bending.
    """
    run = every_step("expert_peripheral_5t", 16.0)
    assert all(value < LIMITS[name] for name, value in peaks(run).items())
    assert held(run, "compression") < STATIC_COMPRESSION
    assert peaks(run)["compression"] > 1000.0, "the ring meets the other one"
    sampled = {load: expert.results[f"mechanism.load.{load}"].max() for load in LOADS}
    assert all(value < LIMITS[name] for name, value in sampled.items()), "to the docked craft"


def test_spec07_oracle_T29_seconds_of_contact_then_a_fast_extension(expert):
    """Contact below the resistance of the initial position for seconds (3.34 in the source), then a fast extension.

    Unlock to capture 0.1 to 0.35 s, absorption within 1.5 s. Contact forces are small: below the resistance at a point
    of the edge before the unlock (802 N), within the limits after it.
    """
    event = times(expert)
    assert event["first_contact"] == pytest.approx(0.305, abs=5e-3)
    assert 2.0 < event["initial_position_lost"] - event["first_contact"] < 5.0
    assert 0.1 < event["capture"] - event["initial_position_lost"] < 0.35
    assert event["latched"] == pytest.approx(event["capture"], abs=0.05)
    run = every_step("expert_peripheral_5t", 16.0, ["mechanism.docking.velocity[1]"])
    before = run.time < event["initial_position_lost"] - 5e-3
    assert 0.0 < run["mechanism.load.compression"][before].max() < 802.0
    after = (run.time > event["capture"]) & (run.time < event["drive_on"])
    moving = run.time[after][np.abs(run["mechanism.docking.velocity[1]"][after]) > 0.01]
    assert (moving.max() if moving.size else event["capture"]) - event["capture"] < 1.5


def test_spec07_oracle_T31_alignment_and_retraction(expert):
    """Longest cable first, about 19 s; aligned by 114 s; total about 540 s: order exact, times 30 %.

    The craft are aligned 30 s after the drive is on, as the captured ring is askew by 0.5 deg alone, and one drum is
    interrupted. About 100 s and two drums, from 4 deg: `components/peripheral_mechanism/test_retraction.py`.
    """
    event, results, t = times(expert), expert.results, expert.results.time
    assert expert.summary["outcome"] == "docked"
    assert event["drive_on"] == pytest.approx(event["capture"] + 10.0, abs=2e-3)
    assert event["end_of_retraction"] == pytest.approx(550.0, rel=0.02)
    ready = np.searchsorted(t, event["drive_on"])
    order = np.argsort([-results[f"mechanism.cable[{i}].length"][ready] for i in (1, 2, 3)]) + 1
    taut = [event[f"cable_{i}_taut"] for i in order]
    assert order[0] == 1
    assert taut == sorted(taut)
    assert taut[0] == pytest.approx(19.0, rel=0.3)
    assert event["drive_on"] < taut[0]
    tilt = np.hypot(results["mechanism.docking.angles[1]"], results["mechanism.docking.angles[2]"])
    assert np.degrees(tilt[t > 114.0]).max() < 0.25, "aligned at 114 s"


def test_spec07_oracle_T31_aligned_within_100_s_by_other_signs():
    """The signs of the published run are not published. With roll and its rate reversed and the miss at 30 deg contact
    and extension agree as well, and the craft are aligned 70 to 90 s after the drive is on (100 s, 30 %).
    """
    tilts = [f"mechanism.docking.angles[{k}]" for k in (1, 2)]
    member = conditions(Signs(roll=-1, tilt=1, roll_rate=-1, tilt_rate=-1), np.radians(30.0))
    run = changed("expert_peripheral_5t", member).run(record=tilts, stop=114.0)
    first, lost, capture = (run.events[name] for name in ("first_contact", "initial_position_lost", "capture"))
    assert lost - first == pytest.approx(3.34, rel=0.05)
    assert capture - lost == pytest.approx(0.207, rel=0.1)
    after = np.array(run.time) - run.events["drive_on"]
    tilt = np.degrees(np.hypot(*(np.array(run[name]) for name in tilts)))
    assert tilt[after > 70.0].max() > 0.25
    assert tilt[after > 90.0].max() < 0.25


def test_spec07_oracle_T31_a_tilt_aside_of_the_miss_is_aligned_in_time_and_its_first_cable_is_taut_by_19_s():
    """The plane of the tilt is not published either. At 75 deg to the miss the contact does not turn the craft back:
    the ring is captured askew by 5 deg, one side at the end of its travel. The order of the cables and the times of the
    first one and of the alignment are as published; the second cable waits for the tilt (published: 19 s).
    """
    tilts = [f"mechanism.docking.angles[{k}]" for k in (1, 2)]
    joined = [f"mechanism.cable[{k}].joined" for k in (1, 2, 3)]
    member = conditions(Signs(roll=-1, tilt=1, roll_rate=1, tilt_rate=1), np.radians(40.0), np.radians(75.0))
    run = changed("expert_peripheral_5t", member).run(record=[*tilts, *joined], stop=140.0, every=10)
    first, lost, capture, on = (
        run.events[name] for name in ("first_contact", "initial_position_lost", "capture", "drive_on")
    )
    assert lost - first == pytest.approx(3.34, rel=0.3)
    assert capture - lost == pytest.approx(0.207, rel=0.3)
    time = np.array(run.time)
    tilt = np.degrees(np.hypot(*(np.array(run[name]) for name in tilts)))
    assert 4.0 < tilt[np.searchsorted(time, on)] < 6.0
    assert time[np.flatnonzero(tilt > 0.25)[-1]] - on == pytest.approx(100.0, rel=0.3)
    third, longest, second = (time[time > on][np.argmax(np.array(run[name])[time > on] > 0.5)] for name in joined)
    assert longest < 19.0 < second < third


def test_spec07_oracle_T31_shorter_cables_give_the_published_times_of_both_cables_and_of_the_alignment():
    """Two sides of the ring are equally far out, and cables end 13 mm before the legs: first cable before 19 s, second
    from 19 s on, third with the alignment, 100 s after the drive is on; times 30 %.
    """
    tilts = [f"mechanism.docking.angles[{k}]" for k in (1, 2)]
    joined = [f"mechanism.cable[{k}].joined" for k in (1, 2, 3)]
    member = conditions(Signs(roll=-1, tilt=1, roll_rate=1, tilt_rate=-1), np.radians(46.0), np.radians(97.0))
    drums = {"mechanism.parameters.cables.drum_radius": 0.0641}
    run = changed("expert_peripheral_5t", member | drums).run(record=[*tilts, *joined], stop=140.0, every=10)
    time, on = np.array(run.time), run.events["drive_on"]
    tilt = np.degrees(np.hypot(*(np.array(run[name]) for name in tilts)))
    assert time[np.flatnonzero(tilt > 0.25)[-1]] - on == pytest.approx(100.0, rel=0.3)
    third, second, first = (time[time > on][np.argmax(np.array(run[name])[time > on] > 0.5)] for name in joined)
    assert on < first < second == pytest.approx(19.0, rel=0.3)
    assert third == pytest.approx(114.0, rel=0.1)


def test_ruling_R55_join_flag_drops_out_and_returns():
    """Taut, slack, taut again while the relative rotation of the craft builds up and dies away.

    The first cable takes hold of craft that still rock within the backlash of the legs, at 1 to 2 mm/s, faster than the
    drum winds. It is slack once more whatever the moment of their rocking: the drive starts at three times.
    """
    names = [f"mechanism.cable[{i}].joined" for i in (1, 2, 3)]
    for wait in (10.0, 10.2, 10.5):
        run = every_step("expert_peripheral_5t", 42.0, names, set={"cyclogram.parameters.absorption_time": wait})
        assert (np.diff(run["mechanism.cable[1].joined"]) < 0.0).any()
        assert all(run[name][-1] for name in names), "all taut at the end"


def test_ruling_R55_guide_pins_align_roll_before_the_planes_meet(expert):
    """Roll is that of the clearance of the pins, 1 mm at 0.6 m, from 10 mm before the planes meet.

    There the rods of the pins are in their sockets. Pins and sockets yield by some 0.05 mm.
    """
    results, gap = expert.results, expert.results["mechanism.docking.plane_gap"]
    roll = np.degrees(np.abs(results["mechanism.docking.angles[3]"]))
    assert roll[(gap > 0.06) & (gap < 0.3)].max() > 0.5, "craft roll on the ring by a degree"
    assert roll[gap < 0.01].max() < np.degrees(1.05e-3 / 0.6)
    assert results["mechanism.validity.pin_missed"][-1] == 0
    assert results["mechanism.audit.dissipated_guide_pins"][-1] > 0.0


def test_spec07_oracle_T30_the_extension_hardly_slows_the_craft(expert):
    """It slows by less than 0.02 m/s up to the capture, which the sensors report as soon as the latches hold."""
    event = times(expert)
    closing = expert.results["mechanism.docking.velocity[1]"]
    before = np.interp([event["initial_position_lost"], event["capture"]], expert.results.time, closing)
    assert 0.0 < before[0] - before[1] < 0.02


def test_sensors_within_the_play_of_the_latches_tell_of_the_capture_late():
    """Those of RefRing switch at 1 mm, within a play of 3 mm: 0.08 s after the latches hold."""
    sensor = "mechanism.ring_pair.parameters.sensor.protrusion"
    system = changed("expert_peripheral_5t", {sensor: 2e-3})
    names = ["mechanism.docking.velocity[1]", *(f"mechanism.sensor.latched[{k}]" for k in range(1, 7))]
    run = system.run(record=names, every=1, stop=6.0, check=False)
    lost, capture = run.events["initial_position_lost"], run.events["capture"]
    latched = np.column_stack([run[name] for name in names[1:]])
    # a latch of each petal
    held = run.time[np.argmax((latched[:, ::2] + latched[:, 1::2] > 0.0).all(1))]
    speeds = np.interp([lost, held, capture], run.time, run[names[0]])
    assert 0.1 < held - lost < 0.3
    assert capture - held > 0.04
    assert speeds[0] - speeds[2] > speeds[0] - speeds[1] + 1e-3, "meanwhile the springs slow the craft"


def test_spec07_oracle_T35_after_capture(expert):
    """Legs stay held, compressed, slack or in tension; none is released."""
    results, t, event = expert.results, expert.results.time, times(expert)
    closing = results["mechanism.docking.velocity[1]"]
    after = t > event["capture"] + 0.02
    for k in range(1, 7):
        assert set(np.unique(results[f"mechanism.leg[{k}].state"][after])) <= {0, 1, 4, 5, 11, 12}
    settled = np.abs(closing[(t > event["capture"] + 1.5) & (t < event["drive_on"])])
    assert settled.max() < 0.01, "absorbed"


def test_one_drive_overcomes_pushers_and_connectors(expert):
    """1500 N more on the cables over the last 20 mm (T33), and the springs are cocked again.

    Before, the guide pins resist with up to 200 N while they align the craft.
    """
    results, gap = expert.results, expert.results["mechanism.docking.plane_gap"]
    pull = sum(results[f"mechanism.cable[{i}].tension"] for i in (1, 2, 3))
    entering = np.argmax(gap < 0.02)
    assert pull[entering + 300] - pull[entering - 300] == pytest.approx(1500.0, abs=200.0)
    assert strokes(results)[-1].max() < 1.1e-3
    stored = results["mechanism.audit.stored_energy"]
    assert stored[-1] > 450.0 > 3.0 * stored[np.searchsorted(expert.results.time, 10.0)]


def test_audit_of_the_expert_run(expert):
    """Momentum exchanged to rounding; energy, of which motors alone are supplied, to 1 % of the approach energy."""
    audit = expert.summary["audit"]
    assert audit["linear_momentum_drift"] < 1e-6
    assert audit["angular_momentum_drift"] < 1e-6
    assert audit["energy_residual"] < 1e-2
    assert audit["mechanism_momentum_drift"] < 3e-4, "the mechanism is 2 % of the craft: see docs/theory"
    assert audit["base_impulse_error"] < 1e-5


def test_spec07_oracle_T32_premature_extension(missed, expert):
    """The initial position is lost with the rings farther apart; the legs run out of stroke before they mate."""
    event, results = times(missed), missed.results
    assert missed.summary["outcome"] == "retreated"
    assert "capture" not in event

    def gap_of_rings(run):
        at = np.searchsorted(run.results.time, times(run)["initial_position_lost"])
        return run.results["mechanism.docking.plane_gap"][at] - run.results["mechanism.link[1].position[1]"][at]

    assert gap_of_rings(missed) > gap_of_rings(expert) + 0.015
    assert event["departure"] == pytest.approx(event["initial_position_lost"] + 15.0, abs=2e-3)
    assert strokes(results).max() > 0.24, "out of stroke"
    thrust_on = np.searchsorted(results.time, event["departure"])
    closing = results["mechanism.docking.velocity[1]"][:thrust_on]
    assert -0.25 < closing.min() < 0.0, "T36: what the springs can give 5 t"
    assert results["mechanism.docking.plane_gap"][-1] > 0.8, "R53: apart"


def test_spec07_oracle_T32_with_post_contact_thrust_capture_becomes_possible():
    """The variant with 500 N (conventions 8.1, ruling R50): rods on their forward stops, captured within the limits."""
    run = every_step(
        "no_capture_peripheral_5t_push",
        12.0,
        [f"mechanism.leg[{k}].stroke" for k in range(1, 7)] + ["mechanism.audit.dissipated_stops"],
    )
    assert run.events["capture"] - run.events["initial_position_lost"] < 1.0
    assert all(value < LIMITS[name] for name, value in peaks(run).items())
    assert held(run, "compression") < STATIC_COMPRESSION
    assert run["mechanism.audit.dissipated_stops"][-1] > 0.1
    assert 0.252 < max(run[f"mechanism.leg[{k}].stroke"].max() for k in range(1, 7)) < 0.26


def test_ruling_R53_a_second_approach_meets_armed_latches(missed):
    """After a retreat no latch is behind its stop, whatever it has met; the units are apart."""
    latched = [missed.results[f"mechanism.sensor.latched[{k}]"][-1] for k in range(1, 7)]
    assert latched == [0.0] * 6


def test_recovery_after_no_capture_cocks_the_springs_again():
    """After departure the drive retracts the free ring, and the sequence ends stowed (A1 of peripheral-docking 9)."""
    system = changed("no_capture_peripheral_5t", {"cyclogram.parameters.recovery": 1.0})
    names = [f"mechanism.leg[{k}].stroke" for k in range(1, 7)] + ["mechanism.audit.stored_energy", "cyclogram.phase"]
    run = system.run(record=names, every=100, check=False)
    assert run.outcome == "retreated"
    last = {name: run[name][-1] for name in names}
    assert max(last[name] for name in names[:6]) < 1.1e-3
    assert last["mechanism.audit.stored_energy"] > 450.0
    assert last["cyclogram.phase"] == 1, "STOWED"
