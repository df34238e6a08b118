"""The digital rate servo of each joint: outer loop every 8 ms, inner loop every 0.5 ms (Fig. 8.2.2, spec/08 3.6).

The structure is the source's, the law assumed: proportional and integral outside, proportional inside.
"""

from __future__ import annotations

from math import floor

from components.core.kernel import kernel


@kernel
def quantized(value, quantum):
    """Return the nearest multiple of `quantum`; the value itself if that is 0."""
    if quantum <= 0.0:
        return value
    return quantum * floor(value / quantum + 0.5)


@kernel
def tick_outer(m):
    """Set the reference of each motor's rate from the commanded rate of its joint; the integral stops at the limits."""
    p = m.parameters
    for k in range(len(m.drive)):
        d = m.drive[k]
        wanted = quantized(p.gear.ratio[k] * d.command, p.servo.rate_quantum)
        error = wanted - quantized(d.motor_rate, p.servo.tachometer_quantum)
        if d.powered == 0.0:
            d.integral = 0.0
        elif d.saturated == 0.0:
            d.integral += p.servo.integral_gain[k] * error * p.servo.outer_period
        d.reference = wanted + p.servo.outer_gain[k] * error + d.integral


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
