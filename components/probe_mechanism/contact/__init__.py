"""Contact as the mechanism's kernels call it: `internal_contact` or `external_contact`, chosen by the record.

A record with the group `probe_cone` has its contact inside; any other gets wrenches through ports. The choice is made
when a kernel is compiled for a record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dockfmu.components.core.kernel import variant
from dockfmu.components.probe_mechanism.contact import external as external
from dockfmu.components.probe_mechanism.contact import internal as internal


def _either(inside: Callable[..., Any], outside: Callable[..., Any]) -> Any:
    """Return the kernel that calls `inside` for records with the probe-cone unit, `outside` for others."""
    return variant("probe_cone", inside, outside)


check_inputs = _either(internal.check_inputs, external.check_inputs)
initialize = _either(internal.initialize, external.initialize)
begin_step = _either(internal.begin_step, external.begin_step)
finish_step = _either(internal.finish_step, external.finish_step)
audit = _either(internal.audit, external.audit)

set_inputs = _either(internal.set_inputs, external.set_inputs)
detect = _either(internal.detect, external.detect)
newly_closed = _either(internal.newly_closed, external.newly_closed)
remember_closed = _either(internal.remember_closed, external.remember_closed)
accept = _either(internal.accept, external.accept)

on_link = _either(internal.on_link, external.on_link)
on_target = _either(internal.on_target, external.on_target)
on_roller = _either(internal.on_roller, external.on_roller)
tip_torque = _either(internal.tip_torque, external.tip_torque)

linearise = _either(internal.linearise, external.linearise)
can_revise = _either(internal.can_revise, external.can_revise)
revise = _either(internal.revise, external.revise)
axial_damping = _either(internal.axial_damping, external.axial_damping)
cam_response = _either(internal.cam_response, external.cam_response)
cam_correction = _either(internal.cam_correction, external.cam_correction)
account_cam_loss = _either(internal.account_cam_loss, external.account_cam_loss)
account_losses = _either(internal.account_losses, external.account_losses)
