"""A ring on six equal struts U C U with differential ball screws: the peripheral mechanism (source 7.2, 7.3).

One strut is generated, with the positions of its joints as data, and called six times (symbolic 4.4). Its links are
axisymmetric. The joint order is y, z, roll, stroke (ruling R13).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dockfmu.components.codegen.algebra import UNIT, array, solve_symmetric
from dockfmu.components.codegen.emit import Program, Stage
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.codegen.legs import Leg, Nut, Ring
from dockfmu.components.codegen.mechanism import Body, Joint, Motion, X, Y, Z, symmetric_input

BASE = ("omega0", "epsilon0", "acceleration0")


def _link(graph: Graph, k: int) -> dict[str, Any]:
    """Return the mass properties of link k (housing, screw).

    The centre of mass is on the axis; the inertia is axial and transverse.
    """
    mass, centre, axial, transverse = (graph.input(f"c.{n}[{k}]") for n in ("mass", "centre", "axial", "transverse"))
    inertia = array(np.zeros((3, 3)))
    inertia[0, 0], inertia[1, 1], inertia[2, 2] = axial, transverse, transverse
    return {"mass": mass, "moment": array([mass * centre, 0.0, 0.0]), "inertia": inertia}


def _program(graph: Graph, leg: Leg) -> Program:
    """Return the kernels of a leg: `follow`, `reduce`, `lose`, `momentum`, and `turn` if it has a nut."""
    for name, values in {"gamma": leg.axes, "l_0": leg.point, "l_N": leg.node_point}.items():
        graph.label(name, values)
    rotation = graph.array("ring.rotation", (3, 3))
    graph.label("alpha_N", rotation)
    spin = graph.array("ring.angular_velocity", 3)
    graph.label("omega_N", spin)
    constraint = leg.follow(rotation, graph.array("ring.velocity", 3), spin)
    for name, values in {"H": constraint.gain, "h": leg.quadratic}.items():
        graph.label(name, values)
    follow = Stage("follow", ("c", "ring"), "Joint rates H u and the determinant of Cd from the motion of the ring.")
    follow.set("c.determinant", constraint.determinant)
    follow.set("c.rate", leg.rates)

    base = Motion(*(graph.array(name, 3) for name in BASE))
    share, push = leg.reduce(base, graph.array("c.force", len(leg.joints)))
    graph.label("A", leg.inertia[np.tril_indices(len(leg.joints))])
    graph.label("b_less_Ah", leg.forces)
    reduce = Stage(
        "reduce", ("c", "ring", *BASE, "inertia", "force"), "inertia += H^T A H (upper half), force += H^T (b - A h)."
    )
    for i in range(6):
        reduce.add(f"force[{i}]", push[i])
        for k in range(i, 6):
            reduce.add(f"inertia[{i}, {k}]", share[i, k])

    force, moment = leg.lose(graph.array("acceleration", 6))
    lose = Stage(
        "lose",
        ("c", "acceleration", "force", "torque"),
        "Accelerations of the joints; force, torque += inertia of the strut on the base about O_0, frame 0.",
    )
    lose.set("c.acceleration", leg.accelerations)
    lose.add("force", force)
    lose.add("torque", moment)

    keep = Stage(
        "momentum",
        ("c", "omega0", "velocity0", "torque", "force", "moment"),
        "Add momentum (force), angular momentum (torque) and static moment about O_0, absolute, frame 0; c.energy.",
        after=("follow",),
    )
    energy, linear, angular = leg.momentum(graph.array("velocity0", 3), base.angular_velocity)
    keep.set("c.energy", energy)
    keep.add("force", linear)
    keep.add("torque", angular)
    keep.add("moment", leg.static_moment())
    if leg.nut is None:
        return Program(graph, [follow, reduce, lose, keep], keep="c.kept")
    turn = Stage("turn", ("c", "row"), "row: how the nut turns, p_N'' = row[:6] du/dt + row[6], after `reduce`.")
    turn.set("row", np.concatenate([leg.nut.ratio @ constraint.gain, [leg.nut.ratio @ leg.quadratic]]))
    return Program(graph, [follow, reduce, lose, keep, turn], keep="c.kept")


def crank() -> Program:
    """Return `follow`, `reduce`, `lose` and `momentum` of one crank with its rod, R U S (Hunt platform)."""
    graph = Graph()
    length = array([graph.input("c.length"), 0.0, 0.0])
    bodies = [Body(Z, **_link(graph, 0)), Body(Z, offset=length), Body(Y, **_link(graph, 1))]
    joints = [Joint(body, graph.input(f"c.cosine[{j}]"), graph.input(f"c.sine[{j}]")) for j, body in enumerate(bodies)]
    leg = Leg(
        joints,
        graph.array("c.base_axes", (3, 3)),
        graph.array("c.base_point", 3),
        array([graph.input("c.rod_length"), 0.0, 0.0]),
        graph.array("c.node_point", 3),
    )
    return _program(graph, leg)


def strut() -> Program:
    """Return `follow`, `reduce`, `lose`, `momentum` and `turn` of one strut."""
    graph = Graph()
    length = array([graph.input("c.length"), 0.0, 0.0])
    bodies = [Body(Y), Body(Z, **_link(graph, 0)), Body(X), Body(X, slides=True, offset=length, **_link(graph, 1))]
    joints = [Joint(body, graph.input(f"c.cosine[{j}]"), graph.input(f"c.sine[{j}]")) for j, body in enumerate(bodies)]
    joints[3] = Joint(bodies[3], stroke=graph.input("c.stroke"))
    nut = Nut(
        array([0.0, 0.0, 1.0, graph.input("c.nut_ratio")]), graph.input("c.nut_inertia"), graph.input("c.nut_torque")
    )
    leg = Leg(
        joints,
        graph.array("c.base_axes", (3, 3)),
        graph.array("c.base_point", 3),
        np.zeros(3),
        graph.array("c.node_point", 3),
        array(UNIT[1]),
        graph.array("c.node_axis", 3),
        nut,
    )
    return _program(graph, leg)


def ring() -> Program:
    """Return `start` and `accelerate` of the ring."""
    graph = Graph()
    inertia = symmetric_input(graph, "ring.principal", 3)
    base = Motion(*(graph.array(name, 3) for name in BASE))
    body = Ring(
        Body(X, mass=graph.input("ring.mass"), inertia=inertia),
        graph.array("ring.position", 3),
        graph.array("ring.rotation", (3, 3)),
        graph.array("ring.velocity", 3),
        graph.array("ring.angular_velocity", 3),
        base,
    )
    load = np.concatenate([graph.array("ring.force", 3), graph.array("ring.torque", 3)]) + body.force
    start = Stage("start", ("ring", *BASE, "inertia", "force"), "Inertia (upper half) and force of the ring alone.")
    start.set("force", load)
    for i in range(6):
        for k in range(i, 6):
            start.set(f"inertia[{i}, {k}]", body.inertia[i, k])

    acceleration = solve_symmetric(symmetric_input(graph, "inertia", 6), graph.array("force", 6))
    passed_force, passed_moment = body.passes_on(load, acceleration)
    accelerate = Stage(
        "accelerate",
        ("ring", "inertia", "force"),
        "du/dt by L D L^T; base_force and base_torque of the ring, frame 0 about O_0.",
    )
    accelerate.set("ring.acceleration", acceleration)
    accelerate.set("ring.base_force", passed_force)
    accelerate.set("ring.base_torque", passed_moment)
    return Program(graph, [start, accelerate], keep="ring.kept")
