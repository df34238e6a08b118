"""The compiled loop: macro steps of coupled FMUs through the addresses of their functions.

`master.tables` makes the tables that say what to call with which addresses. The loop returns to Python at the end of a
chunk of steps, and at once after a failure or when the run is to stop.
"""

from __future__ import annotations

from master.loop.advance import advance, advance_retrying
from master.loop.numerics import drifts, extremes, residuals
from master.loop.observe import record
from master.loop.program import read_outputs
from master.loop.step_control import advance_controlled
from master.loop.threads import serve

__all__ = [
    "advance",
    "advance_controlled",
    "advance_retrying",
    "drifts",
    "extremes",
    "read_outputs",
    "record",
    "residuals",
    "serve",
]
