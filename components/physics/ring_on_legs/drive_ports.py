"""Record groups of the drive that draws a ring in: two motors on one output shaft.

Theory: peripheral-docking sections 7.4, 11.4.
"""

from __future__ import annotations

from dockfmu.components.core.field import Field, Group, changed, input, output
from dockfmu.components.core.starts import with_starts
from dockfmu.components.physics.devices import drive

# two motors that stall at 14 N.m on the output shaft and run free at 2.9 rad/s (peripheral-docking section 11.4)
DRIVE = with_starts(
    changed(
        drive.parameters(),
        {
            "nut_ratio": {"start": 300.0, "description": "angle of the drive's output shaft over that of the drums"},
            "efficiency": {"description": "efficiency of shafts and power gears during retraction"},
        },
    ),
    [drive.DRAWS_RING_IN],
    "parameters",
)
MOTOR = changed(
    drive.state(),
    {name: {"causality": "private"} for name in ("angle", "rate")},
    name="motor",
)


def motor_voltage() -> Field:
    """Return the command of the drive that draws a ring in."""
    return input("motor_voltage", "V", "voltage of both motors, positive retracts", shape=2, discrete=True)


def drive_outputs(lets_out: str = "pays out cable") -> Group:
    """Return the group `drive` of outputs; `lets_out` describes the effect of a positive rotation of the drive."""
    return Group(
        "drive",
        output("angle", "rad", f"angle of the output shaft, positive {lets_out}"),
        output("rate", "rad/s", f"rate of the output shaft, positive {lets_out}"),
    )
