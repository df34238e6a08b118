"""Named outcomes of a system: the last one declared whose sensors and locks are all closed."""

from __future__ import annotations

from dockfmu.components.core.field import BOOLEAN, Field, Group, Type, enumeration, output, private
from dockfmu.components.core.kernel import kernel
from dockfmu.components.multibody.model.parts import Model

OF_SENSOR, OF_LOCK = 0.0, 1.0
"""What a requirement looks at."""


def outcome_type(model: Model) -> Type:
    """Return the enumeration of the outcomes of a model, NONE first."""
    items = {one.name.upper(): ", ".join(one.when) for one in model.outcomes}
    return enumeration("MultibodyOutcome", NONE="none of those declared", **items)


def decision(model: Model) -> Group:
    """Return the group of the output that tells the outcome; private without outcomes."""
    text = "the last of the declared outcomes whose conditions are met now"
    if model.outcomes:
        return Group("outcome", output("decided", "1", text, 1.0, type=outcome_type(model)))
    return Group("outcome", private("decided", "1", text, 1.0))


def outcome_fields(name: str) -> tuple[Field, ...]:
    """Return the fields of one outcome."""
    return (output("met", "1", f"the conditions of the outcome {name} are met", type=BOOLEAN),)


def requirements(model: Model) -> list[tuple[int, float, int]]:
    """Return (outcome, kind, index of sensor or lock) of all conditions."""
    sensors = [sensor.name for sensor in model.sensors]
    locks = [lock.name for lock in model.locks]
    return [
        (k, OF_SENSOR, sensors.index(name)) if name in sensors else (k, OF_LOCK, locks.index(name))
        for k, one in enumerate(model.outcomes)
        for name in one.when
    ]


def requirement_group(model: Model) -> Group:
    """Return the conditions of all outcomes."""
    return Group(
        "requirement",
        private("outcome", "1", "index of the outcome"),
        private("kind", "1", "one of those of `outcomes`"),
        private("part", "1", "index of the sensor or the lock"),
        count=max(1, len(requirements(model))),
    )


@kernel
def decide(decision, outcome, requirement, sensor, lock, run):
    """Set which outcomes are met, and the last of them as the decision."""
    decision.decided = 1.0
    for k in range(int(run.outcomes)):
        outcome[k].met = 1.0
    for j in range(int(run.requirements)):
        r = requirement[j]
        part = int(r.part)
        closed = sensor[part].closed if r.kind == OF_SENSOR else lock[part].closed
        if closed == 0.0:
            outcome[int(r.outcome)].met = 0.0
    for k in range(int(run.outcomes)):
        if outcome[k].met != 0.0:
            decision.decided = k + 2.0
