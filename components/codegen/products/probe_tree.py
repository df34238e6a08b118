"""The tree of the probe mechanism: housing in a universal joint, flexible probe (source 5.3, 6.1; spec/01 10.1).

Five joints: housing about y and z at O_0; bending about y and z and torsion of the probe at the exit bearing. The
dependent chains come as inertia and torque of the housing, contacts as loads with linearly implicit damping on head
and housing.
"""

from __future__ import annotations

import numpy as np

from components.codegen import spatial
from components.codegen.algebra import ZERO, array, cross
from components.codegen.emit import Program, Stage
from components.codegen.graph import Graph
from components.codegen.mechanism import Body, Joint, Motion, X, Y, Z, symmetric_input

AXES = (Y, Z, Y, Z, X)
HOUSING, PROBE = 1, 4
LINKS = (PROBE, HOUSING)


def _tree(graph: Graph) -> list[Joint]:
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
    return joints


def tree() -> Program:
    """`place`, `accelerate` and `momentum` of housing and probe."""
    graph = Graph()
    placed = spatial.place(_tree(graph))
    housing, probe = placed[HOUSING], placed[PROBE]
    graph.label("A_M", housing.rotation)
    graph.label("A_H", probe.rotation)

    place = Stage("place", ("p", "t", "length", "length_rate"), "Links of the mechanism from q, qd, L_H and its rate.")
    axis = probe.rotation[0]
    head = probe.point + axis * graph.input("length")
    graph.label("r_H", head)
    velocity = probe.velocity[3:] + cross(probe.velocity[:3], head) + axis * graph.input("length_rate")
    place.set("t.link[0].position", head)
    place.set("t.link[0].velocity", velocity)
    for k, body in enumerate((probe, housing)):
        place.set(f"t.link[{k}].rotation", body.rotation)
        place.set(f"t.link[{k}].angular_velocity", body.velocity[:3])
        place.set(f"t.twist[{k}]", body.velocity)

    base = Motion(*(graph.array(name, 3) for name in ("omega0", "epsilon0", "acceleration0")))
    accelerate = Stage(
        "accelerate",
        ("p", "t", "omega0", "epsilon0", "acceleration0"),
        "Accelerations of joints, links and node, wrench of the tree on the base.",
    )
    inertias = [spatial.inertia(body) if body.joint.body.heavy else array(np.zeros((6, 6))) for body in placed]
    own = list(inertias)
    resistances = [array(np.zeros(6)) for _ in placed]
    loads, dampings = {}, {}
    for k, j in enumerate(LINKS):
        A = placed[j].rotation
        force = A.T @ graph.array(f"t.load[{k}].force", 3)
        torque = A.T @ graph.array(f"t.load[{k}].torque", 3)
        if j == PROBE:
            torque = torque + cross(graph.array("t.link[0].position", 3), force)
        loads[j] = np.concatenate([torque, force])
        dampings[j] = symmetric_input(graph, f"t.load_damping[{k}]", 6)
        twist = spatial.absolute(placed[j].velocity, base)
        needed = spatial.motion_wrench(own[j], twist)
        resistances[j] = needed - loads[j]
        inertias[j] = inertias[j] + dampings[j]
    node_inertia = symmetric_input(graph, "t.node_inertia", 3)
    w = housing.velocity[:3]
    carried = base.angular_acceleration + cross(base.angular_velocity, w)
    node_torque = graph.array("t.node_torque", 3) + node_inertia @ carried  # erratum D9
    inertias[HOUSING] = inertias[HOUSING] + np.pad(node_inertia, (0, 3), constant_values=0.0)
    resistances[HOUSING] = resistances[HOUSING] - np.concatenate([node_torque, ZERO])
    joint_forces = [0.0, 0.0, *graph.array("t.force", 3)]
    joint_damping = [0.0, 0.0, *graph.array("t.damping", 3)]
    found = spatial.accelerate(placed, inertias, resistances, joint_forces, joint_damping, base)
    graph.label("qdd", found.qdd)
    graph.label("pivot", found.pivot)
    accelerate.set("t.qdd", found.qdd)
    accelerate.set("t.pivot", found.pivot)
    accelerate.set("t.turning", found.acceleration[HOUSING][:3] - carried)
    wrench = array(np.zeros(6))
    for k, j in enumerate(LINKS):
        implicit = -(dampings[j] @ found.acceleration[j])
        accelerate.set(f"t.acceleration[{k}]", found.acceleration[j])
        accelerate.set(f"t.implicit[{k}]", implicit)
        twist = spatial.absolute(placed[j].velocity, base)
        wrench = wrench + loads[j] + implicit - spatial.motion_wrench(own[j], twist, found.acceleration[j])
    accelerate.set("t.base_torque", wrench[:3])
    accelerate.set("t.base_force", wrench[3:])

    momentum = Stage(
        "momentum",
        ("p", "t", "omega0", "velocity0"),
        "Kinetic energy and momenta of the tree, absolute, about O_0 in axes of frame 0.",
        after=("place",),
    )
    energy, total = 0.0, array(np.zeros(6))
    for j in LINKS:
        twist = placed[j].velocity + np.concatenate([base.angular_velocity, graph.array("velocity0", 3)])
        share = own[j] @ twist
        total = total + share
        energy = energy + 0.5 * (twist @ share)
    momentum.set("t.kinetic_energy", energy)
    momentum.set("t.angular_momentum", total[:3])
    momentum.set("t.momentum", total[3:])
    return Program(graph, [place, accelerate, momentum], keep="t.kept")
