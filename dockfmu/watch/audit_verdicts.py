"""Judge whether the balances of a run close, line by line of the audit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from dockfmu.declare.audit_limits import CHECKS
from dockfmu.master.observers.observer import Observer
from dockfmu.master.result import Result

OF_THE_COUPLING = ("mechanism_momentum_drift",)
"""Lines whose error is the change of a force in a step, however little has been exchanged so far."""

SHORTEST = 100
"""Fewest macro steps for a judgement of these lines relative to the exchange alone: fewer exchange too little."""


class Judgement(Observer):
    """Observer that judges the lines of the audit: result.checks gets {name: {"limit", "ok", "tests", "meaning"}}.

    It must come after the Audit among the observers. A line that is not ok gives a warning.

    Parameters
    ----------
    limits : mapping of str to float or False
        Limits that replace those of CHECKS; False leaves a line unjudged, with `limit` and `ok` None.
    approach : bool
        Whether the values are relative to at least the momentum of an approach; then runs of any length are judged.
    """

    def __init__(self, limits: Mapping[str, float | Literal[False]], *, approach: bool = False) -> None:
        self.approach = approach
        self.limits = dict(limits)

    def end(self, result: Result) -> None:
        """Add the judgements to the result."""
        for name, value in result.audit.items():
            check = CHECKS.get(name)
            if check is None:
                continue
            limit = self.limits.get(name, check.limit)
            # NaN is not ok either
            short = name in OF_THE_COUPLING and result.macro_steps < SHORTEST and not self.approach
            ok = None if short or limit is False else bool(value <= limit)
            result.checks[name] = {
                "limit": None if limit is False else limit, "ok": ok, "tests": check.tests, "meaning": check.meaning
            }  # fmt: skip
            if ok is False:
                result.warnings.append(
                    f"the balance does not close: {name.replace('_', ' ')} {value:.3g}, limit {limit:.3g}, a test of "
                    f"the {check.tests}: {check.remedy.format(step=result.step)}"
                )
