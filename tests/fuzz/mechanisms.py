"""Long scripts for random declared mechanisms: locks close and open, parameters are tuned, states saved and restored.

    python -m tests.fuzz.mechanisms FIRST COUNT [STEPS]

tries the seeds from FIRST on and prints a line for each one whose balance does not close, whose state is no number,
or that does not continue bitwise in another instance to which its state is restored. A failure that is told by
a message ends a script, and must repeat itself.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.components.core.component import Component, ComponentError, Instance
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.declarations import text_of
from tests.components.multibody.random_models import made
from tests.components.multibody.test_random_equipment import residual, turnover
from tests.components.multibody.test_random_locks import locked_declaration

LENGTHS = (5e-4, 1e-3, 2e-3, 5e-3)
"""s, of steps."""
REPLAYED = 6
"""Number of steps after which a state is compared with that of the other instance."""
ALLOWED = 1e-3
"""Error of the balance, of the energies that move: half that of micro-steps of 0.2 ms for a smooth motion of 5 s."""
UNBOUNDED = 1e6
"""A bound from which on it bounds nothing: it is not tuned."""
KIND = re.compile(r".* s: |[0-9][0-9.e+-]*|[a-z]*[0-9]+")
"""What a message has beside its kind: time, numbers, names of parts."""
COMMANDS = (".close", ".open", ".drive", ".command")


@dataclass
class Script:
    """Draw what is set before each step: the same for the same generator."""

    component: Component
    rng: np.random.Generator
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        slots = self.component.record.slots
        self.commands = [s.index for s in slots if s.field.causality == "input" and s.name.endswith(COMMANDS)]
        self.locks = [s.index for s in slots if s.field.causality == "input" and s.name.endswith(COMMANDS[:2])]
        self.forces = [
            s.index
            for s in slots
            if s.field.causality == "input"
            and s.name.startswith("port.")
            and (".force[" in s.name or ".torque[" in s.name)
        ]
        self.tunable = [
            s.index for s in slots if s.field.variability == "tunable" and not s.name.startswith("parameters.stepping")
        ]

    def draw(self) -> tuple[float, list[tuple[int, float, bool]]]:
        """Return the length of a step, s, and (slot, value, whether it is a factor) of what changes before it."""
        rng, changes = self.rng, []
        for place in self.commands:
            if rng.random() < 0.15:
                value = float(rng.integers(2)) if place in self.locks else float(rng.normal())
                changes.append((place, value, False))
                self.counts["commands"] += 1
        if self.tunable and rng.random() < 0.1:
            changes.append((int(rng.choice(self.tunable)), float(rng.uniform(0.7, 1.4)), True))
            self.counts["tuned"] += 1
        if self.forces and rng.random() < 0.2:
            changes += [(place, float(rng.normal()), False) for place in self.forces]
        return float(rng.choice(LENGTHS)), changes


def apply(one: Instance, changes: list[tuple[int, float, bool]]) -> None:
    for place, value, factor in changes:
        if not factor:
            one.block[place] = value
        elif abs(one.block[place]) < UNBOUNDED:
            one.block[place] *= value


def balance(one: Instance) -> float:
    """Return the energies less all works, J."""
    return residual(one) - float(one.m.audit.work_parameters)


class Trial:
    """Run one script."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        content, chosen = locked_declaration(seed, latches=bool(rng.integers(2)))
        for surface in content.get("surfaces", {}).values():
            if "plane" in surface:
                # what passes the end of an open outline loses its contact, and its energy (ruling R57)
                surface["plane"] = 1e3
        self.model = read_text(text_of(content)).model
        component = made(self.model)
        self.steady = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": 2e-4}
        self.velocity = rng.normal(size=3) if chosen.base == "carried" else None
        start = {} if self.velocity is None else {"base.velocity": self.velocity}
        self.one = Instance(component, **self.steady, **start)
        self.other = Instance(component, **self.steady, **start)
        self.script = Script(component, rng)
        slots = component.record.slots
        self.state = [slot.index for slot in slots if slot.field.causality != "temporary"]
        self.time = 0.0

    def step(self, one: Instance, time: float, length: float, changes: list[tuple[int, float, bool]]) -> str:
        """Make a step. Returns the message of a failure, or ""."""
        apply(one, changes)
        if self.velocity is not None:
            one.m.base.position[:] = time * self.velocity
        try:
            one.step(time, length)
        except ComponentError as error:
            return str(error)
        return ""

    def run(self, steps: int) -> tuple[str, str]:
        """Return (what fails, how the script ended)."""
        before, saved, past = balance(self.one), None, []
        for k in range(steps):
            if k % 25 == 0:
                saved, past = (self.one.block.copy(), self.time), []
            drawn = self.script.draw()
            past.append(drawn)
            told = self.step(self.one, self.time, *drawn)
            if not told:
                self.time += drawn[0]
            if told or len(past) == REPLAYED:
                failure = self._replay(saved, past, told)
                if failure or told:
                    return failure and f"step {k}: {failure}", told
            if not np.isfinite(self.one.block[self.state]).all():
                return f"step {k}: not finite", ""
            lack = abs(balance(self.one) - before) / turnover(self.one)
            if lack > ALLOWED:
                return f"step {k}: {lack:.2g} of the energy lacks", ""
        return "", "ran"

    def _replay(self, saved, past, told: str) -> str:
        """Compare the steps since a state was saved with those of the other instance, to which it is restored."""
        self.other.block[:] = saved[0]
        time, again = saved[1], ""
        for length, changes in past:
            again = self.step(self.other, time, length, changes)
            time += length
        if again != told:
            return f"{again or 'runs'!r} after a restoration, not {told or 'runs'!r}"
        if not told and self.one.block[self.state].tobytes() != self.other.block[self.state].tobytes():
            return "another state after a restoration"
        return ""


def run(first: int, count: int, steps: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    failed, ends, counts = 0, Counter[str](), Counter[str]()
    for seed in range(first, first + count):
        try:
            trial = Trial(seed)
        except DockfmuError as error:
            ends[f"not started: {str(error)[:40]}"] += 1
            continue
        failure, end = trial.run(steps)
        counts += trial.script.counts
        ends[KIND.sub("", end) or "stopped"] += 1
        if failure:
            failed += 1
            print(f"seed {seed}: {failure}", flush=True)
    print(dict(ends), dict(counts))
    print(f"{failed} of {count} seeds failed")
    return failed


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1000)))
