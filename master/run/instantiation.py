"""Instantiation: from the elements of a system to instances of their FMUs."""

from __future__ import annotations

import sys
from collections.abc import Collection
from contextlib import ExitStack, suppress
from pathlib import Path

from dockfmu.master.errors import FmuError
from dockfmu.master.fmi import python_modules
from dockfmu.master.fmi.exits import guard
from dockfmu.master.fmi.instance import Fmu, FmuInstance
from dockfmu.master.fmi.libraries import foreign_libraries
from dockfmu.master.fmi.remote.process import RemoteInstance
from dockfmu.master.fmi.surroundings import Surroundings, undo
from dockfmu.master.system import Element, Structure

_single_instance: set[tuple[str, str]] = set()
"""FMUs, by GUID and identifier, that allow only one instance per process and that this process has instantiated."""

CAN_ISOLATE = sys.platform == "linux"
"""Whether FMUs can run in separate processes."""


def set_start_values(instance: FmuInstance, element: Element) -> None:
    """Set the start values of an instance, except those that its structure was made with. Raises FmuError."""
    structure = instance.description.structure(element.start)
    instance.set({name: value for name, value in element.start.items() if name not in structure})


def renew(instance: FmuInstance, element: Element) -> None:
    """Instantiate an element again, with its start values. Raises FmuError."""
    instance.renew()
    set_start_values(instance, element)


def instantiate(
    system: Structure, cleanup: ExitStack, apart: Collection[str], notes: list[str]
) -> dict[str, FmuInstance]:
    """Load every FMU once, create the instances, and set their start values; `cleanup` frees them. Raises FmuError.

    Instances that cannot share this process with the others run in separate processes: those that declare it, those
    named in `apart`, and those that change what all code of a process shares; `notes` gets a sentence on each of these.
    """
    return _Instantiation(system, cleanup, apart, notes).run()


class _Instantiation:
    def __init__(self, system: Structure, cleanup: ExitStack, apart: Collection[str], notes: list[str]) -> None:
        self.system, self.cleanup, self.apart, self.notes = system, cleanup, apart, notes
        self.fmus: dict[tuple[Path, tuple[tuple[str, int], ...]], Fmu] = {}
        self.budget = system.budget.copy()

    def run(self) -> dict[str, FmuInstance]:
        instances: dict[str, FmuInstance] = {}
        for element in self.system.elements.values():
            if self._needs_process(element):
                instances[element.name] = self._started(self._remote(element), element)
            else:
                instances[element.name] = self._here_or_apart(element)
        return instances

    def _needs_process(self, element: Element) -> bool:
        if element.process or element.fresh or element.name in self.apart or python_modules.clash(element.file):
            return True
        description = self.system.description(element.name)
        if not description.only_one_per_process:
            return False
        # for ever: the end of an instance does not restore what the library holds for the process
        key = description.guid, description.identifier
        used = key in _single_instance
        _single_instance.add(key)
        return used

    def _structure(self, element: Element) -> dict[str, int]:
        return self.system.description(element.name).structure(element.start)

    def _started(self, instance: FmuInstance, element: Element) -> FmuInstance:
        """Set the start values of an instance, and return it."""
        set_start_values(instance, element)
        return instance

    def _here_or_apart(self, element: Element) -> FmuInstance:
        """Create an instance in this process, or in a separate one if it disturbs this one."""
        before = Surroundings.now()
        try:
            instance: FmuInstance | None = self._started(self._local(element), element)
        except FmuError:
            undo(before)
            raise
        changed = undo(before)
        assert instance is not None
        foreign = foreign_libraries(instance.fmu.folder)
        if not changed and not foreign:
            return instance
        reasons = [f"changed {' and '.join(changed)} of this process"] if changed else []
        reasons += [f"brings another {name} than {place}" for name, place in foreign[:2]]
        reason = f"{element.name} {' and '.join(reasons)}"
        if not CAN_ISOLATE:
            # libraries of one name are loaded once, whatever is done
            self.notes.append(f"{reason}; restored" if changed else reason)
            return instance
        self._give_up(element, instance)
        undo(before)
        self.notes.append(f"{reason}: it runs in a separate process")
        return self._started(self._remote(element), element)

    def _give_up(self, element: Element, instance: FmuInstance) -> None:
        """Free an instance, and unload its library if no other element uses it."""
        fmu = instance.fmu
        with suppress(FmuError):
            instance.free()
        fmu.instances.remove(instance)
        if not fmu.instances:
            self.fmus.pop((element.file.resolve(), tuple(self._structure(element).items())), None)
            fmu.close()

    def _remote(self, element: Element) -> FmuInstance:
        description = self.system.description(element.name)
        self.budget.take(element.file)
        instance = RemoteInstance(
            element.file,
            description,
            element.name,
            structure=self._structure(element),
            timeout=element.timeout,
            fresh=element.fresh or description.only_one_per_process,
        )
        self.cleanup.callback(instance.free)
        return instance

    def _local(self, element: Element) -> FmuInstance:
        structure = self._structure(element)
        key = (element.file.resolve(), tuple(structure.items()))
        if key not in self.fmus:
            self.budget.take(element.file)
            guard()
            self.fmus[key] = self.cleanup.enter_context(Fmu(element.file, structure))
        return self.fmus[key].instantiate(element.name)
