"""Energy accounting of the peripheral mechanism: accumulators, stops, cables, drive, pushers, guide pins."""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.peripheral_mechanism import accumulator
from dockfmu.components.physics.devices import drive
from dockfmu.components.physics.ring_on_legs import forward_stop, momentum_balance, platform, retraction


@kernel
def _accumulators(m):
    """Return (stored energy, dissipated by hysteresis, dissipated by slip) of all accumulators, J."""
    p = m.parameters.accumulators
    stored = 0.0
    work = 0.0
    slipped = 0.0
    for k in range(platform.LEGS):
        e = m.accumulator[k]
        stored += accumulator.stored_energy(p, e)
        work += e.work
        slipped += e.slipped
    return stored, m.balance.spring_energy + work - stored - slipped, slipped


@kernel
def audit(m, h):
    """Set momentum and energies but those of the contact, with everything placed at the end of a step of length h."""
    momentum_balance.audit(m, h)
    out = m.audit
    stored, hysteresis, slipped = _accumulators(m)
    out.kinetic_energy += drive.kinetic_energy(m.motor)
    out.stored_energy = stored + retraction.stored_energy(m.parameters.cables, m.cable) + m.balance.pusher_energy
    out.stored_energy += forward_stop.stored_energy(m.parameters, m.hexapod) + m.guiding.sums.stored_energy
    out.dissipated_accumulators = hysteresis
    out.dissipated_clutches = slipped
    out.dissipated_legs = m.ring_state.viscous
    out.dissipated_stops = m.end_stop.dissipated
    out.dissipated_guide_pins = m.guiding.dissipated
    out.dissipated_cables = m.cable[0].dissipated + m.cable[1].dissipated + m.cable[2].dissipated
    out.dissipated_drive = m.motor.dissipated + m.balance.gear_loss
    out.dissipated_energy = hysteresis + slipped + out.dissipated_legs + out.dissipated_cables + out.dissipated_drive
    out.dissipated_energy += out.dissipated_stops + out.dissipated_guide_pins
    out.work_drive = m.motor.work
