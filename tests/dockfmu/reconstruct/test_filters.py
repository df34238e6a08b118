"""Filters of joint input-state estimation against closed forms and against the dense Gaussian posterior."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import block_diag, solve_discrete_are
from scipy.stats import kstest, multivariate_normal

from dockfmu.reconstruct.kalman import GaussMarkov, discrete, filtered, matern, samples, smoothed, variance_slopes
from dockfmu.reconstruct.unbiased import UnobservableError, estimate_unbiased

pytestmark = pytest.mark.quick


def a_model(seed=1, count=9, n=3):
    """A random model with two kinds of steps, three layouts of readings, one of them empty, and a drift."""
    random = np.random.default_rng(seed)
    steps = []
    for _ in range(2):
        root = random.standard_normal((n, n))
        steps.append((0.9 * np.linalg.qr(random.standard_normal((n, n)))[0], root @ root.T))
    layouts = [(random.standard_normal((m, n)), random.uniform(0.1, 2.0, m)) for m in (2, 1, 0)]
    layout = random.integers(0, 3, count)
    root = random.standard_normal((n, n))
    return GaussMarkov(
        random.standard_normal(n),
        root @ root.T,
        steps,
        random.integers(0, 2, count - 1),
        random.standard_normal((count - 1, n)),
        layouts,
        layout,
        [random.standard_normal(len(layouts[k][1])) for k in layout],
    )


def dense(model):
    """Return mean and covariance of all states together given all readings, and the log of the readings' density."""
    n, count = len(model.mean), len(model)
    mean, blocks = [model.mean], [[model.covariance]]
    prior = np.zeros((n * count, n * count))
    prior[:n, :n] = model.covariance
    for k in range(1, count):
        A, Q = model.steps[model.step[k - 1]]
        mean.append(A @ mean[-1] + model.drift[k - 1])
        old, new = slice(0, n * k), slice(n * k, n * (k + 1))
        prior[new, old] = A @ prior[n * (k - 1) : n * k, old]
        prior[old, new] = prior[new, old].T
        prior[new, new] = A @ prior[n * (k - 1) : n * k, n * (k - 1) : n * k] @ A.T + Q
    H = block_diag(*[model.layouts[k][0].reshape(-1, n) for k in model.layout])
    R = np.concatenate([model.layouts[k][1] for k in model.layout])
    y, at = np.concatenate(model.readings), np.concatenate(mean)
    S = H @ prior @ H.T + np.diag(R)
    gain = prior @ H.T @ np.linalg.inv(S)
    likelihood = multivariate_normal.logpdf(y, H @ at, S)
    del blocks
    return at + gain @ (y - H @ at), prior - gain @ H @ prior, likelihood


@pytest.mark.parametrize("seed", range(1, 6))
def test_the_smoother_is_the_dense_gaussian_posterior(seed):
    """Two algorithms: the recursion over time, and one linear system of all states and readings; rounding apart."""
    model = a_model(seed)
    found = filtered(model)
    means, covariances = smoothed(found)
    mean, covariance, likelihood = dense(model)
    assert means.ravel() == pytest.approx(mean, abs=1e-9)
    for k in range(len(model)):
        own = slice(3 * k, 3 * k + 3)
        assert covariances[k] == pytest.approx(covariance[own, own], abs=1e-9)
    assert found.log_likelihood == pytest.approx(likelihood, abs=1e-9)
    rows = np.array([[1.0, 2.0, 0.0]])
    chosen, of_chosen = smoothed(found, rows)
    assert chosen == pytest.approx(means @ rows.T)
    assert of_chosen == pytest.approx(rows @ covariances @ rows.T)


def test_slopes_of_the_likelihood_are_its_differences():
    """By the covariance of the start, and by that of the noise of each step, one step changed alone; differences."""
    model, h = a_model(2), 1e-5
    model = replace(model, steps=[model.steps[s] for s in model.step], step=np.arange(len(model.step)))
    slopes = variance_slopes(filtered(model))
    change = np.array([[1.0, 0.3, 0.0], [0.3, -0.5, 0.2], [0.0, 0.2, 0.4]])

    def likelihood(k, size):
        if not k:
            return filtered(replace(model, covariance=model.covariance + size * change)).log_likelihood
        steps = list(model.steps)
        steps[k - 1] = steps[k - 1][0], steps[k - 1][1] + size * change
        return filtered(replace(model, steps=steps)).log_likelihood

    for k in range(len(model)):
        difference = (likelihood(k, h) - likelihood(k, -h)) / (2.0 * h)
        assert np.sum(slopes[k] * change) == pytest.approx(difference, abs=1e-6)


def test_samples_have_the_dense_posterior():
    """Means and covariances between times of 20,000 samples, within five standard errors."""
    model = a_model(3, count=5)
    mean, covariance, _ = dense(model)
    drawn = samples(filtered(model), np.eye(3), 20_000, np.random.default_rng(2)).reshape(20_000, -1)
    sigma = np.sqrt(np.diagonal(covariance))
    assert np.abs((drawn.mean(0) - mean) / sigma).max() < 5.0 / np.sqrt(20_000)
    error = (np.cov(drawn.T) - covariance) / np.outer(sigma, sigma)
    assert np.abs(error).max() < 5.0 * np.sqrt(2.0 / 20_000)


def test_the_steady_variance_of_a_random_walk_is_the_closed_form():
    """Scalar random walk of variance q a step read with variance r: p = q/2 + sqrt(q^2/4 + q r) before a reading.

    After it, the variance is p r / (p + r).
    """
    q, r, count = 0.3, 2.0, 200
    ones = np.ones((1, 1))
    model = GaussMarkov(
        np.zeros(1), 5.0 * ones, [(ones, q * ones)], np.zeros(count - 1, int), np.zeros((count - 1, 1)),
        [(ones, np.array([r]))], np.zeros(count, int), [np.zeros(1)] * count,
    )  # fmt: skip
    closed = 0.5 * q + np.sqrt(0.25 * q * q + q * r)
    assert filtered(model).covariance[-1, 0, 0] == pytest.approx(closed * r / (closed + r), rel=1e-12)
    assert closed == pytest.approx(solve_discrete_are(ones, ones, q * ones, r * ones)[0, 0])


@pytest.mark.parametrize("order", [1, 2])
def test_a_matern_prior_has_its_covariance(order):
    """exp(-t/l) for the rough one, (1 + a t) exp(-a t), a = sqrt(3)/l, for the smooth one."""
    sigma, length, h = 3.0, 0.7, 0.4
    A, Q, stationary = matern(order, sigma, length)
    F, noise = discrete(A, Q, h)
    assert F @ stationary @ F.T + noise == pytest.approx(stationary, abs=1e-10)
    a = np.sqrt(3.0) / length
    wanted = np.exp(-h / length) if order == 1 else (1.0 + a * h) * np.exp(-a * h)
    assert (F @ stationary)[0, 0] == pytest.approx(sigma**2 * wanted)


def a_plant(feedthrough, seed=4, n=3, m=2, p=4):
    random = np.random.default_rng(seed)
    A = 0.95 * np.linalg.qr(random.standard_normal((n, n)))[0]
    G, C = random.standard_normal((n, m)), random.standard_normal((p, n))
    D = random.standard_normal((p, m)) if feedthrough else np.zeros((p, m))
    return A, G, C, D, 0.02 * np.eye(n), 0.1 * np.eye(p), np.zeros(n), np.eye(n)


@pytest.mark.parametrize("feedthrough", [True, False])
def test_the_unbiased_filter_is_the_limit_of_the_augmented_one_without_a_prior(feedthrough):
    """White inputs of a variance of 1e4 instead of nothing: both filters give the same state and input at each time.

    Such a prior shifts an input by its posterior variance over 1e4, here by up to 2e-4; rounding grows too.
    """
    A, G, C, D, Q, R, mean, P0 = a_plant(feedthrough)
    random = np.random.default_rng(5)
    n, m, count = 3, 2, 12
    d = 5.0 * random.standard_normal((count, m))
    x, readings = mean, []
    for k in range(count):
        readings.append(C @ x + D @ d[k] + np.sqrt(0.1) * random.standard_normal(4))
        x = A @ x + G @ d[k] + np.sqrt(0.02) * random.standard_normal(n)
    found = estimate_unbiased(A, G, C, D, Q, R, readings, mean, P0)
    big = 1e4 * np.eye(m)
    F = np.block([[A, G], [np.zeros((m, n + m))]])
    noise = block_diag(Q, big)
    for stop in range(2, count + 1):
        model = GaussMarkov(
            np.zeros(n + m), block_diag(P0, big), [(F, noise)], np.zeros(stop - 1, int),
            np.zeros((stop - 1, n + m)), [(np.hstack([C, D]), np.diagonal(R))], np.zeros(stop, int), readings[:stop],
        )  # fmt: skip
        means, covariances = smoothed(filtered(model))
        k, known = stop - 1, stop - 1 if feedthrough else stop - 2
        assert found.states[k] == pytest.approx(means[k, :n], abs=1e-3)
        assert found.inputs[known] == pytest.approx(means[known, n:], abs=1e-3)
        assert found.input_covariance[known] == pytest.approx(covariances[known, n:, n:], abs=1e-3)
        assert found.covariance[k] == pytest.approx(covariances[k, :n, :n], abs=1e-3)


def test_the_unbiased_filter_is_unbiased_with_its_covariance():
    """Normalised errors of inputs that are not random at all are standard normal (Kolmogorov and Smirnov, 1e-3)."""
    A, G, C, D, Q, R, mean, P0 = a_plant(True)
    random = np.random.default_rng(6)
    errors = []
    for _ in range(300):
        d = np.array([[1e3 * np.sin(k), -1e4 * (k > 5)] for k in range(12)])
        x, readings = mean + random.standard_normal(3), []
        for k in range(12):
            readings.append(C @ x + D @ d[k] + np.sqrt(0.1) * random.standard_normal(4))
            x = A @ x + G @ d[k] + np.sqrt(0.02) * random.standard_normal(3)
        found = estimate_unbiased(A, G, C, D, Q, R, readings, mean, P0)
        errors.append((found.inputs[7] - d[7]) / np.sqrt(np.diagonal(found.input_covariance[7])))
    for column in np.array(errors).T:
        assert kstest(column, "norm").pvalue > 1e-3


def test_too_few_readings_are_refused():
    A, G, C, D, Q, R, mean, P0 = a_plant(True)
    D[:, 1] = D[:, 0]
    with pytest.raises(UnobservableError, match="4 readings tell 1 of 2 inputs at once, and 2 a step later"):
        estimate_unbiased(A, G, C, D, Q, R, np.zeros((3, 4)), mean, P0)


K, C3, CUBIC = 1e4, 20.0, 1e9
"""The Duffing oscillator of Rogers, Worden and Cross (2020): 1 kg, N/m, N s/m, N/m^3; forced by a Matern process."""


def duffing(random, count=1024, h=1.0 / 2048.0, sub=40):
    """Return time, states (x, v), acceleration and force of the oscillator; integrated with steps 40 times shorter."""
    A, Q, stationary = matern(1, 20.0, 0.1)
    F, noise = discrete(A, Q, h / sub)
    f, x, v = np.sqrt(stationary[0, 0]) * random.standard_normal(), 0.0, 0.0
    rows = []
    for _ in range(count):
        rows.append((x, v, f - C3 * v - K * x - CUBIC * x**3, f))
        for _ in range(sub):
            v += h / sub * (f - C3 * v - K * x - CUBIC * x**3)
            x += h / sub * v
            f = F[0, 0] * f + np.sqrt(noise[0, 0]) * random.standard_normal()
    return np.array(rows)


def test_states_and_force_of_a_duffing_oscillator_as_rogers_2020():
    """Each below a normalised mean square error of 0.5 %, and 90 % bands that hold 85 to 95 % of the true values.

    Displacement and acceleration are read with noise of 0.1 % of their variances. From accelerations alone not even a
    filter that is linear about the true motion does so, at any noise: they do not tell a slow force. The cubic spring
    is linear about the last displacement, at first the one that was read.
    """
    random = np.random.default_rng(1)
    truth = duffing(random)
    h, count = 1.0 / 2048.0, len(truth)
    r = 0.001 * truth[:, [0, 2]].var(0)
    y = truth[:, [0, 2]] + np.sqrt(r) * random.standard_normal((count, 2))
    about = y[:, 0].copy()
    rate, q, _ = (part[0, 0] for part in matern(1, 20.0, 0.1))
    for _ in range(3):
        steps, layouts, drift = [], [], np.zeros((count, 3))
        rest = 2.0 * CUBIC * about**3
        for k, spring in enumerate(K + 3.0 * CUBIC * about**2):
            A = np.array([[0.0, 1.0, 0.0], [-spring, -C3, 1.0], [0.0, 0.0, rate]])
            F, noise = discrete(A, np.diag([0.0, 0.0, q]), h)
            steps.append((F, noise))
            drift[k] = np.linalg.solve(A, (F - np.eye(3)) @ [0.0, rest[k], 0.0])
            layouts.append((np.array([[1.0, 0.0, 0.0], [-spring, -C3, 1.0]]), r))
        readings = list(y - np.column_stack([np.zeros(count), rest]))
        model = GaussMarkov(
            np.zeros(3), np.diag([1e-8, 1e-4, 400.0]), steps, np.arange(count - 1), drift[:-1], layouts,
            np.arange(count), readings,
        )  # fmt: skip
        means, covariances = smoothed(filtered(model))
        change, about = np.abs(means[:, 0] - about).max(), means[:, 0]
    assert change < 1e-8
    true = truth[:, [0, 1, 3]]
    error = ((means - true) ** 2).mean(0) / true.var(0)
    assert np.all(error < 0.005)
    inside = np.abs(means - true) < 1.645 * np.sqrt(np.diagonal(covariances, axis1=1, axis2=2))
    assert np.all((inside.mean(0) > 0.85) & (inside.mean(0) < 0.95))
