"""Going back to the start of a step whose state was not saved: to an earlier one that was, and on by the same steps.

Most steps are not repeated, and copies of states cost more than some FMUs take for a step.
"""

from __future__ import annotations

from master.loop.advance import take
from master.loop.compiled import compiled
from master.loop.states import restore, save
from master.loop.tables import BEHIND, OUTER, QUIET

CALM = 8
"""steps without a repeated one, for each step that may lie between the saved state and the present one"""


@compiled
def mark(tables, anew):
    """See to it that `go_back` can come to the present state, which is saved where too many steps lie behind it, and
    where it is `anew`; False after a failure."""
    control = tables.control
    past = control.past
    if not anew and past[BEHIND] < min(control.trail.shape[0], past[QUIET] // CALM):
        return True
    past[BEHIND] = 0
    return save(tables, OUTER)


@compiled
def walk(control, t, h):
    """A step from t to t + h was done, and is not to be repeated."""
    past = control.past
    if past[BEHIND] < control.trail.shape[0]:
        control.trail[past[BEHIND], 0], control.trail[past[BEHIND], 1] = t, h
    past[BEHIND] += 1
    past[QUIET] += 1


@compiled
def go_back(tables):
    """To the state of the last `mark`; False after a failure."""
    control = tables.control
    control.past[QUIET] = 0
    done = restore(tables, OUTER)
    for k in range(control.past[BEHIND]):
        done = done and take(tables, control.trail[k, 0], control.trail[k, 1])
    return done
