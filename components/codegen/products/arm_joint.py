"""A revolute joint of an arm with the link that it carries: one step of each recursion.

Theory: source 2.5 and 8.2, manipulator 3.

An arm with any number of joints calls these kernels joint by joint; they differ only in the axis. The axes of all links
are parallel at joint angles 0; masses are symbols. `mobility`, the inverse of the inertia felt by the joint, is an
input: it includes the implicit drive, and is 0 for a locked joint.
"""

from __future__ import annotations

from dockfmu.components.codegen.algebra import Array, array, cross, gyroscopic, rotation, squared
from dockfmu.components.codegen.emit import Program, Stage
from dockfmu.components.codegen.graph import Graph
from dockfmu.components.codegen.mechanism import Body, Joint, Motion, symmetric_input
from dockfmu.components.codegen.tree import Inertia


def _add_upper(stage: Stage, name: str, values: Array) -> None:
    """Emit the addition of the upper half of a symmetric matrix."""
    for i in range(3):
        for k in range(i, 3):
            stage.add(f"{name}[{i}, {k}]", values[i, k])


def joint(axis: int) -> Program:
    """Return `follow`, `reduce` and `accelerate` of a joint about X, Y or Z; `j` is its body, `p` the parent."""
    graph = Graph()
    body = Body(
        axis,
        offset=graph.array("p.reach", 3),
        mass=graph.input("j.mass"),
        moment=graph.array("j.moment", 3),
        inertia=symmetric_input(graph, "j.inertia", 3),
    )
    step = Joint(body, graph.input("j.cosine"), graph.input("j.sine"), rate=graph.input("j.rate"))
    turn = rotation(axis, step.cosine, step.sine)

    follow = Stage("follow", ("j", "p"), "Place and rates of the link, velocity terms, and what it is and feels alone.")
    before = graph.array("p.rotation", (3, 3))
    spin = graph.array("p.angular_velocity", 3)
    motion = Motion(spin).after(step)
    graph.label("omega", motion.angular_velocity)
    graph.label("w", motion.acceleration)
    graph.label("epsilon", motion.angular_acceleration)
    follow.set("j.rotation", turn @ before)
    follow.set("j.position", graph.array("p.position", 3) + before.T @ step.arm)
    follow.set("j.velocity", turn @ (graph.array("p.velocity", 3) + cross(spin, step.arm)))
    follow.set("j.angular_velocity", motion.angular_velocity)
    follow.set("j.linear", motion.acceleration)
    follow.set("j.angular", motion.angular_acceleration)
    follow.set("j.force", -(squared(motion.angular_velocity) @ body.moment))
    follow.set("j.torque", -gyroscopic(body.inertia, motion.angular_velocity))

    M = Inertia(symmetric_input(graph, "j.tt", 3), graph.array("j.tr", (3, 3)), symmetric_input(graph, "j.rr", 3))
    linear, angular = graph.array("j.linear", 3), graph.array("j.angular", 3)
    force, torque = graph.array("j.force", 3), graph.array("j.torque", 3)
    mobility = graph.input("j.mobility")
    along_force, along_torque = M.column(step)
    driven = (graph.input("j.drive_torque") + torque[axis]) * mobility
    N = M.less(step, mobility)
    graph.label("a", driven)
    passed_force, passed_torque = N.effort(linear, angular)
    moved_force = -step.back(passed_force + along_force * driven - force)
    moved_torque = -step.back(passed_torque + along_torque * driven - torque) + cross(step.arm, moved_force)
    moved = N.back(step)
    reduce = Stage(
        "reduce", ("j", "p"), "Add the articulated inertia and the force of this link and all beyond to the one before."
    )
    _add_upper(reduce, "p.tt", moved.tt)
    _add_upper(reduce, "p.rr", moved.rr)
    reduce.add("p.tr", moved.tr)
    reduce.add("p.force", moved_force)
    reduce.add("p.torque", moved_torque)

    carried = graph.array("p.angular_acceleration", 3)
    v = step.out(graph.array("p.acceleration", 3) + cross(carried, step.arm)) + linear
    e = step.out(carried) + angular
    load = torque[axis] - (along_force @ v + along_torque @ e)
    qdd = (graph.input("j.drive_torque") + load) * mobility
    graph.label("qdd", qdd)
    accelerate = Stage(
        "accelerate",
        ("j", "p"),
        "Acceleration of the joint (8.2.3), and of the link from that of the one before.",
        after=(),
    )
    accelerate.set("j.load", load)
    accelerate.set("j.qdd", qdd)
    accelerate.set("j.acceleration", v)
    accelerate.set("j.angular_acceleration", array(e) + step.unit * qdd)
    return Program(graph, [follow, reduce, accelerate], keep="j.kept")
