"""Signs and clocking of the published expert run, which its source does not give (peripheral-docking 11.5).

`python -m benchmarks expert_sweep [--write docs/validation/peripheral.md]` runs `expert_peripheral_5t` until the rings
have captured each other or the craft departs, for all signs of roll, of the tilt about the normal of the miss, of its
rate and of the rate of roll, at eight directions of the miss; three petals repeat after 120 deg. `--alignment` takes
the members that agree with everything published up to the capture on to 200 s: when are the craft aligned, and the
cables taut? `--aside DEG` tilts the craft in a plane at this angle to the miss, which the source does not give either.
"""

from __future__ import annotations

import argparse
import itertools
from dataclasses import dataclass
from math import cos, radians, sin
from pathlib import Path

import numpy as np

import dockfmu
from benchmarks.page import replace_table
from dockfmu.base.fmi import LIMIT_EXCEEDED, outcome_of_category

SYSTEM = "expert_peripheral_5t"
CLOCKINGS = range(0, 120, 15)
MISS, LATERAL, AXIAL = 0.1, 0.02, 0.05
ANGLE, RATE = radians(4.0), radians(0.2)
STOP = 25.0
SPEED = "mechanism.docking.velocity[1]"
TILTS = [f"mechanism.docking.angles[{k}]" for k in (1, 2)]
JOINED = [f"mechanism.cable[{k}].joined" for k in (1, 2, 3)]
ALIGNED, ALIGNED_STOP = 0.25, 200.0
"""Tilt below which the craft count as aligned, deg, and time to which they are followed, s."""


@dataclass(frozen=True)
class Signs:
    """Signs of a member: +1 or -1; the tilt is toward the miss, or `aside` of it, if its sign is +1."""

    roll: int
    tilt: int
    roll_rate: int
    tilt_rate: int

    def __str__(self) -> str:
        return " ".join("+" if sign > 0 else "\N{MINUS SIGN}" for sign in self.__dict__.values())


@dataclass(frozen=True)
class Found:
    """Result of a member: times after the previous event, s, and the closing speed lost while the ring extends."""

    lost: float | None
    capture: float | None
    slowed: float | None
    failed: bool = False
    """The run left the domain of the model before it was decided: it says nothing about capture."""

    def __str__(self) -> str:
        if self.failed:
            return "outside the model"
        if self.lost is None:
            return "in place" if self.capture is None else "captured in place"
        if self.capture is None:
            return f"{self.lost:.1f}, none"
        return f"{self.lost:.1f}, {self.capture:.3f}, {1e3 * self.slowed:.0f}"

    @property
    def published(self) -> bool:
        """Return whether everything published about the run holds: T29 and T30 of peripheral-docking."""
        return (
            self.lost is not None
            and self.capture is not None
            and 2.0 < self.lost < 5.0
            and 0.1 < self.capture < 0.35
            and abs(self.slowed) < 0.02
        )


def conditions(signs: Signs, clocking: float, aside: float = 0.0) -> dict[str, object]:
    """Return the initial conditions of a member; `clocking` of the miss from y to z, `aside` the tilt of it, rad."""
    c, s = cos(clocking), sin(clocking)
    along, across = cos(clocking + aside), sin(clocking + aside)
    tilt, rate = signs.tilt * ANGLE, signs.tilt_rate * RATE
    return {
        "initial_conditions.miss": [MISS * c, MISS * s],
        "initial_conditions.velocity": [AXIAL, LATERAL * c, LATERAL * s],
        "initial_conditions.yaw": -tilt * across,
        "initial_conditions.pitch": tilt * along,
        "initial_conditions.roll": signs.roll * ANGLE,
        "initial_conditions.angular_velocity": [signs.roll_rate * RATE, -rate * across, rate * along],
    }


def run(signs: Signs, clocking: float, aside: float = 0.0) -> Found:
    """Run a member until its capture, or until it departs."""
    system = dockfmu.load(SYSTEM, conditions(signs, clocking, aside))
    outcome = system.run(record=[SPEED], every=1, stop=STOP, check=False)
    failed = outcome.outcome == "failed"
    if failed and outcome_of_category(outcome.result.failure.get("category", "")) != LIMIT_EXCEEDED:
        raise RuntimeError(f"{signs}, {clocking}: {outcome.result.message}")
    event = outcome.events
    first, lost, capture = (event.get(name) for name in ("first_contact", "initial_position_lost", "capture"))
    if lost is None or first is None or (capture is not None and capture < lost):
        return Found(
            None, None if capture is None or first is None else capture - first, None, failed and capture is None
        )
    if capture is None:
        return Found(lost - first, None, None, failed)
    speed = np.interp([lost, capture], outcome.time, outcome[SPEED])
    return Found(lost - first, capture - lost, float(speed[0] - speed[1]))


def alignment(signs: Signs, clocking: float, aside: float = 0.0) -> str:
    """Follow a member beyond its capture; return its row: alignment after the drive is on, cables, their drums."""
    system = dockfmu.load(SYSTEM, conditions(signs, clocking, aside))
    done = system.run(record=[*TILTS, *JOINED], every=10, stop=ALIGNED_STOP)
    time, on = np.asarray(done.time), done.events["drive_on"]
    tilt = np.degrees(np.hypot(*(np.asarray(done[name]) for name in TILTS)))
    joined = [(np.asarray(done[name]) > 0.5)[time >= on] for name in JOINED]  # the extending ring may meet its cables
    after = time[time >= on]
    taut = ", ".join(f"{after[np.argmax(one)]:.1f}" if one.any() else "never" for one in joined)
    drums = sum(bool((one[:-1] & ~one[1:]).any()) for one in joined)
    askew = time[np.flatnonzero(tilt > ALIGNED)[-1]]
    cells = (f"{tilt[np.searchsorted(time, on)]:.1f}°", f"{askew - on:.0f} s", f"{taut} s", drums)
    return f"| {signs} | {np.degrees(clocking):.0f}° | {' | '.join(map(str, cells))} |"


def sweep(aside: float = 0.0) -> list[tuple[Signs, list[Found]]]:
    """Run all members, one row for each combination of signs."""
    rows = []
    for signs in itertools.product((1, -1), repeat=4):
        rows.append((Signs(*signs), [run(Signs(*signs), radians(c), aside) for c in CLOCKINGS]))
        print(f"| {rows[-1][0]} | {' | '.join(map(str, rows[-1][1]))} |", flush=True)
    return rows


def table(rows: list[tuple[Signs, list[Found]]]) -> str:
    """Return the table of all members, in Markdown."""
    lines = ["| signs | " + " | ".join(f"{c}°" for c in CLOCKINGS) + " |", "|---" * (1 + len(CLOCKINGS)) + "|"]
    for signs, row in rows:
        lines.append(f"| {signs} | " + " | ".join(f"**{x}**" if x.published else str(x) for x in row) + " |")
    found = [x for _, row in rows for x in row]
    captured = [x for x in found if x.capture is not None and x.lost is not None]
    lines += [
        "",
        f"{len(found)} members: {len(captured)} captured after the loss of the initial position, "
        f"{sum(x.published for x in found)} of them as published; {sum(x.failed for x in found)} left the domain of "
        "the model and are not counted as missed.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Print the table, or put it into a page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="put the table into this page")
    parser.add_argument("--alignment", action="store_true", help="take the members as published on to 200 s")
    parser.add_argument("--aside", type=float, default=0.0, metavar="DEG", help="angle from the miss to the tilt")
    options = parser.parse_args()
    aside = radians(options.aside)
    rows = sweep(aside)
    if options.alignment:
        print("| signs | direction | tilt at drive on | aligned after | cables taut at | drums interrupted |")
        print("|---|---|---|---|---|---|")
        for signs, row in rows:
            for clocking, found in zip(CLOCKINGS, row, strict=True):
                if found.published:
                    print(alignment(signs, radians(clocking), aside), flush=True)
        return
    text = table(rows)
    if options.write:
        name = f"expert sweep, {options.aside:g} deg aside" if aside else "expert sweep"
        replace_table(options.write, name, text)
    else:
        print(text)


if __name__ == "__main__":
    main()
