"""The law of the legs as the mechanism's kernels call it, chosen by the record when a kernel is compiled for it."""

from __future__ import annotations

from typing import Any

from components.core.kernel import kernel, variant
from components.ring_mechanism.legs import cranked, force_controlled, geared, hydraulic, retractor, struts

LAWS = {
    "hydraulic": hydraulic.LAW,
    "force_controlled": force_controlled.LAW,
    "geared": geared.LAW,
    "cranked": cranked.LAW,
}


def _chosen(name: str) -> Any:
    """Return the kernel that calls the function `name` of the law whose group of state a record has."""
    found = getattr(cranked, name)
    for group, law in (("gearbox", geared), ("servo", force_controlled), ("attenuator", hydraulic)):
        if hasattr(law, name):
            found = variant(group, getattr(law, name), found)
    return found


@kernel
def _nothing(m, h):
    """Do nothing: the law counts its losses where it sets its forces, or has no drive of its own."""


@kernel
def _unchecked(m):
    """Return 0: commands are Booleans."""
    return 0


@kernel
def _no_load(m):
    """Do nothing: all that draws the ring in acts along its legs."""


check = _chosen("check")
initialize = _chosen("initialize")
drive = _chosen("drive")
lose = variant("attenuator", hydraulic.lose, _nothing)
check_command = variant("motor", retractor.check_command, _unchecked)
retract = variant("servo", _nothing, _chosen("retract"))
load_ring = variant("cable", hydraulic.load_ring, _no_load)
load_base = variant("cable", hydraulic.load_base, _no_load)
set_outputs = _chosen("set_outputs")
audit = _chosen("audit")

check_geometry = variant("damper", cranked.check_geometry, struts.check_geometry)
build = variant("damper", cranked.build, struts.build)
set_strokes = variant("damper", cranked.set_strokes, struts.set_strokes)
