"""Two free craft and a ring of each law between them: capture, and balances of momentum and energy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.components.ring_mechanism.ring_rig import ANGULAR_MOMENTUM, ENERGY, MOMENTUM, RingPair

pytestmark = pytest.mark.slow

LAWS = ("hydraulic", "force_controlled", "geared", "cranked")
MISALIGNED = {
    "gap": 0.2, "miss": (0.03, 0.01), "angles": np.radians([0.0, 2.0, 2.0]), "velocity": (0.1, 0.01, 0.0),
    "rate": np.radians([0.1, 0.0, -0.1]),
}  # fmt: skip
HEAVY = {"mass": 25e3, "inertia": (0.63e5, 2.4e5, 2.4e5), "port": (5.0, 0.0, 0.0)}


@pytest.mark.parametrize("legs", LAWS)
def test_capture_keeps_momentum_and_energy(legs):
    pair = RingPair(legs, **MISALIGNED)
    run = pair.run(5.0, ["sensor.capture", "flag.capture_mechanical"])
    assert run[:, 0].max() == 1.0
    assert run[:, 1].max() == 1.0
    approach = 0.5 * 4.9e3 * 0.1**2
    for columns, exchanged in ((MOMENTUM, 490.0), (ANGULAR_MOMENTUM, 20.0 * 490.0)):
        assert np.abs(run[:, columns] - run[0, columns]).max() < 6e-4 * exchanged
    turned_over = float(pair.m.audit.dissipated_energy)
    assert turned_over > 0.5 * approach
    # motors come to their limits within a micro-step
    tolerance = 1e-2 if legs == "force_controlled" else 2e-3
    assert np.abs(run[:, ENERGY] - run[0, ENERGY]).max() < tolerance * turned_over


@pytest.mark.parametrize("legs", LAWS[1:])
def test_energy_residual_falls_with_the_micro_step(legs):
    """A central impact of 25 t at 0.1 m/s, 118 J: what struts, contacts and latches lose is what the craft lose."""
    residuals = []
    for micro in (2.5e-4, 6.25e-5):
        pair = RingPair(legs, **HEAVY, micro_step=micro, longest_micro_step=micro)
        run = pair.run(0.6)
        residuals.append(np.abs(run[:, ENERGY] - run[0, ENERGY]).max())
    approach = 0.5 * 23.5e3 * 0.1**2
    assert residuals[1] < 0.5 * residuals[0]
    assert residuals[0] < 1e-3 * approach


@pytest.mark.parametrize("longest", [2.5e-4, 1e-3])
def test_attenuators_count_what_the_ring_loses(longest):
    """The same impact: 0.8 mJ of 46 J are off, with micro-steps of up to 0.25 ms and of up to 1 ms.

    Losses counted with the rates from which the forces were computed, which are predicted, were off by 27 mJ and 3.5 J.
    """
    pair = RingPair("hydraulic", **HEAVY, longest_micro_step=longest)
    run = pair.run(0.6)
    assert float(pair.m.audit.dissipated_energy) > 40.0
    assert np.abs(run[:, ENERGY] - run[0, ENERGY]).max() < 2e-3
