"""The outcome of a run in memory: how it ended, and its recorded variables as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.extras import load_extra
from dockfmu.declare.plan import Panel
from dockfmu.declare.settings import scalars
from dockfmu.master.errors import StructureError
from dockfmu.master.observers.series import Series
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

if TYPE_CHECKING:
    import pandas

    from dockfmu.report.notebook import NotebookFigure


class NotRecordedError(DockfmuError, KeyError):
    """A variable was not recorded."""

    __str__ = Exception.__str__  # KeyError.__str__ would quote the message


class Outcome:
    """Outcome of a run, with its recording in memory.

    Attributes
    ----------
    result : Result
        Findings of the observers: events, peaks, audit, warnings.

    Examples
    --------
    >>> outcome.time, outcome["chaser.body.position"]      # shapes (rows,) and (rows, 3)           # doctest: +SKIP
    >>> outcome.events, outcome.result.audit
    >>> outcome.to_pandas(["chaser.body.position"]).plot()
    """

    def __init__(self, structure: Structure, result: Result, series: Series, panels: Sequence[Panel] = ()) -> None:
        self.result = result
        self._panels = tuple(panels)
        self._structure = structure
        self._series = series

    def __repr__(self) -> str:
        result = self.result
        ending = result.outcome if result.outcome == result.status else f"{result.outcome}, {result.status}"
        return f"<{result.system}: {ending} at {result.t_end:g} s, {len(self.time)} rows>"

    @property
    def outcome(self) -> str:
        """Outcome in the words of the system, such as "docked"; the status if the system declares no outcome."""
        return self.result.outcome

    @property
    def success(self) -> bool:
        """Tell whether the system declares this outcome a success; without a declaration, whether the run completed."""
        return self.result.success

    @property
    def status(self) -> str:
        """Return how the run ended: "completed", "stopped" or "failed"; `result.message` says why."""
        return self.result.status

    @property
    def events(self) -> dict[str, float]:
        """Time of the first event of each name, s; all events are in `result.events`."""
        first: dict[str, float] = {}
        for event in self.result.events:
            first.setdefault(event["name"], event["t"])
        return first

    @property
    def time(self) -> np.ndarray:
        """Times of the rows, s."""
        return self._series.time

    @property
    def variables(self) -> tuple[str, ...]:
        """Full names of the recorded scalars."""
        return self._series.variables or ()

    def __contains__(self, name: str) -> bool:
        """Return whether a scalar, or a whole array, was recorded."""
        try:
            return set(scalars(self._structure, name)[0]) <= set(self.variables)
        except StructureError:
            return False

    def __getitem__(self, name: str) -> np.ndarray:
        """Return values over time: shape (rows,) for a scalar, (rows, ...) for the name of a whole array.

        Raises StructureError for names that the system does not have, NotRecordedError for unrecorded variables.
        """
        names, shape = scalars(self._structure, name)
        columns = self._columns(names)
        return self._series.values[:, columns].reshape(-1, *shape)

    def unit(self, name: str) -> str:
        """Return the unit of a variable, or of the elements of an array."""
        names, _ = scalars(self._structure, name)
        return self._structure.resolve(names[0])[1].unit or "1"

    def variability(self, name: str) -> str:
        """Return the variability of a variable: "continuous", "discrete", ..."""
        return self._structure.resolve(scalars(self._structure, name)[0][0])[1].variability

    def to_pandas(self, names: Sequence[str] | None = None) -> pandas.DataFrame:
        """Return a table over time with a column for each scalar of `names`, by default of all recorded variables.

        Raises StructureError for names that the system does not have, NotRecordedError for unrecorded variables,
        MissingPackageError without pandas.
        """
        pandas = load_extra("pandas", "a table", "campaign")
        requested = self.variables if names is None else names
        chosen = [scalar for name in requested for scalar in scalars(self._structure, name)[0]]
        index = pandas.Index(self.time, name="time")
        return pandas.DataFrame(self._series.values[:, self._columns(chosen)], index=index, columns=chosen)

    def _columns(self, names: Sequence[str]) -> list[int]:
        column_of = {name: k for k, name in enumerate(self.variables)}
        missing = [name for name in names if name not in column_of]
        if missing:
            raise NotRecordedError(
                f"not recorded: {', '.join(missing)}; the option `record` of the run selects the variables"
            )
        return [column_of[name] for name in names]

    def plot(self, *names: str) -> NotebookFigure:
        """Return a figure of variables over the whole run, a panel for each name; a notebook shows it.

        Without names it has the plots of the report of the system, or of all recorded outputs by element and unit, and
        shows the impact of a long run.

        Raises StructureError for names that the system does not have, NotRecordedError for unrecorded variables.
        """
        from dockfmu.report.notebook import drawing
        from dockfmu.report.page import panels_by_unit

        shown = _Recorded(self)
        panels: Sequence[Panel] = [
            Panel(name.partition(".")[2], tuple(scalars(self._structure, name)[0])) for name in names
        ]
        for panel in panels:
            self._columns(panel.signals)
        if not panels:
            known = set(self.variables)
            panels = [panel for panel in self._panels if known & set(panel.signals)] or panels_by_unit(shown)
        return drawing(shown, panels, self.result.events, repr(self)[1:-1], whole=bool(names))

    def _repr_html_(self) -> str:
        from dockfmu.report.notebook import summary_html

        return summary_html(self.result.summary())


class _Recorded:
    """An outcome with the methods of a recording that the plots of a report need."""

    def __init__(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self.time = outcome.time
        self.variables = list(outcome.variables)

    def __contains__(self, name: str) -> bool:
        return name in self.variables

    def __getitem__(self, name: str) -> np.ndarray:
        values = self._outcome[name]
        return values != 0.0 if self.attribute(name)["type"] == "Boolean" else values

    def attribute(self, name: str) -> dict[str, Any]:
        """Return unit, type, description and the items of an enumeration."""
        variable = self._outcome._structure.resolve(name)[1]
        found = {"unit": variable.unit or "1", "type": variable.type, "description": variable.description}
        return found | {"items": [f"{value}={item}" for item, value in variable.items]}

    def unit(self, name: str) -> str:
        """Return the unit of a variable."""
        return str(self.attribute(name)["unit"])

    def display_unit(self, name: str) -> str:
        """Return the display unit of a variable, empty if the FMU names none."""
        return self._outcome._structure.resolve(name)[1].display_unit or ""

    def variability(self, name: str) -> str:
        """Return the variability of a variable."""
        return self._outcome.variability(name)

    def has_envelope(self, name: str) -> bool:
        """Return False: every step is kept, or the rows that were chosen."""
        return False
