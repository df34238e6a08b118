"""Peak loads over macro steps and micro-steps: tables of docs/validation/validation.md.

    python -m benchmarks.validation.convergence [--write] [SYSTEM,...]

Each system runs with macro steps from 2 to 0.25 ms, and at 1 ms with micro-steps of a half and of a quarter: their
least and largest length, and a tolerance of a quarter and of a sixteenth, as it bounds what is of second order. Loads
are the largest over all micro-steps at the target port (ruling R52).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import dockfmu
from benchmarks.page import machine, replace_table

PAGE = Path("docs/validation/validation.md")
LOADS = {"compression": "N", "tension": "N", "shear": "N", "torsion": "N m", "bending": "N m"}
MACRO_STEPS = (2e-3, 1e-3, 0.5e-3, 0.25e-3)
USUAL = 1e-3
SHARES = (0.5, 0.25)
SMALL = 1e-3
"""Share of the largest force below which a load is left out: in a central impact those across the axis are rounding."""


@dataclass(frozen=True)
class Case:
    """A system, how long it runs, the element whose loads count, and its micro-steps and tolerances by full names."""

    system: str
    stop: float
    element: str = "mechanism"
    settings: dict[str, Any] = field(default_factory=dict)
    steps: tuple[str, ...] = ("mechanism.parameters.micro_step", "mechanism.parameters.longest_micro_step")
    tolerances: tuple[str, ...] = ("mechanism.parameters.micro_tolerance",)


INSERT = "sequence.parameters.step"
CASES = (
    *(Case(f"{craft}_probe_cone{variant}", 8.0) for craft in ("atv", "soyuz") for variant in ("", "_v2", "_v3")),
    Case("central_impact_peripheral_25t", 3.0),
    *(Case(f"{ring}_5t", 8.0) for ring in ("expert_peripheral", "electric_ring", "geared_ring")),
    *(Case(f"{ring}_5t", 8.0) for ring in ("hydraulic_ring", "hunt_ring")),
    Case(
        "airlock_era_coarse", 6.0, "contact", {"initial_conditions.gap": "320mm", f"{INSERT}.amplitude[1]": 0.095,
                                               f"{INSERT}.speed[1]": 0.02, f"{INSERT}.begin[1]": 0.0},
        ("manipulator.parameters.micro_step", "contact.parameters.micro_step"), (),
    ),
)  # fmt: skip


def peaks(case: Case, step: float, share: float = 1.0) -> dict[str, float]:
    """Return the largest loads, N and N m, with a macro step and a share of the usual micro-steps."""
    system = dockfmu.load(case.system, case.settings)
    if share != 1.0:
        usual = {name: _start(system, name) for name in (*case.steps, *case.tolerances)}
        finer = {name: share * usual[name] for name in case.steps}
        system.set(finer | {name: share**2 * usual[name] for name in case.tolerances})
    record = [f"{case.element}.load.{load}" for load in LOADS]
    done = system.run(step=step, stop=case.stop, record=record, every=1)
    return {load: float(done[name].max()) for load, name in zip(LOADS, record, strict=True)}


def _start(system: dockfmu.System, name: str) -> float:
    """Return the start value of a parameter as the system has it."""
    element, _, variable = name.partition(".")
    declared = system.structure.elements[element].start.get(variable)
    return float(system.structure.description(element).variables[variable].start if declared is None else declared)


def rows(case: Case) -> list[str]:
    """Return the rows of a system, one for each load."""
    columns: list[dict[str, float] | None] = []
    for step, share in [*((step, 1.0) for step in MACRO_STEPS), *((USUAL, share) for share in SHARES)]:
        try:
            columns.append(peaks(case, step, share))
        except dockfmu.DockfmuError as error:
            print(f"{case.system}, {step} s, {share}: {error}", file=sys.stderr)
            columns.append(None)
    told = [column for column in columns if column]
    scale = max(max(column["compression"], column["tension"]) for column in told)
    found = []
    for load, unit in LOADS.items():
        if max(column[load] for column in told) < SMALL * scale:
            continue
        cells = " | ".join("" if column is None else _shown(column[load]) for column in columns)
        found.append(f"| `{case.system}` | {load}, {unit} | {cells} |")
    return found


def _shown(load: float) -> str:
    """Return a load with four figures or all before the point."""
    return f"{load:.0f}" if load >= 1e3 else f"{load:.4g}"


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="?", default="", help="names, by commas; default: all")
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    options = parser.parse_args()
    chosen = [case for case in CASES if not options.systems or case.system in options.systems.split(",")]
    heads = [*(f"{1e3 * step:g} ms" for step in MACRO_STEPS), "micro-steps halved", "quartered"]
    lines = [f"| system | load | {' | '.join(heads)} |", "|---" * (len(heads) + 2) + "|"]
    for line in lines:
        print(line)
    for case in chosen:
        for line in rows(case):
            lines.append(line)
            print(line, flush=True)
    if options.write:
        replace_table(PAGE, "peak loads", "\n".join([*lines, "", f"({machine()})"]))


if __name__ == "__main__":
    main()
