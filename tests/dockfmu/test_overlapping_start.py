"""Craft that are placed beyond the first contact: the force and the energy that appear are told."""

import re

import numpy as np
import pytest

import dockfmu

pytestmark = pytest.mark.slow

GAP = "initial_conditions.start_gap"
STORED = "mechanism.audit.stored_energy"


@pytest.fixture(scope="module")
def simulation():
    with dockfmu.load("atv_probe_cone").simulate(stop=0.002) as opened:
        yield opened


def ran(simulation, gap):
    """Return the warnings of a run, and the contact force and the stored energy at its start."""
    simulation.reset({GAP: gap})
    force = np.linalg.norm([simulation[f"mechanism.target.force_now[{k}]"] for k in (1, 2, 3)])
    stored = simulation[STORED]
    simulation.advance()
    return simulation.finish().result.warnings, force, stored


@pytest.mark.parametrize("gap", [-0.001, -0.002, -0.005])
def test_force_and_energy_are_told(simulation, gap):
    """The energy is that by which the stored energy of the mechanism exceeds the one at the first contact.

    The contact is a spring along the surface normal with friction and a bent probe behind it: half of force times way
    is right within a third.
    """
    _, _, before = ran(simulation, 0.0)
    (note,), force, stored = ran(simulation, gap)
    told = re.fullmatch(
        r"the craft overlap at the start by (.*) mm \(initial_conditions.start_gap < 0\): a contact force of (.*) N "
        r"acts at once, and about (.*) J appear that no motion has brought",
        note,
    )
    assert told is not None, note
    overlap, newtons, joules = map(float, told.groups())
    assert overlap == pytest.approx(-1e3 * gap)
    assert newtons == pytest.approx(force, rel=1e-3)
    assert newtons > 500.0
    assert joules == pytest.approx(stored - before, rel=0.35)


def test_an_overlap_beyond_the_contact_model_is_told_and_ends_the_run(tmp_path):
    """Beyond what the model of contact describes there are no force and energy to tell: what is too deep is named."""
    summary = dockfmu.load("atv_probe_cone", {GAP: -0.05}).record(tmp_path / "out", stop=0.002, report=False).summary
    assert summary["status"] == "failed"
    assert summary["warnings"] == ["the craft overlap at the start by 50 mm (initial_conditions.start_gap < 0)"]
    assert re.search(r"penetration 0\.0\d+ m of head .* exceeds its limit of 0\.005 m", summary["failure"]["says"])


@pytest.mark.parametrize("gap", [0.0, 0.01])
def test_craft_that_do_not_overlap_give_no_warning(simulation, gap):
    assert ran(simulation, gap)[0] == []


def test_a_run_and_a_recording_tell_it_too(tmp_path):
    system = dockfmu.load("atv_probe_cone", {GAP: -0.002})
    assert "overlap at the start by 2 mm" in system.run(stop=0.002).result.warnings[0]
    recorded = system.record(tmp_path / "out", stop=0.002, report=False)
    assert "overlap at the start by 2 mm" in recorded.summary["warnings"][0]
