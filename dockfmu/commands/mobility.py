"""`dockfmu mobility`: the mass that the docking ports of a system feel like."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dockfmu.base.numbers import as_json, figure_text
from dockfmu.commands.arguments import DONE, command, patterns, seconds, split_patterns, written
from dockfmu.commands.operating_point import add_operating_point

if TYPE_CHECKING:
    from dockfmu.statespace.mobility import Mobility


def add_mobility(commands: Any) -> None:
    """Add the parser of `mobility`."""
    parser = command(
        commands, "mobility", "show how the ports of a system or an FMU accelerate by a wrench: effective masses, 6x6"
    )
    add_operating_point(parser)
    parser.add_argument(
        "--over",
        type=seconds,
        metavar="TIME",
        help="take the mean accelerations over this time, such as that of a contact (20ms); default: one step",
    )
    parser.add_argument(
        "--ports", action="append", default=[], type=patterns, metavar="PATTERN,...", help="these ports; default: all"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, with the matrices")
    parser.set_defaults(action=_mobility)


def _mobility(arguments: argparse.Namespace) -> int:
    from dockfmu.statespace.mobility import mobility

    found = mobility(
        arguments.source,
        arguments.at,
        ports=split_patterns(arguments.ports, ()) or ("*",),
        over=arguments.over,
        settings=written(arguments.settings),
        step=arguments.step,
    )
    if arguments.json:
        print(as_json(found.to_json()))
        return DONE
    for line in table(found):
        print(line)
    return DONE


def _row(values: Any) -> str:
    return "".join(f"{figure_text(float(value)):>12}" for value in values)


def table(found: Mobility) -> Iterator[str]:
    """Yield the lines that show the effective masses of all ports and pairs."""
    yield f"{found.name} at t = {found.time:.9g} s, mean accelerations over {found.over:.6g} s"
    width = max(len(entry.port) for entry in found.ports)
    yield ""
    yield f"{'':{width}}  effective mass along x, y, z, kg        effective inertia about x, y, z, kg.m2"
    for entry in found.ports:
        yield f"{entry.port:{width}}{_row(entry.effective_mass)}    {_row(entry.effective_inertia)}"
    if found.pairs:
        yield ""
        yield "between two ports, effective mass along x, y, z of the first, kg"
    for pair in found.pairs:
        yield f"{pair.first} and {pair.second} ({pair.by}):{_row(pair.effective_mass)}"
    for entry in found.ports:
        if entry.asymmetry > 1e-3:
            yield f"note: the mobility of {entry.port} is not symmetric, by {entry.asymmetry:.1e}: in this time control"
            yield "or rates of rotation act on the craft, too"
