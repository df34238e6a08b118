"""Separation pushers between the docking planes of units with a ring on legs (spec/06 5.11, spec/07 7.6)."""

from __future__ import annotations

from components.core.field import Field, private
from components.core.kernel import kernel
from components.devices import pushers
from components.mechanics.rotation import load_matrix
from components.mechanics.vector import accumulate, load


def energy() -> Field:
    """Return the field of the group `balance` for the energy of the pushers."""
    return private("pusher_energy", "J", "energy stored in the pushers")


@kernel
def _push(m):
    """Return force and torque of the pushers on the target, frame PU, and set their stored energy."""
    p = m.parameters
    force, torque, m.balance.pusher_energy = pushers.wrench(
        p.pushers, p.docking_plane_x, load(m.relative.position), load_matrix(m.relative.rotation)
    )
    return force, torque


@kernel
def load_target(m):
    """Add the wrench of the pushers to that on the target, `target.force_now`, and set their stored energy."""
    force, torque = _push(m)
    accumulate(force, m.target.force_now)
    accumulate(torque, m.target.torque_now)


@kernel
def load_base(m):
    """Add the wrench of the pushers to that on the base, `base.force_now`."""
    force, torque = _push(m)
    force, torque = pushers.reaction(force, torque, load(m.relative.position), load_matrix(m.relative.rotation))
    accumulate(force, m.base.force_now)
    accumulate(torque, m.base.torque_now)


@kernel
def store_energy(m):
    """Set the stored energy of the pushers at the placed position."""
    _push(m)
