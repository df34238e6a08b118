"""The law of the legs as called by the mechanism's kernels, chosen by the record when a kernel is compiled for it."""

from __future__ import annotations

from typing import Any

from components.core.kernel import kernel, variant
from components.ring_mechanism.legs import cranked, force_controlled, geared, hydraulic, retractor, struts

_MODULES: dict[str, Any] = {
    "hydraulic": hydraulic,
    "force_controlled": force_controlled,
    "geared": geared,
    "cranked": cranked,
}
LAWS = {name: module.LAW for name, module in _MODULES.items()}


def _chosen(name: str, *otherwise: Any) -> Any:
    """Return the kernel that calls `name` of the law whose group of state is in the record.

    `otherwise` is called if the module of the law has no such kernel; without it every module must have one.
    """
    chosen = None
    for module in _MODULES.values():
        own = getattr(module, name, *otherwise)
        chosen = variant(module.LAW.state.name, own, chosen) if chosen else own
    return chosen


@kernel
def _nothing(m, h):
    """Do nothing: the law counts its losses in `drive`, or has no drive of its own."""


@kernel
def _unchecked(m):
    """Return 0: commands are Booleans."""
    return 0


@kernel
def _no_load(m):
    """Do nothing: all forces that draw the ring in act through its legs."""


check = _chosen("check")
initialize = _chosen("initialize")
drive = _chosen("drive")
lose = _chosen("lose", _nothing)
check_command = variant("motor", retractor.check_command, _unchecked)
retract = _chosen("retract", _nothing)
load_ring = _chosen("load_ring", _no_load)
load_base = _chosen("load_base", _no_load)
set_outputs = _chosen("set_outputs")
audit = _chosen("audit")

check_geometry = variant("damper", cranked.check_geometry, struts.check_geometry)
build = variant("damper", cranked.build, struts.build)
set_strokes = variant("damper", cranked.set_strokes, struts.set_strokes)
