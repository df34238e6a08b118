"""The ensemble smoother against exact posteriors, quadrature and the ranks of simulated truths."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dockfmu.reconstruct.ensemble import (
    EnsembleError,
    SmootherOptions,
    share_of,
    smooth,
    update,
)
from tests.dockfmu.reconstruct.ranks import uniformity

pytestmark = pytest.mark.quick


def linear_problem(unknowns, count, seed, noise=2.0):
    """Return matrix, deviations, data, and the exact mean and covariance of the posterior."""
    random = np.random.default_rng(seed)
    matrix, deviation = random.normal(size=(count, unknowns)), np.full(count, noise)
    data = matrix @ random.normal(size=unknowns) + deviation * random.normal(size=count)
    covariance = np.linalg.inv(np.eye(unknowns) + matrix.T @ (matrix / deviation[:, None] ** 2))
    return matrix, deviation, data, covariance @ matrix.T @ (data / deviation**2), covariance


@pytest.mark.parametrize("refinements", [0, 1], ids=["as assimilated", "refined"])
@pytest.mark.parametrize("steps", [0, 1, 4], ids=["chosen", "one", "four"])
def test_a_linear_model_gives_the_exact_posterior(steps, refinements):
    """Mean and variances are those of 2000 draws: within 5 deviations of 1 / sqrt(n), and of sqrt(2 / n), of theirs.

    A step adds perturbations of its own to what the members are; four steps have at most the errors of four samples.
    """
    options = SmootherOptions(steps=steps, refinements=refinements)
    members = 2000
    matrix, deviation, data, mean, covariance = linear_problem(4, 30, seed=1)
    prior = np.random.default_rng(2).normal(size=(members, 4))
    found = smooth(prior, lambda z: z @ matrix.T, data, deviation, seed=3, options=options)
    scale = np.sqrt(np.diag(covariance))
    samples = math.sqrt(len(found.steps))
    assert np.abs((found.mean - mean) / scale).max() < 5.0 * samples / math.sqrt(members)
    correlation = found.covariance / np.outer(scale, scale)
    assert np.abs(correlation - covariance / np.outer(scale, scale)).max() < 5.0 * samples * math.sqrt(2.0 / members)
    assert sum(step.share for step in found.steps if step.window == 0) == pytest.approx(1.0)


@pytest.mark.parametrize(("refinements", "windows"), [(0, {0, 1}), (25, {0, -1})], ids=["assimilated", "refined"])
def test_windows_one_after_the_other_give_the_posterior_of_all_data(refinements, windows):
    members = 2000
    matrix, deviation, data, mean, covariance = linear_problem(4, 30, seed=4)
    first = np.arange(30) < 8
    found = smooth(
        np.random.default_rng(5).normal(size=(members, 4)),
        lambda z: z @ matrix.T,
        data,
        deviation,
        windows=[first, ~first],
        options=SmootherOptions(refinements=refinements),
    )
    scale = np.sqrt(np.diag(covariance))
    assert {step.window for step in found.steps} == windows
    assert np.abs((found.mean - mean) / scale).max() < 5.0 * math.sqrt(len(found.steps) / members)
    assert np.diag(found.covariance) / np.diag(covariance) == pytest.approx(1.0, abs=0.3)


def test_windows_that_grow_take_a_fifth_of_the_data_of_a_straight_line_at_once():
    matrix, deviation, data, _, _ = linear_problem(4, 30, seed=4)
    prior = np.random.default_rng(5).normal(size=(40, 4))
    found = smooth(prior, lambda z: z @ matrix.T, data, deviation, time=np.arange(30.0))
    assert {step.until for step in found.steps if step.window == 0} == {5.0}
    assert found.steps[-1].until == 29.0


@pytest.mark.parametrize("given", [True, False], ids=["given windows", "windows that grow"])
def test_runs_that_end_behind_their_window_give_the_same_members(given):
    """Outputs are asked for up to a fifth of the time behind each window; what is later is absent, and not missed."""
    matrix, deviation, data, _, _ = linear_problem(4, 30, seed=4)
    prior, time = np.random.default_rng(5).normal(size=(40, 4)), np.arange(30.0)
    windows = [time < 8.0, (time >= 8.0) & (time < 12.0), time >= 12.0] if given else []
    asked = [math.inf]
    made = []

    def ending(members):
        made.append(asked[-1])
        return np.where(time <= asked[-1], members @ matrix.T, np.nan)

    whole = smooth(prior, lambda z: z @ matrix.T, data, deviation, time=time, windows=windows)
    found = smooth(prior, ending, data, deviation, time=time, windows=windows, until=asked.append)
    assert np.array_equal(found.unknowns, whole.unknowns)
    assert np.array_equal(found.outputs, whole.outputs)
    assert made[0] == made[-1] == math.inf
    assert min(made) == pytest.approx((7.0 if given else 5.0) + 29.0 / 5.0)


def test_windows_that_grow_follow_a_motion_that_no_wide_ensemble_sees():
    """A phase that grows by e^1.3 each second: in windows each of three is found, all data at once lose one."""
    time, deviation = np.linspace(0.1, 6.0, 60), np.full(60, 0.05)

    def forward(z):
        return np.sin(2.0 * z[:, :1] * np.exp(1.3 * time)) + 0.2 * z[:, 1:]

    errors = {"grown": [], "at once": []}
    for seed in range(3):
        data = forward(np.array([[0.7, -0.4]]))[0] + 0.05 * np.random.default_rng(6 + seed).normal(size=60)
        prior = np.random.default_rng(7 + seed).normal(size=(60, 2))
        for name, chosen in (("grown", time), ("at once", None)):
            found = smooth(prior, forward, data, deviation, seed=8, time=chosen)
            errors[name].append(np.sqrt(np.mean((found.unknowns[:, 0] - 0.7) ** 2)))
    assert max(errors["grown"]) < 3e-5
    assert max(errors["at once"]) > 1e-3


def test_few_members_are_on_average_exact_too():
    """Compare the mean variance of 300 ensembles of 30 members with the exact one, 10 %: no inbreeding."""
    matrix, deviation, data, _, covariance = linear_problem(5, 60, seed=6)
    ratios = [
        np.diag(
            smooth(
                np.random.default_rng(seed).normal(size=(30, 5)), lambda z: z @ matrix.T, data, deviation, seed=seed
            ).covariance
        )
        / np.diag(covariance)
        for seed in range(300)
    ]
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.1)


def decay(z):
    """Return a damped oscillation of unknown frequency and damping at 12 times, shape (members, 12)."""
    frequency, damping = 2.0 * np.exp(0.2 * z[:, :1]), 0.5 * ndtr(z[:, 1:])
    time = np.linspace(0.25, 3.0, 12)
    return np.exp(-damping * time) * np.cos(frequency * time)


def test_a_nonlinear_model_agrees_with_quadrature():
    """Moments by a grid of 400 by 400; the ensemble is biased by at most 0.3 deviations, and its widths by 15 %.

    Without the refinement the damping is 1.6 deviations off, and three times as wide.
    """
    deviation = np.full(12, 0.1)
    data = decay(np.array([[0.8, -0.6]]))[0] + 0.1 * np.random.default_rng(7).normal(size=12)
    axis = np.linspace(-4.0, 4.0, 401)
    grid = np.column_stack([axis_.ravel() for axis_ in np.meshgrid(axis, axis, indexing="ij")])
    logs = -0.5 * np.sum(((data - decay(grid)) / 0.1) ** 2, axis=1) - 0.5 * np.sum(grid**2, axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    width = np.sqrt(weights @ (grid - mean) ** 2)
    found = smooth(np.random.default_rng(8).normal(size=(1000, 2)), decay, data, deviation, seed=9)
    assert np.abs((found.mean - mean) / width).max() < 0.3
    assert np.sqrt(np.diag(found.covariance)) / width == pytest.approx(1.0, abs=0.15)


def ranks_of(forward, values, unknowns, count, seed, members=60, replicas=400):
    """Return the ranks of true values among those of the posterior, from 0 to 1, of many simulated problems."""
    random = np.random.default_rng(seed)
    ranks = []
    for replica in range(replicas):
        truth = random.normal(size=(1, unknowns))
        data = forward(truth)[0] + random.normal(size=count)
        prior = random.normal(size=(members, unknowns))
        found = smooth(prior, forward, data, np.ones(count), seed=seed + replica)
        ranks.append((values(found.unknowns) < values(truth)).mean(axis=0))
    return np.array(ranks)


def test_ranks_of_simulated_truths_are_uniform_in_a_linear_model():
    """Simulation-based calibration (Talts et al. 2018): 400 truths drawn from the prior, three unknowns."""
    matrix = np.random.default_rng(10).normal(size=(6, 3))
    ranks = ranks_of(lambda z: z @ matrix.T, lambda z: z, 3, 6, seed=11)
    assert min(uniformity(ranks)) > 0.01 / 3


def test_ranks_are_uniform_with_a_bounded_prior():
    """A uniform and a truncated law, whose data are values of the bounded unknowns themselves."""

    def values(z):
        return np.column_stack([4.0 * ndtr(z[:, 0]), 3.0 + 2.0 * ndtr(z[:, 1])])

    matrix = np.array([[1.0, 0.4], [0.3, 1.0], [0.8, -0.8], [1.0, 1.0]])
    ranks = ranks_of(lambda z: values(z) @ matrix.T, values, 2, 4, seed=12)
    assert min(uniformity(ranks)) > 0.01 / 2


def test_ranks_tell_an_ensemble_that_is_too_narrow():
    """The test of ranks can fail: with half the deviations in the update, truths lie at the ends."""
    matrix = np.random.default_rng(13).normal(size=(6, 3))
    random = np.random.default_rng(14)
    ranks = []
    for replica in range(400):
        truth = random.normal(size=3)
        data = matrix @ truth + random.normal(size=6)
        prior = random.normal(size=(60, 3))
        found = smooth(prior, lambda z: z @ matrix.T, data, np.full(6, 0.5), seed=replica)
        ranks.append((found.unknowns < truth).mean(axis=0))
    assert max(uniformity(np.array(ranks))) < 1e-4


def test_what_is_not_linear_counts_as_an_error():
    """Outputs with a chaotic share tell less: the posterior is as wide as noise with that share makes it."""
    random = np.random.default_rng(15)
    matrix, deviation, data, _, _ = linear_problem(3, 40, seed=16, noise=0.1)
    members = 400
    prior = random.normal(size=(members, 3))
    chaos = 2.0 * random.normal(size=(members, 40))
    moved = update(prior, prior @ matrix.T + chaos, data, deviation, 1.0, np.random.default_rng(17))
    exact = np.linalg.inv(np.eye(3) + matrix.T @ matrix / (0.1**2 + 2.0**2))
    # perturbed outputs keep the variance of the chaos in the members
    assert np.diag(np.cov(moved.T)) / np.diag(exact) == pytest.approx(1.0, abs=0.25)


def test_localised_gains_keep_the_width_of_more_unknowns_than_members():
    """A hundred unknowns that are measured one by one, and 30 members: without localisation the width is lost."""
    random = np.random.default_rng(18)
    truth, deviation = random.normal(size=100), np.full(100, 0.5)
    data = truth + deviation * random.normal(size=100)
    exact = 0.25 / 1.25
    prior = random.normal(size=(30, 100))
    options = {flag: SmootherOptions(steps=1, localise=flag) for flag in (True, False)}
    found = {
        flag: smooth(prior, lambda z: z, data, deviation, seed=19, options=given) for flag, given in options.items()
    }
    widths = {flag: float(np.mean(np.diag(posterior.covariance))) / exact for flag, posterior in found.items()}
    errors = {flag: float(np.mean((posterior.mean - truth) ** 2)) for flag, posterior in found.items()}
    assert widths[False] < errors[False] / exact / 2.0
    assert abs(math.log(widths[True] * exact / errors[True])) < abs(math.log(widths[False] * exact / errors[False]))


def test_members_without_outputs_are_drawn_anew_and_counted():
    """The truth is at -1; members beyond 1 have no outputs, and are no part of the posterior."""
    matrix, deviation, _, _, _ = linear_problem(3, 20, seed=20)
    data = matrix @ np.array([-1.0, 0.0, 0.5])

    def forward(z):
        outputs = z @ matrix.T
        outputs[z[:, 0] > 1.0, 5:] = np.nan
        return outputs

    prior = np.random.default_rng(21).normal(size=(400, 3))
    found = smooth(prior, forward, data, deviation, seed=22)
    assert found.steps[0].absent == int((prior[:, 0] > 1.0).sum()) > 0
    assert found.valid.mean() > 0.99


def test_too_few_outputs_are_refused():
    with pytest.raises(EnsembleError, match="8 of 10 members have no outputs for the data of window 1"):
        smooth(
            np.random.default_rng(23).normal(size=(10, 2)),
            lambda z: np.where(np.arange(10)[:, None] < 2, z, np.nan),
            np.zeros(2),
            np.ones(2),
        )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"deviation": np.zeros(2)}, "deviations positive"),
        ({"data": np.array([0.0, np.nan])}, "must be finite"),
        ({"data": np.zeros(3)}, "as many deviations"),
        ({"windows": [np.ones(2, bool), np.ones(2, bool)]}, "lies in one of them"),
        ({"prior": np.zeros((2, 2))}, "at least 3 rows"),
    ],
    ids=["deviation", "nan", "lengths", "windows", "members"],
)
def test_what_does_not_fit_is_refused(given, words):
    chosen = {"prior": np.eye(4)[:, :2], "data": np.zeros(2), "deviation": np.ones(2)} | given
    prior = chosen.pop("prior")
    with pytest.raises(EnsembleError, match=words):
        smooth(prior, lambda z: z, chosen.pop("data"), chosen.pop("deviation"), **chosen)


def test_the_share_of_a_step_follows_the_misfit():
    """Formula (14) of Iglesias & Yang: n / (2 mean) where members scatter much, and the rest at the end."""
    misfits = np.array([900.0, 1100.0, 1000.0, 1000.0])
    by_mean, by_variance = 20 / 2000.0, math.sqrt(20 / (2.0 * misfits.var(ddof=1)))
    assert share_of(misfits, 20) == pytest.approx(max(by_mean, by_variance))
    assert share_of(misfits, 20, left=0.01) == 0.01
    assert share_of(np.zeros(3), 20) == 1.0


def test_the_same_seed_gives_the_same_members():
    matrix, deviation, data, _, _ = linear_problem(3, 20, seed=24)
    prior = np.random.default_rng(25).normal(size=(20, 3))
    first, again, other = (
        smooth(prior, lambda z: z @ matrix.T, data, deviation, seed=seed).unknowns for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
