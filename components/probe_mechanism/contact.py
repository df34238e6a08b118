"""Contact as the mechanism's kernels see it: `inside` where the record holds the probe-cone unit, else `outside`."""

from __future__ import annotations

from typing import Any

from components.core.kernel import variant
from components.probe_mechanism import inside, outside


def _either(name: str) -> Any:
    return variant("probe_cone", getattr(inside, name), getattr(outside, name))


check = _either("check")
initialize = _either("initialize")
begin = _either("begin")
hand_over = _either("hand_over")
touch = _either("touch")
newly_closed = _either("newly_closed")
remember = _either("remember")
accept = _either("accept")
on_link = _either("on_link")
on_target = _either("on_target")
on_roller = _either("on_roller")
linearise = _either("linearise")
rubs = _either("rubs")
revise = _either("revise")
axial_damping = _either("axial_damping")
cam_response = _either("cam_response")
cam_correction = _either("cam_correction")
lose_through_cam = _either("lose_through_cam")
tip_torque = _either("tip_torque")
settle = _either("settle")
finish = _either("finish")
audit = _either("audit")
