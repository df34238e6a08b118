"""Berthing by an arm against the published runs of the source: oracles O33 to O39 of manipulator."""

from __future__ import annotations

import numpy as np
import pytest

import dockfmu
from benchmarks.validation.berthing_sweep import SETTLE, SWEEP
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow


FINE_ARM = ("--set", "manipulator.parameters.micro_step=0.125ms")
"""A quarter of the usual micro-step of the arm"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a function that returns the run of a system by name, each made once."""
    made = {}

    def of(name, *arguments):
        key = (name, *arguments)
        if key not in made:
            made[key] = run_system(tmp_path_factory.mktemp(name), name, "--no-report", *arguments)
        return made[key]

    return of


def vector(results, name):
    return np.column_stack([results[f"{name}[{k}]"] for k in (1, 2, 3)])


def load(run):
    """Return the largest load on the gripper: force, N, and torque, N m."""
    return run.results["sequence.load.peak_force"][-1], run.results["sequence.load.peak_torque"][-1]


@pytest.mark.parametrize(
    ("system", "outcome"),
    [
        ("airlock_era", "berthed"),
        ("airlock_era_coarse", "overloaded"),
        ("radiator_era", "berthed"),
        ("radiator_era_blind", "not_captured_and_overloaded"),
        ("mim1_ssrms_nrt74", "berthed"),
        ("mim1_ssrms_rt3", "berthed"),
        ("mim1_ssrms_nrt_jam", "timed_out"),
        ("mim1_ssrms_limp", "berthed"),
        ("mim1_ssrms_flexible", "berthed"),
    ],
)
def test_systems_end_as_they_declare(run, system, outcome):
    assert run(system).summary["outcome"] == outcome


ALL = (
    "airlock_era", "airlock_era_coarse", "radiator_era", "radiator_era_blind", "mim1_ssrms_nrt74", "mim1_ssrms_rt3",
    "mim1_ssrms_nrt_jam", "mim1_ssrms_limp", "mim1_ssrms_flexible",
)  # fmt: skip


@pytest.mark.parametrize("system", ALL)
def test_energy_closes(run, system):
    """It closes within 1 %. A jammed head pushes the fixture 70 mm off the gripper: the lever of the spring matters."""
    assert abs(run(system).summary["audit"]["energy_residual"]) < 0.01


@pytest.mark.parametrize("system", [name for name in ALL if name.startswith("mim1")])
def test_spec00_ruling_45_impulse_on_the_arm_by_two_ways(run, system):
    """By the equations of motion and by the momenta of the probe mechanism, to the error of its integrator."""
    assert run(system).summary["audit"]["base_impulse_error"] < 1e-5


def test_mim1_ssrms_rt3_meets_its_own_audit_because_impulses_are_summed_over_micro_steps():
    """Issue 35, section 3: this berthing failed the line while it took the trapezoidal rule.

    The rule takes the forces at the ends of macro steps and misses what impacts do within them. Its error, computed
    here from the recorded forces, is of the size of the limit at either macro step (0.7 and 1.1 of it), and hundreds of
    times that of today's sum over the micro-steps. Today's line is the error of the integrator: below a hundredth of
    the limit, whatever the macro step.
    """
    names = [f"mechanism.base.{word}[{k}]" for word in ("force", "force_now") for k in (1, 2, 3)]
    own = [f"mechanism.audit.base_impulse_error[{k}]" for k in (1, 2, 3)]
    for step in (1e-3, 0.5e-3):
        done = dockfmu.load("mim1_ssrms_rt3").run(record=[*names, *own], every=1, step=step)
        line = done.result.audit["base_impulse_error"]
        assert all(check["ok"] is not False for check in done.result.checks.values())
        assert done.result.checks["base_impulse_error"]["ok"]
        limit = done.result.checks["base_impulse_error"]["limit"]
        assert line < 0.01 * limit
        force, now = (np.column_stack([done[name] for name in part]) for part in (names[:3], names[3:]))
        rule = np.diff(done.time)[:, None] * (0.5 * (now[1:] + now[:-1]) - force[1:])
        largest = np.linalg.norm(np.cumsum(rule, axis=0), axis=1).max()
        errors = np.linalg.norm(np.column_stack([done[name] for name in own]), axis=1).max()
        assert largest > 100.0 * errors
        # the line is relative to the momentum exchanged, and so is the rule
        assert largest * line / errors > 0.3 * limit


def test_spec08_oracle_O30_missing_energy_falls_with_the_micro_step_of_the_arm(run):
    """It is of first order in the arm's micro-step, down to the error of the contact's own micro-steps.

    The macro step, over which motion is extrapolated to the contact, has no influence on it.
    """

    def missing(*arguments):
        return run("airlock_era_coarse", *arguments).summary["audit"]["energy_residual"]

    assert missing() < 0.004
    assert missing(*FINE_ARM) < 0.4 * missing()
    assert missing("--no-report", "--step", 0.5e-3) == pytest.approx(missing(), rel=0.1)


@pytest.mark.parametrize(("system", "push", "pull"), [("airlock_era_coarse", 0.01, 0.01), ("airlock_era", 0.07, 0.25)])
def test_contact_forces_do_not_depend_on_the_micro_step_of_the_arm(run, system, push, pull):
    """The load on the gripper converges to 0.1 %, the bounces after the capture less: docs/validation/berthing.md.

    In `airlock_era` they vary by 10 N: latches fire within 0.1 s, in an order that depends on tenths of millimetres.
    """

    def largest(*arguments):
        peaks = run(system, *arguments).summary["peaks"]["contact.target.force_now[1]"]
        return -peaks["min"], peaks["max"]

    usual, fine = largest(), largest(*FINE_ARM)
    assert usual[0] == pytest.approx(fine[0], rel=push)
    assert usual[1] == pytest.approx(fine[1], rel=pull)
    assert load(run(system)) == pytest.approx(
        load(run(system, *FINE_ARM)), rel=1e-3 if system == "airlock_era" else 1e-2
    )


def test_spec08_oracle_O36_airlock_is_captured_at_300_s(run):
    """Capture at 300 s, 10 %; lateral Steps over at 95 s, angular ones from 115 to 200 s; one coordinate at a time."""
    done = run("airlock_era")
    assert done.time("capture") == pytest.approx(300.0, abs=30.0)
    results = done.results
    t, phase = results.time, results["sequence.phase"]
    stepping = phase == 5.0
    assert t[stepping & (t < 100.0)].max() == pytest.approx(94.0, abs=3.0)
    assert t[stepping & (t > 100.0)].min() == pytest.approx(115.0, abs=1.0)
    assert t[stepping].max() == pytest.approx(199.0, abs=3.0)
    axis = results["sequence.command.step.axis"]
    assert list(axis[np.flatnonzero(np.diff(axis, prepend=0))]) == [1, 2, 3, 5, 6, 1]
    before = t < done.time("first_contact")
    position = vector(results, "manipulator.relative.position")
    moved = np.abs(position[np.searchsorted(t, 52.0)] - position[0])
    assert moved[1] == pytest.approx(0.02, abs=2e-3)
    assert moved[2] < 5e-3
    assert np.abs(vector(results, "manipulator.relative.angles"))[before][-1].max() < np.radians(0.3)


def _steps(run):
    """Return [(axis, amplitude)] of the commands before the Insert, in their order."""
    axis, size = (run.results[f"sequence.command.step.{name}"] for name in ("axis", "amplitude"))
    changed = np.flatnonzero((np.diff(axis, prepend=0.0) != 0.0) | (np.diff(size, prepend=0.0) != 0.0))
    return [(int(axis[k]), float(size[k])) for k in changed if size[k] != 0.0][:-1]


MIRRORED = [
    *("--set", "initial_conditions.miss=[-20mm, 20mm]"),
    *("--set", "initial_conditions.yaw=-0.5deg", "--set", "initial_conditions.pitch=0.5deg"),
]


def test_steps_from_a_mirrored_start_are_mirrored(run):
    """The operator corrects what is there: the script has no side. The arm itself has no mirror."""
    nominal, mirrored = run("airlock_era"), run("airlock_era", *MIRRORED)
    assert mirrored.summary["outcome"] == "berthed"
    assert len(_steps(nominal)) == 4
    assert _steps(mirrored) == [(axis, -size) for axis, size in _steps(nominal)]
    assert mirrored.time("capture") == pytest.approx(nominal.time("capture"), abs=0.5)
    assert load(mirrored) == pytest.approx(load(nominal), rel=0.05)


@pytest.mark.parametrize("seed", [3, 8])
def test_drawn_starts_are_berthed(run, seed):
    """Steps against the nominal miss pushed them to 34 and 45 mm. All of 40 are berthed: docs/validation."""
    done = run("airlock_era", "--set", f"initial_conditions.seed={seed}")
    assert done.summary["outcome"] == "berthed"
    aside = [done.results[f"manipulator.relative.position[{k}]"] for k in (2, 3)]
    insert = np.searchsorted(done.results.time, done.time("insert"))
    # half a Step, and 1.5 mm of the arm's own errors
    assert all(abs(x[insert]) < 11.5e-3 for x in aside)
    assert done.time("capture") == pytest.approx(300.0, abs=3.0)


def test_spec08_oracle_O37_coarse_control_loads_the_arm_more(run):
    """A fast Insert without Steps goes beyond 300 N or 400 N m at capture, the precise run stays below them."""
    fine, coarse = load(run("airlock_era")), load(run("airlock_era_coarse"))
    assert fine[0] < 300.0
    assert fine[1] < 400.0
    assert coarse[0] > 300.0 or coarse[1] > 400.0
    assert coarse[0] > 1.5 * fine[0]
    assert run("airlock_era_coarse").results["contact.sensor.capture"][-1] == 1.0


def test_a_slow_insert_without_steps_saturates_the_drives_below_the_limits(run):
    """The speed exceeds them: at 5 mm/s, a tenth, the drives of ERA give no more than this."""
    done = run("airlock_era_coarse", "--set", "sequence.parameters.step.speed[1]=0.005")
    force, torque = load(done)
    assert 150.0 < force < 300.0
    assert 200.0 < torque < 400.0
    motors = [np.abs(done.results[f"manipulator.joint[{j}].motor_torque"]).max() for j in range(1, 8)]
    assert max(motors) > 0.99


def test_spec08_oracle_O38_radiator_has_seven_phases(run):
    """Fig. 8.4.10: 3 Insert, 4 plug on its cone, 5 in its bore, 6 capture, 7 planes, told apart by the axial speed."""
    done = run("radiator_era")
    times = [done.time(name) for name in ("insert_3", "plug_on_cone_4", "plug_in_bore_5", "capture_6", "planes_7")]
    assert times == sorted(times)
    assert len(set(times)) == 5
    results = done.results
    t, speed = results.time, results["manipulator.relative.velocity[1]"]

    def over(begin, end):
        return speed[(t >= begin) & (t < end)]

    free = over(times[0] + 3.0, times[1]).mean()
    assert free == pytest.approx(1.5e-3, rel=0.3)
    # angular misalignment remains: 0.2 deg about y and about z
    turned = vector(results, "manipulator.relative.angles")[np.searchsorted(t, times[1]) - 1]
    assert np.degrees(np.abs(turned[:2])) == pytest.approx([0.2, 0.2], abs=0.1)
    # it falls where the plug meets the cone, again where it enters the bore, and springs forward when the ball lets go
    assert over(times[1], times[1] + 2.0).mean() < 0.9 * free
    assert over(times[1], times[1] + 1.0).min() < 0.5 * free
    sliding = over(times[1] + 2.0, times[2]).mean()
    assert over(times[2], times[2] + 1.0).min() < 0.85 * sliding
    assert over(times[3] - 0.02, times[4]).max() > 2.0 * 1.5e-3
    assert abs(speed[-1]) < 0.2 * 1.5e-3
    force = np.linalg.norm(vector(results, "contact.target.force_now"), axis=1)
    resting = force[(t > times[4] + 2.0) & (t < times[4] + 2.5)].mean()
    assert force[-1] > resting or force[-1] > 10.0


def test_spec08_oracle_O39_blind_radiator_only_builds_up_force(run):
    """Fig. 8.4.7: the plug on its plane, one guide pin in its cone; the force grows until the drives give no more.

    The pin takes the lateral load that would otherwise deflect the compliant arm.
    """
    done = run("radiator_era_blind")
    results = done.results
    assert results["contact.sensor.capture"].max() == 0.0
    assert results["contact.flag.in_socket"].max() == 0.0
    t = results.time
    late = t > done.time("guide_contact_2")
    assert results["contact.flag.plug_contact"][late].mean() > 0.99
    assert results["contact.flag.guide_contact[2]"][late].mean() > 0.99
    assert results["contact.flag.guide_contact[1]"].max() == 0.0
    force = np.linalg.norm(vector(results, "contact.target.force_now"), axis=1)
    # means of 4 s, without what rings at the first touch
    edges = np.arange(done.time("plug_on_cone_4") + 2.0, 58.0, 4.0)
    means = np.array([force[(t >= a) & (t < a + 4.0)].mean() for a in edges])
    assert np.all(np.diff(means[:6]) > 0.0)
    assert means[6:].min() > 0.95 * means.max()
    assert means.max() > 300.0, "beyond the force that the arm is assumed to bear"
    torque = np.abs([results[f"manipulator.joint[{j}].motor_torque"] for j in (2, 3, 4)])
    assert (torque.max(axis=1) > 0.999).all()


def test_spec08_oracle_O34_nrt_is_captured_at_48_s_with_1_kN(run):
    """Capture at 48 s, 5 s; the peak of 1.0 to 1.2 kN, 20 %, after capture, when the head meets the socket's bottom."""
    done = run("mim1_ssrms_nrt74")
    assert done.summary["outcome"] == "berthed"
    assert done.time("capture") == pytest.approx(48.0, abs=5.0)
    axial = done.results["mechanism.target.force_now[1]"]
    t = done.results.time
    assert 0.8 * 1000.0 < axial.max() < 1.2 * 1200.0
    assert t[axial.argmax()] == pytest.approx(done.time("socket_bottom"), abs=0.2)
    assert done.time("first_contact") < done.time("capture") < done.time("socket_bottom")
    start = done.results["manipulator.relative.position[1]"]
    # oracle O34 of manipulator: 0.9 m of free way at 1.9 cm/s
    assert start[np.searchsorted(t, done.time("first_contact"))] - start[0] == pytest.approx(0.9, rel=0.15)


def test_spec08_oracle_O35_rt_is_captured_with_less_force(run):
    """Fig. 8.3.7, 8.3.8: angles, offset, approach; DK1, DSG, DK2 in this order; forces below those of NRT."""
    done, coarse = run("mim1_ssrms_rt3"), run("mim1_ssrms_nrt74")
    assert done.summary["outcome"] == "berthed"
    assert done.time("capture") < 900.0
    phases = done.results["sequence.phase"]
    order = phases[np.flatnonzero(np.diff(phases, prepend=0.0))]
    assert list(order[:3]) == [2.0, 3.0, 4.0]
    assert done.time("first_contact") < done.time("capture") < done.time("socket_bottom")
    axial = [np.abs(entry.results["mechanism.target.force_now[1]"]).max() for entry in (done, coarse)]
    assert axial[0] < axial[1]
    assert load(done)[0] < 0.6 * load(coarse)[0]


def test_spec08_oracle_O33_a_jammed_head_saturates_the_drives(run):
    """Far off on a dry cone: first contact, no capture, a motor at its limit for most of the rest."""
    done = run("mim1_ssrms_nrt_jam")
    results = done.results
    assert results["mechanism.sensor.capture"].max() == 0.0
    later = results.time > done.time("first_contact") + 30.0
    torque = np.column_stack([results[f"manipulator.joint[{j}].motor_torque"] for j in range(1, 8)])
    assert np.abs(torque[later]).max(axis=1).mean() > 0.95


def test_the_jam_is_one_of_friction():
    """With 0.2 instead of 0.65 the head slides into the socket from the same start (assumed data, berthing_sweep)."""
    ((_, system, settings),) = (entry for entry in SWEEP if entry[0] == "friction 0.20")
    done = dockfmu.load(system, {**SETTLE, **settings}).run()
    assert done.outcome == "berthed"


def test_a_fast_insert_overloads_the_arm_where_it_goes_on_after_the_capture():
    """Seed 121 of the airlock's random starts, 5 mm aside: the arm that is pressed on carries the captured airlock
    across its play, and the strike exceeds 400 N m. The same start ends well with an Insert to the bottom, 84 mm on.
    """
    step = "sequence.parameters.step"
    start = {
        "initial_conditions.gap": "320mm",
        "initial_conditions.seed": 121,
        f"{step}.speed[1]": 0.02,
        f"{step}.begin[1]": 0.0,
    }
    torque = "sequence.load.peak_torque"
    on, ended = (
        dockfmu.load("airlock_era_coarse", {**start, f"{step}.amplitude[1]": way}).run(record=[torque])
        for way in (0.095, 0.084)
    )
    assert (str(on.outcome), str(ended.outcome)) == ("overloaded", "berthed")
    assert on.events["overload"] > on.events["capture"] + 0.5
    assert on[torque][-1] > 1.3 * ended[torque][-1]
