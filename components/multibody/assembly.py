"""Closed chains at the start: coordinates and rates that satisfy the cut joints, by Newton's method.

Theory: multibody-formulations 3.7.
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, failures, links, stepping
from dockfmu.components.multibody.cut_rows import set_rows


@kernel
def _place(base, gravity, link, run):
    stepping.place_base(base, run, gravity, link, 0.0)
    links.place(link)
    stepping.move(link)


@kernel
def _most_open(row, run):
    """Return the number of the cut joint whose closure lacks most, from 1."""
    worst = 0
    for i in range(int(run.rows)):
        # of rows that are not finite the first
        if not fabs(row[i].error) <= fabs(row[worst].error):
            worst = i
    return row[worst].joint + 1.0


@kernel
def assemble(base, gravity, link, cut, row, solver, run, status):
    """Close the cut joints in position and rate. Prescribed and locked coordinates stay. Returns 0, or a code."""
    run.open = 0.0
    if run.rows == 0.0:
        return 0
    error = 0.0
    for _ in range(closure.ATTEMPTS):
        _place(base, gravity, link, run)
        error, _ = set_rows(link, cut, row, run)
        if not error > closure.NEAR or run.open != 0.0:
            break
        # near the closed pose of an overconstrained linkage rows depend on each other that did not before
        closure.measure(link, cut, row, solver, run)
        _place(base, gravity, link, run)
        set_rows(link, cut, row, run)
        closure.correct(link, cut, row, solver, run, False)
    if run.open != 0.0:
        return fail(status, failures.SINGULAR_CLOSURE, run.amount, run.culprit)
    if not error <= closure.NEAR:
        return fail(status, failures.NOT_CLOSED, error, _most_open(row, run))
    # where the chain is closed, other rows may depend on each other than before
    _place(base, gravity, link, run)
    closure.measure(link, cut, row, solver, run)
    _place(base, gravity, link, run)
    set_rows(link, cut, row, run)
    closure.correct(link, cut, row, solver, run, True)
    return 0
