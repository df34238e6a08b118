"""Lateral damper: two spring mechanisms and two magnetic brakes between base and housing (central-docking section 5.7).

The springs are UPS chains whose stroke is the deflection, the brakes RUS chains whose crank drives the brake and hits
its stops. Every device is written as an elastic part and a damping coefficient D >= 0, force = -elastic - D rate. The
damping acts with the mean of the rates before and after a micro-step (linearly implicit, central-docking section 13):
stable for any D, and the energy that it takes from the motion in a step is exactly h D rate_mean^2 >= 0.
"""

from __future__ import annotations

from math import cos, fabs, pi, radians, sin

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core.component import Message, combined, fail
from dockfmu.components.core.field import Group, output, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.table import interpolate
from dockfmu.components.physics import hysteresis
from dockfmu.components.physics.contact.force import penetration
from dockfmu.components.physics.mechanics.rotation import load_matrix
from dockfmu.components.physics.mechanics.vector import cross, dot
from dockfmu.components.probe_mechanism.lateral import chains

SPRING_SINGULAR = 221
BRAKE_OUT_OF_REACH = 222
BRAKE_TABLE = 223
AXES = 224
SPRING_LAW = 225
# within the range of codes after which a mechanism halves its micro-step (R30)
SPRING_STOP = 135
CRANK_STOP = 136

_OWN = {
    SPRING_SINGULAR: Message("lateral spring mechanism {status.index:.0f} is near a singular position"),
    BRAKE_OUT_OF_REACH: Message(
        "the crank of lateral magnetic brake {status.index:.0f} cannot reach the housing, or is nearly straight: "
        "check base_point, node_point, crank and rod of parameters.lateral.brake"
    ),
    BRAKE_TABLE: Message(
        "parameters.lateral.brake: row {status.index:.0f} of speed must rise strictly from 0, "
        "torque and added_torque must start at 0"
    ),
    SPRING_STOP: penetration(
        "lateral spring mechanism {status.index:.0f} (parameters.lateral.spring) in its stop",
        "parameters.lateral.spring.stop_limit",
        discard=False,
    ),
    CRANK_STOP: Message(
        "the crank of lateral magnetic brake {status.index:.0f} is {status.value:.4g} rad deep in its stop, which "
        "exceeds parameters.lateral.brake.stop_limit = {parameters.lateral.brake.stop_limit:.4g} rad",
        outcome=LIMIT_EXCEEDED,
    ),
    AXES: Message("parameters.lateral: base_axes[{status.index:.0f}] of spring or brake is not a rotation matrix"),
}
MESSAGES = combined(_OWN, hysteresis.messages("parameters.lateral.spring, mechanism {status.index:.0f}", SPRING_LAW))

POINTS = 12
SPRINGS = (0.0, pi / 2)
BRAKES = (pi / 4, 3 * pi / 4)
_SPEED = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.9, 1.5, 3.0, 6.0)


def _eddy_current(speed: float) -> float:
    """Return the torque of a brake of set LD-1 at the crank: 125 N m at 0.2 rad/s."""
    return 2.0 * 125.0 * (speed / 0.2) / (1.0 + (speed / 0.2) ** 2)


def _point(axial: float, radius: float, azimuth: float) -> tuple[float, float, float]:
    return (axial, radius * cos(azimuth), radius * sin(azimuth))


def _axes(azimuth: float) -> tuple[tuple[float, float, float], ...]:
    """Return the rows x_0, radial unit vector e, x_0 x e (conventions section 7)."""
    return ((1.0, 0.0, 0.0), _point(0.0, 1.0, azimuth), (0.0, -sin(azimuth), cos(azimuth)))


def parameters() -> Group:
    """Return the group `lateral`: the start values are set LD-1.

    Theory: central-docking section 8.3, joints of conventions section 7.
    """
    torque = tuple(_eddy_current(speed) for speed in _SPEED)
    return Group(
        "lateral",
        Group(
            "spring",
            parameter(
                "base_point", "m", "joint on the base, frame 0", [_point(-0.15, 0.1, a) for a in SPRINGS], shape=(2, 3)
            ),
            parameter(
                "base_axes",
                "1",
                "frame 0 -> first joint, x along the strut",
                [_axes(a) for a in SPRINGS],
                shape=(2, 3, 3),
            ),
            parameter(
                "node_point", "m", "joint on the housing, frame M", [_point(0.0, 0.1, a) for a in SPRINGS], shape=(2, 3)
            ),
            parameter("length", "m", "distance of the joints with no deflection", 0.15, shape=2, minimum=1e-3),
            parameter("first_preload", "N", "force at which the soft spring yields", 600.0, shape=2, minimum=0.0),
            parameter("first_stiffness", "N/m", "of the soft spring", 9e5, shape=2, minimum=1.0),
            parameter("first_travel", "m", "of the soft spring, to either side", 7.9e-3, shape=2, minimum=1e-6),
            parameter("second_preload", "N", "force at which the stiff spring yields", 8e3, shape=2, minimum=0.0),
            parameter("second_stiffness", "N/m", "of the stiff spring", 4e6, shape=2, minimum=1.0),
            parameter("second_travel", "m", "of the stiff spring, beyond the soft one's", 2e-3, shape=2, minimum=1e-6),
            parameter(
                "stop_stiffness",
                "N/m",
                "beyond both travels, and between loading and unloading",
                1e7,
                shape=2,
                minimum=1.0,
            ),
            parameter("stop_limit", "m", "depth in the stop beyond which the model does not hold", 5e-3, minimum=0.0),
            parameter("ramp", "m", "deflection over which a preload builds up", 1e-4, shape=2, minimum=1e-9),
            parameter(
                "unloading", "1", "force of unloading over force of loading", 0.9, shape=2, minimum=0.1, maximum=1.0
            ),
            parameter("damping", "N.s/m", "structural damping", 500.0, shape=2, minimum=0.0),
            parameter("link_mass", "kg", "housing and rod of the spring mechanism", 0.0, shape=(2, 2), minimum=0.0),
            parameter(
                "link_centre",
                "m",
                "centres of mass from the joint on the base, along the strut",
                ((0.05, 0.1), (0.05, 0.1)),
                shape=(2, 2),
            ),
            parameter(
                "link_inertia", "kg.m2", "transverse, about the joint on the base", 0.0, shape=(2, 2), minimum=0.0
            ),
            description="two spring mechanisms, U P S chains",
        ),
        Group(
            "brake",
            parameter(
                "base_point",
                "m",
                "axis of the crank on the base, frame 0",
                [_point(-0.15, 0.05, a) for a in BRAKES],
                shape=(2, 3),
            ),
            parameter(
                "base_axes",
                "1",
                "frame 0 -> crank at zero angle, z is the axis",
                [_axes(a) for a in BRAKES],
                shape=(2, 3, 3),
            ),
            parameter(
                "node_point", "m", "joint on the housing, frame M", [_point(0.0, 0.1, a) for a in BRAKES], shape=(2, 3)
            ),
            parameter("crank", "m", "length of the crank", 0.05, shape=2, minimum=1e-3),
            parameter("rod", "m", "length of the rod", 0.15, shape=2, minimum=1e-3),
            parameter(
                "speed",
                "rad/s",
                "table of the brake: speed of the crank, rising from 0",
                [_SPEED] * 2,
                shape=(2, POINTS),
                minimum=0.0,
            ),
            parameter(
                "torque",
                "N.m",
                "torque on the crank at the speeds of the table, first 0",
                [torque] * 2,
                shape=(2, POINTS),
                minimum=0.0,
            ),
            parameter(
                "added_torque",
                "N.m",
                "of the switchable brake at the speeds of the table, first 0",
                [torque] * 2,
                shape=(2, POINTS),
                minimum=0.0,
            ),
            parameter("stop_low", "rad", "smallest angle of the crank", radians(90.0 - 11.3), shape=2),
            parameter("stop_high", "rad", "largest angle of the crank", radians(90.0 + 11.3), shape=2),
            parameter("stop_stiffness", "N.m/rad", "of the stops", 2.5e4, shape=2, minimum=1.0),
            parameter("stop_damping", "N.m.s/rad", "of the stops", 25.0, shape=2, minimum=0.0),
            parameter("stop_limit", "rad", "depth in a stop beyond which the model does not hold", 0.1, minimum=0.0),
            parameter("link_mass", "kg", "crank and rod", 0.0, shape=(2, 2), minimum=0.0),
            parameter(
                "link_centre",
                "m",
                "centres of mass from the inner joint, along the link",
                ((0.025, 0.075), (0.025, 0.075)),
                shape=(2, 2),
            ),
            parameter("link_inertia", "kg.m2", "transverse, about the inner joint", 0.0, shape=(2, 2), minimum=0.0),
            description="two magnetic brakes, R U S chains",
        ),
        description="lateral damper",
    )


def outputs() -> Group:
    """Return the group `lateral`: the outputs of the four chains.

    Spring mechanisms are chains 1 and 2, magnetic brakes 3 and 4.
    """
    return Group(
        "lateral",
        output("stroke", "m", "deflection of the spring mechanisms", shape=2),
        output("force", "N", "of the spring mechanisms, positive resists lengthening", shape=2),
        output("link_angle", "rad", "of the cranks of the magnetic brakes", shape=2),
        output("link_torque", "N.m", "of brakes and stops on the cranks, positive turns them forward", shape=2),
    )


def state() -> Group:
    """Return the group `damper`: chains, memory of the springs, energies."""
    return Group(
        "damper",
        chains.struts("spring"),
        chains.cranks("brake"),
        Group(
            "element",
            hysteresis.law("law", "m", "N", causality="constant"),
            hysteresis.memory("memory", "m", "N"),
            count=2,
        ),
        private("spring_coefficient", "N.s/m", "damping of the springs in this evaluation", shape=2),
        private("brake_coefficient", "N.m.s/rad", "damping of the brakes in this evaluation", shape=2),
        private("stop_coefficient", "N.m.s/rad", "damping of the stops in this evaluation", shape=2),
        private("viscous_springs", "J", "dissipated by structural damping of the springs so far"),
        private("stored_energy", "J", "in springs and stops"),
        private("dissipated_springs", "J", "so far, by hysteresis and structural damping"),
        private("dissipated_brakes", "J", "so far, by the magnetic brakes"),
        private("dissipated_stops", "J", "so far, by the stops of the cranks"),
    )


@kernel
def two_stage_spring(s, k, law):
    """Fill `law` with spring mechanism k: two preloaded stages and a stop in both directions.

    Theory: central-docking section 5.7.

    The preloads build up over `ramp`, or as fast as the stop's stiffness allows. Unloading has the fraction `unloading`
    of the force, and joins the stop on a segment of its stiffness.
    """
    p1 = s.first_travel[k]
    p2 = p1 + s.second_travel[k]
    share = s.unloading[k]
    k1 = s.first_stiffness[k]
    k2 = s.second_stiffness[k]
    stop = s.stop_stiffness[k]
    first_ramp = max(s.ramp[k], s.first_preload[k] / (stop - k1))
    end_of_first = s.first_preload[k] + k1 * p1
    start_of_second = max(s.second_preload[k], end_of_first)
    second_ramp = max(s.ramp[k], (start_of_second - end_of_first) / (stop - k2))
    last = start_of_second + k2 * (p2 - p1)
    corner = p2 - (1.0 - share) * last / (stop - share * k2)
    if p2 - corner < hysteresis.SHORTEST * p2:
        corner = p2
    middle = 0.5 * (p1 + second_ramp + p2)
    for side in range(2):
        law.points[side] = 6.0
        law.transition_stiffness[side] = stop
        for i in range(2):
            law.forward_deformation[side, i] = i * first_ramp
            law.forward_reaction[side, i] = i * (s.first_preload[k] + k1 * first_ramp)
        law.forward_deformation[side, 2] = p1
        law.forward_reaction[side, 2] = end_of_first
        law.forward_deformation[side, 3] = p1 + second_ramp
        law.forward_reaction[side, 3] = start_of_second + k2 * second_ramp
        law.forward_deformation[side, 4] = middle
        law.forward_reaction[side, 4] = start_of_second + k2 * (middle - p1)
        law.forward_deformation[side, 5] = p2
        law.forward_reaction[side, 5] = last
        for i in range(6):
            law.backward_deformation[side, i] = law.forward_deformation[side, i]
            law.backward_reaction[side, i] = law.forward_reaction[side, i]
        law.backward_reaction[side, 2] *= share
        law.backward_reaction[side, 3] *= share
        law.backward_deformation[side, 4] = corner
        law.backward_reaction[side, 4] = last - stop * (p2 - corner)


@kernel
def _is_table(speed, torque, added):
    """Return whether a brake torque is 0 at rest and a function of speed."""
    for i in range(POINTS - 1):
        if not speed[i + 1] > speed[i]:
            return False
    return speed[0] == 0.0 and torque[0] == 0.0 and added[0] == 0.0


@kernel
def _is_rotation(a):
    """Return whether the rows are orthonormal and right-handed, to 1e-6."""
    A = load_matrix(a)
    error = fabs(dot(cross(A[0], A[1]), A[2]) - 1.0)
    for i in range(3):
        error = max(error, fabs(dot(A[i], A[i]) - 1.0))
    return error < 1e-6


@kernel
def initialize(p, d, housing, status):
    """Set the constants of the chains, laws of the springs, memory and energies at rest.

    `housing` is in its initial position.
    """
    for k in range(2):
        chains.attach(p.spring, k, d.spring[k])
        d.spring[k].length = p.spring.length[k]
        chains.attach(p.brake, k, d.brake[k])
        d.brake[k].length = p.brake.crank[k]
        d.brake[k].rod_length = p.brake.rod[k]
        if not (_is_rotation(p.spring.base_axes[k]) and _is_rotation(p.brake.base_axes[k])):
            return fail(status, AXES, 0.0, k + 1)
        if not _is_table(p.brake.speed[k], p.brake.torque[k], p.brake.added_torque[k]):
            return fail(status, BRAKE_TABLE, 0.0, k + 1)
        law = d.element[k].law
        two_stage_spring(p.spring, k, law)
        code = hysteresis.validate(law)
        if code != 0:
            return fail(status, SPRING_LAW + code, 0.0, k + 1)
        hysteresis.reset(law, d.element[k].memory)
    d.viscous_springs = 0.0
    d.dissipated_brakes = 0.0
    d.dissipated_stops = 0.0
    code = place(d, housing, status)
    if code == 0:
        for k in range(2):
            d.spring[k].nominal_determinant = d.spring[k].determinant
            d.brake[k].nominal_determinant = d.brake[k].determinant
    return code


@kernel
def place(d, housing, status):
    """Set the strokes, angles and rates of the four chains.

    `housing` is its link: rotation and angular velocity, frame 0.
    """
    for k in range(2):
        c = d.spring[k]
        if not chains.place_strut(c, housing):
            return fail(status, SPRING_SINGULAR, c.stroke, k + 1)
        c = d.brake[k]
        if not chains.place_crank(c, housing):
            return fail(status, BRAKE_OUT_OF_REACH, c.angle, k + 1)
    return 0


@kernel
def _crank_depth(p, angle, k):
    """Return the signed depth of the crank of brake k in its stops, rad: negative at the low one, 0 between them."""
    return min(0.0, angle - p.brake.stop_low[k]) + max(0.0, angle - p.brake.stop_high[k])


@kernel
def check_stops(p, d, status):
    """Return 0, or the code of a spring mechanism or crank that is too deep in its stop, after `place`."""
    for k in range(2):
        depth = fabs(d.spring[k].stroke) - p.spring.first_travel[k] - p.spring.second_travel[k]
        if depth > p.spring.stop_limit:
            return fail(status, SPRING_STOP, depth, k + 1)
        depth = fabs(_crank_depth(p, d.brake[k].angle, k))
        if depth > p.brake.stop_limit:
            return fail(status, CRANK_STOP, depth, k + 1)
    return 0


@kernel
def select(d, status):
    """Set the segments of the springs' hysteresis for the coming micro-step, after `place`."""
    for k in range(2):
        element = d.element[k]
        c = d.spring[k]
        code = hysteresis.update(element.law, element.memory, c.stroke, c.rate, 1.0)
        if code != 0:
            return fail(status, SPRING_LAW + code, c.stroke, k + 1)
    return 0


@kernel
def secant(speed, table_speed, table_torque):
    """Return the damping coefficient m / speed for a brake torque m that is 0 at speed 0.

    Beyond the table the torque is constant.
    """
    if speed > table_speed[1]:
        return interpolate(speed, table_speed, table_torque) / speed
    return table_torque[1] / table_speed[1]


@kernel
def forces(p, d, brakes_on, h):
    """Set the joint forces and damping of the four chains for a micro-step h.

    `brakes_on` 0 or 1 switches the added brakes.
    """
    for k in range(2):
        c = d.spring[k]
        elastic = hysteresis.reaction(d.element[k].memory, c.stroke)
        d.spring_coefficient[k] = p.spring.damping[k]
        c.force = -elastic - p.spring.damping[k] * c.rate
        c.damping = 0.5 * h * p.spring.damping[k]
        c = d.brake[k]
        rate = c.rate
        # torque over speed falls with the speed: take it at the middle, predicted with the last acceleration
        speed = fabs(rate + 0.5 * h * c.acceleration)
        coefficient = secant(speed, p.brake.speed[k], p.brake.torque[k])
        if brakes_on > 0.0:
            coefficient += secant(speed, p.brake.speed[k], p.brake.added_torque[k])
        d.brake_coefficient[k] = coefficient
        depth = _crank_depth(p, c.angle, k)
        elastic = p.brake.stop_stiffness[k] * depth
        stop = 0.0
        if depth != 0.0:
            stop = p.brake.stop_damping[k]
            # a stop pushes but does not pull
            if depth * rate < 0.0:
                stop = min(stop, elastic * depth / -(depth * rate))
        d.stop_coefficient[k] = stop
        c.force = -elastic - (coefficient + stop) * rate
        c.damping = 0.5 * h * (coefficient + stop)


@kernel
def kick(d, h):
    """Add the energy that dampers, brakes and stops dissipate in a micro-step h."""
    for k in range(2):
        c = d.spring[k]
        rate = c.rate + 0.5 * h * c.acceleration
        d.viscous_springs += h * d.spring_coefficient[k] * rate * rate
        c = d.brake[k]
        rate = c.rate + 0.5 * h * c.acceleration
        d.dissipated_brakes += h * d.brake_coefficient[k] * rate * rate
        d.dissipated_stops += h * d.stop_coefficient[k] * rate * rate


@kernel
def report(p, d, out):
    """Set the energies and outputs at the placed position; the segments of the springs' law stay as selected."""
    stored = 0.0
    d.dissipated_springs = d.viscous_springs
    for k in range(2):
        memory = d.element[k].memory
        c = d.spring[k]
        now = hysteresis.reaction(memory, c.stroke)
        stored += memory.stored_energy + 0.5 * (memory.reaction + now) * (c.stroke - memory.deformation)
        d.dissipated_springs += memory.dissipated_energy
        out.stroke[k] = c.stroke
        out.force[k] = -c.force
        c = d.brake[k]
        depth = _crank_depth(p, c.angle, k)
        stored += 0.5 * p.brake.stop_stiffness[k] * depth * depth
        out.link_angle[k] = c.angle
        out.link_torque[k] = c.force
    d.stored_energy = stored
