"""Steps of variable length over a whole docking, against a reference at a tenth of the fixed macro step.

    python -m benchmarks step_control [--system NAME] [--stop S] [--control NAME=VALUE,...]
                                      [--write docs/validation/coupling.md]

Free play multiplies differences (docs/validation/validation.md, "Rounding grows in the free play"): there any two runs
diverge, however exact they are. The docking is therefore compared piece by piece. The reference saves its state at the
end of each piece; from each of these states the others continue to the next one, where events, peaks and relative
position are compared. Pieces are shortened where the fixed step and the reference already diverge.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import dockfmu
from benchmarks.page import machine, replace_table
from dockfmu.declare.plan import Plan
from dockfmu.master.algorithms import by_name
from dockfmu.master.checkpoint import Checkpoint
from dockfmu.master.observers.events import Events
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.run.resumption import Resumption
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import StepControl
from dockfmu.master.system import Structure

LONGEST, SHORTEST = 10.0, 0.3
"""Limits of the length of a piece, s."""
PARTED = 1e-5
"""Distance at which two runs count as diverged, m."""

PLACE = tuple(f"mechanism.docking.{name}[{k}]" for name in ("position", "angles") for k in (1, 2, 3))
"""Relative position and attitude of the docking units: m, rad."""


@dataclass(frozen=True)
class Way:
    """A way to step: the system as it needs it, macro step (with control the first one), control."""

    title: str
    system: Structure
    step: float
    control: StepControl | None = None


@dataclass(frozen=True)
class Piece:
    """Results of one setting between two states: times of events in s, largest magnitudes, PLACE at the end."""

    start: float
    end: float
    events: Mapping[str, float]
    peaks: Mapping[str, float]
    place: np.ndarray
    steps: int
    repeated: int
    wall: float


def run_piece(way: Way, plan: Plan, begin: Checkpoint | None, until: float) -> tuple[Piece, Checkpoint | None]:
    """Run from a state, or from the start, to `until`; return also the state reached, None if the run is over."""
    watched = [name for group in reports(way.system, plan).values() for name in group]
    simulation = CoSimulation(
        way.system,
        Schedule(step=way.step, stop=plan.stop, control=way.control, stop_when=plan.stop_when),
        algorithm=by_name(plan.algorithm),
        observers=[Events(plan.events), Peaks(watched)],
        resume=None if begin is None else Resumption(begin, force=True),
    ).open()
    result = simulation.result
    before = result.macro_steps
    with simulation:
        simulation.advance(until)
        place = np.array(simulation.get(PLACE))
        reached = None if simulation.finished else simulation.save()
    return Piece(
        start=result.t_start,
        end=result.t_end,
        # what has already happened at the start is not an event of this piece
        events={event["name"]: event["t"] for event in result.events if event["t"] > result.t_start},
        peaks={name: max(abs(peak["max"]), abs(peak["min"])) for name, peak in result.peaks.items()},
        place=place,
        steps=result.macro_steps - before,
        repeated=result.rejected_steps,
        wall=result.wall_s,
    ), reached


def reports(system: Structure, plan: Plan) -> dict[str, tuple[str, ...]]:
    """The Real signals of each report: they have one scale."""
    groups = {p.title: tuple(n for n in p.signals if system.resolve(n)[1].type == "Real") for p in plan.panels}
    return {title: names for title, names in groups.items() if names}


def pieces(reference: Way, ways: Sequence[Way], plan: Plan, stop: float) -> Iterator[list[Piece]]:
    """Return, piece by piece, the results of the reference, and those of each of the others from its states; the first
    of these determines how long a piece may be."""
    state: Checkpoint | None = None
    now, length = 0.0, LONGEST
    while now < stop:
        until = min(now + length, stop)
        exact, reached = run_piece(reference, plan, state, until)
        first, _ = run_piece(ways[0], plan, state, until)
        if length > SHORTEST and math.dist(first.place[:3], exact.place[:3]) > PARTED:
            length = max(0.5 * length, SHORTEST)
            continue
        yield [exact, first, *(run_piece(way, plan, state, until)[0] for way in ways[1:])]
        if reached is None:
            return
        state, now, length = reached, until, min(2.0 * length, LONGEST)


def events_table(ways: Sequence[Way], rows: Sequence[Sequence[Piece]]) -> list[str]:
    """Return the times of the reference, and how much later (+) or earlier (-) the others were."""
    lines = [_row(["event", "reference, s", *(f"{way.title}, ms" for way in ways)]), _rule(len(ways) + 2)]
    for exact, *others in rows:
        every = {name: time for piece in (*others[::-1], exact) for name, time in piece.events.items()}
        for name in sorted(every, key=every.__getitem__):
            time = exact.events.get(name)
            cells = [name, "none" if time is None else f"{time:.4f}"]
            for piece in others:
                got = piece.events.get(name)
                both = time is not None and got is not None
                cells.append(f"{1e3 * (got - time):+.2f}" if both else "none" if got is None else f"at {got:.4f} s")
            lines.append(_row(cells))
    return lines


def peaks_table(
    ways: Sequence[Way], rows: Sequence[Sequence[Piece]], groups: Mapping[str, tuple[str, ...]]
) -> list[str]:
    """Return the largest magnitude of each report; relative to it, the difference of the peaks of the run, and the
    largest difference of the peaks of a piece, with its time."""
    lines = [
        _row(["largest magnitude", "", *(f"{w.title}: run, % | piece, %" for w in ways)]),
        _rule(2 * len(ways) + 2),
    ]
    for title, names in groups.items():
        peaks = np.array([[[piece.peaks[name] for name in names] for piece in row] for row in rows])
        largest = peaks[:, 0].max()
        share = 100.0 / largest if largest > 0.0 else 0.0
        cells = [title, f"{largest:.4g}"]
        for k in range(1, len(ways) + 1):
            run = np.abs(peaks[:, k].max(axis=0) - peaks[:, 0].max(axis=0)).max()
            each = np.abs(peaks[:, k] - peaks[:, 0]).max(axis=1)
            cells += [f"{share * run:.3f}", f"{share * each.max():.3f} from {rows[int(each.argmax())][0].start:g} s"]
        lines.append(_row(cells))
    return lines


def summary_table(reference: Way, ways: Sequence[Way], rows: Sequence[Sequence[Piece]]) -> list[str]:
    """Return number of steps, speed, and distance of the docking units from the reference at the ends of the pieces."""
    lines = [
        _row(
            ["", "steps", "repeated", "times real time", "position, um: median", "largest", "angles, urad", "largest"]
        ),
        _rule(8),
    ]
    for k, way in enumerate((reference, *ways)):
        taken = [row[k] for row in rows]
        speed = sum(piece.end - piece.start for piece in taken) / sum(piece.wall for piece in taken)
        cells = [way.title, str(sum(p.steps for p in taken)), str(sum(p.repeated for p in taken)), f"{speed:.1f}"]
        if way is not reference:
            apart = np.array([row[k].place - row[0].place for row in rows]).reshape(-1, 2, 3)
            for far in 1e6 * np.linalg.norm(apart, axis=2).T:
                cells += [f"{np.median(far):.2g}", f"{far.max():.2g}"]
        lines.append(_row([*cells, *[""] * (8 - len(cells))]))
    return lines


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(columns: int) -> str:
    return "|---" + "|---:" * (columns - 1) + "|"


def _settings(text: str) -> dict[str, float]:
    """Return the step control for a text such as tolerance=1e-4,longest=0.005."""
    return {name: float(value) for name, _, value in (entry.partition("=") for entry in text.split(",") if entry)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--system", default="atv_probe_cone", help="a system that declares a table `adaptive`")
    parser.add_argument("--stop", type=float, default=math.inf, help="end, s")
    parser.add_argument("--control", action="append", default=[], metavar="NAME=VALUE,...", help="other settings, too")
    parser.add_argument("--write", type=Path, metavar="FILE.md", help="put the tables into this file, too")
    chosen = parser.parse_args()
    fixed, varying = dockfmu.load(chosen.system).structure, dockfmu.load(chosen.system)
    plan, adaptive = varying.plan, varying.plan.adaptive
    if adaptive is None:
        parser.error(f"{chosen.system} declares no table `adaptive`")
    adaptive.prepare(varying.structure)
    reference = Way(f"fixed, {100.0 * plan.step:g} ms", fixed, 0.1 * plan.step)
    ways = [Way(f"fixed, {1e3 * plan.step:g} ms", fixed, plan.step)]
    for settings in ("", *chosen.control):
        control = replace(adaptive, **_settings(settings)).control()
        ways.append(Way(f"step control{settings and ', '}{settings}", varying.structure, plan.step, control))
    rows = []
    for row in pieces(reference, ways, plan, min(chosen.stop, plan.stop)):
        rows.append(row)
        apart = (f"{1e6 * math.dist(piece.place[:3], row[0].place[:3]):.2g}" for piece in row[1:])
        print(f"{row[0].start:.2f} s to {row[0].end:.2f} s: {', '.join(apart)} um", file=sys.stderr, flush=True)
    text = [
        f"{machine()}; {len(rows)} pieces of {min(r[0].end - r[0].start for r in rows):.2g} s to {LONGEST:g} s",
        "",
        *summary_table(reference, ways, rows),
        "",
        *events_table(ways, rows),
        "",
        *peaks_table(ways, rows, reports(fixed, plan)),
    ]
    print("\n".join(text))
    if chosen.write:
        replace_table(chosen.write, "step_control", "\n".join(text))


if __name__ == "__main__":
    main()
