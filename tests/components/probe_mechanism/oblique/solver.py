"""Oblique impacts from event to event: implicit Runge-Kutta between them, roots of its interpolant at them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import Radau
from scipy.optimize import brentq

from tests.components.probe_mechanism.oblique.devices import (
    FORCE,
    RATE,
    Loop,
    SpringAndBrake,
    Train,
    TwoBrakes,
    TwoStageSpring,
    probe_joint,
    recoverable,
)
from tests.components.probe_mechanism.oblique.equations import (
    FIRST_LOSS,
    FIRST_WORK,
    LIMITER,
    LOSSES,
    MOTION,
    SIZE,
    TOLD,
    WORKS,
    Modes,
    Path,
    evaluate,
    numbers,
)

FIRST_DEPTH = TOLD.index("depth_front")
DEPTH = 1e-12  # m, unit of the guards of contacts
OWNERS = 12
"""Contacts on cone and bottom, nut, joints of the probe, springs, train, what bears on the limiter: number of an owner
of a guard."""
FIRST_BEARING = 9


def train_of(a: Any) -> Train:
    """Return the train of the axial parameters: that of V2 if they have a first brake."""
    common = float(a.train_stiffness), float(a.brake_compression), float(a.brake_extension)
    if hasattr(a, "first_brake_stroke"):
        first = {
            "first_compression": float(a.first_brake_compression),
            "first_extension": float(a.first_brake_extension),
        }
        return TwoBrakes(common[0], float(a.first_brake_stroke), *common[1:], **first)
    spring = {"preload": float(a.spring_preload), "end": float(a.spring_end), "unloading": float(a.spring_return)}
    return SpringAndBrake(common[0], float(a.spring_stroke), *common[1:], **spring)


class Mechanism:
    """The mechanism at rest between two ports at t = 0, with the modes of its devices.

    `p` and `unit` are the groups of parameters of mechanism and contact.
    """

    def __init__(self, p: Any, unit: Any, base: Path, target: Path) -> None:
        self.d, self.base, self.target, self.p = numbers(p, unit), base, target, p
        probe, spring = p.probe, p.lateral.spring
        shape = float(probe.hysteresis_common), float(probe.hysteresis_loss), float(probe.hysteresis_ratio)
        bending = float(probe.bending_stiffness), float(probe.bending_limit)
        torsion = float(probe.torsion_stiffness), float(probe.torsion_limit)
        names = TwoStageSpring.__dataclass_fields__
        self.loops: list[Loop] = [probe_joint(*of, *shape) for of in (bending, bending, torsion)]
        self.loops += [TwoStageSpring(*(float(getattr(spring, n)[k]) for n in names)).loop() for k in range(2)]
        self.train = train_of(p.axial)
        self.closed = [False, False]
        self.bearing = [False, False, False]
        # sense in which the nut turns, 0: held by the friction of the screw
        self.sense = 0
        self.fix()

    def fix(self) -> None:
        """Take the present modes for the equations."""
        self.modes = Modes(
            tuple(loop.table for loop in self.loops),
            np.array([loop.now for loop in self.loops]),
            np.array(self.train.line()),
            np.array(self.closed, float),
            np.array(self.bearing, float),
            np.array([float(self.sense)]),
        )

    def start(self) -> np.ndarray:
        """Return the state at t = 0: at rest, a limiter on its front stop or `initial_travel` behind it."""
        y = np.zeros(SIZE)
        if self.d.limiter[0] > 0.0:
            front, stroke, weak, strong, _, stiff, _, _ = self.d.limiter
            travel = float(self.p.limiter.initial_travel)
            y[LIMITER] = front - travel if travel else front + weak / (stiff + (strong - weak) / stroke)
        return y

    def evaluate(self, t: float, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return evaluate(self.d, self.base, self.target, self.modes, t, y)

    def _coordinates(self, y: np.ndarray, told: np.ndarray) -> list[tuple[Loop | Train, float, float]]:
        where = [(y[2 + k], y[8 + k]) for k in range(3)] + [(told[6 + k], told[8 + k]) for k in range(2)]
        return [*((loop, *at) for loop, at in zip(self.loops, where, strict=True)), (self.train, y[5], y[11])]

    def guards(self, t: float, y: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
        """Return pairs of an owner and the number of its guard, and the guards: below -1 the owner's mode ends."""
        told = self.evaluate(t, y)[1]
        found = [[(told[k] if self.closed[k] else -told[k]) / DEPTH] for k in range(2)]
        found.append([self.sense * y[11] / RATE if self.sense else (told[13] - abs(told[12])) / FORCE])
        found += [device.guards(u, rate) for device, u, rate in self._coordinates(y, told)]
        if self.d.limiter[0] > 0.0:
            depths = told[FIRST_DEPTH : FIRST_DEPTH + 3] / DEPTH
            found += [[depth if bears else -depth] for depth, bears in zip(depths, self.bearing, strict=True)]
        owners = [(k, i) for k, values in enumerate(found) for i in range(len(values))]
        return owners, np.concatenate(found)

    def switch(self, owner: int, which: int, t: float, y: np.ndarray) -> None:
        """Choose the next mode of an owner whose guard has fallen; a nut that stops gets the rate 0."""
        told = self.evaluate(t, y)[1]
        if owner < 2:
            self.closed[owner] = not self.closed[owner]
        elif owner == 2:
            self.sense = 0 if self.sense else int(np.sign(told[12]))
            if not self.sense:
                y[11] = 0.0
        elif owner >= FIRST_BEARING:
            self.bearing[owner - FIRST_BEARING] = not self.bearing[owner - FIRST_BEARING]
        else:
            device, u, rate = self._coordinates(y, told)[owner - 3]
            device.switch(which, u, rate)
        self.fix()

    def energies(self, t: float, y: np.ndarray) -> tuple[dict[str, float], float]:
        """Return what each device of the audit has taken, and the balance of energy, J: a constant."""
        told = dict(zip(TOLD, self.evaluate(t, y)[1], strict=True))
        lost = dict(zip(LOSSES, y[FIRST_LOSS:], strict=False))
        work = dict(zip(WORKS, y[FIRST_WORK:], strict=False))
        where = [*y[2:5], told["stroke_1"], told["stroke_2"]]
        gain = self.d.length / max(self.d.length - y[5], self.d.shortest)
        kept = [recoverable(loop.table, loop.now, x) for loop, x in zip(self.loops, where, strict=True)]
        probe = gain * (kept[0] + kept[1]) + kept[2]
        springs = kept[3] + kept[4]
        bending = work["bending_y"] + work["bending_z"] + work["torsion"] + work["stiffening"]
        found = {
            "screw": lost["screw"],
            "probe": lost["probe_damping"] + bending - probe,
            "lateral_springs": lost["spring_damping"] + work["spring_1"] + work["spring_2"] - springs,
            "lateral_brakes": lost["lateral_brakes"],
            "lateral_stops": lost["lateral_stops"],
            "contact": lost["contact"],
        }
        limiter = 0.0
        if self.d.limiter[0] > 0.0:
            found["limiter"] = lost["limiter"]
            depths = [told[f"depth_{name}"] for name in ("front", "rear", "head")]
            elastic = sum(depth**2 for depth, bears in zip(depths, self.bearing, strict=True) if bears)
            limiter = work["limiter_spring"] + 0.5 * self.d.limiter[5] * elastic
        if isinstance(self.train, TwoBrakes):
            found |= {"train": lost["train"], "first_brake": lost["first"], "brake": lost["brake"]}
        else:
            found |= {"train": lost["train"] + lost["first"] + lost["brake"], "magnetic": lost["magnetic"]}
        stored = probe + springs + limiter + self.train.stored(y[5])
        for k in range(2):
            angle = told[f"crank_{k + 1}"]
            depth = min(0.0, angle - self.d.stop_low[k]) + max(0.0, angle - self.d.stop_high[k])
            stored += 0.5 * self.d.stop_stiffness[k] * depth**2
            depth = told[("depth_cone", "depth_bottom")[k]]
            stored += 0.5 * self.d.laws[k, 0] * depth**2 if self.closed[k] else 0.0
        total = told["kinetic"] + stored + sum(found.values()) - work["base"] - work["target"]
        return found, total


@dataclass
class Solution:
    """State, values of TOLD, losses and balance (J) at the wanted times, and what it took."""

    times: np.ndarray
    state: np.ndarray
    told: np.ndarray
    losses: list[dict[str, float]] = field(default_factory=list)
    balance: list[float] = field(default_factory=list)
    events: int = 0
    steps: int = 0


def solve(mechanism: Mechanism, times: np.ndarray, tolerance: float = 1e-8, longest: float = 5e-4) -> Solution:
    """Return the motion from rest at t = 0; `times` rise from above 0.

    `tolerance` is relative, and absolute in rad and m/s; angles and travel count ten times as much, energies (J) and
    impulses (N.s, N.m.s) a thousandth.
    """
    found = Solution(times, np.empty((len(times), SIZE)), np.empty((len(times), len(TOLD))))
    t, y, row = 0.0, mechanism.start(), 0
    atol = tolerance * np.concatenate([[0.1] * 6, [1.0] * 6, [0.1, 1.0], [1e3] * (SIZE - MOTION)])

    def rates(t: float, y: np.ndarray) -> np.ndarray:
        return mechanism.evaluate(t, y)[0]

    def jacobian(t: float, y: np.ndarray) -> np.ndarray:
        # nothing depends on the integrals
        matrix = np.zeros((SIZE, SIZE))
        here = rates(t, y)
        for j in range(MOTION):
            moved = y.copy()
            moved[j] += 1e-8 if j < 6 or j == LIMITER else 1e-7
            matrix[:, j] = (rates(t, moved) - here) / (moved[j] - y[j])
        return matrix

    def settle(t: float, y: np.ndarray) -> None:
        for _ in range(4 * OWNERS):
            owners, values = mechanism.guards(t, y)
            fallen = int(np.argmin(values))
            if values[fallen] > -0.99:
                return
            found.events += 1
            mechanism.switch(*owners[fallen], t, y)
        raise AssertionError(f"no consistent modes at t = {t}: {owners[fallen]}, {values[fallen]}")

    step = 1e-6
    while row < len(times):
        settle(t, y)
        method = Radau(rates, t, y, times[-1] + 1e-3, longest, tolerance, atol, jacobian, first_step=step)
        event = None
        while event is None and row < len(times):
            method.step()
            found.steps += 1
            assert method.status != "failed", f"the integrator fails at t = {method.t}"
            between = method.dense_output()
            for k in np.flatnonzero(mechanism.guards(method.t, method.y)[1] <= -1.0):
                event = min(event or method.t, _root(mechanism, between, int(k), method.t_old, method.t))
            while row < len(times) and times[row] <= (event or method.t):
                here = between(times[row])
                found.state[row], found.told[row] = here, mechanism.evaluate(times[row], here)[1]
                losses, balance = mechanism.energies(times[row], here)
                found.losses.append(losses)
                found.balance.append(balance)
                row += 1
        if event is not None:
            t, y = event, between(event)
            step = min(max(1e-7, 0.1 * method.step_size), 1e-5)
    return found


def _root(mechanism: Mechanism, between: Any, which: int, begin: float, end: float) -> float:
    """Return when a guard falls to -1: the first time found at which it has.

    A reaction that falls by more than 1e5 N/s is further than a hundredth of its unit from -1 within 1e-14 s. On the
    early side of the root it would not be switched, and the next step would find the same root again, endlessly.
    """

    def height(t: float) -> float:
        return float(mechanism.guards(t, between(t))[1][which] + 1.0)

    if height(begin) <= 0.0:
        return begin
    found = brentq(height, begin, end, xtol=1e-14)
    ahead = np.spacing(found)
    while height(found) > 0.0:
        found, ahead = min(found + ahead, end), 2.0 * ahead
    return float(found)
