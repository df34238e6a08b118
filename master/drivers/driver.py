"""The interface of drivers, which set inputs from outside the system, and a driver that is a function of time."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dockfmu.master.errors import FmuError
from dockfmu.master.fmi.variables import Variable
from dockfmu.master.result import Result
from dockfmu.master.system import Structure


class Driver:
    """Base of all drivers, which set inputs from outside the system; override the methods that are needed.

    Attributes
    ----------
    inputs : sequence of str
        Full names of the variables that the driver sets: inputs that no connection sets, or tunable parameters.
    every : int
        Macro steps from one call of `values` to the next.

    Notes
    -----
    Order of calls: `prepare` when the run is set up; `open` before FMUs are loaded; `begin` after initialisation;
    `holds`, and `values` before every `every` macro steps, counted from the start of the run through all checkpoints;
    `end` always; `reset` before another run of the same simulation, which goes on with `open`.
    """

    inputs: Sequence[str] = ()
    every: int = 1

    def reset(self) -> None:
        """Forget the run before. Raises MasterError if the driver takes part in one run only."""

    def prepare(self, system: Structure) -> None:
        """Look up the properties of the inputs, all of which are variables of `system` that can be set."""

    def open(self) -> None:
        """Acquire resources that may be unavailable, such as ports. Raises MasterError."""

    def begin(self, start: float) -> None:
        """Start driving; all instances are initialised at the time `start`."""

    def holds(self) -> bool:
        """Return whether the run has to wait; this is called again after HOLD_S."""
        return False

    def values(self, time: float) -> Mapping[str, Any]:
        """Return new values for the step that begins at `time`, by full names; other inputs keep their values."""
        return {}

    def next_change(self) -> float:
        """Return a time, s, before which `values` returns nothing: it may not be called again before then."""
        return -math.inf

    def discarded(self, name: str, error: FmuError) -> None:
        """Handle that the FMU discarded the value for `name` and keeps the previous one; raise to end the run."""
        raise error

    def end(self, result: Result) -> None:
        """Release what `open` acquired, and add to `result`."""


class ReceivingDriver(Driver):
    """Base of drivers whose values come from outside the process: refused values are counted and do not end the run."""

    def __init__(self, inputs: Sequence[str], every: int) -> None:
        self.inputs, self.every = tuple(inputs), every
        self._variables: dict[str, Variable] = {}
        self.refused = 0
        self._first_refusal = ""

    def reset(self) -> None:
        self.refused = 0
        self._first_refusal = ""

    def prepare(self, system: Structure) -> None:
        self._variables = {name: system.resolve(name)[1] for name in self.inputs}

    def discarded(self, name: str, error: FmuError) -> None:
        self._refuse(str(error))

    def _refuse(self, reason: str) -> None:
        """Count a refusal, and keep the reason for the first."""
        self.refused += 1
        self._first_refusal = self._first_refusal or reason

    def _report(self, result: Result, what: str) -> None:
        """Add a warning, which begins with `what`, to the result if anything was refused."""
        if self.refused:
            result.warnings.append(f"{what} were refused; the first: {self._first_refusal}")


class Function(Driver):
    """Set inputs to the values of a function of time.

    Parameters
    ----------
    inputs : sequence of str
        Full names of the inputs.
    function : callable
        Returns a mapping of full names to values at a time, s.
    every : int
        Macro steps from one call of the function to the next.

    Examples
    --------
    >>> Function(["craft.force[1]"], lambda t: {"craft.force[1]": 10.0 if t < 1.0 else 0.0})      # doctest: +SKIP
    """

    def __init__(
        self, inputs: Sequence[str], function: Callable[[float], Mapping[str, Any]], *, every: int = 1
    ) -> None:
        self.inputs, self.every = tuple(inputs), every
        self._function = function

    def values(self, time: float) -> Mapping[str, Any]:
        return self._function(time)
