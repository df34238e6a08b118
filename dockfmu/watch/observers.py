"""The observers of every run of a system, from the command line and from Python."""

from __future__ import annotations

from dockfmu.declare.plan import Plan
from dockfmu.master.observers.events import Events
from dockfmu.master.observers.finals import Finals
from dockfmu.master.observers.loads import LoadLimits
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.outcomes import Outcomes
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.observers.resultants import Resultants
from dockfmu.master.observers.validity import Validity
from dockfmu.master.system import Structure
from dockfmu.watch.audit import audit
from dockfmu.watch.audit_verdicts import Judgement
from dockfmu.watch.failure_state import Standing


def watching(system: Structure, plan: Plan) -> list[Observer]:
    """Return the observers that a plan requires. They must precede a recorder, which writes their findings."""
    peaks = Peaks(system.select(types=("Real",)))
    observers: list[Observer] = [Standing(peaks), peaks, Events(plan.events), Validity()]
    if plan.panels:
        observers.append(Resultants([signal for panel in plan.panels for signal in panel.signals]))
    if plan.outcome is not None:
        observers.append(Outcomes(plan.outcome))
    if plan.finals:
        observers.append(Finals(plan.finals))
    if plan.loads is not None:
        observers.append(LoadLimits(plan.loads))
    if plan.audited:
        judgement = Judgement(plan.limits, approach=plan.approach_momentum[0] > 0.0)
        observers += [audit(system, plan), judgement]
    return observers
