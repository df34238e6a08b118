"""`dockfmu life`: the life that recorded dockings spend of the sections of a structure."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from dockfmu.base.errors import FAILED
from dockfmu.base.numbers import as_json
from dockfmu.commands.arguments import DONE, existing_recording, output_file, path, text_file
from dockfmu.commands.streams import say
from dockfmu.commands.terminal import styled, table, width

if TYPE_CHECKING:
    from dockfmu.life.ledger import Ledger
    from dockfmu.life.spent import SectionLife

MPA = 1e6


def add_life(commands: Any) -> None:
    """Add the parser of `life`."""
    parser = commands.add_parser(
        "life",
        help="count the cycles of stress of runs, and the life that they spend of a structure",
        description="Count the cycles of stress in sections of a structure over recorded runs (rainflow),\n"
        "the damage that they do (Palmgren and Miner, Goodman's mean stress), and the peak\n"
        "against the allowable stress. A ledger sums the damage of all dockings.",
        epilog="exit status:\n"
        "  0  every stress is allowable, and every section has life left\n"
        "  1  a stress is above the allowable one, or the life of a section is spent\n"
        "  2  the command was invalid: no such run, no such signal",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("results", type=path, nargs="+", metavar="DIR", help="folder of a run, or its results.h5")
    parser.add_argument(
        "--sections",
        type=text_file,
        required=True,
        metavar="FILE.toml",
        help="stress, strength and S-N data of the sections",
    )
    parser.add_argument(
        "--ledger",
        type=output_file,
        metavar="FILE.json",
        help="add the runs to this ledger, each recording once; it is made if it is missing",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object for each run")
    parser.set_defaults(action=_life)


def _life(arguments: argparse.Namespace) -> int:
    from dockfmu.life.ledger import enter
    from dockfmu.life.sections import read_sections
    from dockfmu.life.spent import lives_in
    from dockfmu.master.observers.recording.results import read_results
    from dockfmu.report.summaries import cut_off

    sections = read_sections(arguments.sections)
    sound = True
    for place in arguments.results:
        file = existing_recording(place)
        with read_results(file) as content:
            about, lives = dict(content.attributes), lives_in(content, sections)
            if problem := cut_off(content, {}):
                say(f"warning: {problem}")
        ledger = None
        if arguments.ledger is not None:
            ledger, added = enter(arguments.ledger, about, file, lives)
            if not added:
                print(f"{place}: is in {arguments.ledger} already, and counts once", file=sys.stderr)
        if arguments.json:
            print(as_json(_content(str(place), about, lives, ledger)))
        else:
            _print(str(place), about, lives, ledger)
        sound = sound and all(life.within_allowable and _spent(life, ledger) < 1.0 for life in lives)
    return DONE if sound else FAILED


def _spent(life: SectionLife, ledger: Ledger | None) -> float:
    """Return the share of the section's life that is spent: by the ledger, or by the run alone."""
    return life.damage if ledger is None else ledger.total(life.section.name)


def _print(place: str, about: dict[str, Any], lives: tuple[SectionLife, ...], ledger: Ledger | None) -> None:
    outcome = str(about.get("outcome", "")).replace("_", " ")
    print(f"{place}: {about.get('system', '')}, {outcome}")
    rows = [
        ("section", "peak", "at", "allowable", "largest cycle", "damage", "of rows", *(["total"] if ledger else []))
    ]
    for life in lives:
        allowable = life.section.allowable
        rows.append(
            (
                life.section.name,
                f"{life.peak / MPA:.4g} MPa",
                f"{life.time:.3f} s",
                f"{allowable / MPA:.4g} MPa" if allowable < float("inf") else "",
                f"{life.cycles['range'].max(initial=0.0) / MPA:.4g} MPa",
                f"{life.damage:.3g}",
                f"{life.damage_of_rows:.3g}",
                *([f"{_spent(life, ledger):.3g}"] if ledger else []),
            )
        )
    for line in table(rows, width(sys.stdout), [None] * len(rows[0])):
        print(f"  {line}")
    for life in lives:
        name = life.section.name
        if not life.within_allowable:
            share = abs(life.peak) / life.section.allowable
            print("  " + styled(f"{name}: the stress is {share:.3g} of the allowable one", "red", sys.stdout))
        if _spent(life, ledger) >= 1.0:
            print("  " + styled(f"{name}: its life is spent", "red", sys.stdout))


def _content(
    place: str, about: dict[str, Any], lives: tuple[SectionLife, ...], ledger: Ledger | None
) -> dict[str, Any]:
    return {
        "results": place,
        "system": str(about.get("system", "")),
        "outcome": str(about.get("outcome", "")),
        "sections": {
            life.section.name: {
                "peak_Pa": life.peak,
                "time_s": life.time,
                "within_allowable": life.within_allowable,
                "cycles": float(life.cycles["count"].sum()),
                "largest_range_Pa": float(life.cycles["range"].max(initial=0.0)),
                "damage": life.damage,
                "damage_of_rows": life.damage_of_rows,
                **({} if ledger is None else {"total": _spent(life, ledger)}),
            }
            for life in lives
        },
    }
