"""The chains of the probe mechanism's lateral damper: springs U P S and brakes R U S (central-docking 5.7).

Each has two links with mass, with the centre of mass on the line of the link and transverse inertia only. One joint is
active, the stroke of the spring or the crank of the brake, with force and linearly implicit damping. The chain is
resolved in the axes of its first joint (symbolic 4.4); rates of the node are in frame 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import ZERO, array, cross
from dockfmu.components.codegen.chain import (
    Closure,
    constrain,
    forces,
    inertia,
    inertia_forces,
    momentum,
    pivoted_node,
    quadratic,
    reduced,
    static_moment,
    total_inertia,
)
from dockfmu.components.codegen.emit import Program, Stage
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.codegen.mechanism import Body, Joint, Motion, X, Y, Z

BASE = ("omega0", "epsilon0", "acceleration0")


def _link(graph: Graph, k: int) -> dict[str, Any]:
    """Return the mass properties of the k-th link with mass: mass, centre of mass along x, transverse inertia."""
    mass, centre, transverse = (graph.input(f"c.{name}[{k}]") for name in ("mass", "centre", "inertia"))
    inertia = array(np.zeros((3, 3)))
    inertia[1, 1] = inertia[2, 2] = transverse
    return {"mass": mass, "moment": array([mass * centre, 0.0, 0.0]), "inertia": inertia}


def _strut(graph: Graph) -> tuple[list[Body], Any]:
    bodies = [Body(Y), Body(Z, **_link(graph, 0)), Body(X, slides=True, **_link(graph, 1))]
    return bodies, graph.input("c.length")


def _crank(graph: Graph) -> tuple[list[Body], Any]:
    crank = array([graph.input("c.length"), 0.0, 0.0])
    bodies = [Body(Z, **_link(graph, 0)), Body(Z, offset=crank), Body(Y, **_link(graph, 1))]
    return bodies, graph.input("c.rod_length")


def chain(kind: str) -> Program:
    """Return `follow`, `reduce`, `accelerate`, `lose` and `momentum` of a chain with `kind` "UPS" or "RUS"."""
    graph = Graph()
    bodies, reach = (_strut if kind == "UPS" else _crank)(graph)
    active = 2 if kind == "UPS" else 0
    joints = []
    for j, body in enumerate(bodies):
        if body.slides:
            joints.append(Joint(body, stroke=graph.input("c.stroke")))
        else:
            joints.append(Joint(body, graph.input(f"c.cosine[{j}]"), graph.input(f"c.sine[{j}]")))
    closure = Closure(array([reach, 0.0, 0.0]))

    gamma = graph.array("c.base_axes", (3, 3))
    place = graph.array("c.base_point", 3)
    turning = graph.array("node.angular_velocity", 3)
    alpha = graph.array("node.rotation", (3, 3))
    point = graph.array("c.node_point", 3)
    lever = gamma @ (alpha.T @ point)
    spin = gamma @ turning
    names = {"gamma": gamma, "l_0": place, "omega_N": turning, "alpha_N": alpha, "l_N": point, "lever": lever}
    for name, values in names.items():
        graph.label(name, values)
    hinge = pivoted_node(lever, spin)
    constraint = constrain(joints, closure, hinge)
    rates = constraint.gain @ spin
    gain = constraint.gain @ gamma
    graph.label("H", gain)
    for joint, rate in zip(joints, rates, strict=True):
        joint.rate = rate
    graph.label("qd", rates)
    h = quadratic(joints, closure, hinge, constraint)
    graph.label("h", h)
    follow = Stage(
        "follow", ("c", "node"), "Rate of the active joint, and what the later kernels need, from the node's motion."
    )
    follow.set("c.determinant", constraint.determinant)
    follow.set("c.rate", rates[active])

    omega0, epsilon0, acceleration0 = (graph.array(name, 3) for name in BASE)
    moving = Motion(omega0, epsilon0, acceleration0)
    base = Motion(gamma @ omega0, gamma @ epsilon0, gamma @ moving.at(place))
    inertial = inertia_forces(joints, base, h)
    A = inertia(joints)
    damping = graph.input("c.damping")
    A[active, active] = A[active, active] + damping
    g = array(ZERO)
    g[active] = graph.input("c.force") - damping * h[active]
    b = forces(joints, inertial, g)
    graph.label("A", A[np.tril_indices(3)])
    graph.label("b_less_Ah", b)
    share, torque = reduced(gain, A, b)
    reduce = Stage("reduce", ("c", *BASE, "inertia", "torque"), "inertia += H^T A H, torque += H^T (b - A h), frame 0.")
    for i in range(3):
        for k in range(i, 3):
            reduce.add(f"inertia[{i}, {k}]", share[i, k])
    reduce.add("torque", torque)

    driven = gain @ graph.array("turning", 3)
    qdd = driven[active] + h[active]
    graph.label("qdd", qdd)
    accelerate = Stage(
        "accelerate",
        ("c", "turning"),
        "Acceleration of the active joint from the node's, relative to the base, frame 0.",
    )
    accelerate.set("c.acceleration", qdd)

    force, moment = total_inertia(joints, inertial, driven)
    force, moment = gamma.T @ force, gamma.T @ moment
    lose = Stage(
        "lose",
        ("c", "turning", "torque", "force"),
        "torque, force += inertia of the links on the base about O_0, frame 0.",
    )
    lose.add("force", force)
    lose.add("torque", moment + cross(place, force))
    keep = Stage(
        "momentum",
        ("c", "omega0", "velocity0", "torque", "force", "moment"),
        "Add momentum (force), angular momentum (torque) and static moment about O_0, absolute, frame 0; c.energy.",
        after=("follow",),
    )
    velocity0 = graph.array("velocity0", 3) + cross(omega0, place)
    energy, linear, angular = momentum(joints, gamma @ velocity0, gamma @ omega0)
    linear = gamma.T @ linear
    keep.set("c.energy", energy)
    keep.add("force", linear)
    keep.add("torque", gamma.T @ angular + cross(place, linear))
    mass, own_moment = static_moment(joints)
    keep.add("moment", gamma.T @ own_moment + place * mass)
    return Program(graph, [follow, reduce, accelerate, lose, keep], keep="c.kept")
