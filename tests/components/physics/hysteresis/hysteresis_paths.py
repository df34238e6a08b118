"""Elements and paths that the tests of the hysteresis library share.

Run as a program it prints a digest of an element's memory along random paths: the same with and without compilation.
"""

import hashlib
from itertools import pairwise

import numpy as np

from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.record import Record
from dockfmu.components.physics import hysteresis
from tests.components.physics.hysteresis import series_brakes

RECORD = Record(
    hysteresis.law("law", "rad", "N.m"),
    series_brakes.memory("memory", "rad", "N.m"),
    series_brakes.two_brakes("brakes", "rad", "N.m"),
)

T1 = (
    (0.002, 0.004, 0.020, 0.040, 0.060),
    (0.0, 2.0, 60.0, 100.0, 160.0),
    (0.002, 0.004, 0.022, 0.050, 0.060),
    (0.0, 2.0, 30.0, 80.0, 160.0),
    8000.0,
)

H7 = (
    (0.0, 0.005, 0.03, 6.03, 6.09),
    (0.0, 0.5, 3.0, 6.0, 12.0),
    (0.0, 0.005, 0.03, 6.01, 6.09),
    (0.0, 0.5, 1.8, 4.0, 12.0),
    100.0,
)


def element(positive=T1, negative=None):
    """A record with the tables (qF, QF, qB, QB, k3) on its sides, validated and reset."""
    m = RECORD.memory()
    for side, (qF, QF, qB, QB, k3) in enumerate((positive, negative or positive)):
        n = len(qF)
        m.law.points[side] = n
        m.law.forward_deformation[side, :n] = qF
        m.law.forward_reaction[side, :n] = QF
        m.law.backward_deformation[side, :n] = qB
        m.law.backward_reaction[side, :n] = QB
        m.law.transition_stiffness[side] = k3
    assert hysteresis.validate(m.law) == 0
    hysteresis.reset(m.law, m.memory)
    return m


def legs(*corners, samples=200):
    """Straight legs between the corners, `samples` to each; without the first corner."""
    return np.concatenate([np.linspace(a, b, samples + 1)[1:] for a, b in pairwise(corners)])


CONSTANT = 0
ONE_BRAKE = 1
TWO_BRAKES = 2


@kernel
def update(m, law, q, rate):
    if law == CONSTANT:
        return hysteresis.update(m.law, m.memory, q, rate, 1.0)
    if law == ONE_BRAKE:
        return series_brakes.update_with_brake(m.law, m.memory, q, rate, 1.0)
    return series_brakes.update_with_two_brakes(m.law, m.brakes, m.memory, q, rate, 1.0)


@kernel
def _march(m, law, path, rate_scale, reactions):
    for i in range(len(path)):
        code = update(m, law, path[i], rate_scale * (path[i] - m.memory.deformation))
        if code != 0:
            return code
        reactions[i] = m.memory.reaction
    return 0


def follow(m, path, law=CONSTANT, rate_scale=1.0):
    """Reactions along `path`; the rate is that of the last step times `rate_scale`."""
    reactions = np.empty(len(path))
    assert _march(m, law, path, rate_scale, reactions) == 0
    return reactions


@kernel
def swing(m, mass, h, q, peaks):
    """Free motion of a mass on the element from rest at q, by symplectic Euler; its maxima of deformation."""
    v = 0.0
    update(m, CONSTANT, q, 0.0)
    found = 0
    while found < len(peaks):
        before = v
        v -= h * m.memory.reaction / mass
        q += h * v
        update(m, CONSTANT, q, v)
        if before > 0.0 and v <= 0.0:
            peaks[found] = q
            found += 1


def work(path, reactions):
    """Work of the reactions along `path` from zero by the trapezoidal rule."""
    q = np.concatenate([[0.0], path])
    Q = np.concatenate([[0.0], reactions])
    return float(np.sum(0.5 * (Q[1:] + Q[:-1]) * np.diff(q)))


def wandering(seed, amplitude, samples=2000):
    """Band-limited random path that starts at zero."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 1.0, samples + 1)[1:]
    waves = sum(rng.normal() * np.sin(2 * np.pi * k * t + rng.uniform(0, 6)) / k for k in range(1, 12))
    path = (waves - waves[0]) * np.minimum(1.0, 20 * t)
    return amplitude * path / np.abs(path).max()


if __name__ == "__main__":
    total = hashlib.sha256()
    for law, tables, amplitude in ((CONSTANT, T1, 0.08), (ONE_BRAKE, H7, 9.0), (TWO_BRAKES, H7, 14.0)):
        m = element(tables)
        m.brakes.first_positive, m.brakes.first_negative, m.brakes.first_stroke = 4.0, 2.0, 3.0
        m.brakes.second_positive, m.brakes.second_negative = 11.0, 12.0
        for q in wandering(7, amplitude):
            update(m, law, float(q), float(q - m.memory.deformation))
            total.update(m.memory.tobytes())
    print(total.hexdigest())
