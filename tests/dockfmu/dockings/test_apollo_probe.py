"""Apollo's probe and drogue as a declared mechanism: a docking, and Apollo 14 (docs/validation/flown.md)."""

from __future__ import annotations

import numpy as np
import pytest

import dockfmu
from benchmarks.validation.docking import loaded

pytestmark = pytest.mark.slow

VELOCITY = "csm.parameters.initial.velocity"


def changed(system: str, speed: float, push: int, stop: float) -> dockfmu.Outcome:
    """Run a system at another speed of approach (m/s), with or without thrust."""
    settings = {VELOCITY: [speed, 0.0, 0.0], "csm.command.push": push}
    return loaded(system).with_values(settings).run(stop=stop, every=10)


def closing(run: dockfmu.Outcome) -> float:
    """Return the speed of approach at the end, m/s."""
    return float(run["csm.body.velocity[1]"][-1] - run["lm.body.velocity[1]"][-1])


def test_nitrogen_draws_the_craft_together_until_the_rings_bear():
    """Public: at least 4.5 kN. The piston goes in by 0.2 m after capture, the rings bear when it locks, and the latches
    pull with the force of the nitrogen since."""
    run = dockfmu.load("apollo_probe_drogue").run(every=10)
    times = run.events
    assert times["first_contact"] < times["capture"] < times["docked"]
    assert run.outcome == "docked"
    piston = np.array(run["mechanism.joint.retraction.displacement.position"])
    captured, docked = (int(np.searchsorted(run.time, times[name])) for name in ("capture", "docked"))
    assert abs(piston[captured - 1]) < 1e-9
    assert piston[docked] < -0.2
    assert np.ptp(piston[docked + 1 :]) < 1e-9
    assert run["mechanism.contact.rings.pairs"][docked] == 3.0
    assert np.mean(run["mechanism.contact.latches.normal_force"][-100:]) == pytest.approx(4500.0, rel=0.05)


@pytest.mark.parametrize("speed", [0.05, 0.1, 0.2, 0.3])
def test_apollo_14_is_not_captured_at_any_speed(speed):
    """With thrust held for 4 s the head stays in the drogue, and nothing holds it; with latches that open it is."""
    assert changed("apollo_14", speed, 1, 4.4).outcome == "none"
    assert "capture" in changed("apollo_probe_drogue", speed, 1, 4.4).events


@pytest.mark.parametrize("speed", [0.1, 0.2, 0.3])
def test_apollo_14_rebounds_without_thrust(speed):
    run = changed("apollo_14", speed, 0, 12.0)
    assert run.outcome == "none"
    assert closing(run) < -0.005
