"""Instantiation: from the elements of a system to instances of their FMUs."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from master.fmi import python_modules
from master.fmi.instance import Fmu, FmuInstance
from master.fmi.remote.process import RemoteInstance
from master.system import Element, Structure

_single_instance: set[tuple[str, str]] = set()
"""FMUs, by GUID and identifier, that allow only one instance per process and that this process has instantiated."""


def instantiate(system: Structure, cleanup: ExitStack) -> dict[str, FmuInstance]:
    """Load every FMU once, create the instances, and set their start values; `cleanup` frees them. Raises FmuError.

    Instances that cannot share this process with the others run in separate processes.
    """
    return _Instantiation(system, cleanup).run()


class _Instantiation:
    def __init__(self, system: Structure, cleanup: ExitStack) -> None:
        self.system, self.cleanup = system, cleanup
        self.fmus: dict[tuple[Path, tuple[tuple[str, int], ...]], Fmu] = {}

    def run(self) -> dict[str, FmuInstance]:
        instances: dict[str, FmuInstance] = {}
        for element in self.system.elements.values():
            structure = self.system.description(element.name).structure(element.start)
            make = self._remote if self._needs_process(element) else self._local
            instances[element.name] = instance = make(element, structure)
            instance.set({name: value for name, value in element.start.items() if name not in structure})
        return instances

    def _needs_process(self, element: Element) -> bool:
        if element.process or element.fresh or python_modules.clash(element.file):
            return True
        description = self.system.description(element.name)
        if not description.only_one_per_process:
            return False
        # for ever: the end of an instance does not restore what the library holds for the process
        key = description.guid, description.identifier
        used = key in _single_instance
        _single_instance.add(key)
        return used

    def _remote(self, element: Element, structure: dict[str, int]) -> FmuInstance:
        description = self.system.description(element.name)
        instance = RemoteInstance(
            element.file, description, element.name, structure=structure, timeout=element.timeout,
            fresh=element.fresh or description.only_one_per_process,
        )  # fmt: skip
        self.cleanup.callback(instance.free)
        return instance

    def _local(self, element: Element, structure: dict[str, int]) -> FmuInstance:
        key = (element.file.resolve(), tuple(structure.items()))
        if key not in self.fmus:
            self.fmus[key] = self.cleanup.enter_context(Fmu(element.file, structure))
        return self.fmus[key].instantiate(element.name)
