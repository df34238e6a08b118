"""The same systems in Pinocchio and MuJoCo: trees whose arcs lead outwards, from a base at rest."""

import numpy as np

from dockfmu.components.multibody.reference.algebra import quaternion_of
from dockfmu.components.multibody.reference.joints import AxisMotion, QuaternionMotion


def row(values):
    return " ".join(repr(float(value)) for value in np.asarray(values).ravel())


def placement(system, body):
    """Return (point, R) of the joint frame on i+ of the joint before a body, in the joint frame on i- of that of i+.

    Both engines have the frame of a body where its joint is.
    """
    joint = system.joints[system.before[body][0]]
    point, R = joint.plus.point, joint.plus.R
    if joint.leaves:
        carrier = system.joints[system.before[joint.leaves][0]].minus
        point, R = carrier.R.T @ (point - carrier.point), carrier.R.T @ R
    return point, R


def depth_first(system):
    """Return the bodies, each sub-tree in one piece."""
    order, waiting = [], [0]
    while waiting:
        body = waiting.pop()
        order.append(body)
        waiting += [other for other in system.outward if system.before[other][1] == body]
    return order[1:]


def pinocchio_model(system):
    """Return (model, index of the joint that moves each body, placement of the body on that joint).

    The joints are in depth-first order: without it Pinocchio's Jacobians of constraints lack columns.
    """
    import pinocchio as pin

    model = pin.Model()
    index = {0: 0}
    fixed = {0: pin.SE3.Identity()}
    for body in depth_first(system):
        joint = system.joints[system.before[body][0]]
        assert joint.enters == body, "arcs must lead outwards"
        point, R = placement(system, body)
        before = fixed[joint.leaves] * pin.SE3(R, point)
        motion = joint.motion
        if motion.rates == 0:
            # the body is part of the one before it
            index[body], fixed[body] = index[joint.leaves], before
        else:
            index[body] = model.addJoint(index[joint.leaves], pinocchio_joint(motion), before, joint.name)
            fixed[body] = pin.SE3.Identity()
        mine = system.bodies[body - 1]
        C = joint.minus.R
        inertia = pin.Inertia(mine.mass, -C.T @ joint.minus.point, C.T @ mine.inertia @ C)
        model.appendBodyToJoint(index[body], inertia, fixed[body])
    return model, index, fixed


def pinocchio_joint(motion):
    import pinocchio as pin

    if isinstance(motion, QuaternionMotion):
        return pin.JointModelFreeFlyer() if motion.displacements else pin.JointModelSpherical()
    axes = [np.array(axis) for axis in motion.rotations]
    if len(axes) == 2:
        return pin.JointModelUniversal(*axes)
    if motion.lead:
        return pin.JointModelHelicalUnaligned(axes[0], motion.lead)
    if not axes:
        return pin.JointModelPrismaticUnaligned(np.array(motion.displacements[0]))
    if len(motion.displacements) == 2:
        return pin.JointModelPlanar()
    return pin.JointModelRevoluteUnaligned(axes[0])


def pinocchio_state(system, model, q, u):
    """Return (q, v) in the coordinates of Pinocchio: quaternions last, velocities of free joints in the body."""
    position, velocity = np.zeros(model.nq), np.zeros(model.nv)
    for joint, here, rates in zip(system.joints, system.position_slices, system.rate_slices, strict=True):
        if not joint.motion.rates:
            continue
        k = model.getJointId(joint.name)
        at, along = model.joints[k].idx_q, model.joints[k].idx_v
        state = joint.motion.evaluate(q[here], u[rates], 0.0)
        own_q, own_u = q[here], u[rates]
        if isinstance(joint.motion, QuaternionMotion):
            own_q = np.concatenate((own_q[:-4], own_q[-3:], own_q[-4:-3]))
            if joint.motion.displacements:
                own_u = np.concatenate((state.R.T @ own_u[:3], own_u[3:]))
        elif len(joint.motion.displacements) == 2:
            own_q = np.array([own_q[0], own_q[1], np.cos(own_q[2]), np.sin(own_q[2])])
            own_u = np.array([*(state.R.T @ state.velocity(own_u))[:2], own_u[2]])
        position[at : at + len(own_q)], velocity[along : along + len(own_u)] = own_q, own_u
    return position, velocity


def mujoco_text(system, gravity):
    """Return the model in MJCF. Sequences of hinges and slides make the other kinds; a free joint hangs on the base."""
    children = {}
    for body in system.outward:
        children.setdefault(system.before[body][1], []).append(body)

    def element(body):
        joint = system.joints[system.before[body][0]]
        assert joint.enters == body, "arcs must lead outwards"
        point, R = placement(system, body)
        mine, C = system.bodies[body - 1], joint.minus.R
        J = C.T @ mine.inertia @ C
        full = row([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        parts = [
            f'<body name="{mine.name}" pos="{row(point)}" quat="{row(quaternion_of(R))}">',
            *mujoco_joints(joint),
            f'<inertial pos="{row(-C.T @ joint.minus.point)}" mass="{mine.mass!r}" fullinertia="{full}"/>',
            *(element(child) for child in children.get(body, [])),
            "</body>",
        ]
        return "\n".join(parts)

    return f"""<mujoco><compiler angle="radian" boundmass="0" boundinertia="0" balanceinertia="false"/>
<option gravity="{row(gravity)}" integrator="RK4" jacobian="dense"><flag contact="disable"/></option>
<worldbody>{"".join(element(body) for body in children[0])}</worldbody></mujoco>"""


def mujoco_joints(joint):
    motion = joint.motion
    if isinstance(motion, QuaternionMotion):
        kind = "free" if motion.displacements else "ball"
        return [f'<joint name="{joint.name}" type="{kind}"/>']
    assert isinstance(motion, AxisMotion)
    hinges = [("hinge", axis) for axis in motion.rotations]
    slides = [("slide", axis) for axis in motion.displacements]
    # a slide of the cylindrical joint comes after its hinge, about the same axis
    every = slides + hinges if motion.displacements_first else hinges + slides
    return [
        f'<joint name="{joint.name}_{k}" type="{kind}" axis="{row(axis)}"/>' for k, (kind, axis) in enumerate(every)
    ]
