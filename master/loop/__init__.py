"""The compiled loop: macro steps of coupled FMUs through the addresses of their functions.

`dockfmu.master.tables` makes the tables that say what to call with which addresses. The loop returns to Python at the
end of a chunk of steps, and at once after a failure or when the run is to stop. This module has the entry points that
Python calls; the modules that define them import the compiler, and are not imported if the cache has their machine
code.
"""

from __future__ import annotations

from pathlib import Path

from dockfmu.base.entry_points import EntryPoint

_SOURCES = (Path(__file__).parent,)

advance = EntryPoint("dockfmu.master.loop.fixed_steps", "advance", _SOURCES)
advance_retrying = EntryPoint("dockfmu.master.loop.fixed_steps", "advance_retrying", _SOURCES)
advance_controlled = EntryPoint("dockfmu.master.loop.step_control", "advance_controlled", _SOURCES)
drifts = EntryPoint("dockfmu.master.loop.numerics", "drifts", _SOURCES)
drifts_about = EntryPoint("dockfmu.master.loop.numerics", "drifts_about", _SOURCES)
extremes = EntryPoint("dockfmu.master.loop.numerics", "extremes", _SOURCES)
read_outputs = EntryPoint("dockfmu.master.loop.program", "read_outputs", _SOURCES)
record = EntryPoint("dockfmu.master.loop.observe", "record", _SOURCES)
residuals = EntryPoint("dockfmu.master.loop.numerics", "residuals", _SOURCES)
resultants = EntryPoint("dockfmu.master.loop.numerics", "resultants", _SOURCES)
serve = EntryPoint("dockfmu.master.loop.threads", "serve", _SOURCES)
