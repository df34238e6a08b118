"""The docking with a craft, and with a cyclogram, that were written independently with pythonfmu and numpy."""

import numpy as np
import pytest

from dockfmu.swap.interface import check_swap
from tests.dockfmu.command_line import run_system

pytestmark = pytest.mark.slow

ARGUMENTS = ("atv_probe_cone", "--stop", 4, "--no-report")
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
