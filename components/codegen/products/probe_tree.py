"""The tree of the probe mechanism: housing in a universal joint, flexible probe (source 5.3, 6.1; kinematics 10.1).

The tree has five joints: housing about y and z at O_0; bending about y and z and torsion of the probe at the exit
bearing. The dependent chains enter as inertia and torque of the housing. Contacts enter as loads with linearly implicit
damping on head and housing, or on head and movable limiter, a sixth body that slides on the housing (central-docking
5.10). Twists, wrenches and damping of these two links are about their joints, in link axes.
"""

from __future__ import annotations

import numpy as np

from dockfmu.components.codegen import kane
from dockfmu.components.codegen.algebra import UNIT, ZERO, Array, array, cross
from dockfmu.components.codegen.chain import jacobian
from dockfmu.components.codegen.emit import Program, Stage
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.codegen.mechanism import Body, Joint, X, Y, Z, symmetric_input

AXES = (Y, Z, Y, Z, X)
HOUSING, PROBE, LIMITER = 1, 4, 5


def _movable_limiter(graph: Graph) -> Joint:
    """Return the limiter, a body of revolution that slides along x of the housing."""
    mass, centre, axial, across = (
        graph.input(f"t.limiter.{name}") for name in ("mass", "centre", "axial_inertia", "lateral_inertia")
    )
    inertia = array(np.diag(np.zeros(3)))
    inertia[0, 0], inertia[1, 1], inertia[2, 2] = axial, across, across
    moment = array([mass * centre, 0.0, 0.0])
    body = Body(X, slides=True, mass=mass, moment=moment, inertia=inertia, parent=HOUSING)
    return Joint(body, stroke=graph.input("t.q[5]"), rate=graph.input("t.qd[5]"))


def _tree(graph: Graph, movable_limiter: bool) -> list[Joint]:
    bearing = array([graph.input("p.bearing_distance"), 0.0, 0.0])
    joints = []
    for j, axis in enumerate(AXES):
        body = Body(axis, parent=j - 1 if j else None, offset=bearing if j == 2 else ZERO)
        for k, name in ((HOUSING, "housing"), (PROBE, "probe")):
            if j == k:
                body.mass = graph.input(f"p.{name}_mass")
                body.moment = graph.array(f"p.{name}_centre", 3) * body.mass
                body.inertia = symmetric_input(graph, f"p.{name}_inertia", 3)
        q = graph.input(f"t.q[{j}]")
        joints.append(Joint(body, q.cos(), q.sin(), rate=graph.input(f"t.qd[{j}]")))
    if movable_limiter:
        joints.append(_movable_limiter(graph))
    return joints


def _rotations(joints: list[Joint]) -> list[Array]:
    """Return the rotations from frame 0 to each body."""
    found: list[Array] = []
    for joint in joints:
        p = joint.body.parent
        found.append(array(UNIT) if p is None else found[p])
        if not joint.body.slides:
            found[-1] = joint.turn @ found[-1]
    return found


def tree(movable_limiter: bool = False) -> Program:
    """Return `place`, `accelerate`, `react` and `momentum` of housing and probe, and of a `movable_limiter`."""
    graph = Graph()
    joints = _tree(graph, movable_limiter)
    # the links that contacts load; the housing is the last of those that are placed
    loaded = (PROBE, LIMITER if movable_limiter else HOUSING)
    links = (PROBE, LIMITER, HOUSING) if movable_limiter else loaded
    bodies = [joint.body for joint in joints]
    rates = array([joint.rate for joint in joints])
    rotations = _rotations(joints)
    graph.label("A_M", rotations[HOUSING])
    graph.label("A_H", rotations[PROBE])
    partials = kane.partials(joints)
    twists = [partial @ rates for partial in partials]
    _, axes = jacobian(joints[: PROBE + 1], ZERO)
    spins = {PROBE: axes @ rates[: PROBE + 1], HOUSING: axes[:, : HOUSING + 1] @ rates[: HOUSING + 1]}
    spins[LIMITER] = spins[HOUSING]

    place = Stage("place", ("t", "p", "length_rate"), "Links of the mechanism from q, qd, L_H and its rate.")
    bearing = rotations[HOUSING][0] * joints[HOUSING + 1].arm[0]
    lever = rotations[PROBE][0] * graph.input("t.length")
    velocity = cross(spins[HOUSING], bearing) + cross(spins[PROBE], lever)
    graph.label("r_H", bearing + lever)
    place.set("t.link[0].position", bearing + lever)
    place.set("t.link[0].velocity", velocity + rotations[PROBE][0] * graph.input("length_rate"))
    # a load at its end rotates the tip of a cantilever by 3/2 of deflection over length
    place.set("t.tip_slope", [1.5 * joints[j].sine - graph.input(f"t.q[{j}]") for j in (2, 3)])
    for k, j in enumerate(links):
        place.set(f"t.link[{k}].rotation", rotations[j])
        place.set(f"t.link[{k}].angular_velocity", spins[j])
        if j in loaded:
            place.set(f"t.twist[{k}]", twists[j])
    if movable_limiter:
        slide, along = joints[LIMITER], rotations[HOUSING][0]
        place.set("t.link[1].position", along * slide.stroke)
        place.set("t.link[1].velocity", cross(spins[HOUSING], along * slide.stroke) + along * slide.rate)

    names = ("omega0", "epsilon0", "acceleration0")
    omega0, epsilon0, acceleration0 = (graph.array(name, 3) for name in names)
    accelerate = Stage(
        "accelerate", ("t", "p", *names), "Accelerations of joints and links, and of the housing as the chains feel it."
    )
    moving = kane.carried(joints, np.concatenate([omega0, ZERO]))
    absolute = [twist + base for twist, base in zip(twists, moving, strict=True)]
    coasting = kane.coasting(joints, absolute, np.concatenate([epsilon0, acceleration0]))
    loads, dampings, shares = {}, {}, []
    for k, j in enumerate(loaded):
        force, torque = (graph.array(f"t.load[{k}].{name}", 3) for name in ("force", "torque"))
        if j == PROBE:
            torque = torque + cross([graph.input("t.length"), 0.0, 0.0], force)
        loads[j] = np.concatenate([torque, force])
        dampings[j] = symmetric_input(graph, f"t.load_damping[{k}]", 6)
        shares.append(kane.body_share(bodies[j], partials[j], absolute[j], coasting[j], loads[j], dampings[j]))
    if movable_limiter:
        shares.append(kane.body_share(bodies[HOUSING], partials[HOUSING], absolute[HOUSING], coasting[HOUSING]))
    node = np.hstack([axes[:, : HOUSING + 1], np.zeros((3, len(joints) - HOUSING - 1))])
    swing = cross(axes[:, 0] * rates[0], axes[:, 1] * rates[1])
    node_inertia = symmetric_input(graph, "t.node_inertia", 3)
    shares.append(kane.Share(node, node_inertia, graph.array("t.node_torque", 3) - node_inertia @ swing))
    sprung = len(joints) - 2
    joint_forces = [0.0, 0.0, *graph.array("t.force", sprung)]
    joint_damping = {2 + k: damping for k, damping in enumerate(graph.array("t.damping", sprung))}
    qdd, pivots = kane.solve(shares, joint_forces, joint_damping)
    graph.label("qdd", qdd)
    graph.label("pivot", pivots)
    accelerate.set("t.qdd", qdd)
    accelerate.set("t.pivot", pivots)
    accelerate.set("t.turning", swing + node @ qdd)
    accelerations = {j: coasting[j] + partials[j] @ qdd for j in links}
    implicit = {j: -(dampings[j] @ accelerations[j]) for j in loaded}
    for k, j in enumerate(loaded):
        accelerate.set(f"t.acceleration[{k}]", accelerations[j])
        accelerate.set(f"t.implicit[{k}]", implicit[j])

    react = Stage("react", ("t", "p"), "Wrench of the tree on the base, after `accelerate` at the same position.")
    wrenches = {}
    for j in links:
        needed = kane.motion_wrench(bodies[j], absolute[j]) + kane.inertia(bodies[j]) @ accelerations[j]
        wrenches[j] = loads[j] + implicit[j] - needed if j in loaded else -needed
    wrench = kane.total(joints, wrenches)
    react.set("t.base_torque", wrench[:3])
    react.set("t.base_force", wrench[3:])

    momentum = Stage(
        "momentum",
        ("t", "p", "omega0", "velocity0"),
        "Kinetic energy, momenta and static moment of the tree, absolute, about O_0 in axes of frame 0; its mass.",
        after=("place",),
    )
    moving = kane.carried(joints, np.concatenate([omega0, graph.array("velocity0", 3)]))
    energy, momenta = 0.0, {}
    for j in links:
        momenta[j] = kane.inertia(bodies[j]) @ (twists[j] + moving[j])
        energy = energy + 0.5 * ((twists[j] + moving[j]) @ momenta[j])
    moment = kane.total(joints, momenta)
    momentum.set("t.kinetic_energy", energy)
    momentum.set("t.angular_momentum", moment[:3])
    momentum.set("t.momentum", moment[3:])
    mass, static = kane.static_moment(joints)
    momentum.set("t.mass", mass)
    momentum.set("t.static_moment", static)
    return Program(graph, [place, accelerate, react, momentum], keep="t.kept")
