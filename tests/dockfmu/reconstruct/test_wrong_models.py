"""Residuals that tell a wrong model, and evidence that tells which fault it was: a head that bounces in a wedge."""

import math
from functools import cache

import numpy as np
import pytest

from dockfmu.reconstruct.ensemble import smooth
from dockfmu.reconstruct.model_error import log_evidence, probabilities, residuals_of
from tests.dockfmu.reconstruct.bouncing_head import BLOCKS, NOISE, TIME, bounce

pytestmark = pytest.mark.slow

MEMBERS, STARTS = 28, 20
SIGNALS = {"axial": slice(0, None, 3), "lateral": slice(1, None, 3), "rate": slice(2, None, 3)}
NO_DIFFERENCE = 5.0
"""Logarithm of the Bayes factor below which the data themselves hardly tell two models apart."""
FAULTS = {"as built": (1.0, 1.0), "damper dead": (1.0, 0.0), "sticking": (2.0, 1.0)}
"""Friction and damping of each model, in those of the head as built."""


def readings(starts, friction, damping):
    """Return the readings of starts (place, axial and lateral speed, logarithm of the damping) of a model."""
    starts = np.atleast_2d(starts)
    more = starts[:, 3:] if starts.shape[1] > 3 else np.zeros((len(starts), 1))
    damped = more + math.log(max(damping, 1e-6)) / 0.4
    return bounce(np.column_stack([starts[:, :3], np.full(len(starts), math.log(friction) / 0.3), damped]))[0]


def told(start, unknowns, friction, damping):
    """Return the readings of a random start of a model."""
    random = np.random.default_rng([5, start])
    return readings(random.normal(size=unknowns), friction, damping)[0] + NOISE * random.normal(size=len(NOISE))


def estimated(data, unknowns, friction, damping, seed):
    """Return the posterior of a model."""
    prior = np.random.default_rng([6, seed]).normal(size=(MEMBERS, unknowns))
    return smooth(prior, lambda z: readings(z, friction, damping), data, NOISE, seed=seed, time=TIME, blocks=BLOCKS)


@cache
def compared():
    """Return of each start, with the right friction and with a quarter less: signals explained, and the evidence."""
    rows = []
    for start in range(STARTS):
        data = told(start, 4, 1.0, 1.0)
        found = [estimated(data, 4, friction, 1.0, start) for friction in (1.0, 0.75)]
        rows.append(
            (
                [[s.explained for s in residuals_of(SIGNALS, TIME, data, NOISE, each.outputs)] for each in found],
                [log_evidence(data, NOISE, each) for each in found],
            )
        )
    return np.array([row[0] for row in rows]), np.array([row[1] for row in rows])


def test_a_right_model_explains_all_signals_of_nearly_all_starts():
    """One of a hundred is asked to be said not to; of 20, three or more have a probability of 0.001."""
    right = compared()[0][:, 0].all(axis=1)
    assert (~right).sum() <= 2


def test_residuals_tell_25_percent_less_friction_where_the_data_do():
    """Tell it by residuals wherever evidence does: where a head hardly slides neither can."""
    explained, evidence = compared()
    apart = evidence[:, 0] - evidence[:, 1] > NO_DIFFERENCE
    wrong = ~explained[:, 1].all(axis=1)
    assert apart.sum() >= 0.6 * STARTS
    assert wrong[apart].mean() >= 0.9


@pytest.mark.parametrize("fault", FAULTS)
def test_evidence_tells_which_fault_it_was(fault):
    """Find the right model the most probable in five of six starts of each fault at least, no wrong one alone."""
    chances = []
    for start in range(6):
        data = told(start, 3, *FAULTS[fault])
        found = [log_evidence(data, NOISE, estimated(data, 3, *model, start)) for model in FAULTS.values()]
        chances.append(probabilities(found))
    own = np.array(chances)[:, list(FAULTS).index(fault)]
    assert (own > 0.5).sum() >= 5
    assert own.min() > 0.01
