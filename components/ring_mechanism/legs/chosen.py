"""The law of the legs as called by the mechanism's kernels, chosen by the record when a kernel is compiled for it."""

from __future__ import annotations

from typing import Any

from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.ring_mechanism.legs import cranked, force_controlled, geared, hydraulic, retractor, struts

LAWS = {
    "hydraulic": hydraulic.LAW,
    "force_controlled": force_controlled.LAW,
    "geared": geared.LAW,
    "cranked": cranked.LAW,
}


def _by_law(of_hydraulic: Any, of_force_controlled: Any, of_geared: Any, of_cranked: Any) -> Any:
    """Return the kernel that calls that of the law whose group of state is in the record."""
    chosen = variant("servo", of_force_controlled, of_hydraulic)
    chosen = variant("gearbox", of_geared, chosen)
    return variant("damper", of_cranked, chosen)


@kernel
def _nothing(m, h):
    """Do nothing: the law counts its losses in `drive`, or has no drive of its own."""


@kernel
def _unchecked(m):
    """Return 0: there is nothing to check."""
    return 0


@kernel
def _no_load(m):
    """Do nothing: all forces that draw the ring in act through its legs."""


check = _by_law(hydraulic.check, _unchecked, geared.check, _unchecked)
initialize = _by_law(hydraulic.initialize, force_controlled.initialize, geared.initialize, cranked.initialize)
drive = _by_law(hydraulic.drive, force_controlled.drive, geared.drive, cranked.drive)
lose = _by_law(hydraulic.lose, _nothing, _nothing, _nothing)
retract = _by_law(hydraulic.retract, _nothing, geared.retract, cranked.retract)
load_ring = _by_law(hydraulic.load_ring, _no_load, _no_load, _no_load)
load_base = _by_law(hydraulic.load_base, _no_load, _no_load, _no_load)
set_outputs = _by_law(hydraulic.set_outputs, force_controlled.set_outputs, geared.set_outputs, cranked.set_outputs)
audit = _by_law(hydraulic.audit, force_controlled.audit, geared.audit, cranked.audit)

# strokes of struts are checked when they are placed
check_stops = _by_law(_unchecked, _unchecked, geared.check_stops, cranked.check_stops)

# of the legs themselves: those of the law "cranked" are cranks, all others struts
check_geometry = variant("damper", cranked.check_geometry, struts.check_geometry)
build = variant("damper", cranked.build, struts.build)
set_strokes = variant("damper", cranked.set_strokes, struts.set_strokes)

# of the drive: force-controlled legs have none, and their commands are Booleans
check_command = variant("motor", retractor.check_command, _unchecked)
