"""Answers against closed forms, exact probabilities and brute force."""

import json
import math

import numpy as np
import pytest
from scipy import stats

import dockfmu
from dockfmu.campaign.answers.answer import Answer, as_json
from dockfmu.campaign.answers.chart import Chart, Polyline
from dockfmu.campaign.answers.rare import nearest_samples
from dockfmu.campaign.methods import first_order
from dockfmu.campaign.methods.comparison import compare_measures, compare_outcomes
from dockfmu.campaign.methods.domain import refine_domain
from dockfmu.campaign.methods.estimates import exceedance, extreme_value, phases, probability, quantile
from dockfmu.campaign.methods.sensitivity import sensitivities
from dockfmu.campaign.methods.subset_simulation import LEVELS, rare_event, subset_simulation
from dockfmu.campaign.methods.worst_case import minimise, within_severity

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


def test_exceedance_of_equal_values_is_that_of_counting():
    values = np.array([3.0, 1.0, 3.0, 2.0, 3.0, 1.0])
    found = exceedance(values)
    for level, p, low, high in zip(found.levels, found.probability, found.low, found.high, strict=True):
        exact = stats.binomtest(int((values >= level).sum()), 6).proportion_ci(method="exact")
        assert (p, low, high) == pytest.approx(((values >= level).mean(), exact.low, exact.high), rel=1e-12)
    alone = exceedance([7.0])
    assert (alone.probability.tolist(), alone.high.tolist()) == ([1.0], [1.0])
    assert alone.low[0] == pytest.approx(0.025, rel=1e-12)


def test_a_quantile_of_one_value_has_no_interval():
    found = quantile([3.0], 0.5)
    assert (found.value, found.low, found.high) == (3.0, -math.inf, math.inf)


def test_extreme_values_need_a_tail():
    # nineteen of twenty are equal: no value is above the threshold of the tail but those few
    with pytest.raises(dockfmu.OptionError, match="20 runs in the tail, not 10"):
        extreme_value(np.r_[np.zeros(190), 1.0 + np.arange(10.0)], 1e-3)
    with pytest.raises(dockfmu.OptionError, match="the same value"):
        extreme_value(np.r_[np.zeros(180), np.ones(20)], 1e-3, tail=0.2)


@pytest.mark.slow
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
    assert not never.each[0].reached
    # none of the two hundred independent samples of the first levels
    exact = stats.binomtest(0, 200).proportion_ci(method="exact").high
    assert (never.estimate.value, never.estimate.low, never.estimate.high) == (0.0, 0.0, pytest.approx(exact))


@pytest.mark.parametrize("miss", [1.0, math.inf])
def test_an_event_among_equal_samples_has_the_probability_of_counting(miss):
    """A peak force that is 0 in every miss: fewer than a tenth are events, and no level lies between."""
    bound = stats.norm.isf(0.05)
    found = rare_event(lambda z: np.where(z[:, 0] > bound, -1.0, miss), 3, per_level=1000, seed=2)
    counts = [one.first for one in found.each]
    assert [one.probability for one in found.each] == [count / 1000 for count in counts]
    assert all((one.points[:, 0] > bound).all() and len(one.points) == one.first for one in found.each)
    assert not any(one.reached for one in found.each)
    assert found.estimate.of == 2000
    assert found.estimate.value == pytest.approx(0.05, abs=4 * math.sqrt(0.05 * 0.95 / 2000))
    exact = stats.binomtest(sum(counts), 2000).proportion_ci(method="exact")
    assert found.estimate.low == pytest.approx(min(exact.low, *(count / 1000 for count in counts)), rel=1e-12)
    assert found.estimate.high == pytest.approx(max(exact.high, *(count / 1000 for count in counts)), rel=1e-12)


def test_an_event_behind_levels_that_stop_falling_keeps_its_samples():
    """From a level of a tenth on all samples are equal but for the event, a hundredth in all."""
    level, bound = stats.norm.isf(0.3), stats.norm.isf(0.01)

    def performance(z):
        return np.select([z[:, 0] > bound, z[:, 0] > level], [-1.0, 1.0], 2.0 - z[:, 0])

    found = [subset_simulation(performance, 3, per_level=1000, seed=seed) for seed in range(12)]
    assert not any(one.reached for one in found)
    assert np.mean([one.probability for one in found]) == pytest.approx(0.01, rel=4 * 0.5 / math.sqrt(12))
    assert all((one.points[:, 0] > bound).all() and len(one.points) for one in found)


def test_an_event_beyond_all_levels_is_not_reached():
    found = subset_simulation(plane(1e-20), DIMENSION, per_level=100)
    assert not found.reached
    assert len(found.levels) == LEVELS
    assert np.all(np.diff(found.levels) < 0.0)
    assert found.probability == 0.0


def test_at_its_bound_is_no_event():
    """Half of all samples are at the bound, and no sample is beyond it."""
    found = rare_event(lambda z: np.maximum(z[:, 0], 0.0), 2, per_level=100)
    assert found.estimate.value == 0.0


def test_levels_of_a_performance_with_steps_are_not_counted_twice():
    """Performance in steps of 0.5: many samples are equal at each threshold, which is passed by more than a tenth.

    The first step below 0 is where the variable is 4.5.
    """
    exact = stats.norm.sf(4.5)
    found = [
        subset_simulation(lambda z: np.ceil(2.0 * (4.0 - z[:, 0])) / 2.0, 2, per_level=1000, seed=seed).probability
        for seed in range(12)
    ]
    assert np.mean(found) == pytest.approx(exact, rel=4 * 0.5 / math.sqrt(12))


def test_a_search_without_a_result_says_so():
    found = minimise(lambda points: np.full(len(points), np.nan), 2, budget=60, restarts=1)
    assert found.value == math.inf
    assert found.starts == (math.inf,)
    # a few runs without a result do not keep it from the best
    found = minimise(
        lambda points: np.where(points[:, 0] > 0.5, np.nan, (points**2).sum(axis=1)), 2, budget=200, restarts=1
    )
    assert found.value < 1e-3


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


@pytest.mark.parametrize("n", [2, 12, 500])
def test_intervals_of_a_comparison_cover(n):
    """The interval of the mean of normal differences is exact."""
    generator = np.random.Generator(np.random.PCG64(9))
    means = 0
    for _ in range(400):
        first = generator.normal(size=n)
        found = compare_measures(first, first + 0.3 + generator.normal(size=n))
        means += found.mean_difference.low <= 0.3 <= found.mean_difference.high
    assert means / 400 == pytest.approx(0.95, abs=4 * math.sqrt(0.05 * 0.95 / 400))


def test_comparison_at_the_edges():
    one = compare_measures(np.array([1.0, np.nan, 3.0]), np.array([2.0, 5.0, np.nan]))
    assert (one.first, one.second, one.pairs) == (1.0, 2.0, 1)
    assert (one.mean_difference.value, one.mean_difference.low, one.mean_difference.high) == (1.0, -math.inf, math.inf)
    equal = compare_measures(np.ones(10), np.full(10, 3.0)).mean_difference
    assert (equal.low, equal.high) == (2.0, 2.0)
    with pytest.raises(dockfmu.OptionError, match="no run has the measure"):
        compare_measures(np.array([np.nan]), np.array([1.0]))
    none, every = np.zeros(3, bool), np.ones(3, bool)
    found = compare_outcomes(none, every)
    assert (found.difference.value, found.difference.high) == (1.0, 1.0)
    assert found.p_value == pytest.approx(2 * 0.5**3, rel=1e-12)
    with pytest.raises(dockfmu.OptionError, match="run by run"):
        compare_outcomes(none[:0], every[:0])


def test_sensitivities_at_the_edges():
    x = np.arange(40.0)
    # no variation, too few runs, and a variable that does not vary are left out
    assert sensitivities({"x": x}, np.ones(40)) == []
    assert sensitivities({"x": x[:9]}, x[:9]) == []
    assert sensitivities({"x": np.ones(40)}, x) == []
    (found,) = sensitivities({"x": np.r_[x, np.nan]}, np.r_[2.0 * x, 1e9])
    assert (found.rank_correlation, found.first_order) == (pytest.approx(1.0), pytest.approx(1.0, abs=0.1))
    assert spearman_of_ties(x // 10, x) == pytest.approx(
        sensitivities({"x": x // 10}, x)[0].rank_correlation, rel=1e-12
    )


def test_sensitivity_to_a_choice():
    """Two of three options differ from the third by as much as the noise: the share of the variance is known."""
    generator = np.random.Generator(np.random.PCG64(10))
    kind = generator.choice(["a", "b", "c"], 6000)
    shift = np.select([kind == "a", kind == "b"], [1.0, -1.0], 0.0)
    # variance of the shift is 2/3
    (found,) = sensitivities({"kind": kind}, shift + generator.normal(size=6000))
    assert found.first_order == pytest.approx((2 / 3) / (1 + 2 / 3), abs=0.03)
    assert math.isnan(found.rank_correlation)
    assert found.p_value < 1e-100
    (none,) = sensitivities({"kind": kind}, generator.normal(size=6000))
    assert none.first_order < 0.01
    assert none.p_value > 1e-3
    assert sensitivities({"kind": np.full(40, "a")}, np.arange(40.0)) == []


def test_the_share_of_a_choice_with_an_option_for_each_run_is_not_known():
    labels, x = np.array([f"run {k}" for k in range(40)]), np.arange(40.0)
    found = sensitivities({"kind": labels, "x": x}, x)
    # it would explain everything, and tells nothing: after all others
    assert [entry.name for entry in found] == ["x", "kind"]
    assert math.isnan(found[1].first_order)


def spearman_of_ties(x, y):
    """Pearson's correlation of mean ranks, counted."""
    ranks = [[np.mean([(v < u) + 0.5 * ((v == u) + 0.0) for v in values]) for u in values] for values in (x, y)]
    return np.corrcoef(*ranks)[0, 1]


@pytest.mark.parametrize(("inside", "area"), [(True, 1.0), (False, 0.0)])
def test_a_domain_without_a_boundary(inside, area):
    found = refine_domain(lambda points: np.full(len(points), -1.0 if inside else np.inf), first=4, divisions=2)
    assert (found.area, found.low, found.high, found.runs, found.boundary) == (area, area, area, 25, [])


def test_a_boundary_where_the_margin_is_not_known_lies_in_the_middle():
    found = refine_domain(lambda points: np.where(points[:, 0] < 0.4, -1.0, np.inf), first=4, divisions=1)
    assert {x for piece in found.boundary for x, _ in piece} == {0.4375}
    assert (found.low, found.area, found.high) == pytest.approx((0.375, 0.4375, 0.5))


def test_json_of_answers_is_json():
    answer = Answer(
        "a",
        "?",
        ("b",),
        (),
        (("c", np.float64(1.5), -math.inf, None),),
        Chart([Polyline("b", [np.nan, 1.0], np.arange(2))], "x"),
    )
    text = as_json([answer])
    (found,) = json.loads(text, parse_constant=lambda word: pytest.fail(word))
    assert found["table"] == [["c", 1.5, None, None]]
    line = {"part": "polyline", "name": "b", "x": [None, 1.0], "y": [0, 1], "border": False}
    assert found["chart"] == {"parts": [line], "x": "x", "y": "", "logarithmic": False}


def nearest(samples):
    return samples[np.argmin(np.linalg.norm(samples, axis=1))]


@pytest.mark.parametrize("p", [1e-4, 1e-6])
def test_first_order_is_exact_for_a_plane_and_half_of_two(p):
    for shape, share in ((plane, 1.0), (two_planes, 0.5)):
        performance = shape(p)
        samples = subset_simulation(performance, DIMENSION, per_level=500, seed=3).points
        # in any unit of the performance
        for unit in (1.0, 1e4):
            found = first_order.estimate(lambda z, f=performance, unit=unit: unit * f(z), nearest(samples))
            assert found.probability == pytest.approx(share * p, rel=1e-2)
            assert found.beta == pytest.approx(stats.norm.isf(share * p), rel=1e-3)
            assert np.abs(performance(found.point[None])[0]) < 1e-2


def test_first_order_of_what_is_no_event_is_told():
    assert first_order.estimate(lambda z: np.full(len(z), 1.0), np.ones(3)) is None
    assert first_order.estimate(lambda z: np.full(len(z), math.inf), np.ones(3)) is None


def test_first_order_that_does_not_converge_is_no_estimate():
    # it falls to 0 nowhere, and each step leads farther out
    assert first_order.estimate(lambda z: np.exp(-z.sum(axis=1)), np.full(3, 1.5)) is None


@pytest.mark.parametrize("fault", [KeyboardInterrupt(), dockfmu.OptionError(["lost"])])
def test_what_runs_raise_passes_through_first_order(fault):
    asked = []

    def performance(points):
        asked.append(points)
        if len(asked) > 1:
            raise fault
        return np.ones(1)

    with pytest.raises(type(fault)) as raised:
        first_order.estimate(performance, np.ones(3))
    assert raised.value is fault


def test_samples_that_chains_repeat_are_one():
    found = rare_event(plane(1e-3), DIMENSION, per_level=100, seed=4)
    raw = np.concatenate([one.points for one in found.each])
    samples = nearest_samples(found)
    assert len({tuple(point) for point in raw}) == len(samples) < len(raw)
    distance = np.linalg.norm(samples, axis=1)
    assert (np.diff(distance) >= 0.0).all()
    assert distance[0] == np.linalg.norm(raw, axis=1).min()
