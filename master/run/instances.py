"""The instances of a run: loaded and initialised together, renewed for another run, and freed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from dockfmu.master.checkpoint import identity, identity_of_starts, restore_states
from dockfmu.master.errors import FmuError
from dockfmu.master.fmi.instance import FmuInstance
from dockfmu.master.fmi.surroundings import Surroundings, told, undo
from dockfmu.master.run.initialisation import Initialisation
from dockfmu.master.run.instantiation import CAN_ISOLATE, instantiate, renew
from dockfmu.master.system import Structure


@dataclass(frozen=True)
class Beginning:
    """Say how the instances of a run begin.

    Attributes
    ----------
    start : float
        Start time that they are told, s.
    stops : mapping of str to float
        Stop time that each instance is told, s.
    states : mapping of str to bytes, optional
        States of a checkpoint, which are restored after initialisation.
    values : mapping of str to value
        Values that are set afterwards, by full names.
    """

    start: float
    stops: Mapping[str, float]
    states: Mapping[str, bytes] | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


class Instances:
    """The instances of a system, with their start values; `load` returns them initialised.

    What FMUs of this process change for all code in it is restored, and told by the `warnings` of a run.

    Attributes
    ----------
    system : Structure
        The system, with the start values of the present run.
    by_name : dict of str to FmuInstance
        The instances.
    apart : frozenset of str
        Elements that have disturbed this process, and therefore run in separate ones.
    identity : dict, optional
        What a checkpoint says of the system; None if an FMU cannot serialise its state.
    """

    def __init__(self, system: Structure, apart: Set[str], warnings: list[str]) -> None:
        """Load the FMUs, create the instances and set their start values. Raises FmuError."""
        self.system, self.apart = system, frozenset(apart)
        # identify the FMUs now: the system and its files may change during the run
        saved = all(system.description(name).can_serialize_state for name in system.elements)
        self.identity = identity(system) if saved else None
        self.by_name: dict[str, FmuInstance] = {}
        self._cleanup = ExitStack()
        try:
            self.by_name = instantiate(system, self._cleanup, self.apart, warnings)
            self._initialisation = Initialisation(system, self.by_name)
        except BaseException:
            self.free(warnings)
            raise

    @property
    def usable(self) -> bool:
        """Whether another run can begin with the loaded libraries.

        After an error an instance may be freed and recreated; after fmi2Fatal nothing of its library may be called.
        """
        return not any(instance.dead or not instance.renewable for instance in self.by_name.values())

    def begin(self, beginning: Beginning, warnings: list[str]) -> frozenset[str]:
        """Initialise the instances; return the elements that must be loaded elsewhere, because they disturb others."""
        warnings += self._initialisation.run(self.system.elements, beginning.start, beginning.stops)
        if beginning.states is not None:
            restore_states(self.by_name, beginning.states)
            self.set(beginning.values)
        found = self._initialisation.disturbing
        for changed in found.values():
            what = told(list(found), dict.fromkeys(changed))
            where = "it runs in a separate process" if CAN_ISOLATE else "restored"
            note = f"{what} while it was initialised: {where}"
            if note not in warnings:
                warnings.append(note)
        return frozenset(found) if CAN_ISOLATE else frozenset()

    def renew(self, system: Structure, warnings: list[str]) -> None:
        """Instantiate all again for another run, with the start values of `system`."""
        self.system = system
        if self.identity is not None:
            self.identity |= identity_of_starts(system)
        with self._restoring("when it was freed", warnings):
            for name, instance in self.by_name.items():
                renew(instance, system.elements[name])

    def terminate(self, warnings: list[str]) -> None:
        """Terminate all instances, with a warning for each failure."""
        with self._restoring("when it ended", warnings):
            for instance in self.by_name.values():
                try:
                    instance.terminate()
                except FmuError as error:
                    warnings.append(str(error))

    def free(self, warnings: list[str]) -> None:
        """Free the instances and unload their libraries."""
        with self._restoring("when it was freed", warnings):
            self._cleanup.close()

    def get(self, names: Sequence[str]) -> list[Any]:
        """Return the present values of variables, given by their full names, in the order of `names`."""
        found: dict[str, Any] = {}
        for element, variables in self._by_element(names).items():
            values = self.by_name[element].get(list(variables.values()))
            found |= dict(zip(variables, values, strict=True))
        return [found[name] for name in names]

    def set(self, values: Mapping[str, Any]) -> None:
        """Set variables by their full names."""
        for element, variables in self._by_element(values).items():
            self.by_name[element].set({variable: values[name] for name, variable in variables.items()})

    def _by_element(self, names: Iterable[str]) -> dict[str, dict[str, str]]:
        """Return the variable of each full name, by element."""
        grouped: dict[str, dict[str, str]] = {}
        for name in names:
            element, variable = self.system.resolve(name)
            grouped.setdefault(element, {})[name] = variable.name
        return grouped

    @contextmanager
    def _restoring(self, when: str, warnings: list[str]) -> Iterator[None]:
        """Restore what FMUs of this process change for all code in it, and warn."""
        before = Surroundings.now()
        try:
            yield
        finally:
            if changed := undo(before):
                here = [name for name, instance in self.by_name.items() if not instance.remote]
                if here and (note := f"{told(here, changed)} {when}: restored") not in warnings:
                    warnings.append(note)


def load(system: Structure, beginning: Beginning, warnings: list[str], apart: Set[str] = frozenset()) -> Instances:
    """Load and initialise the instances of a system, those in `apart` in separate processes.

    Those that disturb this process while they are initialised are loaded again, in separate ones. Raises FmuError, and
    StructureError for start values that cannot be found.
    """
    while True:
        instances = Instances(system, apart, warnings)
        try:
            disturbing = instances.begin(beginning, warnings)
        except BaseException:
            instances.free(warnings)
            raise
        if not disturbing:
            return instances
        apart = apart | disturbing
        instances.free(warnings)
