"""`dockfmu compare`: the differences between two recorded runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dockfmu.base.errors import FAILED
from dockfmu.base.number_text import decimal_number
from dockfmu.commands.arguments import DONE, CommandError, output_file, path, patterns, split_patterns
from dockfmu.commands.terminal import styled, table, width

if TYPE_CHECKING:
    from dockfmu.report.comparison import Comparison

MOST = 12
"""Most lines of a list of differences; --json has all."""


def add_compare(commands: Any) -> None:
    """Add the parser of `compare`."""
    parser = commands.add_parser(
        "compare",
        help="show what differs between two runs, with an overlay of their signals",
        description="Compare two runs: outcome, initial conditions, events and loads, then the peaks\n"
        "and signals that differ most, then settings, parameters and FMUs. Draw the\n"
        "signals of the report over each other on a page. Runs that failed, or whose\n"
        "files are damaged, are compared as far as they go.",
        epilog="exit status:\n"
        "  0  the results agree: outcome, events, peaks and signals are equal within the\n"
        "     tolerances; settings, FMUs and parameters are shown, but do not count\n"
        "  1  the results differ, or a recording is damaged or missing\n"
        "  2  the command was invalid: no such run, no such signal",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("a", type=path, metavar="A", help="folder of a run, or its results.h5")
    parser.add_argument("b", type=path, metavar="B", help="the other run")
    parser.add_argument(
        "--signals",
        action="append",
        default=[],
        type=patterns,
        metavar="PATTERN,...",
        help="compare and draw only these: * matches any text, the name of a group or array all its members",
    )
    parser.add_argument(
        "--tolerance",
        type=_share,
        default=0.0,
        metavar="SHARE",
        help="share of a signal's largest magnitude by which it and its peaks may differ; default: 0",
    )
    parser.add_argument(
        "--event-tolerance",
        type=_share,
        default=0.0,
        metavar="S",
        help="tolerance of the times of events, s; default: 0",
    )
    parser.add_argument("-o", "--output", type=output_file, metavar="FILE.html", help="default: compare.html")
    parser.add_argument("--no-figure", action="store_true", help="leave out the overlay")
    parser.add_argument("--json", action="store_true", help="print all differences as one JSON object")
    parser.set_defaults(action=_compare)


def _share(text: str) -> float:
    try:
        value = decimal_number(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} must be a number of at least 0")
    return value


def _compare(arguments: argparse.Namespace) -> int:
    from dockfmu.base.numbers import finite
    from dockfmu.report.comparison import compare, open_run, selected
    from dockfmu.report.overlay import panels, write_comparison

    file = arguments.output or Path("compare.html")
    if file.suffix != ".html":
        raise CommandError(f"{file}: the overlay is a page, FILE.html")
    a, b = open_run(arguments.a), open_run(arguments.b)
    signals = split_patterns(
        arguments.signals, {name for run in (a, b) if run.results is not None for name in run.results.variables}
    )
    comparison = compare(
        a, b, signals or ("*",), tolerance=arguments.tolerance, event_tolerance=arguments.event_tolerance
    )
    if arguments.json:
        print(json.dumps(finite(comparison.to_json())))
    else:
        _print(comparison, arguments.a, arguments.b)
    if not arguments.no_figure:
        in_a, in_b = selected(a, b, signals)
        drawn = list(dict.fromkeys([*in_a, *in_b])) if signals else None
        write_comparison(a, b, comparison, panels(a, b, drawn, comparison), file)
        if not arguments.json:
            print(file)
    return DONE if comparison.same else FAILED


def _print(comparison: Comparison, a: Path, b: Path) -> None:
    from dockfmu.report.comparison_lines import sections

    for letter, place, ended in (("A", a, comparison.a), ("B", b, comparison.b)):
        outcome = str(ended["outcome"]).replace("_", " ")
        outcome = styled(outcome, "green" if ended["status"] == "completed" else "red", sys.stdout)
        until = "" if ended["t_end"] is None else f" until {ended['t_end']:.3f} s"
        print(f"{letter}  {place}: {outcome}, {ended['status']}{until}")
        if ended["status"] != "completed" and ended["message"]:
            print(f"   {ended['message']}")
    for problem in comparison.problems:
        print(f"{styled('damaged or missing', 'red', sys.stdout)}  {problem}")
    for section in sections(comparison):
        _heading(section.title)
        if section.rows:
            _lines([section.head, *section.rows], None if section.whole else MOST + 1)
        if section.note:
            print(f"  {section.note}")
    print("the results agree" if comparison.same else "the results differ")


def _heading(text: str) -> None:
    print(styled(text, "bold", sys.stdout))


def _lines(rows: Sequence[Sequence[str]], most: int | None = MOST) -> None:
    shown = [list(row) for row in rows[:most]]
    columns = width(sys.stdout)
    if columns is not None:
        # names differ in their ends
        room = max(columns - 2 - max((sum(len(cell) + 2 for cell in row[1:]) for row in shown), default=0), 20)
        for row in shown:
            row[0] = row[0] if len(row[0]) <= room else "…" + row[0][-(room - 1) :]
    for line in table(shown):
        print(f"  {line}")
    if len(rows) > len(shown):
        print(f"  and {len(rows) - len(shown)} more; --json has all")
