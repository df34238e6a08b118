"""Compare whole dockings with what the source publishes.

    python -m benchmarks.validation [--write]

Runs the named systems of the probe-cone mechanism at every macro step and prints the comparisons; with `--write` they
go into docs/validation/published.md, and its figures beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import dockfmu
from benchmarks.page import replace_table
from benchmarks.validation import budget
from benchmarks.validation.docking import Docking
from benchmarks.validation.published import comparison_table, existing_table

PAGE = Path("docs/validation/published.md")
VARIANTS = ("", "_v2", "_v3")


def _dockings(craft: str) -> list[Docking]:
    """Run a docking with each variant that there is, on equal initial conditions."""
    known = dockfmu.list_systems()
    return [Docking(name) for variant in VARIANTS if (name := f"{craft}_probe_cone{variant}") in known]


def main() -> None:
    """Print the tables, or write them into the page of the documentation."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write into {PAGE}")
    arguments = parser.parse_args()
    atv = _dockings("atv")
    tables = {"existing": existing_table(atv[0]), "variants-atv": comparison_table(atv), "budget": budget.table(atv)}
    if arguments.write:
        budget.draw(atv, PAGE.parent / "figures" / "budget.png")
    del atv  # a quarter of a gigabyte each
    tables["variants-soyuz"] = comparison_table(_dockings("soyuz"))
    for name, lines in tables.items():
        text = "\n".join(lines)
        print(f"\n{name}\n\n{text}")
        if arguments.write:
            replace_table(PAGE, name, text)


if __name__ == "__main__":
    main()
