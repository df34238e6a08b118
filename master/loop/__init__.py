"""The compiled loop: macro steps of coupled FMUs through the addresses of their functions.

Tables say what to call with which addresses; `master.tables` makes them. The loop returns to Python at the end of a
chunk of steps, and at once after a failure or when the run is to stop.
"""

from __future__ import annotations

from master.loop.advance import advance
from master.loop.balance import drifts, residuals
from master.loop.control import advance_controlled
from master.loop.crew import serve
from master.loop.extremes import extremes
from master.loop.observe import record
from master.loop.program import read_outputs
from master.loop.retry import advance_retrying

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
