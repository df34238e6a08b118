"""Which variables can be set from outside between two steps, and to which values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dockfmu.base.messages import shown
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure, check_value


def unsettable(system: Structure, name: str) -> str:
    """Return why a variable cannot be set from outside between two steps, or an empty string if it can."""
    _, variable = system.resolve(name)
    source = next((c for c in system.connections if f"{c.target}.{c.input}" == name), None)
    if source is not None:
        return f"{name} cannot be set from outside: it is connected to {source.source}.{source.output}"
    if variable.causality != "input" and (variable.causality, variable.variability) != ("parameter", "tunable"):
        return f"{name} cannot be set during a run: it is a {variable.variability} {variable.causality}"
    return ""


def check_settable(system: Structure, names: Iterable[str]) -> None:
    """Raise StructureError that names all variables that cannot be set between two steps."""
    problems = [problem for name in names if (problem := unsettable(system, name))]
    if problems:
        raise StructureError(problems)


def check_values(system: Structure, values: Mapping[str, Any]) -> None:
    """Raise StructureError that names all variables that cannot be set to these values between two steps."""
    check_settable(system, values)
    problems = [
        f"{name} = {shown(value)}: {problem}"
        for name, value in values.items()
        if (problem := check_value(system.resolve(name)[1], value))
    ]
    if problems:
        raise StructureError(problems)
