"""Residuals, priors that exclude the data, collapse and evidence, on problems whose answers are known."""

import math

import numpy as np
import pytest

from dockfmu.reconstruct.ensemble import SmootherOptions, smooth
from dockfmu.reconstruct.model_error import (
    FAR,
    RARE,
    collapse,
    effective_rank,
    far_from_prior,
    log_evidence,
    probabilities,
    residuals_of,
    strained,
    whiteness,
)

pytestmark = pytest.mark.quick

TIME = np.linspace(0.0, 10.0, 200)


def forward(z, friction=1.0):
    """Return a position with friction that brakes it from 4 s on, and a rate that friction does not touch."""
    speed = 1.0 + 0.1 * z[:, :1]
    braked = np.clip(TIME - 4.0, 0.0, None)
    return np.hstack([speed * TIME - 0.05 * friction * braked**2, 0.3 * z[:, 1:] * np.ones(200)])


PARTS = {"gyros.rate": slice(200, 400), "unit.travel": slice(0, 200)}


def reconstructed(friction, seed=1):
    """Return data of the model with friction 1, and the posterior of a model with another one."""
    random = np.random.default_rng(seed)
    deviation = np.full(400, 0.02)
    data = forward(np.array([[0.5, -0.7]]))[0] + deviation * random.normal(size=400)
    prior = random.normal(size=(100, 2))
    return data, deviation, smooth(prior, lambda z: forward(z, friction), data, deviation, seed=seed)


def test_a_right_model_explains_all_signals():
    data, deviation, found = reconstructed(1.0)
    told = residuals_of(PARTS, np.tile(TIME, 2), data, deviation, found.outputs)
    assert [signal.explained for signal in told] == [True, True]
    assert all(signal.mean_square == pytest.approx(1.0, abs=5.0 * math.sqrt(2.0 / 200)) for signal in told)
    assert all(signal.whiteness > 0.001 for signal in told)
    assert not collapse(data, deviation, found)


def test_a_model_with_25_percent_less_friction_is_told_with_signal_and_time():
    data, deviation, found = reconstructed(0.75)
    rate, travel = residuals_of(PARTS, np.tile(TIME, 2), data, deviation, found.outputs)
    assert rate.explained
    assert not travel.explained
    assert travel.whiteness < 1e-6
    assert travel.times
    assert "unit.travel: the model does not explain it" in str(travel)


def test_where_a_model_fails_is_told():
    random = np.random.default_rng(2)
    data = random.normal(size=200)
    data[100:120] += 6.0
    (told,) = residuals_of({"one": slice(0, 200)}, TIME, data, np.ones(200), np.zeros((5, 200)))
    begin, end = told.times[0]
    assert len(told.times) == 1
    assert begin == pytest.approx(TIME[100], abs=0.3)
    assert end == pytest.approx(TIME[119], abs=0.3)


def test_whiteness_is_uniform_for_white_noise_and_small_for_a_walk():
    random = np.random.default_rng(3)
    found = np.array([whiteness(random.normal(size=300)) for _ in range(400)])
    # Kolmogorov's bound at 1 %, for 400 values
    assert np.abs(np.sort(found) - (np.arange(400) + 0.5) / 400).max() < 1.63 / math.sqrt(400) + 0.03
    assert whiteness(np.cumsum(random.normal(size=300))) < 1e-12


def test_a_prior_that_excludes_the_data_is_named():
    random = np.random.default_rng(5)
    prior = random.normal(size=(100, 2))
    deviation = np.full(400, 0.02)
    inside = forward(np.array([[1.5, -1.0]]))[0]
    outside = forward(np.array([[15.0, -1.0]]))[0]
    assert not far_from_prior(PARTS, inside, deviation, forward(prior))
    named = far_from_prior(PARTS, outside, deviation, forward(prior))
    assert list(named) == ["unit.travel"]
    assert named["unit.travel"] > FAR
    found = smooth(prior, forward, outside, deviation, seed=6)
    chance, far = strained(["speed", "turn"], found)
    assert chance < RARE
    assert far == ["speed"]
    assert strained(["speed", "turn"], reconstructed(1.0)[2])[0] > 0.05


def test_an_ensemble_that_collapses_is_told():
    """Ten members cannot follow fifty unknowns that are measured one by one."""
    random = np.random.default_rng(7)
    data, deviation = random.normal(size=50), np.full(50, 0.05)
    few, many = (
        smooth(random.normal(size=(count, 50)), lambda z: z, data, deviation, options=SmootherOptions(localise=False))
        for count in (10, 400)
    )
    assert "10 members span at most 9 of 50 unknowns" in collapse(data, deviation, few)
    assert effective_rank(few.unknowns) < 9.5
    assert not collapse(data, deviation, many)


def test_evidence_of_linear_models_is_exact():
    """The data are normal with the covariance G G' + R; 2000 members give the logarithm to 0.3."""
    random = np.random.default_rng(8)
    matrix, deviation = random.normal(size=(20, 3)), np.full(20, 0.7)
    data = matrix @ random.normal(size=3) + deviation * random.normal(size=20)
    found = smooth(random.normal(size=(2000, 3)), lambda z: z @ matrix.T, data, deviation, seed=9)
    total = matrix @ matrix.T + np.diag(deviation**2)
    exact = -0.5 * (data @ np.linalg.solve(total, data) + np.linalg.slogdet(total)[1] + 20.0 * math.log(2.0 * math.pi))
    assert log_evidence(data, deviation, found) == pytest.approx(exact, abs=0.3)


def test_evidence_tells_which_model_it_was():
    data, deviation, right = reconstructed(1.0)
    wrong = reconstructed(0.75)[2]
    chances = probabilities([log_evidence(data, deviation, right), log_evidence(data, deviation, wrong)])
    assert chances[0] > 0.999
    assert chances.sum() == pytest.approx(1.0)
