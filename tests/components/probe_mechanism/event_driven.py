"""Central impact with two friction brakes, event-driven: the model of central-docking 9.4 (V2) written a second time.

Every brake, and the ball screw, either holds or slides. In each mode the equations are smooth; a Runge-Kutta method
integrates them to the next event, where a brake begins or ceases to slide, the nut stops or breaks away, or a contact
opens or closes. Nothing of the product is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import tanh

import numpy as np
from scipy.integrate import solve_ivp

CONTACT, DAMPING, PLAY, SENSOR_FRICTION = 1e7, 5e3, 0.025, 40.0
ACTIVE, PASSIVE, INERTANCE = 20e3, 400e3, 25.0
TRAIN, TRAIN_DAMPING, SCREW = 1e6, 2e3, 0.1
FIRST, FIRST_BACK, STROKE = 2200.0, 2200.0 / 3.0, 0.1
SECOND, SECOND_BACK = 8500.0, 18000.0
ROUNDING = 1e-6  # N


@dataclass
class Impact:
    """Positions and velocities of active mass, passive mass and nut; strokes of the brakes; what slides."""

    y: np.ndarray
    t: float = 0.0
    first: float = 0.0
    second: float = 0.0
    sliding: str = ""  # "first" or "second" brake
    direction: float = 1.0  # of the nut, 0 while it sticks
    bottom: bool = True
    latch: bool = False
    largest_bottom_force: float = 0.0
    largest_latch_force: float = 0.0
    history: list[tuple[float, float, float, float]] = field(default_factory=list)

    def __call__(self, name: str, t: np.ndarray) -> np.ndarray:
        column = ("travel", "deflection", "slip").index(name) + 1
        known = np.array(self.history)
        return np.interp(t, known[:, 0], known[:, column])

    def contacts(self, y: np.ndarray) -> tuple[float, float]:
        """Forces of the socket's bottom and of the latch stops on the head, N."""
        depth, closing = y[0] - y[4] - y[1], y[2] - y[5] - y[3]
        bottom = max(0.0, CONTACT * depth + DAMPING * closing) if self.bottom else 0.0
        latch = max(0.0, -CONTACT * (depth + PLAY) - DAMPING * closing) if self.latch else 0.0
        return bottom, latch

    def head_force(self, y: np.ndarray) -> float:
        bottom, latch = self.contacts(y)
        return latch - bottom - SENSOR_FRICTION * tanh((y[2] - y[5] - y[3]) / 1e-3)

    def train(self, y: np.ndarray) -> float:
        """Force of the train: what slides holds it at its level."""
        if self.sliding == "first":
            return FIRST if self.direction > 0.0 else -FIRST_BACK
        if self.sliding == "second":
            return SECOND if self.direction > 0.0 else -SECOND_BACK
        return TRAIN * (y[4] - self.first - self.second)

    def strokes(self, x: float) -> tuple[float, float]:
        """Strokes of both brakes with the nut at x."""
        if self.sliding == "first":
            return x - self.second - self.train(self.y) / TRAIN, self.second
        if self.sliding == "second":
            return self.first, x - self.first - self.train(self.y) / TRAIN
        return self.first, self.second

    def drive_of_nut(self, y: np.ndarray) -> float:
        """Force on the nut without the friction of the screw, N."""
        return -self.head_force(y) - self.train(y) - TRAIN_DAMPING * y[5]

    def rate(self, _: float, y: np.ndarray) -> list[float]:
        force = self.head_force(y)
        nut = 0.0
        if self.direction:
            nut = (self.drive_of_nut(y) - SCREW * abs(force) * self.direction) / INERTANCE
        return [y[2], y[3], force / ACTIVE, -force / PASSIVE, y[5] if self.direction else 0.0, nut]

    def settle(self) -> None:
        """Choose the modes at the present state."""
        y = self.y
        if abs(y[5]) < 1e-12:
            y[5] = 0.0
            self.sliding = ""
            free = self.drive_of_nut(y)
            self.direction = 0.0 if abs(free) <= SCREW * abs(self.head_force(y)) else float(np.sign(free))
        if self.direction and not self.sliding:
            force = self.direction * self.train(y)
            room = self.first < STROKE if self.direction > 0.0 else self.first > 0.0
            first, second = (FIRST, SECOND) if self.direction > 0.0 else (FIRST_BACK, SECOND_BACK)
            if room and force >= first - ROUNDING:
                self.sliding = "first"
            elif force >= second - ROUNDING:
                self.sliding = "second"

    def events(self):
        """Functions whose zero ends the mode."""
        found = [
            (lambda y: y[0] - y[4] - y[1], -1.0 if self.bottom else 1.0),
            (lambda y: y[0] - y[4] - y[1] + PLAY, 1.0 if self.latch else -1.0),
        ]
        if self.direction == 0.0:
            found.append((lambda y: SCREW * abs(self.head_force(y)) - abs(self.drive_of_nut(y)), -1.0))
            return found
        found.append((lambda y: y[5], -self.direction))
        if self.sliding == "first":
            end = STROKE if self.direction > 0.0 else 0.0
            found.append((lambda y: self.strokes(y[4])[0] - end, self.direction))
        elif not self.sliding:
            room = self.first < STROKE if self.direction > 0.0 else self.first > 0.0
            first, second = (FIRST, SECOND) if self.direction > 0.0 else (FIRST_BACK, SECOND_BACK)
            level = first if room else second
            found.append((lambda y: self.direction * self.train(y) - level, 1.0))
        return found

    def advance(self, stop: float) -> None:
        """Integrate to the next event."""
        events = []
        for function, direction in self.events():
            event = lambda _, y, function=function: function(y)  # noqa: E731
            event.terminal, event.direction = True, direction
            events.append(event)
        found = solve_ivp(self.rate, (self.t, stop), self.y, events=events, rtol=1e-8, atol=1e-11, max_step=1e-3)
        for t, y in zip(found.t, found.y.T, strict=True):
            self.history.append((t, y[4], *self.strokes(y[4])))
            bottom, latch = self.contacts(y)
            self.largest_bottom_force = max(self.largest_bottom_force, bottom)
            self.largest_latch_force = max(self.largest_latch_force, latch)
        self.t, y = found.t[-1], found.y[:, -1]
        self.first, self.second = self.strokes(y[4])
        self.y = y
        which = next((k for k, times in enumerate(found.t_events) if len(times)), None)
        if which == 0:
            self.bottom = not self.bottom
        elif which == 1:
            self.latch = not self.latch
        elif which == 2 and self.direction == 0.0:
            self.direction = float(np.sign(self.drive_of_nut(y)))
            y[5] = self.direction * 1e-11
        elif which == 2:
            y[5] = 0.0
        elif which == 3 and self.sliding == "first":
            self.first = STROKE if self.direction > 0.0 else 0.0
            self.sliding = ""
        self.settle()


def event_driven_impact(speed: float, stop: float) -> Impact:
    """20 t at `speed` against 400 t, head on the bottom of the socket at t = 0, drive locked."""
    impact = Impact(np.array([0.0, 0.0, speed, 0.0, 0.0, 1e-11]))
    while impact.t < stop - 1e-9:
        impact.advance(stop)
    return impact
