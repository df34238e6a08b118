"""Closed chains at the start: coordinates and rates that satisfy the cut joints, by Newton's method.

Theory: multibody-formulations 3.7.
"""

from __future__ import annotations

from math import fabs, isfinite, pi

from dockfmu.components.core.component import fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, failures, stepping
from dockfmu.components.multibody.cut_rows import set_rows, turned_over
from dockfmu.components.physics.tree import elastic_bodies

SETTLING = 40
"""Most repetitions until the deflections at the start are those of their loads."""
SETTLED = 1e-12
"""Relative to the largest."""
CLOSING = 1e-8
"""Relative change of the deflections above which loops are closed to rounding, beyond `closure.NEAR`."""
STILL_CLOSED = 1e-6
"""m/s, rad/s, and relative to the rates of the rows before: what they may lack where redundant ones are left out."""


@kernel
def _worst_joint(row, run, by_rate):
    """Return the number of the cut joint whose closure lacks most, or that opens fastest, from 1."""
    worst = 0
    largest = 0.0
    for i in range(int(run.rows)):
        lack = fabs(row[i].rate if by_rate else row[i].error)
        if not isfinite(lack):
            return row[i].joint + 1.0
        if lack > largest:
            worst = i
            largest = lack
    return row[worst].joint + 1.0


@kernel
def assemble(g, status):
    """Close the cut joints in position and rate. Prescribed and locked coordinates stay. Returns 0, or a code."""
    link, cut, row, solver, run = g.link, g.cut, g.row, g.solver, g.run
    run.open = 0.0
    if run.rows == 0.0:
        return 0
    error = 0.0
    for _ in range(closure.ATTEMPTS):
        stepping.place(g, 0.0)
        error, _ = set_rows(link, cut, row, run)
        if not error > closure.NEAR or run.open != 0.0:
            break
        # near the closed pose of an overconstrained linkage rows depend on each other that did not before
        closure.measure(link, cut, row, solver, run)
        stepping.place(g, 0.0)
        set_rows(link, cut, row, run)
        closure.correct(link, cut, row, solver, run, False)
    if run.open != 0.0:
        return fail(status, failures.SINGULAR_CLOSURE, run.amount, run.culprit)
    if not error <= closure.NEAR:
        return fail(status, failures.NOT_CLOSED, error, _worst_joint(row, run, False))
    joint = turned_over(cut, row, run)
    if joint > 0.0:
        return fail(status, failures.NOT_CLOSED, pi, joint)
    # where the chain is closed, other rows may depend on each other than before
    stepping.place(g, 0.0)
    closure.measure(link, cut, row, solver, run)
    stepping.place(g, 0.0)
    _, before = set_rows(link, cut, row, run)
    closure.correct(link, cut, row, solver, run, True)
    # rows that depend on others, and what no free rate changes
    stepping.place(g, 0.0)
    _, after = set_rows(link, cut, row, run)
    if not after <= STILL_CLOSED * max(1.0, before):
        return fail(status, failures.CONTRADICTED, after, _worst_joint(row, run, True))
    return 0


@kernel
def settle(g, status):
    """Deform the elastic bodies that start in static equilibrium under their inertial loads. Returns 0, or a code.

    The modes are held by an inertia, which says their loads and those of the cut joints; the deflections change these,
    and so a few times again. A stiff body that is held at both ends is bent by a gap far below `closure.NEAR`.
    """
    link, cut, row, solver, run = g.link, g.cut, g.row, g.solver, g.run
    flex = solver.flex
    wanted = False
    for k in range(int(run.elastic)):
        if flex.body[k].settled != 0.0:
            wanted = True
    if not wanted:
        return 0
    for _ in range(SETTLING):
        stepping.place(g, 0.0)
        elastic_bodies.hold(link, run, flex)
        closure.accelerate(link, False, solver, run)
        closure.constrain(link, cut, row, solver, run, 0.0)
        change = elastic_bodies.settle(link, flex, run)
        if change < SETTLED:
            return 0
        if change > CLOSING and run.rows > 0.0:
            stepping.place(g, 0.0)
            set_rows(link, cut, row, run)
            closure.correct(link, cut, row, solver, run, False)
        code = assemble(g, status)
        if code:
            return code
    return fail(status, failures.NOT_SETTLED, change, 0)
