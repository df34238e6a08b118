"""The mechanism's groups for its axial damper: spring and friction brake (V1), or two friction brakes (V2)."""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.components.core.field import Field, Group, output, parameter, private
from dockfmu.components.probe_mechanism.axial import gears


@dataclass(frozen=True)
class AxialPorts:
    """Groups of one axial device: `parameters`, outputs and memory, and the devices whose losses the audit lists.

    Both groups are called `axial`; that of the parameters is inside the group `parameters`. Quantities common to the
    devices have the same names.
    """

    parameters: Group
    state: Group
    devices: tuple[str, ...]


def _parameters(*own: Field) -> Group:
    """Return the group of parameters with those of the device, forces at the probe."""
    return Group(
        "axial",
        parameter("lead", "m", "lead of the ball screw", 0.02, minimum=1e-6),
        parameter("inertance", "kg", "inertia of nut, damper, gears and levers, reduced to the probe", 25.0,
                  minimum=1e-6),
        parameter("screw_friction", "1", "friction coefficient of the ball screw", 0.1, minimum=0.0, maximum=0.99),
        *gears.parameters(),
        *own,
        description="axial damper, reduced to the probe: force against travel",
    )  # fmt: skip


def _state(torque: str, brake: str, deflection: str, *losses: Field) -> Group:
    """Return the group of outputs and memory, with the descriptions and losses of the device."""
    return Group(
        "axial",
        output("torque", "N.m", f"m_FR of {torque} and gear train on the nut, damping included; positive resists "
               "compression"),
        output("brake_slip", "rad", f"slip of {brake}, reduced to the nut"),
        output("stroke", "m", f"{deflection}, reduced to the probe"),
        private("travel", "m", "compression of the probe since the start"),
        private("rate", "m/s", "rate of compression"),
        private("slip", "m", f"slip of {brake}, reduced to the probe"),
        private("deflection", "m", f"{deflection}, reduced to the probe"),
        private("train_force", "N", "force of the gear train, its damping included, at the middle of the micro-step"),
        gears.state(),
        *losses,
        private("dissipated_screw", "J", "by the ball screw"),
    )  # fmt: skip


_BRAKE = (
    parameter("brake_compression", "N", "slip force of the friction brake, probe pushed in", 8.5e3, minimum=1.0),
    parameter("brake_extension", "N", "slip force of the friction brake, probe pulled out", 1.8e4, minimum=1.0),
)

SPRING_AND_BRAKE = AxialPorts(
    _parameters(
        parameter("spring_preload", "N", "force at which the spring mechanism starts to wind", 1.5e3, minimum=0.0),
        parameter("spring_end", "N", "force at the end of the spring's travel", 2.5e3, minimum=0.0),
        parameter("spring_stroke", "m", "travel of the spring mechanism", 0.04, minimum=1e-9),
        parameter("spring_return", "1", "force of unwinding over force of winding", 0.7, minimum=0.0, maximum=1.0),
        *_BRAKE,
        parameter("magnetic_rate", "m/s", "table of the axial magnetic brakes: rate of the probe, rising from 0",
                  (0.0, 0.15, 0.3, 0.6), shape=4, minimum=0.0),
        parameter("magnetic_force", "N", "force of all axial magnetic brakes at the rates of the table, first 0",
                  (0.0, 1e3, 2e3, 4e3), shape=4, minimum=0.0),
    ),
    _state(
        "spring, friction brake", "the friction brake", "deflection of the spring mechanism",
        private("dissipated_train", "J", "by friction brake, spring friction and train damping"),
        private("dissipated_magnetic", "J", "by the axial magnetic brakes"),
    ),
    ("train", "gears", "magnetic", "screw"),
)  # fmt: skip

TWO_BRAKES = AxialPorts(
    _parameters(
        parameter("first_brake_compression", "N", "slip force of the first brake FrB1, probe pushed in", 2.2e3,
                  minimum=1.0),
        parameter("first_brake_extension", "N", "slip force of the first brake FrB1, probe pulled out", 2.2e3 / 3.0,
                  minimum=1.0),
        parameter("first_brake_stroke", "m", "travel of the first brake FrB1", 0.1, minimum=1e-9),
        *_BRAKE,
    ),
    _state(
        "both friction brakes", "the second friction brake FrB2", "stroke of the first friction brake FrB1",
        private("dissipated_train", "J", "by train damping"),
        private("dissipated_first_brake", "J", "by the first friction brake FrB1"),
        private("dissipated_brake", "J", "by the second friction brake FrB2"),
    ),
    ("train", "gears", "first_brake", "brake", "screw"),
)  # fmt: skip
