"""The drive that draws a ring in: two motors and a self-locking gear, as in the peripheral mechanism.

Theory: peripheral-docking 7.4.

`command.motor_voltage` turns it; positive draws the ring in. The law defines what the output turns (drums, a shaft of
the gear tree, the stops of the cranks), and so the load. No load can drive a self-locking gear: where it would, the
motors run unloaded and the gear absorbs the work of the load. Limit switches stop the drive at both ends. With cables
the drive stalls earlier, with the rods on their stops, until the sequence switches it off.
"""

from __future__ import annotations

from dockfmu.components.core.field import Group, changed, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.devices import drive
from dockfmu.components.physics.ring_on_legs.drive_ports import DRIVE, MOTOR, drive_outputs, motor_voltage

COMMAND = (motor_voltage(),)
OUTPUTS = drive_outputs("lets the ring out")
STATE = (MOTOR, Group("retractor", private("lost", "J", "work absorbed by the gear from loads that would drive it")))


def parameters(ratio: float, turned: str) -> Group:
    """Return the group `drive` of the peripheral mechanism, with the `ratio` of its angle to the angle `turned`."""
    nut_ratio = {"start": ratio, "description": f"angle of the drive's output shaft over {turned}"}
    return changed(DRIVE, {"nut_ratio": nut_ratio})


@kernel
def check_command(m):
    """Return 0, or the code of voltages that are not finite."""
    return drive.check_voltage(m.command.motor_voltage, m.status)


@kernel
def initialize(m):
    """Set the drive to its start, at rest."""
    drive.initialize(m.parameters.drive, m.motor)
    m.retractor.lost = 0.0


@kernel
def rate(m):
    """Return the rate of the drive's load, rad/s; positive draws the ring in."""
    return m.motor.rate / m.parameters.drive.nut_ratio


@kernel
def way(m, ahead):
    """Return the angle by which the drive has turned its load from the start, rad, extrapolated by `ahead` (s)."""
    return m.motor.angle / m.parameters.drive.nut_ratio + ahead * rate(m)


@kernel
def advance(m, load, longest, h):
    """Advance the drive over h against `load` (N m), positive against drawing in; limits are 0 and `longest` (rad)."""
    p = m.parameters.drive
    first, second = m.command.motor_voltage[0], m.command.motor_voltage[1]
    sense = first + second
    if (sense > 0.0 and way(m, 0.0) >= longest) or (sense < 0.0 and way(m, 0.0) <= 0.0):
        first = second = 0.0
    m.retractor.lost += drive.advance_self_locking(p, m.motor, (first, second), load, h)


@kernel
def set_outputs(m):
    """Set the angle and rate of the output shaft."""
    m.drive.angle = -m.motor.angle
    m.drive.rate = -m.motor.rate


@kernel
def audit(m):
    """Add the drive to the energies of the mechanism, and set its work."""
    out = m.audit
    out.kinetic_energy += drive.kinetic_energy(m.motor)
    out.dissipated_drive = m.motor.dissipated + m.retractor.lost
    out.dissipated_energy += out.dissipated_drive
    out.work_drive = m.motor.work
