"""The groups that an owner puts into its record for each hysteretic element: its law, and the memory of the law.

The sub-records of all elements have one type whatever their units, so the kernels are compiled once.
"""

from __future__ import annotations

from typing import Literal

from dockfmu.components.core.field import BOOLEAN, INTEGER, Field, Group, parameter, private

MAX_POINTS = 6


def law(
    name: str,
    deformation_unit: str,
    reaction_unit: str,
    description: str = "",
    *,
    causality: Literal["parameter", "constant"] = "parameter",
) -> Group:
    """Return the group of a law: the forward and backward branch of each side as points (hysteresis section 3).

    The first index of the arrays is the side, 0 positive, 1 negative; both sides are given as magnitudes of deformation
    and reaction. Point 1 ends the free play, point 2 the common first segment, point N = `points` the working range;
    both branches share these three. All segments between branches have the slope `transition_stiffness`, which is also
    the slope of the last backward segment inside the range. The start values are a linear spring of unit stiffness;
    with `causality="constant"` the owner fills the law in its `initialize`, see `builders`.
    """
    stiffness = f"{reaction_unit}/{deformation_unit}"
    last = tuple(range(MAX_POINTS))

    def curve(branch: str, quantity: str, unit: str) -> Field:
        text = f"{quantity} at the points of the {branch} branch, positive and negative side"
        return Field(f"{branch}_{quantity}", unit, text, causality, (last, last), shape=(2, MAX_POINTS))

    return Group(
        name,
        Field("points", "1", "number of points used on the positive and on the negative side", causality, 2.0,
              shape=(2,), type=INTEGER, minimum=2, maximum=MAX_POINTS),
        curve("forward", "deformation", deformation_unit),
        curve("forward", "reaction", reaction_unit),
        curve("backward", "deformation", deformation_unit),
        curve("backward", "reaction", reaction_unit),
        Field("transition_stiffness", stiffness, "slope between the branches, the largest of its side", causality, 1.0,
              shape=(2,)),
        Field("strict", "1", "stop at a sequence of states that the source does not foresee", causality, 0.0,
              type=BOOLEAN),
        description=description,
    )  # fmt: skip


def loop_parameters(loss: float) -> tuple[Field, ...]:
    """Return the parameters of an `elastic_loop` that an owner has beside its stiffness, with its start of the loss."""
    return (
        parameter("hysteresis_loss", "1", "area of a full loop over the work of loading", loss, minimum=0.0,
                  maximum=0.45),
        parameter("hysteresis_ratio", "1", "stiffness between loading and unloading over that of loading", 2.0,
                  minimum=1.01),
        parameter("hysteresis_common", "1", "range without hysteresis over the working range", 0.03, minimum=1e-4,
                  maximum=0.5),
    )  # fmt: skip


def memory(name: str, deformation_unit: str, reaction_unit: str) -> Group:
    """Return the state of one element, all private; `reset` initialises it. Reaction and stiffness include the gain."""
    stiffness = f"{reaction_unit}/{deformation_unit}"
    return Group(
        name,
        private("state", "1", "branch, negative on the negative side: 0 common segment, 1 forward, 2 backward, "
                "3 transition, 10 beyond the range"),
        private("extreme", deformation_unit, "largest (forward) or smallest (backward) deformation on this branch"),
        private("transition", "1", "transition segment: deformation and reaction of its lower and upper end", shape=4),
        private("origin_deformation", deformation_unit, "start of the active segment"),
        private("origin_reaction", reaction_unit, "reaction at the start of the active segment"),
        private("stiffness", stiffness, "slope of the active segment"),
        private("deformation", deformation_unit, "at the last update"),
        private("reaction", reaction_unit, "resisting positive deformation, at the last update"),
        private("gain", "1", "at the last update"),
        private("recoverable", "J", "energy that unloading would give back, at unit gain"),
        private("stored_energy", "J", "gain times the recoverable energy"),
        private("dissipated_energy", "J", "by hysteresis so far"),
        private("gain_work", "J", "energy that changes of the gain have put into the spring so far"),
        private("irregular", "1", "number of updates that the source's table of states does not foresee"),
    )  # fmt: skip
