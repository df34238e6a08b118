"""Chains without mass: the link to the housing carries only a force along itself, so that only its line counts.

The gain H of a chain is the rate of its active joint per angular velocity of the housing, frame 0, and h the part of
the joint's acceleration due to the rates: qdd = H d(omega)/dt + h (kinematics 8.3). With p from O_0 to the joint on the
housing, v its velocity relative to the base and e the unit vector along the link, H = p x e / m, where

- for a strut U P S, e is the line of its joints, whose distance changes by e v, and m = 1;
- for a crank R U S, e is the rod, whose length is constant, and m = e (a x u) its lever about the axis a of the crank
  u.

These are the constraints that `generated` resolves joint by joint for links with mass. `c` is the record of one chain,
`node` the link of the housing.
"""

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.linkage.closure import LEAST_DISTANCE
from dockfmu.components.physics.mechanics.rotation import apply_transposed, load_matrix
from dockfmu.components.physics.mechanics.vector import accumulate, axpy, cross, dot, load, norm, scale, store, subtract


@kernel
def _follow(c, lever, w, e, transmission, centripetal):
    """Set the gain, rate and h of a link along `e`.

    `centripetal` is the part of h due to its turning, times `transmission`.
    """
    gain = scale(1.0 / transmission, cross(lever, e))
    store(gain, c.gain)
    c.rate = dot(gain, w)
    c.quadratic = (dot(e, cross(w, cross(w, lever))) + centripetal) / transmission


@kernel
def follow_strut(c, node):
    """Set the stroke, its rate and the inputs of the later kernels, from the motion of the housing.

    Returns False if the strut has no direction.
    """
    lever = apply_transposed(load_matrix(node.rotation), load(c.node_point))
    w = load(node.angular_velocity)
    line = subtract(lever, load(c.base_point))
    length = norm(line)
    if not length > LEAST_DISTANCE:
        return False
    c.stroke = length - c.length
    e = scale(1.0 / length, line)
    v = cross(w, lever)
    rate = dot(e, v)
    _follow(c, lever, w, e, 1.0, (dot(v, v) - rate * rate) / length)
    c.determinant = length
    return True


@kernel
def follow_crank(c, node):
    """Set the rate of the crank likewise, at the cosine and sine of its angle. Returns False at a dead centre."""
    lever = apply_transposed(load_matrix(node.rotation), load(c.node_point))
    w = load(node.angular_velocity)
    x, y, axis = load_matrix(c.base_axes)
    crank = scale(c.length, axpy(c.cosine[0], x, scale(c.sine[0], y)))
    e = scale(1.0 / c.rod_length, subtract(subtract(lever, load(c.base_point)), crank))
    swing = cross(axis, crank)
    transmission = dot(e, swing)
    if transmission == 0.0:
        return False
    v = cross(w, lever)
    rate = dot(e, v) / transmission
    turning = axpy(-rate, swing, v)
    _follow(c, lever, w, e, transmission, dot(turning, turning) / c.rod_length + rate * rate * dot(e, crank))
    c.determinant = transmission
    return True


@kernel
def reduce(c, inertia, torque):
    """Add H^T D H to the inertia (upper triangle) and H^T (force - D h) to the torque, frame 0.

    D is the damping times the step.
    """
    gain = load(c.gain)
    accumulate(scale(c.force - c.damping * c.quadratic, gain), torque)
    x, y, z = gain
    inertia[0, 0] += c.damping * x * x
    inertia[0, 1] += c.damping * x * y
    inertia[0, 2] += c.damping * x * z
    inertia[1, 1] += c.damping * y * y
    inertia[1, 2] += c.damping * y * z
    inertia[2, 2] += c.damping * z * z


@kernel
def accelerate(c, turning):
    """Set the acceleration of the active joint from that of the housing relative to the base, frame 0."""
    c.acceleration = dot(load(c.gain), load(turning)) + c.quadratic
