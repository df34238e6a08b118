"""Held against what flew: what comes out of the cases over the ranges of assumed data, and the searches around them.

    python -m benchmarks.validation.flown sensitivity [CASE,...] [--draws N] [--keep FOLDER]
    python -m benchmarks.validation.flown limit [--write FOLDER]
    python -m benchmarks.validation.flown rankings
    python -m benchmarks.validation.flown ranges
    python -m benchmarks.validation.flown impacts
    python -m benchmarks.validation.flown alignment
    python -m benchmarks.validation.flown spring
    python -m benchmarks.validation.flown swing --write FOLDER

`sensitivity` draws the assumed data of each case over their ranges, the same draws each time, and prints what comes
out: 10 %, median, 90 %, how many draws agree with what was published, and the rank correlation with each. `limit` finds
the least speed that APAS-75 needs over the thrust; with `--write` it draws capture_limit.png, and `swing` draws
soyuz_10.png. Tables and figures are those of docs/validation/flown.md. `limit`, `rankings`, `ranges` and `impacts`
take 27, 57, 7 and 13 s of CPU.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.validation.flown import alignment, impacts, probe_cases, ranges, ring_cases, spring
from benchmarks.validation.flown.draws import collect, rows
from benchmarks.validation.flown.limit import draw_limit, draw_swing, limit
from benchmarks.validation.flown.rankings import rankings

CASES = probe_cases.CASES | ring_cases.CASES
PRINTED = {"ranges": ranges, "impacts": impacts, "alignment": alignment, "spring": spring}


def main() -> None:
    """Run what the command line asks for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sensitivity", "limit", "rankings", "swing", *PRINTED))
    parser.add_argument("cases", nargs="?", default=",".join(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--draws", type=int, default=32)
    parser.add_argument("--keep", type=Path, help="folder that keeps each draw: an interrupted run goes on from there")
    parser.add_argument("--write", type=Path, help="folder of the figure")
    arguments = parser.parse_args()
    if arguments.what == "sensitivity":
        print(
            "| quantity | published | 10 % … median … 90 % | agree | ranges | rank correlation |\n" + "|---" * 6 + "|"
        )
        for name in arguments.cases.split(","):
            found = collect(name, CASES[name], arguments.draws, arguments.keep)
            print("\n".join(rows(CASES[name], found)), flush=True)
    elif arguments.what == "limit":
        found = limit()
        if arguments.write:
            draw_limit(found, arguments.write / "capture_limit.png")
    elif arguments.what == "rankings":
        rankings()
    elif arguments.what == "swing":
        draw_swing(arguments.write / "soyuz_10.png")
    else:
        PRINTED[arguments.what].main()


if __name__ == "__main__":
    main()
