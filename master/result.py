"""The result of a run."""

from __future__ import annotations

import signal
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass
class Result:
    """The result of a run; the observers Events, Peaks and Audit fill the fields of these names, Pacing `realtime`.

    `status` is "completed" at the stop time or the stop signal, "stopped" by Ctrl-C, and "failed" for the reason in
    `message` and `error`; `t_end` is the last time at which all instances were consistent. `rejected_steps` counts the
    macro steps that step control repeated, `sweeps` the sweeps of implicit coupling; the shortest and the longest step
    are known if the steps vary.

    `network` counts what came from outside and what was lost: `datagrams`, `datagrams_refused`, `rows_dropped`, ...

    `resultants` has the largest lateral forces and bending moments, of Resultants, `initial_conditions` the
    misalignment and motion at first contact as they were given, for a system that declares them.

    `loads` has the verdict of LoadLimits on the loads of an interface, which may deny a success.

    `decided` is the outcome that the system reports, and `successes` are the outcomes that it declares to be successes;
    Outcomes fills both. `validity` has the counters of Validity, `finals` the values of Finals, `checks` the verdict on
    each line of `audit`, `resumed` describes the checkpoint from which the run continues, `failure` the FMU that failed
    and its message.
    """

    system: str
    algorithm: str
    step: float
    status: Literal["completed", "stopped", "failed"] = "completed"
    t_start: float = 0.0
    t_end: float = 0.0
    wall_s: float = 0.0
    initialise_s: float = 0.0
    macro_steps: int = 0
    rejected_steps: int = 0
    sweeps: int = 0
    shortest_step: float | None = None
    longest_step: float | None = None
    message: str = ""
    warnings: list[str] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)
    peaks: dict[str, dict[str, Any]] = field(default_factory=dict)
    resultants: dict[str, dict[str, Any]] = field(default_factory=dict)
    initial_conditions: dict[str, Any] = field(default_factory=dict)
    loads: dict[str, Any] = field(default_factory=dict)
    audit: dict[str, Any] = field(default_factory=dict)
    realtime: dict[str, Any] = field(default_factory=dict)
    network: dict[str, int] = field(default_factory=dict)
    decided: str = ""
    successes: tuple[str, ...] | None = None
    validity: dict[str, dict[str, Any]] = field(default_factory=dict)
    finals: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: dict[str, dict[str, Any]] = field(default_factory=dict)
    resumed: dict[str, Any] = field(default_factory=dict)
    failure: dict[str, Any] = field(default_factory=dict)
    error: BaseException | None = None
    signal: int = 0
    """The signal that ended the run, 0 if none did."""

    @property
    def real_time_factor(self) -> float:
        """Simulated time over the time of the steps."""
        return (self.t_end - self.t_start) / self.wall_s if self.wall_s > 0.0 else 0.0

    @property
    def outcome(self) -> str:
        """The outcome that the system reports, the status if it reports none, "failed" if the run failed."""
        return "failed" if self.status == "failed" else self.decided or self.status

    @property
    def success(self) -> bool:
        """Whether the system declares the outcome a success; without a declaration, whether the run completed.

        If the system declares that loads decide, a run in which they exceed their limits is no success.
        """
        if self.loads.get("decides") and self.loads["verdict"] != "within":
            return False
        if self.successes is None:
            return self.status == "completed"
        return self.outcome in self.successes

    def summary(self) -> dict[str, Any]:
        """Return the public record of the run, ready for JSON."""
        return {
            "outcome": self.outcome,
            "success": self.success,
            "system": self.system,
            "status": self.status,
            "t_end": self.t_end,
            "wall_s": self.wall_s,
            "real_time_factor": self.real_time_factor,
            "macro_steps": self.macro_steps,
            "algorithm": self.algorithm,
            "step": self.step,
            "rejected_steps": self.rejected_steps,
            "sweeps": self.sweeps,
            "shortest_step": self.shortest_step,
            "longest_step": self.longest_step,
            **({"initial_conditions": self.initial_conditions} if self.initial_conditions else {}),
            "events": self.events,
            "peaks": self.peaks,
            **({"resultants": self.resultants} if self.resultants else {}),
            **({"loads": self.loads} if self.loads else {}),
            "audit": self.audit,
            "audit_checks": self.checks,
            "validity": self.validity,
            "finals": self.finals,
            **({"resumed": self.resumed} if self.resumed else {}),
            **({"realtime": self.realtime} if self.realtime else {}),
            **({"network": self.network} if self.network else {}),
            **({"signal": signal.Signals(self.signal).name} if self.signal else {}),
            "message": self.message,
            **({"failure": self.failure} if self.failure else {}),
            "warnings": self.warnings,
        }
