"""Class-2 contact: a spring-loaded rotary link without inertia that yields.

Theory: contact-geometry A12, contact-forces section 6.

A latch or sensor lever turns about a pivot of its carrier, in a plane through the axes `xi` and `eta`; angle 0 is
extended, and a growing angle turns xi into eta. It rests at the angle at which it just touches, and presses with the
force of its spring.
"""

from __future__ import annotations

from math import cos, fabs, sin

from dockfmu.components.core.field import Field, Group, parameter, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.rotation import apply_transposed
from dockfmu.components.physics.mechanics.vector import add, axpy, cross, dot, load, scale, store, subtract

FREE = 0.0
PUSHED = 1.0
BOTTOMED = 2.0

# a lever touches where its depth is between 0.5 and 1.5 times this, m, or where the depth drops within this angle, rad
TOUCH = 1e-12
ANGLE_TOLERANCE = 1e-9
STEPS = 100
# shortest lever arm of the contact force about the pivot, m (assumed): without a limit the lever would lock
ARM_FLOOR = 1e-3


def spring() -> tuple[Field, ...]:
    """Return the parameters of the lever's spring."""
    return (
        parameter("preload", "N.m", "torque of the spring when extended", 0.0, minimum=0.0),
        parameter("stiffness", "N.m/rad", "of the spring", 0.0, minimum=0.0),
        parameter("angle_max", "rad", "largest angle", 0.0, minimum=0.0),
    )


def frame(name: str, count: int) -> Group:
    """Return the group of the current planes of `count` levers."""
    return Group(
        name,
        private("pivot", "m", "PU axes", shape=3),
        private("xi", "1", "axis along the carrier, PU axes", shape=3),
        private("eta", "1", "radial axis, PU axes", shape=3),
        count=count,
    )


def lever(name: str, count: int) -> Group:
    """Return the group of the states of `count` levers: the angle, and the force that is held until the next search."""
    return Group(
        name,
        private("angle", "rad", "0 extended"),
        private("mode", "1", "0 free, 1 pushed, 2 at the end of its travel"),
        private("force", "N", "magnitude of the force on the passive unit"),
        private("normal", "1", "its direction, PU axes", shape=3),
        private("position", "m", "its point, PU axes", shape=3),
        private("fired", "1", "has snapped into its slot: no longer resists"),
        private("short", "1", "the force acts on an arm below ARM_FLOOR"),
        count=count,
    )


@kernel
def place_frame(frame, origin, rotation, xi, pivot, eta):
    """Set `frame` from the carrier's pose (PU axes), the `pivot` (along x, along eta) and the carrier's axis `eta`.

    `xi` is the carrier's x, PU axes, the same for all its levers.
    """
    radial = apply_transposed(rotation, eta)
    store(xi, frame.xi)
    store(radial, frame.eta)
    store(axpy(pivot[0], xi, axpy(pivot[1], radial, origin)), frame.pivot)


@kernel
def turned(frame, point, c, s):
    """Return a point of the lever, given from the pivot at angle 0, in PU axes at the angle of cosine c and sine s."""
    along = scale(c * point[0] - s * point[1], load(frame.xi))
    return add(load(frame.pivot), axpy(s * point[0] + c * point[1], load(frame.eta), along))


def resting_angle(penetration):
    """Return the kernel `search(frame, figure, surface, end) -> (mode, angle)` for one kind of lever.

    `penetration(frame, figure, surface, c, s)` is the depth of the lever at the angle of cosine c and sine s. It falls
    with the angle; the search finds the angle at which it all but vanishes. `end` is (cosine, sine) of the largest
    angle. The whole range is searched, so that the lever can come back (erratum E22), by false position with the
    Illinois rule: as safe as bisection, with a quarter of its steps.
    """

    @kernel
    def search(frame, figure, surface, end):
        low = 0.0
        excess_low = penetration(frame, figure, surface, 1.0, 0.0) - TOUCH
        if excess_low <= 0.0:
            return FREE, low
        high = figure.angle_max
        excess_high = penetration(frame, figure, surface, end[0], end[1]) - TOUCH
        if excess_high > 0.0:
            return BOTTOMED, high
        last = 0
        for _ in range(STEPS):
            angle = low + (high - low) * excess_low / (excess_low - excess_high)
            excess = penetration(frame, figure, surface, cos(angle), sin(angle)) - TOUCH
            if fabs(excess) < 0.5 * TOUCH:
                return PUSHED, angle
            if excess > 0.0:
                low = angle
                excess_low = excess
                if last > 0:
                    excess_high *= 0.5
                last = 1
            else:
                high = angle
                excess_high = excess
                if last < 0:
                    excess_low *= 0.5
                last = -1
            if high - low < ANGLE_TOLERANCE:
                break
        return PUSHED, low

    return search


@kernel
def spring_energy(figure, angle):
    """Return the work done on the spring from angle 0."""
    return (figure.preload + 0.5 * figure.stiffness * angle) * angle


@kernel
def hold(lever, figure, frame, normal, point):
    """Store the force with which the lever at its angle presses on the passive unit: spring torque over arm."""
    axis = cross(load(frame.xi), load(frame.eta))
    arm = fabs(dot(axis, cross(subtract(point, load(frame.pivot)), normal)))
    lever.force = (figure.preload + figure.stiffness * lever.angle) / max(arm, ARM_FLOOR)
    lever.short = 1.0 if arm < ARM_FLOOR else 0.0
    store(normal, lever.normal)
    store(point, lever.position)


@kernel
def release(lever):
    """Reset a lever without contact: extended and without force."""
    lever.angle = 0.0
    lever.mode = FREE
    lever.force = 0.0
    lever.short = 0.0
