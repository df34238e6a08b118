"""The drive that draws a ring in: two motors and a self-locking gear, as in the peripheral mechanism (spec/07 7.4).

`command.motor_voltage` turns it, positive draws the ring in. What its output turns (drums, a shaft of the gear tree,
the stops of the cranks) is the law's, and with it the load. No load drives a self-locking gear: where it would, the
motors run free and the gear takes what the load does. Limit switches stop the drive at both ends; the drive of the
cables stalls first, the rods on their stops, until the sequence switches it off.
"""

from __future__ import annotations

from components.core.field import Group, changed, private
from components.core.kernel import kernel
from components.devices import drive
from components.peripheral_mechanism.ports import DRIVE, MOTOR, drive_outputs, motor_voltage

COMMAND = (motor_voltage(),)
OUTPUTS = drive_outputs("lets the ring out")
STATE = (MOTOR, Group("retractor", private("lost", "J", "in the self-locking gear, by loads that would drive it")))


def parameters(ratio: float, turned: str) -> Group:
    """Return the group `drive`: that of the peripheral mechanism, with the `ratio` of its angle to that `turned`."""
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
    """Return the rate of what the drive turns, rad/s, positive draws the ring in."""
    return m.motor.rate / m.parameters.drive.nut_ratio


@kernel
def way(m, ahead):
    """Return the angle by which the drive has turned its load from the start, rad, `ahead` (s) of where it is."""
    return m.motor.angle / m.parameters.drive.nut_ratio + ahead * rate(m)


@kernel
def advance(m, load, longest, h):
    """Advance the drive over h against `load` (N m), positive against drawing in, between 0 and the `longest` way."""
    p = m.parameters.drive
    first, second = m.command.motor_voltage[0], m.command.motor_voltage[1]
    sense = first + second
    if (sense > 0.0 and way(m, 0.0) >= longest) or (sense < 0.0 and way(m, 0.0) <= 0.0):
        first = second = 0.0
    m.retractor.lost += drive.advance_self_locking(p, m.motor, (first, second), load, h)


@kernel
def set_outputs(m):
    """Set angle and rate of the output shaft."""
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
