"""The law of the legs as the mechanism's kernels call it, chosen by the record when a kernel is compiled for it."""

from __future__ import annotations

from typing import Any

from components.core.kernel import variant
from components.ring_mechanism.legs import force_controlled, geared, hydraulic

LAWS = {
    "hydraulic": hydraulic.LAW,
    "force_controlled": force_controlled.LAW,
    "geared": geared.LAW,
}


def _chosen(name: str) -> Any:
    """Return the kernel that calls the function `name` of the law whose group of state a record has."""
    electric = variant("servo", getattr(force_controlled, name), getattr(geared, name))
    return variant("attenuator", getattr(hydraulic, name), electric)


check = _chosen("check")
initialize = _chosen("initialize")
drive = _chosen("drive")
set_outputs = _chosen("set_outputs")
audit = _chosen("audit")
