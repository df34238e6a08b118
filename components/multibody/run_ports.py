"""The group `run`: sizes, accounts and work space that all models have."""

from __future__ import annotations

from dockfmu.components.core.field import BOOLEAN, Group, private
from dockfmu.components.multibody.contacts import ports as contact_ports
from dockfmu.components.multibody.elastic_ports import run_counts
from dockfmu.components.multibody.joint_ports import coordinate_labels, special_labels
from dockfmu.components.multibody.loop_order import LoopOrder, rows_of
from dockfmu.components.multibody.model.parts import BASE, Model
from dockfmu.components.multibody.outcomes import requirements
from dockfmu.components.multibody.sparse_order import SparseOrder


def _flies(model: Model) -> bool:
    """Return whether the system flies freely: its only joint with the inertial base is free."""
    rooted = [joint for joint in model.tree if BASE in (joint.predecessor, joint.successor)]
    return model.base == "fixed" and len(rooted) == 1 and rooted[0].kind == "free"


def grounded(model: Model) -> bool:
    """Return whether what stands still in I holds or pushes a part of the system, and takes up its momentum."""
    joints = [joint for joint in model.joints if joint.kind != "free" or joint.cut]
    held = [*((joint.predecessor, joint.successor) for joint in joints),
            *((spring.first, spring.second) for spring in model.springs),
            *((surface.body, "") for surface in model.surfaces)]  # fmt: skip
    locked = {lock.joint for lock in model.locks}
    held += [(one.predecessor, one.successor) for one in model.joints if one.name in locked]
    return model.base == "fixed" and any(BASE in pair for pair in held)


def run_group(model: Model, order: LoopOrder, sparse: SparseOrder) -> Group:
    """Return the group of sizes, accounts and work space, whose type is the same for all models."""
    return Group(
        "run",
        private("coordinates", "1", "number of coordinates of one degree", float(len(coordinate_labels(model)))),
        private("rotations", "1", "number of spherical and free joints", float(len(special_labels(model)))),
        private("springs", "1", "number of springs between points", float(len(model.springs))),
        private("cuts", "1", "number of cut joints", float(len(model.cuts))),
        private("rows", "1", "number of their constraints", float(rows_of(model))),
        private("open", "1", "not 0: the constraints cannot be solved"),
        private("rank", "1", "number of constraints that are independent"),
        private("freedoms", "1", "free rates of the tree less the rank"),
        private("rank_again", "1", "1: a lock has changed which constraints depend on others", type=BOOLEAN),
        private("fronts", "1", "number of groups of loops that close together", float(len(order.fronts))),
        private("carriers", "1", "number of links to which loops closed beyond them add", float(len(order.carriers))),
        private("ties", "1", "number of joints in the sparse solution of the loops", float(len(sparse.ties))),
        *run_counts(model),
        private("failure", "1", "code of the first failure, 0 without one"),
        private("culprit", "1", "number of the part that failed, from 1"),
        private("amount", "1", "the value that failed"),
        private("failed_at", "s", "time of the failure"),
        private("now", "s", "time of the present micro-step"),
        private("short", "s", "length of the short micro-step"),
        private("outcomes", "1", "number of outcomes", float(len(model.outcomes))),
        private("requirements", "1", "number of their conditions", float(len(requirements(model)))),
        private("loops", "1", "number of hysteretic springs", float(len(model.loops))),
        private("drive_count", "1", "number of drives", float(len(model.drives))),
        private("motors", "J", "work of motors so far"),
        private("motors_lost", "J", "lost so far in drives, but for the heat of the motors"),
        private("locks", "1", "number of locks", float(len(model.locks))),
        private("ports", "1", "number of ports", float(len(model.ports))),
        private("affine_ports", "1", "number of those whose mechanism responds to their acceleration (AFFINE)"),
        private("carried", "1", "1: the base moves with the port base", float(model.base == "carried")),
        private(
            "affine", "1", "1: the craft corrects the wrench on it for its true acceleration (AFFINE)", type=BOOLEAN
        ),
        private("base_position", "m", "of the base, I", shape=3),
        private("base_velocity", "m/s", "of the base, I", shape=3),
        private("change", "1", "largest change of an acceleration in the last micro-step, rad/s2 or m/s2"),
        private("until_stop", "s", "until the first coordinate reaches a stop at its present rate"),
        private("restart", "1", "1: a stop has been reached or left in the last micro-step", type=BOOLEAN),
        private("dampers", "J", "lost so far in dampers of coordinates"),
        private("stops", "J", "lost so far in stops"),
        private("friction", "J", "lost so far in friction"),
        private("locks_lost", "J", "lost so far in closing locks"),
        private("springs_lost", "J", "lost so far in springs between points"),
        private("drives", "J", "work of drives so far"),
        private("motions", "J", "work so far of what prescribes motions"),
        private("ports_work", "J", "work so far of the wrenches on ports"),
        private("base_work", "J", "work so far of the base on the system"),
        private(
            "response_work", "J", "part of it: in responses to the true motion of the base, with which steps begin"
        ),
        private("response_loss", "J", "part of locks_lost: corrections in these responses"),
        private("response_momentum", "N.s", "momentum so far received so, I", shape=3),
        private("tuned", "J", "work so far of changes of parameters"),
        private("end_potential", "J", "of springs and gravity at the end of the last step"),
        private("end_height", "kg.m", "moment of mass about the origin of I then", shape=3),
        private("force", "N", "of the system on the base, at present, I", shape=3),
        private("torque", "N.m", "likewise, about the origin of the base", shape=3),
        private("impulse", "N.s", "on the base in this step, I", shape=3),
        private("angular_impulse", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        private("free_root", "1", "1: one body alone hangs on the base, by a free joint", float(_flies(model))),
        private("place", "m", "of the root at the start of the micro-step, from the origin of the base, I", shape=3),
        private("speed", "m/s", "likewise, its velocity", shape=3),
        private("momentum", "N.s", "at the start of the micro-step, seen from a frame with this velocity, I", shape=3),
        private("angular_momentum", "N.m.s", "likewise, about `place`", shape=3),
        private("moment", "kg.m", "of mass about `place`", shape=3),
        private("pivot", "m", "place in the middle of the micro-step at this velocity", shape=3),
        private("outer_force", "N", "force from outside in the micro-step, I", shape=3),
        private("outer_torque", "N.m", "likewise, about `pivot`", shape=3),
        private("jump", "m/s", "velocity of the base at the start of the step less that predicted, I", shape=3),
        private("port_impulse", "N.s", "of wrenches on ports in this step, I", shape=3),
        private("port_angular_impulse", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        private("port_turn", "N.m.s", "likewise, about the origin of I", shape=3),
        private(
            "apart",
            "N.m.s",
            "change of the angular momentum beyond what it and the craft receive, about the origin of I",
            shape=3,
        ),
        private("last_middle", "m", "place of the base in the middle of the last step, I", shape=3),
        private(
            "end_absolute", "N.m.s", "angular momentum at the end of the last step, about the origin of I", shape=3
        ),
        private("end_momentum", "N.s", "relative to the base's origin at the end of the last step, I", shape=3),
        private("end_angular_momentum", "N.m.s", "likewise, about the base's origin", shape=3),
        private("end_moment", "kg.m", "of mass about the base's origin, likewise", shape=3),
        private("end_velocity", "m/s", "of the base, predicted for the end of the last step, I", shape=3),
        private("end_spin", "rad/s", "likewise, its angular velocity", shape=3),
        private("last_step", "s", "length of the last step"),
        private("last_force", "N", "mean force on the base in it, I; of AFFINE with what the craft has added", shape=3),
        private("last_torque", "N.m", "likewise, about the moving origin of the base", shape=3),
        private("struck", "1", "1: locks have closed since the base has yielded last", type=BOOLEAN),
        private("lock_impulse", "N.s", "of these on the base, I", shape=3),
        private("lock_angular_impulse", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        private(
            "change_of_impulse",
            "N.s",
            "on the base, in the last step, from that by the mean force of the one before, I",
            shape=3,
        ),
        private("change_of_angular_impulse", "N.m.s", "likewise, about the moving origin of the base", shape=3),
        private("end_energy", "J", "kinetic energy at the end of the last step"),
        *contact_ports.run_fields(model),
    )
