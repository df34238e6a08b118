"""The record of the oscillator: inputs, outputs, parameters and state."""

from dockfmu.components.core import ports
from dockfmu.components.core.field import Group, input, output, parameter, private
from dockfmu.components.core.record import Record

RECORD = Record(
    input("force", "N", "force on the mass, mean over the step, along x", evaluated="mean"),
    output("position", "m", "displacement of the mass from the relaxed position of the spring"),
    output("velocity", "m/s", "velocity of the mass"),
    Group(
        "parameters",
        parameter("mass", "kg", "moving mass", 1.0, minimum=1e-9),
        parameter("stiffness", "N/m", "stiffness of the spring to the ground", 1.0, minimum=0.0),
        parameter("damping", "N.s/m", "damping coefficient of the damper to the ground", 0.0, minimum=0.0),
        parameter("initial_position", "m", "displacement at the start", 0.0),
        parameter("initial_velocity", "m/s", "velocity at the start", 0.0),
        parameter("travel_limit", "m", "displacement beyond which the model is not valid", 1e9, minimum=0.0),
    ),
    ports.audit(devices=("damper",), works=("force",)),
    ports.status(),
    Group("work", private("last_position", "m", "position at the start of the step")),
)
