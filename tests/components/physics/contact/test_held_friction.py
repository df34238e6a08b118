"""Friction held over a step: a block on a plane, against the law of friction at its speed at the end of each step."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.core.field import Group
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import contact_list, force, held_friction, pairs, sums

FEET = 3
RECORD = Record(
    pairs.kinds(1),
    force.motion("link", count=1),
    contact_list.tally(FEET),
    sums.sums("sums", 1, "of the block"),
    Group("input", *held_friction.inputs(1)),
    held_friction.memory(FEET, 1),
)
MASS, FRICTION, SLIP_VELOCITY, PRESSED = 40.0, 0.2, 0.02, 500.0
"""Of the block, kg; coefficient of friction; speed of the law, m/s; normal force of each foot, N"""
LIMIT = FEET * FRICTION * PRESSED


@kernel
def _slide(m, pull, v, steps, lead, held, speeds):
    """Slide the block by `pull` (N along y) from the speed v in the given steps, s.

    Velocities are those of the instant `lead` * step after the start of each, extrapolated with the last acceleration.
    """
    acceleration = 0.0
    for i in range(len(steps)):
        h = steps[i]
        m.input.step = h
        m.input.lead = lead * h
        m.tally.count = 0.0
        for k in range(FEET):
            item = contact_list.list_contact(
                m.tally, 1.0, k + 1.0, 0.0, 1e-4, (1.0, 0.0, 0.0), 1.0, (0.0, 0.1 * k, 0.0)
            )
            item.velocity[1] = v + lead * h * acceleration
            item.normal_force = PRESSED
            for j in range(3):
                item.friction[j] = 0.0
        held_friction.hold_friction(m.tally, m.kind, m.friction_memory, m.input, m.link, m.sums)
        held_friction.remember(m.tally, FEET, m.kind, m.friction_memory, m.input)
        held[i] = 0.0
        for k in range(FEET):
            held[i] += m.tally.contact[k].friction[1]
        acceleration = (pull - held[i]) / MASS
        v += h * acceleration
        speeds[i] = v


def slide(pull, v, steps, lead=0.0):
    """Return the friction held over each step, N, and the speeds at their ends, m/s."""
    m = RECORD.memory()
    m.kind[0].friction = FRICTION
    m.kind[0].slip_velocity = SLIP_VELOCITY
    m.input.mass[0] = MASS
    held, speeds = np.empty((2, len(steps)))
    _slide(m, pull, v, np.array(steps), lead, held, speeds)
    return held, speeds


def law(speeds):
    """Return the friction of all feet at a speed, N (ruling R24)."""
    return LIMIT * speeds / np.hypot(speeds, SLIP_VELOCITY)


@pytest.mark.parametrize("pull", [0.5 * LIMIT, 0.98 * LIMIT, 1.2 * LIMIT, -0.7 * LIMIT])
def test_friction_of_all_feet_is_that_of_the_end_of_the_step(pull):
    """Backward Euler for any steps, once the pull has been seen: three feet share one mass, each of them a third."""
    steps = np.resize([1e-3, 3e-3, 2e-3], 300)
    held, speeds = slide(pull, 0.0, steps)
    assert held[1:] == pytest.approx(law(speeds)[1:], rel=1e-9, abs=1e-9 * LIMIT)
    if abs(pull) < LIMIT:
        # where the law bears the pull; dv/dt = (pull - law(v)) / m, slowest near the limit
        assert held[-1] == pytest.approx(pull, rel=1e-2)


def test_velocities_within_the_step_cost_a_second_order():
    """From differences of velocities at mid-step the pull is exact for a constant acceleration. At 1 ms the speed grows
    by v_eps / 40 in a step: a second order of some (1 / 40)^2 of the limit at most."""
    sizes = (1e-3, 5e-4, 2.5e-4)
    errors = []
    for h in sizes:
        held, speeds = slide(1.2 * LIMIT, 0.0, np.full(round(0.06 / h), h), lead=0.5)
        errors.append(np.abs(held - law(speeds))[round(0.02 / h) :].max() / LIMIT)
    assert errors[0] < 1e-4
    assert np.polyfit(np.log(sizes), np.log(errors), 1)[0] > 1.9
