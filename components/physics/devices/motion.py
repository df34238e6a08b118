"""Motion of the two ports inside a step, conventions section 3.3."""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.mechanics.kinematics import extrapolate
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import add, cross, load, store


@kernel
def place_ports(base, target, motion, tau):
    """Place both ports `tau` seconds into the step, with the accelerations that the craft had in the last one.

    The target is extrapolated like the base (ruling R37). An acceleration of the target that is not connected is 0:
    the velocity then jumps at every macro step by the change of the last one, and friction has to follow.
    """
    extrapolate(base, load(base.acceleration), load(base.angular_acceleration), tau, motion.base)
    extrapolate(target, load(target.acceleration), load(target.angular_acceleration), tau, motion.target)


@kernel
def shift_base(base, travel, rate):
    """Move frame 0 along its x by the hatch cover's `travel` (m), with its `rate` (m/s)."""
    A = load_matrix(base.rotation)
    offset = (travel, 0.0, 0.0)
    store(add(load(base.position), apply_transposed(A, offset)), base.position)
    carried = add(load(base.velocity), cross(load(base.angular_velocity), offset))
    store(add(carried, (rate, 0.0, 0.0)), base.velocity)


@kernel
def turn_to_inertial(port, force, torque):
    """Return (force, torque about the origin of I), axes I, of a wrench about a moving port, port axes."""
    A = load_matrix(port.rotation)
    f = apply_transposed(A, force)
    return f, add(apply_transposed(A, torque), cross(load(port.position), f))
