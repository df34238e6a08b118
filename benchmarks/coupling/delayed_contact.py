"""A craft on a spring and damper through the stand: growth by eigenvalues, and by a run of the stand's kernels.

A mass m moves along x. A spring k and damper c act between it and a fixed unit, but the stand delays the force, by the
transfer function G(s) of `Stand.response`. The craft's motion is then exp(s t) with m s^2 + (c s + k) G(s) = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi

import numpy as np

from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.fmus import catalogue

MASS = 20000.0


@dataclass(frozen=True)
class Stand:
    """Delays of a stand along one axis, with the values of sets SP-1 and SB-1."""

    delay: float = 5e-3
    frequency: float = 10.0
    damping: float = 0.7
    feedforward: float = 0.0
    cutoff: float = 100.0
    frame_time: float = 2e-3

    @property
    def total_delay(self) -> float:
        """Time by which the force answers to a slow motion, s: that of G at s = 0."""
        lag = 2.0 * self.damping * (1.0 - self.feedforward) / (2.0 * pi * self.frequency)
        return self.delay + lag + 1.0 / (2.0 * pi * self.cutoff) + 0.5 * self.frame_time

    def response(self, s: complex) -> complex:
        """Return G(s): delay, platform, gauges, and readings that are held over a frame."""
        w, z = 2.0 * pi * self.frequency, self.damping
        platform = (2.0 * z * self.feedforward * w * s + w * w) / (s * s + 2.0 * z * w * s + w * w)
        gauges = 1.0 / (1.0 + s / (2.0 * pi * self.cutoff))
        held = -np.expm1(-s * self.frame_time) / (s * self.frame_time)
        return complex(np.exp(-s * self.delay) * platform * gauges * held)


def devices(stand: Stand, **motion: object) -> tuple[Instance, Instance]:
    """Return the platform and the balance of a stand whose limits are out of reach, started with this motion."""
    platform = {
        "delay": stand.delay,
        "frequency": stand.frequency,
        "damping": stand.damping,
        "feedforward": stand.feedforward,
        "frame_time": stand.frame_time,
        "velocity_limit": 1e3,
    }
    balance = {
        "cutoff": stand.cutoff,
        "frame_time": stand.frame_time,
        "noise": 0.0,
        "gauge.full_scale": 1e9,
        "force_limit": 1e9,
        "torque_limit": 1e9,
    }
    chosen = {"StandPlatform": platform, "StandBalance": balance}
    first, second = (
        Instance(catalogue.component(name), **motion, **{f"parameters.{key}": value for key, value in values.items()})
        for name, values in chosen.items()
    )
    return first, second


def eigenvalue(stand: Stand, k: float, c: float, m: float = MASS) -> complex:
    """Return s of the contact's oscillation, 1/s, by Newton's method, from the one without a stand."""
    s = complex(-0.5 * c / m, np.sqrt(max(k / m - (0.5 * c / m) ** 2, 0.1 * k / m)))
    for share in np.linspace(0.1, 1.0, 10):
        # introduce the delays gradually, so that Newton's method stays with this root
        part = Stand(
            share * stand.delay,
            stand.frequency / share,
            stand.damping,
            stand.feedforward,
            stand.cutoff / share,
            share * stand.frame_time,
        )

        def residual(x: complex, part: Stand = part) -> complex:
            return m * x * x + (c * x + k) * part.response(x)

        for _ in range(50):
            step = 1e-6 * abs(s)
            slope = (residual(s + step) - residual(s - step)) / (2.0 * step)
            change = residual(s) / slope
            s -= change
            if abs(change) < 1e-12 * abs(s):
                break
    return s


def least_damping(stand: Stand, k: float, m: float = MASS) -> float:
    """Return the damping with which the oscillation neither grows nor decays, N s/m, by bisection."""
    low, high = 0.0, 3.0 * k * stand.total_delay
    for _ in range(60):
        c = 0.5 * (low + high)
        low, high = (c, high) if eigenvalue(stand, k, c, m).real > 0.0 else (low, c)
    return 0.5 * (low + high)


def rule(stand: Stand, k: float, c: float, m: float = MASS) -> float:
    """Return the growth rate by the rule (k tau - c)/(2 m), 1/s, which is of first order in the delay (stand 5.4)."""
    return (k * stand.total_delay - c) / (2.0 * m)


def simulate(stand: Stand, k: float, c: float, seconds: float, m: float = MASS, h: float = 1e-3) -> np.ndarray:
    """Return the positions of the craft after each step, m, by the kernels of craft, platform and balance.

    The unit at x = 0 is at rest; the spring is relaxed where the craft's port is at x = 0, and starts 1 mm from it.
    """
    craft = Instance(
        spacecraft.component(ports=1),
        **{
            "parameters.mass": m,
            "parameters.inertia": 1e5 * np.eye(3),
            "parameters.initial.position": (1e-3, 0.0, 0.0),
        },
    )
    platform, balance = devices(stand, **{"active.position": (1e-3, 0.0, 0.0)})
    port, base = craft.m.port[0], platform.m.base
    found = np.empty(round(seconds / h))
    for n in range(len(found)):
        for device in (platform.m.active, balance.m.active):
            device.position[:], device.velocity[:] = port.position, port.velocity
        platform.step(n * h, h)
        x, v, a = base.position[0], base.velocity[0], base.acceleration[0]
        # the mean over the step of k x + c v on the unit at rest
        balance.m.target.force[0] = k * (x + v * h / 2 + a * h * h / 6) + c * (v + a * h / 2)
        balance.step(n * h, h)
        port.force[:] = balance.m.active.force
        craft.step(n * h, h)
        found[n] = port.position[0]
    return found


def growth(positions: np.ndarray, period: float, h: float = 1e-3) -> complex:
    """Return s of an oscillation exp(s t) about a fixed mean, by a fit of two lags over the second half."""
    every = max(1, round(period / 12.0 / h))
    x = positions[len(positions) // 2 :: every]
    rows = np.column_stack([x[1:-1], x[:-2], np.ones(len(x) - 2)])
    (a, b, _), *_ = np.linalg.lstsq(rows, x[2:], rcond=None)
    root = (a + np.sqrt(complex(a * a + 4.0 * b))) / 2.0
    return complex(np.log(root) / (every * h))
