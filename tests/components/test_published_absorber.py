"""Law by stages of the longitudinal absorber of the Soyuz probe (docking-formulas 1.4) against the axial damper.

Spring with preload and rate up to its stroke, then a friction brake whose forces on the forward and on the return
stroke differ; a damper in the first stage. The energies and motions of a mass on this law are written here once more.
Tolerance 1e-3: the gears, which the law does not have, yield by less than 1e-5 of the strokes.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from dockfmu.components.probe_mechanism.axial import axial_train
from tests.components.test_published_formulas import TOLERANCE, damper

pytestmark = pytest.mark.slow

MASS, GEARS = 4600.0, 1e9
PRELOAD, RATE, STROKE = 1000.0, 5e4, 0.04
FORWARD, RETURN = 6000.0, 2500.0


def absorber(speed: float, forward: float = FORWARD, back: float = RETURN, returned: float = 1.0, damping: float = 0.0):
    """Return the record of the damper with the law by stages, on a mass that moves at `speed`, and a time step.

    The preload changes the speed by 5e-6 m/s in a step.
    """
    p, a, load = damper(
        MASS,
        GEARS,
        spring_preload=PRELOAD,
        spring_end=PRELOAD + RATE * STROKE,
        spring_stroke=STROKE,
        spring_return=returned,
        brake_compression=forward,
        brake_extension=back,
        train_damping=damping,
    )
    a.rate = speed
    return p, a, load, 2e-5


def wound(x: float) -> float:
    """Return the work that winds the spring to x, J."""
    return (PRELOAD + 0.5 * RATE * x) * x


@pytest.mark.parametrize("returned", [1.0, 0.7])
@pytest.mark.parametrize(
    ("speed", "forward"),
    [
        (0.1, FORWARD),  # stage 1 alone
        (0.3, FORWARD),  # the spring's stroke ends, then the brake slips
        (0.3, 2000.0),  # the brake slips before the stroke ends
    ],
)
def test_spec13_1_4_stages_of_the_longitudinal_absorber(speed, forward, returned):
    """Deepest travel, slip, recoil, and where a mass that stays attached comes to rest on the return stroke."""
    kinetic = 0.5 * MASS * speed**2
    # where the spring gives way to the brake
    end = min(STROKE, (forward - PRELOAD) / RATE)
    if kinetic < wound(end):
        end = (sqrt(PRELOAD**2 + 2.0 * RATE * kinetic) - PRELOAD) / RATE
    slip = (kinetic - wound(end)) / forward
    recoil = sqrt(2.0 * returned * wound(end) / MASS)
    p, a, load, h = absorber(speed, forward, returned=returned)
    deepest = 0.0
    while a.rate > 0.0:
        axial_train.advance(p, a, load, h)
        deepest = max(deepest, a.travel)
    assert deepest == pytest.approx(end + slip, rel=TOLERANCE)
    assert a.slip == pytest.approx(slip, abs=TOLERANCE * (end + slip))
    while a.train_force > -0.5 * RETURN:
        axial_train.advance(p, a, load, h)
    assert -a.rate == pytest.approx(recoil, rel=TOLERANCE)
    assert a.travel == pytest.approx(slip, abs=TOLERANCE * (end + slip))
    while a.rate < 0.0:
        axial_train.advance(p, a, load, h)
    pulled = returned * wound(end) / RETURN
    assert a.travel == pytest.approx(slip - pulled, abs=TOLERANCE * (end + slip))


def test_spec13_1_4_preloaded_and_damped_first_stage_in_closed_form():
    """m x'' + k x' + c (x + x0) = 0 from x = 0 until the force is zero; with preload, the slower recoils more."""
    k = sqrt(RATE * MASS)  # damping ratio 0.5
    w0, z, offset = sqrt(RATE / MASS), 0.5, PRELOAD / RATE
    decay, w = z * w0, w0 * sqrt(1.0 - z * z)
    found = []
    for speed in (0.1, 0.2):
        p, a, load, h = absorber(speed, damping=k)
        while a.rate > 0.0 or a.train_force > 0.0:
            axial_train.advance(p, a, load, h)
        t = np.arange(0.0, 2.0, h)
        swing = np.exp(-decay * t) * np.array([offset * np.cos(w * t), (speed + decay * offset) / w * np.sin(w * t)])
        x = swing.sum(axis=0) - offset
        rate = np.gradient(x, h)
        lost = int(np.argmax((x < 0.0) | (rate < 0.0) & (RATE * (x + offset) + k * rate < 0.0)))
        assert a.travel == pytest.approx(x[lost], abs=TOLERANCE * x.max())
        assert -a.rate == pytest.approx(-rate[lost], rel=TOLERANCE)
        found.append(-a.rate / speed)
    assert found[0] > 1.2 * found[1]
