"""The texts of failures, with the names of the declaration in the place of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dockfmu.base.fmi import LIMIT_EXCEEDED
from dockfmu.components.core import check
from dockfmu.components.core.component import Message, combined
from dockfmu.components.core.part_names import PartMessage
from dockfmu.components.multibody import failures
from dockfmu.components.multibody.contacts.ports import pair_rows
from dockfmu.components.multibody.joint_ports import coordinate_labels, special_labels
from dockfmu.components.multibody.link_data import Links
from dockfmu.components.multibody.model.parts import Model
from dockfmu.components.physics import hysteresis

AT = "at t = {run.failed_at:.9g} s"


def messages_of(model: Model, made: Links) -> dict[int, Message]:
    """Return the messages of a model, in which {part} is the name of the part that fails."""

    def named(names: Sequence[str]) -> Callable[..., Message]:
        def message(text: str, *, discard: bool = False, outcome: str = "") -> Message:
            return PartMessage(text, discard, outcome, parts=tuple(names))

        return message

    coordinate, rotation = named(coordinate_labels(model)), named(special_labels(model))
    cut, link = named([joint.name for joint in model.cuts]), named(made.labels[1:])
    contact = named([one.name for one in model.contacts])
    pair = named([f"{row.first.name} on {row.second.name}" for row in pair_rows(model)])
    loops = {
        code: coordinate(message.text)
        for code, message in hysteresis.messages("joint {part}", failures.HYSTERESIS).items()
    }
    own = {
        failures.INERTIA: named([body.name for body in model.bodies])(
            "body {part}: the inertia is not symmetric or physically impossible: a principal moment is negative, or "
            "above the sum of the others; correct parameters.body.{part}"
        ),
        failures.ATTITUDE: rotation(
            "joint {part}: the quaternion at the start has norm {status.value:.6g}, not 1; correct "
            "parameters.joint.{part}.quaternion"
        ),
        failures.SINGULAR: coordinate(
            "joint {part} feels the inertia {status.value:.4g}, not a positive one: the pose is singular, or what the "
            "joint carries has no mass; start from another pose, or give the body a mass and an inertia"
        ),
        failures.NO_INERTIA: rotation(
            "joint {part} turns what has no inertia about an axis: give its body an inertia, or use a joint without "
            "this rotation"
        ),
        failures.STOPS: coordinate("joint {part}: lower = {status.value:.6g} is not less than upper"),
        failures.NO_STIFFNESS: coordinate(
            "joint {part}: friction sticks on a presliding stiffness, and stops have one: give friction_stiffness with "
            "friction, stop_stiffness with lower and upper"
        ),
        failures.NO_DIRECTION: named([spring.name for spring in model.springs])(
            "spring {part}: its ends coincide at the start, so that a spring of the length {status.value:.6g} m pushes "
            "in no direction; move one of its points, or take the length 0"
        ),
        failures.INPUT: coordinate("joint {part}: the input drive = {status.value:g} is not finite"),
        failures.PORT_INPUT: named([port.name for port in model.ports])(
            "port {part}: an input, force, torque or affine_mass, is not finite"
        ),
        failures.COMMAND: named([drive.name for drive in model.drives])(
            "drive {part}: the input command = {status.value:g} is not finite"
        ),
        failures.SOURCE_PORT: named([port.name for port in model.ports])(
            "parameters.port.{part}.base_motion must be LAGGED or AFFINE, not SOURCE"
        ),
        failures.SOURCE_BASE: Message("parameters.base_motion must be LAGGED or AFFINE, not SOURCE"),
        failures.OUTLINE: pair(
            "surfaces {part}: the outline is not convex any more: x must not fall and r not rise along a profile, and "
            "a section must turn one way; keep the corners where they bend"
        ),
        failures.NOT_CLOSED: cut(
            "joint {part} cannot be closed from the start values: {status.value:.4g} m or rad are left after 50 "
            "corrections; look at points and start values of the joints in the loop"
        ),
        failures.CONTRADICTED: cut(
            "joint {part} opens at {status.value:.4g} m/s or rad/s from the start, whatever the free rates are: "
            "prescribed and locked coordinates contradict the loop, or its pose is singular; change their rates, or "
            "leave one of them free"
        ),
        failures.SINGULAR_CLOSURE: cut(
            f"joint {{part}} {AT}: the constraints of the loop depend on each other, so that its pose is singular, or "
            "what it carries has no mass; its closure lacks {status.value:.4g} m or rad. Start from another pose, or "
            "keep the loop away from this one, by a stop or a motion"
        ),
        failures.OPENED: cut(
            f"joint {{part}} {AT}: the loop has opened by {{status.value:.4g}} m or rad, more than the joint's "
            "closure_limit: use a shorter parameters.stepping.longest_micro_step, or a larger closure_limit"
        ),
        failures.RANK_CHANGED: cut(
            f"joint {{part}} {AT}: a constraint that depended on others where the run began does not any more, and "
            "lacks {status.value:.4g} m or rad: the pose at the start is singular, or prescribed and locked "
            "coordinates contradict the loop. Start from another pose, or leave one of them free"
        ),
        failures.SLIPS: cut(
            f"joint {{part}} {AT}: what should roll, or not move across its edge, slips at {{status.value:.4g}} m/s: "
            "prescribed and locked coordinates contradict it; leave one of them free, or let it stop first"
        ),
        failures.SINGULAR_LINK: link(
            f"joint {{part}} {AT}: it feels the inertia {{status.value:.4g}}, not a positive one, at a singular pose. "
            "Give what it carries an inertia about its axis, or keep it away from this pose, by a stop or a motion"
        ),
        failures.NOT_FINITE: link(
            f"joint {{part}} {AT}: its acceleration is not finite, at the rate {{status.value:.4g}}: use a shorter "
            "parameters.stepping.longest_micro_step or micro_step, or look for forces that grow without bound"
        ),
        failures.NOT_SETTLED: Message(
            "the elastic bodies find no static equilibrium under the loads at the start: their deflections change by "
            "{status.value:.4g} of themselves; start at rest, elastic_start = 'rest'"
        ),
        failures.STOP_LIMIT: coordinate(
            f"joint {{part}} {AT}: it is {{status.value:.4g}} m or rad beyond its stop, more than stop_limit; its "
            "stop_stiffness is too low for the impact, or the micro-steps are too long",
            discard=True,
            outcome=LIMIT_EXCEEDED,
        ),
        failures.TOO_DEEP: contact(
            f"contact {{part}} {AT}: the depth {{status.value:.4g}} m exceeds its depth_limit; its stiffness is too "
            "low for the impact, or the micro-steps are too long",
            discard=True,
            outcome=LIMIT_EXCEEDED,
        ),
    }
    return combined(check.messages("1 base, 2 target"), loops, own)
