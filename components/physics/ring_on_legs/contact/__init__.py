"""Contact as called by the mechanism's kernels: `internal_contact` or `external_contact`, chosen by the record.

A record with the group `ring_pair` has internal contact; any other gets wrenches through ports. The choice is made when
a kernel is compiled for a record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dockfmu.components.core.kernel import variant
from dockfmu.components.physics.ring_on_legs.contact import external as external
from dockfmu.components.physics.ring_on_legs.contact import internal as internal


def _either(if_internal: Callable[..., Any], if_external: Callable[..., Any]) -> Any:
    """Return the kernel that calls `if_internal` for records with the pair of rings, `if_external` for others."""
    return variant("ring_pair", if_internal, if_external)


check_inputs = _either(internal.check_inputs, external.check_inputs)
initialize = _either(internal.initialize, external.initialize)
start = _either(internal.start, external.start)
begin_step = _either(internal.begin_step, external.begin_step)
finish_step = _either(internal.finish_step, external.finish_step)
audit = _either(internal.audit, external.audit)

detect = _either(internal.detect, external.detect)
newly_closed = _either(internal.newly_closed, external.newly_closed)
closes_by = _either(internal.closes_by, external.closes_by)
remember_closed = _either(internal.remember_closed, external.remember_closed)
accept = _either(internal.accept, external.accept)
account = _either(internal.account, external.account)

on_ring = _either(internal.on_ring, external.on_ring)
on_target = _either(internal.on_target, external.on_target)
