"""Separation pushers and guide pins between the docking planes.

Theory: central-docking 5.11, peripheral-docking 7.6, ruling R55.
"""

from __future__ import annotations

from dockfmu.components.core.field import Field, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices import guide_pins, pushers
from dockfmu.components.physics.mechanics.rotation import load_matrix
from dockfmu.components.physics.mechanics.vector import accumulate, add, load, store


def balance() -> tuple[Field, ...]:
    """Return the fields of the group `balance` for the pushers and pins."""
    return (
        private("pusher_energy", "J", "energy stored in the pushers"),
        private("push_force", "N", "of pushers and pins on the target at the last evaluation, PU", shape=3),
        private("push_torque", "N.m", "likewise, about the origin of PU", shape=3),
    )


@kernel
def _push(m):
    """Return force and torque of pushers and pins on the target, frame PU, and set their stored energies."""
    p = m.parameters
    force, torque, m.balance.pusher_energy = pushers.wrench(
        p.pushers, p.docking_plane_x, load(m.relative.position), load_matrix(m.relative.rotation)
    )
    guide_pins.evaluate(p.guide_pins, p.docking_plane_x, m.relative, m.guide_pin, m.guiding)
    pins = m.guiding.sums.passive
    return add(force, load(pins.force)), add(torque, load(pins.torque))


@kernel
def start(m):
    """Set all losses and counts to zero. Returns 0, or the code of inconsistent parameters."""
    m.guiding.dissipated = 0.0
    m.validity.pin_missed = 0.0
    return guide_pins.check_parameters(m.parameters.guide_pins, m.status)


@kernel
def load_target(m, h):
    """Add the wrench of pushers and pins to that on the target, `target.force_now`, and their losses over h."""
    force, torque = _push(m)
    store(force, m.balance.push_force)
    store(torque, m.balance.push_torque)
    accumulate(force, m.target.force_now)
    accumulate(torque, m.target.torque_now)
    guide_pins.dissipate(m.guiding, h)


@kernel
def load_base(m):
    """Add the wrench of pushers and pins, as `load_target` found it, to that on the base, `base.force_now`."""
    force, torque = load(m.balance.push_force), load(m.balance.push_torque)
    force, torque = pushers.reaction(force, torque, load(m.relative.position), load_matrix(m.relative.rotation))
    accumulate(force, m.base.force_now)
    accumulate(torque, m.base.torque_now)


@kernel
def finish(m):
    """Set the stored energies at the placed position, and count a pin beside its socket. Returns 0, or a code."""
    _push(m)
    m.validity.pin_missed += m.guiding.missed
    return guide_pins.check_depth(m.parameters.guide_pins, m.guiding, m.status)
