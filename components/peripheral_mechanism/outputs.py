"""Outputs of the peripheral mechanism at the end of a step: ring, legs, sensors, docking."""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.kinematics import set_docking
from dockfmu.components.physics.ring_on_legs import platform, retraction


@kernel
def _set_legs(m):
    p = m.parameters
    m.sensor.initial_position_lost = 0.0
    m.sensor.retracted = 1.0
    for k in range(platform.LEGS):
        c = m.hexapod.strut[k]
        e = m.accumulator[k]
        leg = m.leg[k]
        leg.stroke = c.stroke
        leg.roll = platform.roll(c)
        leg.effective_stroke = platform.effective_stroke(c)
        leg.spring_force = e.force
        leg.state = e.state
        leg.locked = e.locked
        beyond = c.stroke - p.legs.initial_stroke
        m.sensor.initial_position[k] = 1.0 if abs(beyond) <= p.switch_margin else 0.0
        if beyond < -p.switch_margin:
            m.sensor.initial_position_lost = 1.0
        if c.stroke > p.retracted_margin:
            m.sensor.retracted = 0.0


@kernel
def set_motion(m):
    """Set the outputs of motion and the switches, with everything placed at the end of the step."""
    platform.set_ring(m)
    _set_legs(m)
    set_docking(m.relative, m.parameters.docking_plane_x, m.docking)
    m.drive.angle = gear_angle(m) * m.parameters.drive.nut_ratio
    m.drive.rate = -m.motor.rate
    m.sensor.drive_limit = 1.0 if gear_angle(m) >= retraction.largest_angle(m.parameters.cables) - 1e-9 else 0.0


@kernel
def gear_angle(m):
    """Return the angle of the gear cams, rad."""
    return m.parameters.initial_gear_angle - m.motor.angle / m.parameters.drive.nut_ratio
