"""Answers against closed forms, exact probabilities and brute force."""

import math

import numpy as np
import pytest
from scipy import stats

import dockfmu
from dockfmu.campaign.answers.comparison import compare_measures, compare_outcomes
from dockfmu.campaign.answers.domain import refine_domain
from dockfmu.campaign.answers.estimates import exceedance, extreme_value, phases, probability, quantile
from dockfmu.campaign.answers.form import first_order
from dockfmu.campaign.answers.rare import rare_event, subset_simulation
from dockfmu.campaign.answers.searches import nearest_samples
from dockfmu.campaign.answers.sensitivity import sensitivities
from dockfmu.campaign.answers.worst import minimise, within_severity

DIMENSION = 11


def test_probability_is_that_of_clopper_and_pearson():
    found = probability([True] * 7 + [False] * 93)
    exact = stats.binomtest(7, 100).proportion_ci(method="exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), rel=1e-12)
    assert probability([False] * 50).low == 0.0
    # rule of three, exactly 1 - 0.025^(1/n)
    assert probability([False] * 50).high == pytest.approx(1.0 - 0.025 ** (1 / 50), rel=1e-12)
    assert probability([True] * 50).high == 1.0
    with pytest.raises(dockfmu.OptionError):
        probability([])


def test_intervals_of_quantiles_cover():
    generator = np.random.Generator(np.random.PCG64(1))
    exact = stats.expon.ppf(0.9)
    hits = sum(
        found.low <= exact <= found.high
        for found in (quantile(generator.exponential(size=150), 0.9) for _ in range(400))
    )
    # at least 95 % in the mean; 4 standard deviations below that
    assert hits / 400 > 0.95 - 4 * math.sqrt(0.05 * 0.95 / 400)
    assert quantile([1.0, 2.0, 3.0], 0.99).high == math.inf


def test_exceedance_brackets_the_true_curve():
    values = np.random.Generator(np.random.PCG64(2)).exponential(size=500)
    found = exceedance(values)
    true = np.exp(-found.levels)
    assert ((found.low <= true) & (true <= found.high)).mean() > 0.9
    assert (found.probability[0], found.probability[-1]) == (1.0, 1 / 500)
    assert (found.low <= found.probability).all()
    assert (found.probability <= found.high).all()


@pytest.mark.parametrize(("law", "shape"), [(stats.expon(), 0.0), (stats.uniform(), -1.0), (stats.t(4), 0.25)])
def test_extreme_values(law, shape):
    values = law.rvs(size=4000, random_state=np.random.Generator(np.random.PCG64(3)))
    found = extreme_value(values, 1e-4, repetitions=100)
    assert found.shape == pytest.approx(shape, abs=0.2)
    assert found.level.low <= law.isf(1e-4) * 1.001
    assert law.isf(1e-4) <= found.level.high * 1.001


def test_phases_are_the_latest_events():
    found = phases(np.array([0.5, 1.5, 3.0, 1.0]), {"a": np.array([1.0] * 4), "b": np.array([2.0, 2.0, 2.0, np.nan])})
    assert found.tolist() == ["start", "after a", "after b", "after a"]


def plane(p):
    beta = stats.norm.isf(p)
    return lambda z: beta - z.sum(axis=1) / math.sqrt(DIMENSION)


def two_planes(p):
    beta = stats.norm.isf(p / 2)
    return lambda z: beta - np.abs(z.sum(axis=1)) / math.sqrt(DIMENSION)


def sphere(p):
    radius = math.sqrt(stats.chi2.isf(p, DIMENSION))
    return lambda z: radius - np.linalg.norm(z, axis=1)


@pytest.mark.parametrize("shape", [plane, two_planes, sphere])
@pytest.mark.parametrize(("p", "spread"), [(1e-4, 0.5), (1e-6, 0.8)])
def test_subset_simulation_finds_exact_probabilities(shape, p, spread):
    """Means over independent simulations, of the logarithm: each has the coefficient of variation of the study."""
    runs = [subset_simulation(shape(p), DIMENSION, per_level=1000, seed=seed) for seed in range(12)]
    found = np.array([run.probability for run in runs])
    assert all(run.reached for run in runs)
    assert found.mean() == pytest.approx(p, rel=4 * spread / math.sqrt(len(runs)))
    assert found.std() / found.mean() < spread
    assert max(run.runs for run in runs) < 8000
    for run in runs:
        assert (shape(p)(run.points) <= 0.0).all()


def test_intervals_of_rare_events_cover():
    hits = 0
    for seed in range(20):
        found = rare_event(plane(1e-4), DIMENSION, per_level=500, seed=seed)
        hits += found.estimate.low <= 1e-4 <= found.estimate.high
        assert found.each[0].probability != found.each[1].probability
    assert hits >= 16


def test_an_event_that_is_not_rare_or_not_there():
    assert subset_simulation(plane(0.3), 2, per_level=500).runs == 500
    never = rare_event(lambda z: np.full(len(z), 1.0), 3, per_level=100)
    assert never.estimate.value == 0.0
    assert never.estimate.high > 0.0


def crescent(points):
    """A curved boundary with an island: negative within."""
    x, y = points[:, 0], points[:, 1]
    outer = np.hypot(x - 0.4, y - 0.45) - 0.3 - 0.05 * np.sin(5 * np.arctan2(y - 0.45, x - 0.4))
    island = np.hypot(x - 0.85, y - 0.85) - 0.1
    return np.minimum(outer, island)


def test_an_adaptive_domain_is_that_of_a_full_grid():
    found = refine_domain(crescent, first=16, divisions=4)
    n = found.resolution
    grid = np.stack(np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"), -1).reshape(-1, 2) / n
    assert found.runs < 0.2 * len(grid)
    # as the grid sees it: every cell whose corners differ is among the cells of the boundary
    inside = (crescent(grid) < 0.0).reshape(n + 1, n + 1)
    corners = inside[:-1, :-1].astype(int) + inside[1:, :-1] + inside[:-1, 1:] + inside[1:, 1:]
    mixed = {(i / n, j / n) for i, j in np.argwhere((corners > 0) & (corners < 4))}
    assert mixed == {(x, y) for x, y, _ in found.cells}
    fine = np.random.Generator(np.random.PCG64(4)).random((200_000, 2))
    exact = (crescent(fine) < 0.0).mean()
    assert found.low <= exact <= found.high
    assert found.area == pytest.approx(exact, abs=2e-3)
    ends = np.concatenate(found.boundary)
    assert np.abs(crescent(ends)).max() < 1.0 / n


def test_worst_case_is_not_below_random_runs():
    """Two humps in 11 parameters with the noise of a sampled peak; 500 runs against 10,000 random ones."""

    def load(points):
        far, near = np.full(DIMENSION, 0.55), np.zeros(DIMENSION)
        near[0] = -0.8
        hump = 26.0 * np.exp(-((points - far) ** 2).sum(axis=1)) + 0.05 * np.sin(40.0 * points).mean(axis=1)
        return np.maximum(hump, 18.0 * np.exp(-2.0 * ((points - near) ** 2).sum(axis=1)))

    random = np.random.Generator(np.random.PCG64(5)).uniform(-1.0, 1.0, (10_000, DIMENSION))
    found = minimise(
        lambda points: -load(points), DIMENSION, budget=500, seed=2, project=lambda points: np.clip(points, -1.0, 1.0)
    )
    assert -found.value >= load(random).max()
    assert found.runs <= 500
    assert -found.value == pytest.approx(load(found.point[None])[0], rel=1e-12)


def test_severity_is_kept():
    points = np.random.Generator(np.random.PCG64(6)).normal(size=(100, 4))
    assert np.linalg.norm(within_severity(points, "R1", 0.7), axis=1).max() <= 0.7 + 1e-12
    assert np.abs(within_severity(points, "R2", 0.7)).sum(axis=1).max() <= 0.7 + 1e-12
    small = 0.01 * points
    assert np.array_equal(within_severity(small, "R1", 0.7), small)


def test_sensitivities_of_a_known_function():
    generator = np.random.Generator(np.random.PCG64(7))
    x = generator.uniform(-1.0, 1.0, (3, 4000))
    # shares of the variance: 1/3 * 4, 4/45 * 9 of the even one, none of the third
    y = 2.0 * x[0] + 3.0 * x[1] ** 2
    first, second = 4.0 / 3.0, 9.0 * 4.0 / 45.0
    found = {entry.name: entry for entry in sensitivities(dict(zip("abc", x, strict=True)), y)}
    assert found["a"].first_order == pytest.approx(first / (first + second), abs=0.05)
    assert found["b"].first_order == pytest.approx(second / (first + second), abs=0.05)
    assert found["c"].first_order < 0.02
    assert abs(found["b"].rank_correlation) < 0.1 < 0.6 < found["a"].rank_correlation


def test_comparison_on_equal_draws():
    generator = np.random.Generator(np.random.PCG64(8))
    exact = stats.norm.sf(0.9) - stats.norm.sf(1.0)
    hits = 0
    for _ in range(100):
        common = generator.normal(size=500)
        found = compare_outcomes(common > 1.0, common > 0.9)
        hits += found.difference.low <= exact <= found.difference.high
        assert found.only_first == 0
    assert hits >= 88
    common = generator.normal(size=2000)
    assert compare_outcomes(common > 1.0, common > 0.9).p_value < 1e-6
    assert compare_outcomes(common > 1.0, common > 1.0).p_value == 1.0
    loads = compare_measures(common, common + 0.1 + 0.01 * generator.normal(size=2000))
    assert loads.mean_difference.low <= 0.1 <= loads.mean_difference.high
    # what both have in common drops out: the interval is that of the noise
    assert loads.mean_difference.high - loads.mean_difference.low < 0.002


def nearest(samples):
    return samples[np.argmin(np.linalg.norm(samples, axis=1))]


@pytest.mark.parametrize("p", [1e-4, 1e-6])
def test_first_order_is_exact_for_a_plane_and_half_of_two(p):
    for shape, share in ((plane, 1.0), (two_planes, 0.5)):
        performance = shape(p)
        samples = subset_simulation(performance, DIMENSION, per_level=500, seed=3).points
        # in any unit of the performance
        for unit in (1.0, 1e4):
            found = first_order(lambda z, f=performance, unit=unit: unit * f(z), nearest(samples))
            assert found.probability == pytest.approx(share * p, rel=1e-2)
            assert found.beta == pytest.approx(stats.norm.isf(share * p), rel=1e-3)
            assert np.abs(performance(found.point[None])[0]) < 1e-2


def test_first_order_of_what_is_no_event_is_told():
    assert first_order(lambda z: np.full(len(z), 1.0), np.ones(3)) is None
    assert first_order(lambda z: np.full(len(z), math.inf), np.ones(3)) is None


def test_first_order_that_does_not_converge_is_no_estimate():
    # it falls to 0 nowhere, and each step leads farther out
    assert first_order(lambda z: np.exp(-z.sum(axis=1)), np.full(3, 1.5)) is None


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), dockfmu.OptionError(["lost"])])
def test_what_runs_raise_passes_through_first_order(fault):
    asked = []

    def performance(points):
        asked.append(points)
        if len(asked) > 1:
            raise fault
        return np.ones(1)

    with pytest.raises(type(fault)) as raised:
        first_order(performance, np.ones(3))
    assert raised.value is fault


def test_samples_that_chains_repeat_are_one():
    found = rare_event(plane(1e-3), DIMENSION, per_level=100, seed=4)
    raw = np.concatenate([one.points for one in found.each])
    samples = nearest_samples(found)
    assert len({tuple(point) for point in raw}) == len(samples) < len(raw)
    distance = np.linalg.norm(samples, axis=1)
    assert (np.diff(distance) >= 0.0).all()
    assert distance[0] == np.linalg.norm(raw, axis=1).min()
