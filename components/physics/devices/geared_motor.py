"""A DC motor with its limits, and a gearbox with backlash and losses: laws that drives of joints have in common.

Theory: manipulator 3.3, 3.4, E1, E9.
"""

from __future__ import annotations

from math import copysign, fabs

from dockfmu.components.core.kernel import kernel


@kernel
def gear_law(windup, stiffness, play, play_torque):
    """Return (torque, tangent stiffness) at the input shaft of a gearbox for a wind-up in rad, (8.2.1) with E1."""
    size = fabs(windup)
    if size < play:
        tangent = 2.0 * play_torque / (play * play) * size
        return copysign(0.5 * tangent * size, windup), tangent
    return copysign(stiffness * (size - play) + play_torque, windup), stiffness


@kernel
def gear_energy(windup, stiffness, play, play_torque):
    """Return the energy stored in a gearbox, J."""
    size = fabs(windup)
    if size < play:
        return play_torque * size * size * size / (3.0 * play * play)
    over = size - play
    return play_torque * play / 3.0 + over * (play_torque + 0.5 * stiffness * over)


@kernel
def gear_friction(torque, efficiency):
    """Return the losses as (friction against positive motion of the motor, against negative motion), N m.

    For a moving motor, `torque` plus friction is T_g* of (8.2.6): the torque on the gearbox divided by the efficiency
    if the motor drives the load, or multiplied by it if the load drives the motor (E9). As friction, the losses also
    hold a motor at rest.
    """
    driving = fabs(torque) * (1.0 / efficiency - 1.0)
    driven = fabs(torque) * (1.0 - efficiency)
    if torque > 0.0:
        return driving, driven
    return driven, driving


@kernel
def current(voltage, rate, data):
    """Return (current, A, is it limited) of a motor at a voltage and a rate, without inductance.

    `data` = (voltage constant, V s/rad; resistance, ohm; current limit, A). The characteristic is the line from the
    stall torque to the speed without load, cut off at the limit.
    """
    voltage_constant, resistance, limit = data
    wanted = (voltage - voltage_constant * rate) / resistance
    if fabs(wanted) <= limit:
        return wanted, False
    return copysign(limit, wanted), True
