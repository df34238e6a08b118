"""The lines of the audit of a run: the meaning of each, and the limit above which the balance does not close."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Check:
    """The limit of one line of the audit.

    Attributes
    ----------
    limit : largest accepted value
    tests : what a larger value disproves. "coupling": the line is an identity of the exchange, which holds for any
        forces provided that each craft receives the impulse that the other one felt. "dynamics": the line compares
        quantities that were computed independently of each other
    meaning : the quantity that the line measures
    remedy : what to do about a larger value; `{step}` stands for the macro step, s
    """

    limit: float
    tests: Literal["coupling", "dynamics"]
    meaning: str
    remedy: str


_EXCHANGE = (
    "the elements do not receive the impulses that others felt; an algorithm that passes values on within the step, "
    "such as gauss_seidel, or a smaller macro step than {step:g} s, may help"
)
_STEP = "a smaller macro step than {step:g} s may help"

CHECKS = {
    # rounding is 1e-9 or less; a wrench applied in rotated axes errs by (angle in a step)^2 / 24 (ruling R4)
    "linear_momentum_drift": Check(1e-6, "coupling", "impulses exchanged between the elements", _EXCHANGE),
    "angular_momentum_drift": Check(1e-6, "coupling", "angular impulses exchanged between the elements", _EXCHANGE),
    # ruling R45, at the default step: 1e-6 to 2e-5, the limit is five times that
    "mechanism_momentum_drift": Check(
        1e-4, "dynamics", "momentum with the mechanism's own, at the true motion of its base", _STEP
    ),
    # 1e-8 to 5e-7; 4e-4 on a hatch cover, whose own acceleration the instantaneous torque leaves out
    "base_impulse_error": Check(
        1e-3, "dynamics", "impulse on the base by the equations of motion against that by the momenta", _STEP
    ),
    # ten times the residual promised at the default step
    "energy_residual": Check(
        0.01, "dynamics",
        "|input - stored - dissipated| over the energy of the approach or, without one, the energy exchanged",
        "a smaller macro step than {step:g} s may help, or a smaller parameters.micro_step of an element, or a longer "
        "run if little energy has been exchanged so far, or work from outside is missing in it",
    ),
}  # fmt: skip
