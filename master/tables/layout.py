"""Where everything that is coupled stands: the one thing that all tables of the loop are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from master.algorithms.algorithm import Scheme
from master.errors import StructureError
from master.fmi.instance import Instance
from master.order import loops
from master.system import System
from master.tables.inputs import Inputs
from master.tables.outputs import Outputs


@dataclass(frozen=True)
class Layout:
    """Instances in the order of execution, and the places of their coupled variables.

    `rates` names the output that is the derivative of another, `feedback` the outputs that an implicit scheme iterates
    over.
    """

    system: System
    scheme: Scheme
    instances: tuple[Instance, ...]
    outputs: Outputs
    inputs: Inputs
    rates: Mapping[str, str]
    feedback: frozenset[str]

    @property
    def order(self) -> list[str]:
        """Names of the instances."""
        return [instance.name for instance in self.instances]

    def instance(self, name: str) -> Instance:
        """Return the instance of an element."""
        return self.instances[self.order.index(name)]

    def can_roll_back(self) -> bool:
        """Return whether the states of all instances can be saved and set."""
        return all(instance.description.can_get_and_set_state for instance in self.instances)


def lay_out(system: System, instances: Mapping[str, Instance], scheme: Scheme, watched: Iterable[str]) -> Layout:
    """Lay out `instances`, coupled as `scheme` says; `watched` are outputs that are read besides.

    Raises StructureError for FMUs that cannot do what the scheme asks.
    """
    ordered = tuple(instances[name] for stage in scheme.stages for name in stage)
    rates = rates_of(system, scheme)
    outputs = Outputs(system, ordered, {*watched, *rates.values()})
    return Layout(
        system=system,
        scheme=scheme,
        instances=ordered,
        outputs=outputs,
        inputs=Inputs(system, ordered, outputs),
        rates=rates,
        feedback=frozenset(feedback(system, scheme)),
    )


def rates_of(system: System, scheme: Scheme) -> dict[str, str]:
    """Return the outputs that are derivatives of the outputs which predicted instances get: {output: its derivative}.

    Raises StructureError for rates of the scheme that are not outputs.
    """
    found = {}
    for source in {(c.source, c.output) for c in system.connections if c.target in scheme.predicted}:
        element, output = source
        for variable in system.description(element).variables.values():
            if variable.derivative == output and variable.causality == "output":
                found[f"{element}.{output}"] = f"{element}.{variable.name}"
    for output, rate in scheme.rates.items():
        for name in (output, rate):
            _, variable = system.resolve(name)
            if (variable.causality, variable.storage) != ("output", "Real"):
                raise StructureError([f"rates: {name} is no Real output"])
        found[output] = rate
    return found


def feedback(system: System, scheme: Scheme) -> set[str]:
    """Return the Real outputs that an instance of their loop uses before they are there: those of its stage and later.

    Raises StructureError where the scheme iterates over them, and FMUs cannot go back.
    """
    if scheme.implicit is None:
        return set()
    stage_of = {name: k for k, stage in enumerate(scheme.stages) for name in stage}
    found = loops(tuple(stage_of), {(c.source, c.target) for c in system.connections})
    loop_of = {name: k for k, names in enumerate(found) for name in names}
    closing = {
        f"{c.source}.{c.output}"
        for c in system.connections
        if system.description(c.target).variables[c.input].storage == "Real"
        and c.source in loop_of
        and loop_of[c.source] == loop_of.get(c.target)
        and stage_of[c.source] >= stage_of[c.target]
    }
    stuck = [name for name in stage_of if not system.description(name).can_get_and_set_state]
    if closing and stuck:
        raise StructureError([f"implicit coupling needs to go back, and {', '.join(stuck)} cannot"])
    return closing
