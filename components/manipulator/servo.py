"""The digital rate servo of each joint: outer loop every 8 ms, inner loop every 0.5 ms (Fig. 8.2.2, manipulator 3.6).

The structure is that of the source; the laws are assumed: PI in the outer loop, proportional in the inner loop.
"""

from __future__ import annotations

from math import floor

from dockfmu.components.core.kernel import kernel


@kernel
def quantized(value, quantum):
    """Return the nearest multiple of `quantum`, or the value itself if `quantum` is 0."""
    if quantum <= 0.0:
        return value
    return quantum * floor(value / quantum + 0.5)


@kernel
def tick_outer(m):
    """Set the motor rate references from the commanded joint rates; the integral stops while the motor is saturated."""
    p = m.parameters
    for k in range(len(m.drive)):
        d = m.drive[k]
        commanded = quantized(p.gear.ratio[k] * d.command, p.servo.rate_quantum)
        error = commanded - quantized(d.motor_rate, p.servo.tachometer_quantum)
        if d.powered == 0.0:
            d.integral = 0.0
        elif d.saturated == 0.0:
            d.integral += p.servo.integral_gain[k] * error * p.servo.outer_period
        d.reference = commanded + p.servo.outer_gain[k] * error + d.integral


@kernel
def tick_inner(m):
    """Set the voltage of each motor."""
    p = m.parameters
    for k in range(len(m.drive)):
        d = m.drive[k]
        error = d.reference - quantized(d.motor_rate, p.servo.tachometer_quantum)
        voltage = p.servo.inner_gain[k] * error + p.motor.voltage_constant[k] * d.reference
        limit = p.motor.voltage_limit[k]
        d.voltage = max(-limit, min(limit, voltage))
