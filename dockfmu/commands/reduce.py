"""`dockfmu reduce`: an elastic body from a finite-element model, with its checks."""

from __future__ import annotations

import argparse
import json
from typing import Any

from dockfmu.base.errors import FAILED
from dockfmu.base.number_text import count_number, decimal_number
from dockfmu.base.units import UnitError, conversion, parse_quantity, parse_unit
from dockfmu.commands.arguments import DONE, CommandError, command, output_file, path
from dockfmu.commands.streams import say


def add_reduce(commands: Any) -> None:
    """Add the parser of `reduce`."""
    parser = command(
        commands, "reduce", "reduce a finite-element model to an elastic body: shapes, invariants, stiffness, checks"
    )
    parser.add_argument(
        "model",
        type=path,
        metavar="MODEL",
        help="a frame model (.toml), a neutral file (.npz, .mtx) or NASTRAN files (.op4, .pch, .dmig, .bdf, .dat)",
    )
    parser.add_argument(
        "-o", "--output", type=output_file, metavar="FILE.npz", help="file to write; default: none, checks only"
    )
    parser.add_argument(
        "--interface",
        action="append",
        default=[],
        type=_nodes,
        metavar="NODE,...",
        help="nodes where joints, ports and forces act; may be repeated",
    )
    parser.add_argument(
        "--modes", type=_whole, metavar="N", help="number of fixed-interface modes; default: all up to --cut-off"
    )
    parser.add_argument(
        "--cut-off", type=_hertz, metavar="FREQUENCY", help="largest frequency of fixed-interface modes, Hz or rad/s"
    )
    parser.add_argument(
        "--frame",
        default="mean",
        metavar="NODE|mean",
        help="node to which the frame of the body is tied, or mean axes about its centre of mass (default)",
    )
    parser.add_argument(
        "--units", default="", metavar="LENGTH,MASS", help="units of the files, such as m,kg or mm,t; never guessed"
    )
    parser.add_argument(
        "--mass",
        default="",
        choices=("bodies", "matrix"),
        help="displaced rigid bodies, or the mass matrix; default: bodies where element masses are known",
    )
    parser.add_argument(
        "--damping", type=float, default=0.005, metavar="RATIO", help="damping ratio of all shapes; default: 0.005"
    )
    parser.add_argument(
        "--rayleigh", type=_pair, metavar="A,B", help="damping A times stiffness, s, plus B times mass, 1/s, instead"
    )
    parser.add_argument("--nodes", type=path, metavar="FILE", help="nodes of the matrices: a table, or GRID cards")
    parser.add_argument("--mass-file", type=path, metavar="FILE.mtx", help="mass matrix of a MatrixMarket stiffness")
    parser.add_argument(
        "--section",
        action="append",
        default=[],
        type=_section,
        metavar="NAME=NODE-NODE,...",
        help="section whose loads the body gives: cuts at the first node on the way to the second; may be repeated",
    )
    parser.add_argument("--figure", type=output_file, metavar="FILE", help="draw the lowest shapes: .png, .svg or .pdf")
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")
    parser.set_defaults(action=_reduce)


def _reduce(arguments: argparse.Namespace) -> int:
    from dockfmu.elastic.picture import write_picture
    from dockfmu.elastic.reduce import reduce

    if arguments.output is not None and arguments.output.suffix != ".npz":
        raise CommandError(f"--output {arguments.output}: the name of the file must end in .npz")
    sections = dict(arguments.section)
    if len(sections) < len(arguments.section):
        raise CommandError("--section: a name is given twice; list all cuts of a section behind one name")
    body = reduce(
        arguments.model,
        interface=[node for given in arguments.interface for node in given],
        modes=arguments.modes,
        cut_off=arguments.cut_off,
        frame=arguments.frame,
        units=arguments.units,
        mass=arguments.mass,
        damping=arguments.damping,
        rayleigh=arguments.rayleigh,
        nodes=arguments.nodes,
        mass_file=arguments.mass_file,
        sections=sections,
    )
    if arguments.json:
        checks = [{"name": c.name, "value": c.value, "limit": c.limit, "ok": c.ok, "note": c.note} for c in body.checks]
        content = {"name": body.name, "method": body.method, "frequency": body.frequency.tolist(), "checks": checks}
        if body.sections is not None:
            content["sections"] = dict(zip(body.sections.names, body.sections.place.tolist(), strict=True))
        print(json.dumps(content, indent=2))
    else:
        for line in body.table():
            print(line)
    if arguments.figure is not None:
        say(str(write_picture(body, arguments.figure)))
    if arguments.output is not None:
        say(str(body.write(arguments.output)))
    if not body.ok:
        failed = ", ".join(check.name for check in body.checks if not check.ok)
        say(f"checks failed: {failed}")
        return FAILED
    return DONE


def _nodes(text: str) -> list[int]:
    numbers = [count_number(word.strip(), 10**15) for word in text.split(",")]
    nodes = [number for number in numbers if number is not None]
    if len(nodes) < len(numbers):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a list of node numbers")
    return nodes


def _section(text: str) -> tuple[str, list[tuple[int, int]]]:
    name, _, cuts = (word.strip() for word in text.partition("="))
    pairs = [[word.strip() for word in cut.split("-")] for cut in cuts.split(",")]
    if not (name.isidentifier() and all(len(pair) == 2 and all(map(_is_number, pair)) for pair in pairs)):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no section, such as truss=12-13 or ring=4-8,5-9")
    return name, [(int(one), int(two)) for one, two in pairs]


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < 16


def _whole(text: str) -> int:
    number = count_number(text, 99999)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a number of modes")
    return number


def _hertz(text: str) -> float:
    try:
        quantity = parse_quantity(text)
        value, unit = quantity if quantity is not None else (-1.0, None)
        if unit is not None and unit.exponents == parse_unit("rad/s").exponents:
            value *= conversion(unit, parse_unit("rad/s"))[0] / 6.283185307179586
        elif unit is not None:
            value *= conversion(unit, parse_unit("Hz"))[0]
    except UnitError as error:
        raise argparse.ArgumentTypeError(f"{text[:60]!r}: {error}") from error
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not a frequency, such as 20, 20Hz or 100rad/s")
    return value


def _pair(text: str) -> tuple[float, float]:
    try:
        one, two = (decimal_number(word.strip()) for word in text.split(","))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is not two numbers, such as 1e-4,0.01") from error
    if not (0.0 <= one < float("inf") and 0.0 <= two < float("inf")):
        raise argparse.ArgumentTypeError(f"{text[:60]!r} must not be negative")
    return one, two
