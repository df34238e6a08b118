"""The step to take instead of one that failed."""

from __future__ import annotations

from base.fmi import DISCARD
from master.loop.calls import get_status
from master.loop.compiled import compiled
from master.loop.tables import CALLED, FAILED, GET, INSTANCE, NOT_FINITE, REASON, SET, STATUS, STEP

LAST_SUCCESSFUL_TIME = 2

SLACK = 1e-9
"""of a step: what is closer than this to its end is at its end"""


@compiled
def shorter(tables, t, h):
    """The length to try instead of `h` from `t` on, 0 where a shorter step is no help.

    To where the FMU came that discarded the step, if it tells and that is worth a step. Half as long where it does not,
    where values are not finite, and where an FMU discards them: its equations have no solution for such inputs.
    """
    report, control = tables.report, tables.control
    if report[REASON] == NOT_FINITE:
        return 0.5 * h
    called = report[CALLED]
    if report[REASON] != FAILED or report[STATUS] != DISCARD or called not in (SET, STEP, GET):
        return 0.0
    if called != STEP:
        return 0.5 * h
    i = report[INSTANCE]
    status: int = get_status(  # type: ignore[call-arg]
        control.real_status[i], tables.instances.component[i], LAST_SUCCESSFUL_TIME, control.reached.ctypes.data
    )
    reached = control.reached[0] - t
    return reached if status == 0 and control.shortest <= reached < (1.0 - SLACK) * h else 0.5 * h
