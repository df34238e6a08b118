"""Dockings with a craft, a cyclogram and an arm that were written independently with pythonfmu and numpy."""

import numpy as np
import pytest

from dockfmu.swap.interface import check_swap
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow

# capture at 1.99 s, bottom of the socket and start of docking at 2.05 s, brakes 2 s later
ARGUMENTS = ("atv_probe_cone", "--stop", 4.5, "--no-report")
EVENTS = ("first_contact", "capture", "socket_bottom", "lateral_brakes_on")


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    return run_system(tmp_path_factory.mktemp("ours"), *ARGUMENTS)


@pytest.fixture(scope="module")
def swapped(python_fmu, tmp_path_factory):
    def make(element, script):
        fmu = python_fmu(script)
        assert check_swap(f"atv_probe_cone.{element}", fmu)[0] == []
        return run_system(tmp_path_factory.mktemp(script), *ARGUMENTS, "--swap", f"{element}={fmu}")

    return make


def difference(one, two, name):
    return np.abs(np.asarray(one.results[name], float) - np.asarray(two.results[name], float)).max()


def test_a_craft_in_numpy_docks_like_ours(swapped, ours):
    """Impact, push, capture, bottom of the socket, brakes.

    Both integrate the rigid body far more exactly than the coupling, at 1 ms; they differ in how the wrench is turned
    within a step, (omega h)^2/24 with omega = 0.01 rad/s, 4e-12 of a wrench that moves the craft by some 0.5 m, and in
    the acceleration that a mechanism of 43 kg is told, mean or instantaneous.
    """
    theirs = swapped("chaser", "numpy_craft")
    for event in EVENTS:
        assert theirs.time(event) == pytest.approx(ours.time(event), abs=1.5e-3), event
    assert difference(theirs, ours, "mechanism.docking.plane_gap") < 1e-8
    for k in (1, 2, 3):
        assert difference(theirs, ours, f"chaser.port[1].position[{k}]") < 1e-8
        assert difference(theirs, ours, f"chaser.port[1].angular_velocity[{k}]") < 1e-8
    assert np.abs(ours.results["mechanism.target.force_now[1]"]).max() > 5e3
    # 1e-8 m into a socket of some 1e6 N/m
    assert difference(theirs, ours, "mechanism.target.force_now[1]") < 0.05


def test_a_cyclogram_written_as_a_timeline_gives_the_same_bits(swapped, ours):
    theirs = swapped("cyclogram", "timeline_cyclogram")
    assert [theirs.time(event) for event in EVENTS] == [ours.time(event) for event in EVENTS]
    for name in ("mechanism.target.force_now[1]", "chaser.port[1].position[2]"):
        assert difference(theirs, ours, name) == 0.0, name
    # theirs commands nothing before its first step, ours pushes from the first contact on, which is the start
    push = [run.results["cyclogram.command.push"] for run in (theirs, ours)]
    assert [commands[0] for commands in push] == [0, 1]
    assert np.array_equal(push[0][1:], push[1][1:])


@pytest.fixture(scope="module")
def berthed(python_fmu, tmp_path_factory):
    """Run mim1_ssrms_nrt74 from 0.15 instead of 0.9 m before the cone, with our arm and with a third-party one."""
    near = "initial_conditions.gap=0.64"
    arguments = ("mim1_ssrms_nrt74", "--no-report", "--set", near)
    fmu = python_fmu("kinematic_arm")
    assert check_swap("mim1_ssrms_nrt74.manipulator", fmu)[0] == []
    theirs = run_system(tmp_path_factory.mktemp("theirs"), *arguments, "--swap", f"manipulator={fmu}")
    return theirs, run_system(tmp_path_factory.mktemp("our_arm"), *arguments)


def test_a_kinematic_arm_in_numpy_starts_where_ours_stands(berthed):
    """Its kinematic chain describes the same geometry in another form."""
    for name, count in (("relative.position", 3), ("relative.quaternion", 4)):
        for k in range(1, count + 1):
            one, two = (run.results[f"manipulator.{name}[{k}]"][0] for run in berthed)
            assert one == pytest.approx(two, abs=1e-12)


def test_a_kinematic_arm_in_numpy_moves_the_interface_as_commanded(berthed):
    """Straight along x of the payload at 19 mm/s after a ramp of 0.95 s, which is 9 mm behind."""
    theirs, _ = berthed
    t = theirs.results.time
    free = (t > 1.0) & (t < theirs.time("first_contact"))
    place = np.column_stack([theirs.results[f"manipulator.relative.position[{k}]"] for k in (1, 2, 3)])
    gone = np.linalg.norm(place - place[0], axis=1)
    assert np.abs(gone - 0.019 * (t - 0.475))[free].max() < 2e-5
    angles = np.column_stack([theirs.results[f"manipulator.relative.quaternion[{k}]"] for k in (1, 2, 3, 4)])
    assert np.abs(angles - angles[0]).max() < 1e-9


def test_a_kinematic_arm_in_numpy_berths_like_ours(berthed):
    """Both capture; the arm that cannot give way loads its gripper beyond 1000 N at the bottom of the socket.

    Our payload swings on its arm by 20 mm, at 19 mm/s a second of the first contact.
    """
    theirs, ours = berthed
    assert [run.summary["outcome"] for run in berthed] == ["overloaded", "berthed"]
    for event in ("first_contact", "capture"):
        assert theirs.time(event) == pytest.approx(ours.time(event), abs=1.5), event
    joint = [[run.results[f"manipulator.joint[{k}].angle"] for k in range(1, 8)] for run in berthed]
    assert np.abs(np.array(joint[0])[:, 400] - np.array(joint[1])[:, 400]).max() < 0.01
    peak = [run.results["sequence.load.peak_force"][-1] for run in berthed]
    assert peak[0] > 1000.0 > peak[1] > 300.0
