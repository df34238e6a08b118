"""Whether the balances of a run close: a limit for each line of the audit, and what the line tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from master.observers.observer import Observer
from master.result import Result


@dataclass(frozen=True)
class Check:
    """One line of the audit: `limit` is the largest value that is ok.

    `tests` says what a value above it is evidence of. "coupling": the line is an identity of the exchange, which holds
    for any forces as long as each craft gets the impulse that the other one felt. "dynamics": the line compares
    quantities that were computed independently of each other. `remedy` is what to do about a value that is too large.
    """

    limit: float
    tests: Literal["coupling", "dynamics"]
    meaning: str
    remedy: str


_EXCHANGE = (
    "the elements do not get the impulses that others felt; an algorithm that passes values on within the step, "
    "such as gauss_seidel, or a smaller macro step than {step:g} s, may help"
)
_STEP = "a smaller macro step than {step:g} s may help"

CHECKS = {
    # rounding is 1e-9 or less; a wrench that is taken in turned axes errs by (angle in a step)^2 / 24 (spec/00 R4)
    "linear_momentum_drift": Check(1e-6, "coupling", "impulses exchanged between the elements", _EXCHANGE),
    "angular_momentum_drift": Check(1e-6, "coupling", "angular impulses exchanged between the elements", _EXCHANGE),
    # spec/00 R45: 1e-6 to 2e-5 and 7e-4, at the default step; the limits are about five times that
    "mechanism_momentum_drift": Check(
        1e-4, "dynamics", "momentum with the mechanism's own, at the true motion of its base", _STEP
    ),
    "base_impulse_error": Check(
        4e-3, "dynamics", "impulse of the instantaneous base wrench against the exchanged one", _STEP
    ),
    # ten times what is promised at the default step
    "energy_residual": Check(
        0.01, "dynamics", "|input - stored - dissipated| over the approach energy",
        _STEP + ", or work from outside is missing in it",
    ),
}  # fmt: skip


RELATIVE_TO_EXCHANGE = ("mechanism_momentum_drift", "base_impulse_error")

AFFINE_LIMIT = 1e-4
"""Of the exchanged momenta where a craft adds the response of its mechanism (AFFINE).

The mechanism learns of it one step later: the sum is short of one step's response, and is no identity.
"""

SHORTEST = 100
"""Macro steps below which too little has been exchanged for what is relative to it to say anything."""


class Judgement(Observer):
    """Fills result.checks with {name: {"limit", "ok", "tests", "meaning"}} of the lines of the audit.

    `limits` go over those of CHECKS; the limit False leaves a line without judgement: `limit` and `ok` are None then.
    What is not ok gives a warning. With `affine` the exchanged momenta are those of AFFINE base motion. An observer
    that goes after the Audit.
    """

    def __init__(self, limits: Mapping[str, float | Literal[False]], *, affine: bool = False) -> None:
        exchanged = [name for name, check in CHECKS.items() if check.tests == "coupling"]
        self.limits = (dict.fromkeys(exchanged, AFFINE_LIMIT) if affine else {}) | dict(limits)

    def end(self, result: Result) -> None:
        """Complete the result with what was found."""
        for name, value in result.audit.items():
            check = CHECKS.get(name)
            if check is None:
                continue
            limit = self.limits.get(name, check.limit)
            # a value that is no number is not ok either
            short = name in RELATIVE_TO_EXCHANGE and result.macro_steps < SHORTEST
            ok = None if short or limit is False else bool(value <= limit)
            result.checks[name] = {
                "limit": None if limit is False else limit, "ok": ok, "tests": check.tests, "meaning": check.meaning
            }  # fmt: skip
            if ok is False:
                result.warnings.append(
                    f"the balance does not close: {name.replace('_', ' ')} {value:.3g}, limit {limit:.3g}, a test of "
                    f"the {check.tests}: {check.remedy.format(step=result.step)}"
                )
