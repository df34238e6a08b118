"""The step to take instead of one that failed."""

from __future__ import annotations

from master.loop.calls import get_status
from master.loop.compiled import compiled
from master.loop.tables import CALLED, DISCARD, FAILED, INSTANCE, NOT_FINITE, REASON, STATUS, STEP

LAST_SUCCESSFUL_TIME = 2

SLACK = 1e-9
"""of a step: what is closer than this to its end is at its end"""


@compiled
def shorter(tables, t, h):
    """The length to try instead of `h` from `t` on, 0 where a shorter step is no help.

    To where the FMU came that discarded the step, if it tells and that is worth a step; half as long otherwise.
    """
    report, control = tables.report, tables.control
    if report[REASON] == NOT_FINITE:
        return 0.5 * h
    if report[REASON] != FAILED or report[CALLED] != STEP or report[STATUS] != DISCARD:
        return 0.0
    i = report[INSTANCE]
    status: int = get_status(  # type: ignore[call-arg]
        control.real_status[i], tables.instances.component[i], LAST_SUCCESSFUL_TIME, control.reached.ctypes.data
    )
    reached = control.reached[0] - t
    return reached if status == 0 and control.shortest <= reached < (1.0 - SLACK) * h else 0.5 * h
