"""The equality chain: interpreter = JIT = native FMU = pythonfmu FMU, bit by bit, for one scenario of a component.

A component joins with one line in `tests/test_equality.py`. Run as a program, this module does one link of the chain:
it reads a scenario from standard input and writes the trace to standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
Trace = np.ndarray
"""All public variables, shape (steps + 1, variables): after initialisation and after each step."""


@dataclass(frozen=True)
class Scenario:
    """Task of a component.

    `name` and `options` as for `dockfmu.fmus.catalogue.component`; parameter sets by their names, then `values`, are
    parameters and inputs before initialisation; `inputs[k]` is set before step k, which goes from k * step to (k + 1) *
    step.
    """

    name: str
    inputs: tuple[Mapping[str, float], ...]
    step: float = 1e-3
    sets: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)


def _sets(component: Any, scenario: Scenario) -> list[Any]:
    return [chosen for name in scenario.sets for chosen in component.parameter_sets if chosen.name == name]


def run_directly(scenario: Scenario) -> Trace:
    """The kernels themselves: compiled, or interpreted where NUMBA_DISABLE_JIT is set."""
    from dockfmu.components.core.component import Instance
    from dockfmu.fmus import catalogue

    component = catalogue.component(scenario.name, **scenario.options)
    instance = Instance(component, *_sets(component, scenario), **scenario.values)
    public = [slot.index for slot in component.record.variables]
    trace = [instance.block[public].copy()]
    for k, inputs in enumerate(scenario.inputs):
        for name, value in inputs.items():
            instance.block[component.record.index[name]] = value
        instance.step(k * scenario.step, scenario.step)
        trace.append(instance.block[public].copy())
    return np.array(trace)


def run_fmu(scenario: Scenario, kind: str) -> Trace:
    """An FMU of the component, called through the functions of the standard."""
    from dockfmu import fmus
    from dockfmu.fmus import catalogue
    from tests.fmus.library import OK, Library

    component = catalogue.component(scenario.name, **scenario.options)
    with tempfile.TemporaryDirectory() as folder:
        file = fmus.build(component, Path(folder), kind=kind)
        instance = Library(file, Path(folder) / "unpacked").instance()
        for values in (*(chosen.values for chosen in _sets(component, scenario)), scenario.values):
            for name, value in values.items():
                for scalar, number in component.record.expand(name, value, scenario.name):
                    instance.set_checked(scalar, number)
        assert instance.setup() == instance("EnterInitializationMode") == OK, instance.messages
        assert instance("ExitInitializationMode") == OK, instance.messages
        names = [slot.name for slot in component.record.variables]
        trace = [instance.get_all(names)]
        for k, inputs in enumerate(scenario.inputs):
            for name, value in inputs.items():
                instance.set_checked(name, value)
            assert instance.step(k * scenario.step, scenario.step) == OK, instance.messages
            trace.append(instance.get_all(names))
        instance.free()
    return np.array(trace)


def _elsewhere(scenario: Scenario, link: str, **environment: str) -> Trace:
    done = subprocess.run(
        [sys.executable, "-m", "tests.equality", link],
        input=json.dumps(asdict(scenario)), cwd=ROOT, env={**os.environ, **environment}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = [[float.fromhex(word) for word in row.split()] for row in done.stdout.splitlines()]
    return np.array(rows)


def chain(scenario: Scenario) -> dict[str, Trace]:
    """The trace of every link. The interpreter and pythonfmu run in processes of their own."""
    return {
        "JIT": run_directly(scenario),
        "interpreter": _elsewhere(scenario, "direct", NUMBA_DISABLE_JIT="1"),
        "native FMU": run_fmu(scenario, "native"),
        "pythonfmu FMU": _elsewhere(scenario, "python"),
    }


def assert_equal_chain(scenario: Scenario) -> None:
    """All links give the same bits in all public variables after every step."""
    from dockfmu.fmus import catalogue

    record = catalogue.component(scenario.name, **scenario.options).record
    traces = chain(scenario)
    reference = traces.pop("JIT")
    assert np.isfinite(reference).all()
    for link, trace in traces.items():
        different = np.argwhere(trace.view(np.uint64) != reference.view(np.uint64))
        if len(different):
            row, column = different[0]
            name = record.variables[column].name
            raise AssertionError(
                f"{scenario.name}: {link} differs from the JIT in {len(different)} values, first {name} after step "
                f"{row}: {trace[row, column]!r} and {reference[row, column]!r}"
            )


if __name__ == "__main__":
    given = Scenario(**json.load(sys.stdin))
    result = run_directly(given) if sys.argv[1] == "direct" else run_fmu(given, sys.argv[1])
    for line in result:
        print(" ".join(float(number).hex() for number in line))
