"""Closed chains at the start: coordinates and rates that satisfy the cut joints, by Newton's method.

Theory: multibody-formulations 3.7.
"""

from __future__ import annotations

from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody import closure, links, stepping

NOT_CLOSED = 421
SINGULAR_CLOSURE = 422
MESSAGES = {
    NOT_CLOSED: Message(
        "the cut joints cannot be closed from the start values: {status.value:.4g} m or rad are left after 50 "
        "corrections; look at points and start values of the joints in the loop"
    ),
    SINGULAR_CLOSURE: Message(
        "the cut joints do not determine their forces: the loop is at a singular pose, or passes one; the error of its "
        "closure is {status.value:.4g}"
    ),
}


@kernel
def _place(base, gravity, link, run):
    stepping.place_base(base, run, gravity, link, 0.0)
    links.place(link)
    stepping.move(link)


@kernel
def assemble(base, gravity, link, cut, row, matrix, run, status):
    """Close the cut joints in position and rate. Prescribed and locked coordinates stay. Returns 0, or a code."""
    run.open = 0.0
    if run.rows == 0.0:
        return 0
    _place(base, gravity, link, run)
    closure.measure(link, cut, row, matrix, run)
    error = 0.0
    for _ in range(closure.ATTEMPTS):
        _place(base, gravity, link, run)
        error, _ = closure.set_rows(link, cut, row, run)
        if not error > closure.NEAR or run.open != 0.0:
            break
        closure.correct(link, cut, row, matrix, run, False)
    if run.open != 0.0:
        return fail(status, SINGULAR_CLOSURE, error, 0)
    if not error <= closure.NEAR:
        return fail(status, NOT_CLOSED, error, 0)
    # where the chain is closed, other rows may depend on each other than before
    _place(base, gravity, link, run)
    closure.measure(link, cut, row, matrix, run)
    _place(base, gravity, link, run)
    closure.set_rows(link, cut, row, run)
    closure.correct(link, cut, row, matrix, run, True)
    return 0
