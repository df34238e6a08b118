"""Contact as the mechanism's kernels call it: `internal_contact` or `external_contact`, chosen by the record.

A record with the group `ring_unit` has its contact inside; another one gets wrenches through ports.
"""

from __future__ import annotations

from components.peripheral_mechanism.external_contact import (
    accept,
    account,
    audit,
    begin_step,
    check_inputs,
    closed,
    detect,
    finish_step,
    initialize,
    on_ring,
    on_target,
)

__all__ = [
    "accept", "account", "audit", "begin_step", "check_inputs", "closed", "detect", "finish_step", "initialize",
    "on_ring", "on_target",
]  # fmt: skip
