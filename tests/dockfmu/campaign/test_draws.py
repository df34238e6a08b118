"""Draws: they depend on seed and index alone, and follow their laws; compared with closed forms."""

import math

import numpy as np
import pytest
from scipy import stats

import dockfmu
from dockfmu.campaign.description import Measure
from dockfmu.campaign.methods.worst_case import severity as worst_severity
from dockfmu.campaign.runner import MeasureObserver
from dockfmu.campaign.sampling.distributions import Choice, Normal, Option, SeverityBall, Uniform, UniformDisc
from dockfmu.campaign.sampling.draws import Draws
from dockfmu.errors import OptionError

N = 4000


def sample(law, sampling="random", seed=1, n=N, **options):
    draws = Draws((law,), sampling, seed, n, **options)
    rows = [draws.values(k) for k in range(n)]
    return np.array([[row[name] for name in law.names] for row in rows])


def is_law(values, cdf):
    """Kolmogorov and Smirnov: far from rejecting a right law of fixed seeds, and sharp enough for a wrong one."""
    return stats.kstest(values, cdf).pvalue > 1e-3


def test_uniform_and_normal_variables():
    x, y = sample(Uniform(("x", "y"), (1.0, -2.0), (3.0, 5.0))).T
    assert is_law(x, stats.uniform(1.0, 2.0).cdf)
    assert is_law(y, stats.uniform(-2.0, 7.0).cdf)
    assert not is_law(y, stats.uniform(-2.0, 7.5).cdf)
    (z,) = sample(Normal(("z",), (2.0,), ((0.5,),))).T
    assert is_law(z, stats.norm(2.0, 0.5).cdf)
    (t,) = sample(Normal(("t",), (1.0,), ((2.0,),), (0.0,), (4.0,))).T
    assert is_law(t, stats.truncnorm(-0.5, 1.5, loc=1.0, scale=2.0).cdf)
    assert t.min() >= 0.0
    assert t.max() <= 4.0


def test_covariance():
    covariance = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]])
    factor = tuple(map(tuple, np.linalg.cholesky(covariance)))
    found = np.cov(sample(Normal(("a", "b", "c"), (1.0, 2.0, 3.0), factor), n=20_000).T)
    # standard deviation of a sample covariance: sqrt((c_ii c_jj + c_ij^2) / n)
    d = np.diag(covariance)
    deviation = np.sqrt((np.outer(d, d) + covariance**2) / 20_000)
    assert (np.abs(found - covariance) < 4.0 * deviation).all()


def test_disc():
    y, z = sample(UniformDisc(("y", "z"), 0.34)).T
    assert is_law(np.hypot(y, z), lambda r: (r / 0.34) ** 2)
    assert is_law(np.arctan2(z, y) % (2 * np.pi), stats.uniform(0, 2 * np.pi).cdf)


@pytest.mark.parametrize("measure", ["R1", "R2"])
@pytest.mark.parametrize("n", [2, 11])
def test_severity_balls(measure, n):
    """Uniform in the n-ball of a norm: the norm R has P(R < r) = r^n; each share is symmetric."""
    limits = tuple(0.5 + k for k in range(n))
    names = tuple(f"p{k}" for k in range(n))
    shares = sample(SeverityBall(names, limits, measure, 0.8)) / np.array(limits)
    severity = np.linalg.norm(shares, axis=1) if measure == "R1" else np.abs(shares).sum(axis=1)
    assert is_law(severity, lambda r: np.clip(r / 0.8, 0, 1) ** n)
    # second moments: of the ball 1 / (n + 2), of the cross-polytope 2 / ((n + 1)(n + 2)), times the radius squared
    moment = 0.8**2 * (1.0 / (n + 2) if measure == "R1" else 2.0 / ((n + 1) * (n + 2)))
    assert (shares**2).mean(axis=0) == pytest.approx(np.full(n, moment), rel=0.2)
    assert np.abs(shares.mean(axis=0)).max() < 4.0 * math.sqrt(moment / N)


@pytest.mark.parametrize("surface", [False, True])
def test_ruling_R60_severity_balls_with_vector_sums(surface):
    """R2 of |a| + hypot(b, c) + |d|: uniform within, so P(R < r) = r^4 for four numbers; the pair has no direction."""
    ball = SeverityBall(("a", "b", "c", "d"), (1.0, 2.0, 2.0, 3.0), "R2", 0.8, surface=surface, pairs=((1, 2),))
    shares = sample(ball) / [1.0, 2.0, 2.0, 3.0]
    pair = np.hypot(shares[:, 1], shares[:, 2])
    found = np.abs(shares[:, 0]) + pair + np.abs(shares[:, 3])
    if surface:
        assert found == pytest.approx(np.full(N, 0.8), rel=1e-12)
    else:
        assert is_law(found, lambda r: np.clip(r / 0.8, 0, 1) ** 4)
    # of the four numbers of a Dirichlet law the pair has two
    assert is_law(pair / found, stats.beta(2, 2).cdf)
    assert is_law(np.arctan2(shares[:, 2], shares[:, 1]) % (2 * np.pi), stats.uniform(0, 2 * np.pi).cdf)
    points = shares[:5]
    assert worst_severity(points, "R2", ((1, 2),)) == pytest.approx(found[:5])
    assert worst_severity(points, "R1", ((1, 2),)) == pytest.approx(np.linalg.norm(points, axis=1))


@pytest.mark.parametrize("measure", ["R1", "R2"])
def test_severity_surfaces(measure):
    shares = sample(SeverityBall(("a", "b", "c"), (1.0, 1.0, 1.0), measure, 1.5, surface=True), n=200)
    severity = np.linalg.norm(shares, axis=1) if measure == "R1" else np.abs(shares).sum(axis=1)
    assert severity == pytest.approx(np.full(200, 1.5), rel=1e-12)


def test_choices_have_their_weights():
    law = Choice("fault", (Option("none", 3.0), Option("latch", 1.0)))
    draws = Draws((law,), seed=3, runs=N)
    found = [draws.values(k)["fault"] for k in range(N)]
    assert stats.binomtest(found.count("latch"), N, 0.25).pvalue > 1e-3


@pytest.mark.parametrize("sampling", ["random", "sobol", "latin_hypercube"])
def test_a_draw_depends_on_seed_and_index_alone(sampling):
    law = Uniform(("x", "y", "z"), (0.0,) * 3, (1.0,) * 3)
    draws = Draws((law,), sampling, 5, 64)
    forward = [draws.values(k) for k in range(64)]
    again = Draws((law,), sampling, 5, 64)
    assert [again.values(k) for k in reversed(range(64))] == forward[::-1]
    assert Draws((law,), sampling, 6, 64).values(7) != forward[7]
    if sampling != "latin_hypercube":
        assert Draws((law,), sampling, 5, 1000).values(7) == forward[7]


def test_sobol_and_latin_points_are_even():
    law = Uniform(("x", "y"), (0.0, 0.0), (1.0, 1.0))
    sobol = sample(law, "sobol", n=256)
    # the first 2^8 points have one in each interval of the base, and one in each 16 x 16 cell
    assert sorted(np.floor(sobol[:, 0] * 256).astype(int)) == list(range(256))
    assert len(set(map(tuple, np.floor(sobol * 16).astype(int).tolist()))) == 256
    latin = sample(law, "latin_hypercube", n=100)
    for column in latin.T:
        assert sorted(np.floor(column * 100).astype(int)) == list(range(100))


def test_grids_take_all_combinations():
    laws = (Uniform(("x",), (1.0,), (2.0,)), Choice("fault", (Option("none"), Option("latch"))))
    draws = Draws(laws, "grid", points=3)
    assert draws.grid_size == 6
    found = [(row["x"], row["fault"]) for row in map(draws.values, range(6))]
    assert found == [(x, fault) for x in (1.0, 1.5, 2.0) for fault in ("none", "latch")]


def test_rejection_keeps_the_law_within():
    law = Uniform(("x", "y"), (-1.0, -1.0), (1.0, 1.0))
    x, y = sample(law, accept=lambda row: math.hypot(row["x"], row["y"]) <= 1.0).T
    assert is_law(np.hypot(x, y), lambda r: r**2)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Draws((Uniform(("x",), (0.0,), (1.0,)),) * 2), "x has two laws"),
        (lambda: Draws((), "halton"), "must be one of"),
        (lambda: Draws((), "grid"), "points"),
        (lambda: Draws((), "sobol", accept=bool), "random"),
        (lambda: Uniform(("x",), (1.0,), (0.0,)), "low"),
        (lambda: Uniform(("x",), (1.0,), (1.0,)), "must be below high"),
        (lambda: UniformDisc(("x",), 1.0), "two variables"),
        (lambda: SeverityBall(("x",), (1.0,), "R3", 1.0), "R1 or R2"),
        (lambda: Choice("c", (Option("a"), Option("a"))), "labels"),
        (lambda: Normal(("a", "b"), (0.0, 0.0), ((1.0, 0.5), (0.0, 1.0)), (0.0, 0.0), (1.0, 1.0)), "covariance"),
        (lambda: Draws((Uniform(("x",), (0.0,), (1.0,)),), accept=lambda row: False).values(3), "run 3"),
    ],
)
def test_refusals(make, text):
    with pytest.raises(dockfmu.OptionError, match=text):
        make()


@pytest.mark.parametrize("sampling", ["random", "sobol", "latin_hypercube", "grid"])
def test_a_run_that_there_is_not_is_refused(sampling):
    draws = Draws((Uniform(("x",), (0.0,), (1.0,)),), sampling, 5, 9, 9)
    draws.values(8)
    for index in (-1, *([9] if sampling in ("latin_hypercube", "grid") else [])):
        with pytest.raises(OptionError, match=f"there is no run {index}: runs are numbered from 0"):
            draws.values(index)


@pytest.mark.parametrize("kind", ["max", "min", "magnitude", "resultant"])
@pytest.mark.parametrize("row", range(6))
def test_a_measure_of_what_is_not_a_number_is_none(kind, row):
    measure = MeasureObserver([Measure("load", ("a.f", "b.f"), kind, "N")])
    measure.sampling(None)
    values = np.arange(12.0).reshape(6, 2) - 4.0
    values[row, 0] = np.nan
    for part in (slice(0, 3), slice(3, 6)):
        measure.sample(np.arange(6.0)[part], values[part])
    value, time = measure.found["load"]
    assert (math.isnan(value), time) == (True, float(row))


@pytest.mark.parametrize(
    ("sampling", "more", "text"),
    [
        ("random", {"runs": 10**12}, "runs = 1000000000000: must be a positive integer up to 2147483647"),
        ("random", {"runs": 0}, "runs = 0"),
        ("random", {"runs": 2.0}, "runs = 2.0"),
        ("sobol", {"runs": 2**30 + 1}, "up to 1073741824"),
        ("latin_hypercube", {"runs": 10**8}, r"up to 2000000; a Latin hypercube keeps all its points in memory"),
        ("grid", {"points": 10**7}, "at most 1000000"),
        ("grid", {"points": 1000}, "the grid would have 1000000000000000 runs"),
    ],
)
def test_counts_are_bounded_before_anything_is_listed(sampling, more, text):
    """Regression: a Latin hypercube of 1e8 runs took all memory, and a long Sobol sequence ended in a traceback."""
    laws = tuple(Uniform((f"x{k}",), (0.0,), (1.0,)) for k in range(5))
    with pytest.raises(OptionError, match=text):
        Draws(laws, sampling, **more)


def test_the_last_point_of_a_sobol_sequence_is_one():
    draws = Draws((Uniform(("x",), (0.0,), (1.0,)),), "sobol", 1, 2**30)
    assert 0.0 < draws.values(2**30 - 1)["x"] < 1.0
    with pytest.raises(OptionError, match="there is no run 1073741824"):
        draws.values(2**30)


@pytest.mark.quick
@pytest.mark.parametrize(("low", "high"), [(-0.5, 2.0), (7.5, 10.0), (9.0, 10.0), (30.0, 31.0)])
def test_a_truncated_law_is_the_same_on_both_sides_of_its_mean(low, high):
    """Far above the mean, 1 minus the distribution function is lost in rounding; the mirrored law has all digits."""
    right, left = (
        Normal(("x",), (0.0,), ((1.0,),), (low,), (high,)),
        Normal(("x",), (0.0,), ((1.0,),), (-high,), (-low,)),
    )
    for u in (0.01, 0.3, 0.5, 0.99):
        value = right.values(np.array([u]))["x"]
        assert low < value < high
        assert value == pytest.approx(-left.values(np.array([1.0 - u]))["x"], rel=1e-9)
    (levels,) = right.levels(5)
    values = [right.values(np.array([u]))["x"] for u in levels]
    # a level near 1 has the spacing of numbers there, and the density is least at the end
    assert values == pytest.approx(np.linspace(low, high, 5).tolist(), rel=0.2)
    assert levels == sorted(levels)
    assert (levels[0], levels[-1]) == pytest.approx((0.0, 1.0))


@pytest.mark.quick
def test_a_range_that_a_normal_law_never_reaches_is_refused():
    with pytest.raises(OptionError, match="too rare to draw"):
        Normal(("x",), (0.0,), ((1.0,),), (40.0,), (41.0,))


@pytest.mark.quick
def test_a_grid_has_no_points_of_options_without_weight():
    """An option of weight 0 had the point of its neighbour, whose runs were then made twice."""
    choice = Choice("c", (Option("a"), Option("never", 0.0), Option("b"), Option("nor", 0.0)))
    (levels,) = choice.levels(2)
    assert [choice.values(np.array([u]))["c"] for u in levels] == ["a", "b"]
