"""Facts of the FMI 2.0 standard: name of the model description, codes of status, types and causalities of variables.

Also the categories of messages with which an FMU says how a run has ended.
"""

from __future__ import annotations

DESCRIPTION_FILE = "modelDescription.xml"

OK, WARNING, DISCARD, ERROR, FATAL, PENDING = range(6)
"""The values of fmi2Status."""

STATUS_NAMES = ("fmi2OK", "fmi2Warning", "fmi2Discard", "fmi2Error", "fmi2Fatal", "fmi2Pending")
"""The name of each value of fmi2Status."""

DO_STEP_STATUS, PENDING_STATUS, LAST_SUCCESSFUL_TIME, TERMINATED = range(4)
"""The values of fmi2StatusKind."""

TYPES = ("Real", "Integer", "Boolean", "String", "Enumeration")
"""Types of variables in a model description."""

NUMERIC_TYPES = ("Real", "Integer", "Boolean", "Enumeration")
"""Types whose values are stored as numbers."""

ACCESS_TYPES = ("Real", "Integer", "Boolean", "String")
"""Types that have functions to get and set values; Enumeration uses those of Integer."""

CAUSALITIES = (
    "parameter", "calculatedParameter", "input", "output", "local", "independent", "structuralParameter",
)  # fmt: skip
"""Causalities of variables; "structuralParameter" exists in FMI 3.0 only."""

LIMIT_EXCEEDED, MISSED = "limit_exceeded", "missed"
OUTCOMES = (LIMIT_EXCEEDED, MISSED)
"""Outcomes of a run that an FMU may decide by failing: a bound of its model is exceeded; the craft have missed."""

_OUTCOME = "outcome."


def outcome_category(outcome: str) -> str:
    """Return the category of a message about a failure that decides the outcome of a run."""
    return f"{_OUTCOME}{outcome}"


def outcome_of_category(category: str) -> str:
    """Return the outcome that the category of a message decides, empty for any other category."""
    outcome = category.removeprefix(_OUTCOME)
    return outcome if category.startswith(_OUTCOME) and outcome in OUTCOMES else ""
