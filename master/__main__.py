"""`python -m dockfmu.master` compiles the loop into the cache, which the first run would do otherwise."""

from __future__ import annotations

from dockfmu.master import loop
from dockfmu.master.algorithms import by_name
from dockfmu.master.system import Structure
from dockfmu.master.tables.coupling import couple


def main() -> None:
    """Run zero steps on an empty system, to compile the loop: the tables of all systems are of one type."""
    tables = couple(Structure("nothing"), {}, by_name("gauss_seidel").scheme([])).packed
    loop.read_outputs(tables)
    loop.advance(tables, 0.0, 1.0, 0, 0, 0)


if __name__ == "__main__":
    main()
