"""Held against what flew: what comes out of the cases over the ranges of assumed data, and the searches around them.

    python -m benchmarks.validation.flown sensitivity [CASE,...] [--draws N]
    python -m benchmarks.validation.flown limit [--write FOLDER]
    python -m benchmarks.validation.flown rankings
    python -m benchmarks.validation.flown ranges
    python -m benchmarks.validation.flown impacts
    python -m benchmarks.validation.flown swing --write FOLDER

`sensitivity` draws the assumed data of each case uniformly over their ranges, the same draws each time, and prints what
comes out: 10 %, median, 90 %, and the rank correlation with each. `limit` finds the least speed that APAS-75 needs over
the thrust; with `--write` it draws capture_limit.png, and `swing` draws soyuz_10.png. Tables and figures are those of
docs/validation/flown.md. A case of 8 draws takes some 40 s of CPU, `limit` two minutes, `rankings` three, `impacts`
half a minute.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from benchmarks.validation.flown import impacts, ranges
from benchmarks.validation.flown.cases import CASES, Case
from benchmarks.validation.flown.limit import draw_limit, draw_swing, limit
from benchmarks.validation.flown.rankings import rankings


def _ranks(x: np.ndarray) -> np.ndarray:
    return np.argsort(np.argsort(x)).astype(float)


def sensitivity(case: Case, draws: int) -> str:
    """Return the row of a case: what comes out over `draws` draws of its ranges."""
    random = np.random.default_rng(1)
    names = list(case.ranges)
    low, high = (np.array([case.ranges[name][side] for name in names]) for side in (0, 1))
    points = low + (high - low) * random.random((draws, len(names)))
    found = np.array([case.measure(dict(zip(names, map(float, point), strict=True))) for point in points])
    valid = np.isfinite(found)
    ten, half, ninety = (float(np.quantile(found[valid], q)) for q in (0.1, 0.5, 0.9))
    by = [
        f"{name} {np.corrcoef(_ranks(points[valid, k]), _ranks(found[valid]))[0, 1]:+.1f}"
        for k, name in enumerate(names)
    ]
    told = ", ".join(f"{name} {case.ranges[name][0]:g} to {case.ranges[name][1]:g}" for name in names)
    counted = f"{int(valid.sum())}" + (f" of {draws}" if not valid.all() else "")
    columns = (case.title, case.published, f"{ten:.3g} … {half:.3g} … {ninety:.3g}", told, ", ".join(by), counted)
    return f"| {' | '.join(columns)} |"


def main() -> None:
    """Run what the command line asks for, and print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("sensitivity", "limit", "rankings", "ranges", "impacts", "swing"))
    parser.add_argument("cases", nargs="?", default=",".join(CASES), help=f"of {', '.join(CASES)}")
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--write", type=Path, help="folder of the figure")
    arguments = parser.parse_args()
    if arguments.what == "sensitivity":
        print(
            "| quantity | published | 10 % … median … 90 % | ranges | rank correlation | draws |\n" + "|---" * 6 + "|"
        )
        for name in arguments.cases.split(","):
            print(sensitivity(CASES[name], arguments.draws), flush=True)
    elif arguments.what == "limit":
        found = limit()
        if arguments.write:
            draw_limit(found, arguments.write / "capture_limit.png")
    elif arguments.what == "rankings":
        rankings()
    elif arguments.what == "impacts":
        impacts.main()
    elif arguments.what == "swing":
        draw_swing(arguments.write / "soyuz_10.png")
    else:
        ranges.main()


if __name__ == "__main__":
    main()
