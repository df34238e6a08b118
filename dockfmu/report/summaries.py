"""What summary.json and events.json of a run hold, checked when they are read: a folder of results may be anybody's.

Also whether its recording goes to the end that they tell.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.declare.toml.tables import finite_number

if TYPE_CHECKING:
    from dockfmu.master.observers.recording.results import Results

WHOLE = ("system", "status", "t_end", "wall_s", "macro_steps", "step", "algorithm")
"""Entries of every run."""

Rule = Callable[[Any], str]
"""Returns what is wrong with a value, an empty string if nothing is."""


def summary_problem(content: Any, *, whole: bool = False) -> str:
    """Return what is wrong with the content of a summary, in words; empty if nothing is.

    Entries that are missing are no fault, unless it has to be `whole`, or their table says nothing without them.
    """
    reason = _SUMMARY(content)
    if reason or not whole:
        return reason
    needed = {*WHOLE, *(["real_time_factor"] if content.get("wall_s") is not None else [])}
    return next((f"lacks {name!r}" for name in sorted(needed - content.keys())), "")


def events_problem(content: Any) -> str:
    """Return what is wrong with the content of events.json, in words; empty if nothing is."""
    return _EVENTS(content)


def cut_off(results: Results, summary: Mapping[str, Any]) -> str:
    """Return a sentence on rows that a recording lacks before the end of its run; empty if it lacks none.

    The end is that of the summary and that of the recording itself. The last row of a run that completed is its end;
    others may end within the time between two rows.
    """
    time = results.time
    last = float(time[-1]) if len(time) else 0.0
    for said in (summary, results.attributes):
        t_end = finite_number(said.get("t_end"))
        slack = 0.0 if said.get("status") == "completed" or len(time) < 2 else float(np.diff(time).max())
        if len(time) and t_end is not None and last + slack < t_end - 1e-9 * abs(t_end):
            return f"{results.file}: is cut off: its rows end at {last:.6g} s, and its run at {t_end:.6g} s"
    return ""


def _kind(what: str, fits: Callable[[Any], bool]) -> Rule:
    return lambda value: "" if fits(value) else f"{shown(value)} is not {what}"


def _or_none(rule: Rule) -> Rule:
    return lambda value: "" if value is None else rule(value)


def _row(needed: Mapping[str, Rule], known: Mapping[str, Rule] | None = None) -> Rule:
    """Return the rule of a table that has the `needed` entries, and perhaps the `known` ones."""
    rules = {**needed, **(known or {})}

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return f"{shown(value)} is not a table"
        for name, rule in rules.items():
            if name not in value:
                if name in needed:
                    return f"lacks {name!r}"
            elif reason := rule(value[name]):
                return f"{name}: {reason}"
        return ""

    return check


def _each(rule: Rule) -> Rule:
    """Return the rule of a table with entries of any name."""

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return f"{shown(value)} is not a table"
        return next((f"{shown(name)}: {reason}" for name, entry in value.items() if (reason := rule(entry))), "")

    return check


def _all(rule: Rule) -> Rule:
    """Return the rule of a list."""

    def check(value: Any) -> str:
        if not isinstance(value, list):
            return f"{shown(value)} is not a list"
        return next((f"{k}: {reason}" for k, entry in enumerate(value, 1) if (reason := rule(entry))), "")

    return check


_NUMBER = _kind("a finite number", lambda value: finite_number(value) is not None)
_TEXT = _kind("a text", lambda value: isinstance(value, str))
_FLAG = _kind("true or false", lambda value: isinstance(value, bool))
_MAYBE = _or_none(_NUMBER)
_NEAREST = _kind(
    "a name and a number",
    lambda value: isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and not _NUMBER(value[1]),
)

_EVENTS = _all(_row({"t": _NUMBER, "name": _TEXT}))
_CONDITION = _row({"value": _NUMBER, "unit": _TEXT}, {"limit": _MAYBE})
_SEVERITY = {"R1": _NUMBER, "R2": _NUMBER, "nearest": _NEAREST}


def _conditions(value: Any) -> str:
    known = {"values": _each(_CONDITION), "vector_sums": _all(_TEXT), "start": _TEXT, **_SEVERITY}
    severe = isinstance(value, dict) and "R1" in value
    return _row(_SEVERITY if severe else {}, known)(value)


_LIMIT = _row(
    {"unit": _TEXT, "static": _NUMBER, "short": _MAYBE, "short_time": _MAYBE, "source": _TEXT, "ok": _FLAG,
     "exceeds": _or_none(_TEXT), "t_exceeded": _MAYBE, "longest": _MAYBE, "t_longest": _MAYBE},
)  # fmt: skip


def _limit(value: Any) -> str:
    if reason := _LIMIT(value):
        return reason
    # the sentence on what was exceeded has these numbers
    said = {"short": ["short_time"] if value["short"] is not None else []}
    said["exceeds"] = [] if value["exceeds"] is None else ["t_exceeded", "longest", "t_longest"]
    lacking = next((name for names in said.values() for name in names if value[name] is None), "")
    return f"{lacking} is missing" if lacking else ""


_REALTIME = _row(
    {"factor": _NUMBER, "policy": _TEXT, "steps": _NUMBER, "overruns": _NUMBER, "late_max_s": _NUMBER},
)
_JITTER = _row(dict.fromkeys(("jitter_mean_s", "jitter_99_s", "jitter_max_s"), _NUMBER))
_WORK = _row(dict.fromkeys(("step_mean_s", "step_99_s", "step_max_s", "t_step_max"), _NUMBER))


def _realtime(value: Any) -> str:
    """Durations are given together, or not at all."""
    if reason := _REALTIME(value):
        return reason
    return ("jitter_max_s" in value and _JITTER(value)) or ("step_max_s" in value and _WORK(value)) or ""


_SUMMARY = _row(
    {},
    {
        **dict.fromkeys(("outcome", "system", "status", "algorithm", "message"), _TEXT),
        **dict.fromkeys(("t_end", "macro_steps", "step", "real_time_factor"), _NUMBER),
        "success": _FLAG,
        "wall_s": _MAYBE,
        "initial_conditions": _conditions,
        "events": _EVENTS,
        "peaks": _each(_row({"max": _MAYBE, "t_max": _NUMBER, "min": _MAYBE, "t_min": _NUMBER, "unit": _TEXT})),
        "resultants": _each(_row({"max": _MAYBE, "t_max": _NUMBER, "unit": _TEXT})),
        "loads": _row(
            {},
            {"element": _TEXT, "verdict": _TEXT, "exceeded": _all(_TEXT), "decides": _FLAG, "limits": _each(_limit)},
        ),
        "audit": _each(_MAYBE),
        "audit_checks": _each(
            _row({"limit": _MAYBE, "ok": _or_none(_FLAG)}, {"tests": _TEXT, "meaning": _TEXT})
        ),
        "validity": _each(_row({"count": _NUMBER, "t_first": _MAYBE, "description": _TEXT})),
        "finals": _each(_row({"signal": _TEXT, "value": _MAYBE, "unit": _TEXT})),
        "resumed": _row(
            {"t": _NUMBER, "system": _TEXT, "algorithm": _TEXT, "step": _NUMBER, "differences": _all(_TEXT)}
        ),
        "realtime": _realtime,
        "failure": _row({}, dict.fromkeys(("element", "says", "craft"), _TEXT)),
        "warnings": _all(_TEXT),
    },
)  # fmt: skip
