"""Hydraulic attenuators: orifices, a return spring and stops; passive, as in the ring of Apollo (ring-mechanisms 10.2).

The ring waits at its forward position, where the springs hold the rods against their stops; legs can only shorten.
When a rod is pushed in, oil passes an orifice that closes over the stroke. When the spring pushes the rod out, the oil
returns through a wider orifice.

The ring is drawn in by three cables on drums that one drive turns, as in the peripheral mechanism but without the
springs that keep slack cables tight. At the start all their slack is paid out. Names: p = parameters.attenuators,
c = strut; v = rate of the stroke.
"""

from __future__ import annotations

from math import fabs

from dockfmu.components.core import check as checks
from dockfmu.components.core.component import Message, fail
from dockfmu.components.core.field import Group, changed, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.table import interpolate
from dockfmu.components.physics.ring_on_legs import platform, retraction, train
from dockfmu.components.physics.ring_on_legs.platform import LEGS
from dockfmu.components.ring_mechanism.legs import retractor, struts
from dockfmu.components.ring_mechanism.legs.law import LegLaw

POINTS = 5

METERING = 401

PARAMETERS = Group(
    "attenuators",
    parameter("fluid_density", "kg/m3", "density of the oil", 870.0, minimum=0.0),
    parameter("piston_area", "m2", "area of the piston that displaces oil", 2e-4, minimum=0.0),
    parameter("discharge_coefficient", "1", "discharge coefficient of all orifices", 0.7, minimum=1e-3),
    parameter(
        "metered_compression",
        "m",
        "compressions from the forward position at which the orifice is metered",
        (0.0, 0.06, 0.12, 0.18, 0.24),
        shape=POINTS,
    ),
    parameter(
        "metered_area",
        "m2",
        "areas of the orifice for compression at these points",
        (4.6e-7, 4.2e-7, 3.7e-7, 3.1e-7, 2.4e-7),
        shape=POINTS,
        minimum=1e-9,
    ),
    parameter("return_area", "m2", "area of the orifice for extension", 2e-6, minimum=1e-9),
    parameter("preload", "N", "force of the return spring at the forward position", 60.0, minimum=0.0),
    parameter("stiffness", "N/m", "stiffness of the return spring", 150.0, minimum=0.0),
    parameter(
        "rigid_compression", "m", "compression at which the rigid return spring begins to bear", 0.0, minimum=0.0
    ),
    parameter("rigid_stiffness", "N/m", "stiffness of the rigid return spring; 0: none", 0.0, minimum=0.0),
    parameter("stop_stiffness", "N/m", "stiffness of the stops at both ends", 5e5, minimum=1.0),
    parameter("stop_damping", "N.s/m", "damping of the stops", 500.0, minimum=0.0),
    parameter("seal_friction", "N", "dry friction of the seals", 20.0, minimum=0.0),
    parameter("seal_speed", "m/s", "speed at which seal friction reaches 0.7 of its value", 5e-3, minimum=1e-6),
    description="hydraulic attenuators of the legs",
)

CABLES = changed(retraction.parameters(), {"spring_tension": {"start": 0.0}})

LAW = LegLaw(
    name="HydraulicRingMechanism",
    description="passive ring on six hydraulic attenuators",
    geometry=struts.geometry(screws=False),
    parameters=(PARAMETERS, CABLES, retractor.parameters(100.0, "that of the drums")),
    state=Group(
        "attenuator",
        private("oil", "N", "force of the oil on the rod at the last evaluation", shape=LEGS),
        private("seal", "N", "friction of the seals on the rod at the last evaluation", shape=LEGS),
        private("stop", "N", "force of the stops on the rod minus that of their springs, likewise", shape=LEGS),
        private("orifices", "J", "energy dissipated by the oil"),
        private("seals", "J", "energy dissipated by the seals"),
        private("stops", "J", "energy dissipated by the stops"),
    ),
    leg=(
        *struts.OUTPUTS,
        output("force", "N", "force of the attenuator on the rod, positive pushes it out"),
    ),
    devices=("orifices", "seals", "stops", "cables", "drive"),
    works=("drive",),
    command=retractor.COMMAND,
    drive=retractor.STATE,
    public=(retraction.outputs(), retractor.OUTPUTS),
    starts={"initial_stroke": 0.24, "margin": (0.02, 0.03), "longest_micro_step": 5e-4},
    messages={
        **struts.MESSAGES,
        METERING: Message(
            "parameters.attenuators.metered_compression[{status.index:.0f}] = {status.value:g} m: compressions must "
            "be strictly ascending"
        ),
    },
)


@kernel
def orifice(p, compression, v):
    """Return the force of the oil, N, on a rod that moves at v: (rho/2) A (A v / (C_d a))^2 against it."""
    area = p.return_area if v > 0.0 else interpolate(compression, p.metered_compression, p.metered_area)
    speed = p.piston_area * v / (p.discharge_coefficient * area)
    return -0.5 * p.fluid_density * p.piston_area * speed * fabs(speed)


@kernel
def _spring(p, compression):
    """Return (force in N, stored energy in J) of the soft and the rigid return spring."""
    beyond = max(0.0, compression - p.rigid_compression)
    force = p.preload + p.stiffness * compression + p.rigid_stiffness * beyond
    return force, (
        p.preload + 0.5 * p.stiffness * compression
    ) * compression + 0.5 * p.rigid_stiffness * beyond * beyond


@kernel
def _stop_depths(p, compression, stroke):
    """Return the depths of a rod in its stops, m: (at the forward, at the retracted position), 0 outside.

    At the forward position the stop carries the preload.
    """
    return max(0.0, p.preload / p.stop_stiffness - compression), max(0.0, compression - stroke)


@kernel
def check(m):
    """Return 0, or the code of a metering table that is not ascending."""
    p = m.parameters.attenuators
    wrong = checks.first_not_rising(p.metered_compression)
    if wrong:
        return fail(m.status, METERING, p.metered_compression[wrong - 1], wrong)
    return 0


@kernel
def initialize(m):
    """Set all losses to zero, and the cables paid out."""
    retractor.initialize(m)
    retraction.initialize(m.parameters.cables, m.cable)
    m.attenuator.orifices = 0.0
    m.attenuator.seals = 0.0
    m.attenuator.stops = 0.0


@kernel
def _place_cables(m, ahead):
    """Place the cables on the placed ring, with the drums extrapolated by `ahead` (s)."""
    p = m.parameters.cables
    angle = retraction.largest_angle(p) - retractor.way(m, ahead)
    retraction.place(p, m.hexapod, m.cable, angle, -retractor.rate(m))


@kernel
def load_ring(m):
    """Add the tensions of the cables to the wrench on the ring."""
    retraction.load_ring(m.hexapod, m.cable)


@kernel
def load_base(m):
    """Add the pull of the cables on their drums to the wrench on the base."""
    retraction.load_base(m.cable, m.base.force_now, m.base.torque_now)


@kernel
def retract(m, h):
    """Advance the drive over h against the cables."""
    p = m.parameters.cables
    retractor.advance(m, p.drum_radius * retraction.total_tension(m.cable), retraction.largest_angle(p), h)


@kernel
def drive(m, h, share):
    """Set the forces of all attenuators and cables for the placed legs; `lose` counts their losses."""
    p = m.parameters.attenuators
    s = m.attenuator
    for k in range(LEGS):
        c = m.hexapod.strut[k]
        v = c.rate[3]
        compression = m.parameters.legs.stroke - c.stroke
        oil = orifice(p, compression, v)
        seal = train.friction(p.seal_friction, p.seal_speed, v)
        forward, inner = _stop_depths(p, compression, m.parameters.legs.stroke)
        out_stop = train.stop(p.stop_stiffness, p.stop_damping, forward, v)
        in_stop = train.stop(p.stop_stiffness, p.stop_damping, inner, -v)
        spring, _ = _spring(p, compression)
        c.force[3] = spring + oil + seal - out_stop + in_stop
        s.oil[k] = oil
        s.seal[k] = seal
        s.stop[k] = (in_stop - p.stop_stiffness * inner) - (out_stop - p.stop_stiffness * forward)
    _place_cables(m, 0.5 * h)


@kernel
def lose(m, h):
    """Add the losses of all attenuators, with the mean rates of their rods, and of the cables over a micro-step h.

    The forces were computed with predicted rates. While the ring chatters on its stops and latches, the errors of these
    rates are as large as the rates, and a loss counted with them would not match the energy taken from the ring.
    """
    s = m.attenuator
    retraction.dissipate(m.parameters.cables, m.cable, -retractor.rate(m), h)
    gain = platform.mean_gain(m.hexapod, m.ring_state, h)
    for k in range(LEGS):
        c = m.hexapod.strut[k]
        way = h * (c.rate[3] + platform.stroke_gain(m.hexapod, c, gain))
        s.orifices -= s.oil[k] * way
        s.seals -= s.seal[k] * way
        s.stops -= s.stop[k] * way


@kernel
def set_outputs(m):
    """Set the forces of the legs, and the outputs of the drive."""
    retractor.set_outputs(m)
    for k in range(LEGS):
        m.leg[k].force = m.hexapod.strut[k].force[3]


@kernel
def audit(m):
    """Add springs, cables, the drive and losses to the energies of the mechanism."""
    p = m.parameters.attenuators
    stored = 0.0
    for k in range(LEGS):
        compression = m.parameters.legs.stroke - m.hexapod.strut[k].stroke
        forward, inner = _stop_depths(p, compression, m.parameters.legs.stroke)
        stored += _spring(p, compression)[1]
        stored += train.stored(p.stop_stiffness, forward) + train.stored(p.stop_stiffness, inner)
    out = m.audit
    out.stored_energy += stored + retraction.stored_energy(m.parameters.cables, m.cable)
    out.dissipated_orifices = m.attenuator.orifices
    out.dissipated_seals = m.attenuator.seals
    out.dissipated_stops = m.attenuator.stops
    out.dissipated_cables = m.cable[0].dissipated + m.cable[1].dissipated + m.cable[2].dissipated
    out.dissipated_energy += out.dissipated_orifices + out.dissipated_seals + out.dissipated_stops
    out.dissipated_energy += out.dissipated_cables
    retractor.audit(m)
