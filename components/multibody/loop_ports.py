"""Fields of closed chains: cut joints, the rows of their constraints, and the work space of the elimination."""

from __future__ import annotations

from dockfmu.components.core.field import INTEGER, Field, Group, constants, output, private, temporary
from dockfmu.components.multibody.families import hidden
from dockfmu.components.multibody.loop_order import LoopOrder, rows_of
from dockfmu.components.multibody.model.parts import Model, MultibodyJoint
from dockfmu.components.multibody.sparse_order import SparseOrder


def cut_fields(joint: MultibodyJoint | None) -> tuple[Field, ...]:
    """Return what a cut joint shows, its points, and the work space of its frames."""
    one = joint or MultibodyJoint("", "fixed", "", "")
    return (
        output("force", "N", f"of the cut joint on {one.successor}, joint axes on {one.predecessor}", shape=3),
        output("torque", "N.m", "likewise, about the joint point", shape=3),
        output("error", "1", "largest error of its closure, m or rad"),
        output("redundant", "1", "its constraints that depend on others: the forces in them are not determined",
               type=INTEGER),
        private("first", "1", "index of the predecessor, -1 for the base"),
        private("second", "1", "index of the successor, -1 for the base"),
        private("first_link", "1", "index of the link of the predecessor"),
        private("second_link", "1", "index of the link of the successor"),
        private("first_point", "m", "of the joint on the predecessor, body frame", one.on_predecessor.point, shape=3),
        private("second_point", "m", "of the joint on the successor, body frame", one.on_successor.point, shape=3),
        private("first_axes", "1", "link of the predecessor -> joint frame", shape=(3, 3)),
        private("second_axes", "1", "link of the successor -> joint frame", shape=(3, 3)),
        private("first_arm", "m", "joint point from the reference point, axes of the link", shape=3),
        private("second_arm", "m", "likewise on the successor", shape=3),
        private("first_reach", "m", "successor's joint point from the predecessor's reference point, I", shape=3),
        private("second_reach", "m", "the same point from the successor's reference point, I", shape=3),
        private("gap", "m", "between the joint points, I", shape=3),
        private("gap_rate", "m/s", "seen from the predecessor, I", shape=3),
        private("gap_acceleration", "m/s2", "seen from the predecessor, I", shape=3),
        private("spin", "rad/s", "relative angular velocity, I", shape=3),
        private("spin_rate", "rad/s2", "seen from the predecessor, I", shape=3),
        private("radius", "m", "of what rolls", one.radius),
        private("closure_limit", "1", "error with which a run ends, m or rad", one.closure_limit),
        temporary("first_frame", "1", "I -> joint frame on the predecessor", shape=(3, 3)),
        temporary("second_frame", "1", "I -> joint frame on the successor", shape=(3, 3)),
        temporary("rolling", "m", "point that rolls, from the successor's joint point, I", shape=3),
        temporary("rolling_rate", "m/s", "its rate, seen from the predecessor, I", shape=3),
    )  # fmt: skip


def closure_group(model: Model, order: LoopOrder, sparse: SparseOrder) -> Group:
    """Return what the loops show together, the rows of the cut joints, and the work space of their elimination."""
    rows = max(1, rows_of(model))
    shown = (
        output("equations", "1", "number of the constraints of all cut joints", float(rows_of(model)), type=INTEGER),
        output("rank", "1", "how many of them are independent: those of the motion; the others are redundant",
               type=INTEGER),
        output("freedoms", "1", "degrees of freedom: free rates of the tree less the rank", type=INTEGER),
    )  # fmt: skip
    return Group(
        "closure",
        *hidden(shown, bool(model.cuts)),
        Group(
            "row",
            private("joint", "1", "index of the cut joint"),
            private("kind", "1", "one of those of `cut_rows`"),
            private("axis", "1", "axis of the joint frame on the predecessor"),
            private("independent", "1", "1: it does not depend on others"),
            private("multiplier", "1", "force or torque, N or N.m"),
            private("earlier", "1", "likewise, before friction"),
            private("wanted", "1", "right-hand side"),
            private("error", "1", "m or rad"),
            private("rate", "1", "m/s or rad/s"),
            private("normal", "1", "I", shape=3),
            temporary("rest", "1", "right-hand side in the elimination"),
            temporary("strength", "1", "what joints have added to its pivot"),
            temporary("pivot", "1", "of the elimination"),
            temporary("first_pull", "1", "wrench on the link to which it has come from the predecessor", shape=6),
            temporary("second_pull", "1", "likewise from the successor", shape=6),
            temporary("hold", "1", "wrench on the link at which its loop closes", shape=6),
            count=rows,
        ),
        Group(
            "entry",
            private("row", "1", "index of a row that is open at a link"),
            private("second", "1", "1: from its successor"),
            temporary("share", "1", "what the joint of the link feels of it", shape=6),
            count=max(1, len(order.entries)),
            description="rows that are open at a link, link by link",
        ),
        Group(
            "front",
            private("link", "1", "index of the link at which the loops close"),
            private("first", "1", "index of their first row"),
            private("count", "1", "number of their rows"),
            count=max(1, len(order.fronts)),
            description="groups of loops that close together, in the order of elimination",
        ),
        Group(
            "carrier",
            *(
                temporary(name, "1", "inertia that loops add to the link", shape=size)
                for name, size in (("tt", 6), ("tr", 9), ("rr", 6))
            ),
            temporary("force", "N", "wrench that loops add to the link", shape=3),
            temporary("torque", "N.m", "likewise", shape=3),
            temporary("felt_force", "1", "inertia with that of the loops times the axis", shape=3),
            temporary("felt_torque", "1", "likewise", shape=3),
            temporary("felt", "1", "what the joint feels of the wrench"),
            temporary("mobility", "1", "inverse of the inertia felt by the coordinate"),
            temporary("inverse", "1", "of the inertia felt by a spherical joint", shape=6),
            temporary("spherical_tr", "1", "inertia by columns, torque by acceleration", shape=9),
            temporary("spherical_rr", "1", "inertia, torque by angular acceleration", shape=6),
            temporary("acceleration", "m/s2", "of the link by the loops, I", shape=3),
            temporary("angular_acceleration", "rad/s2", "likewise", shape=3),
            count=max(1, len(order.carriers)),
            description="what loops closed beyond a link add to it",
        ),
        temporary("matrix", "1", "H M^-1 H^T", shape=(rows, rows)),
        _sparse_group(sparse),
    )


def _sparse_group(order: SparseOrder) -> Group:
    """Return plan and work space of `sparse_loops`."""
    tie = Group(
        "tie",
        private("first", "1", "index of the link of its predecessor"),
        private("second", "1", "index of the link of its successor, the last of its chain"),
        private("pivot", "1", "index of the link whose reference point is that of the joint"),
        private("first_bond", "1", "index of its first bond"),
        private("bonds", "1", "number of its bonds"),
        private("first_below", "1", "index of the first of the later ties in its panel"),
        private("belows", "1", "number of these"),
        private("panel", "1", "index of the first element of its panel"),
        private("height", "1", "number of the rows of its panel"),
        count=max(1, len(order.ties)),
    )
    bond = constants(
        Group(
            "bond",
            private("row", "1", "index of the row of a cut joint; -1: of a joint of the tree"),
            private("link", "1", "index of the link whose axis it has, the first of the chain of the joint"),
            private("axis", "1", "axis of this link"),
            private("slide", "1", "share of the translation"),
            private("turn", "1", "share of the rotation"),
            private("stage", "1", "index of the link whose coordinate it holds, -1 for what the joint always holds"),
        )
    )
    island = constants(
        Group(
            "island",
            private("link", "1", "index of the link of the body"),
            private("modes", "1", "number of its modes"),
            private("mass", "1", "index of the first element of its mass matrix"),
            private("first_end", "1", "index of the first end of a tie at it"),
            private("ends", "1", "number of these"),
        )
    )
    end = Group(
        "end",
        private("tie", "1", "index of the tie"),
        private("link", "1", "index of the link of the island"),
        private("second", "1", "1: the successor is there"),
        private("share", "1", "index of the first element of its share"),
        count=max(1, order.ends),
    )
    bonds = max(1, sum(len(one.bonds) for one in order.ties))
    widest = max((len(one.bonds) for one in order.ties), default=1)
    return Group(
        "sparse",
        constants(tie),
        Group(
            "bond",
            *bond.members,
            temporary("active", "1", "1: it holds, or loads its coordinate"),
            temporary("spare", "1", "inverse of the armature of its coordinate"),
            temporary("strength", "1", "its diagonal before the elimination"),
            temporary("pivot", "1", "of the elimination"),
            temporary("first_pull", "1", "wrench on the predecessor", shape=6),
            temporary("second_pull", "1", "wrench on the successor", shape=6),
            count=bonds,
        ),
        constants(
            Group("below", private("tie", "1", "index of a later tie"), count=max(1, sum(map(len, order.below))))
        ),
        Group(
            "island",
            *island.members,
            temporary("sound", "1", "1: its mass matrix is positive"),
            count=max(1, len(order.islands)),
        ),
        constants(end),
        temporary("panel", "1", "columns of the factor, tie by tie", shape=max(1, order.panels[-1])),
        temporary("scaled", "1", "scratch", shape=widest * widest),
        temporary("value", "1", "right-hand side, then multiplier of each bond", shape=bonds),
        temporary("mass", "1", "mass matrices and their factors", shape=max(1, order.masses[-1])),
        temporary("share", "1", "L^-1 J^T of the bonds at each island", shape=max(1, order.shares[-1])),
        description="sparse solution of the loops",
    )
