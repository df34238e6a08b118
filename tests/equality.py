"""The equality chain, bit by bit, for one scenario of a component: interpreter, this process, native and pythonfmu FMU.

A component joins with one line in `tests/test_equality.py`. Run as a program, this module does one link of the chain:
it reads scenarios from standard input, one a line, and answers each with a line, its trace.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
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
    """The kernels in this process: compiled, or interpreted where NUMBA_DISABLE_JIT is set."""
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


class Link:
    """A process that does one link of the chain, for one scenario after another."""

    def __init__(self, name: str, **environment: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.equality", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, **environment},
            text=True,
        )

    def __call__(self, scenario: Scenario) -> Trace:
        pipes = self._process.stdin, self._process.stdout
        assert pipes[0] is not None
        assert pipes[1] is not None
        print(json.dumps(asdict(scenario)), file=pipes[0], flush=True)
        answer = json.loads(pipes[1].readline() or '{"error": "the process has ended"}')
        assert "error" not in answer, answer["error"]
        return np.array([[float.fromhex(word) for word in row] for row in answer["trace"]])

    def close(self) -> None:
        self._process.communicate()


class Links:
    """The links that need processes of their own, started when the first scenario needs them."""

    @cached_property
    def interpreter(self) -> Link:
        return Link("direct", NUMBA_DISABLE_JIT="1")

    @cached_property
    def python(self) -> Link:
        return Link("python")

    def close(self) -> None:
        for link in vars(self).values():
            link.close()


def chain(scenario: Scenario, links: Links) -> dict[str, Trace]:
    """The trace of every link."""
    return {
        "this process": run_directly(scenario),
        "interpreter": links.interpreter(scenario),
        "native FMU": run_fmu(scenario, "native"),
        "pythonfmu FMU": links.python(scenario),
    }


def assert_equal_chain(scenario: Scenario, links: Links) -> None:
    """All links give the same bits in all public variables after every step."""
    from dockfmu.fmus import catalogue

    record = catalogue.component(scenario.name, **scenario.options).record
    traces = chain(scenario, links)
    reference = traces.pop("this process")
    assert np.isfinite(reference).all()
    for link, trace in traces.items():
        different = np.argwhere(trace.view(np.uint64) != reference.view(np.uint64))
        if len(different):
            row, column = different[0]
            name = record.variables[column].name
            raise AssertionError(
                f"{scenario.name}: {link} differs from this process in {len(different)} values, first {name} "
                f"after step {row}: {trace[row, column]!r} and {reference[row, column]!r}"
            )


def _answer(link: str, line: str) -> str:
    """Return the answer to one scenario."""
    given = Scenario(**json.loads(line))
    try:
        result = run_directly(given) if link == "direct" else run_fmu(given, link)
    except BaseException:
        return json.dumps({"error": traceback.format_exc()})
    return json.dumps({"trace": [[float(number).hex() for number in row] for row in result]})


def _forked(link: str, line: str) -> str:
    """Answer in a fork: FMUs in Python bring modules of one name along, which one process cannot load twice."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as out:
            out.write(_answer(link, line))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text or json.dumps({"error": "the process of this scenario has ended"})


def main(link: str) -> None:
    """Answer scenarios until standard input ends; what kernels and FMUs print goes to standard error."""
    from dockfmu.fmus import catalogue  # noqa: F401
    from tests.fmus import library  # noqa: F401

    with os.fdopen(os.dup(1), "w") as out:
        os.dup2(2, 1)
        for line in sys.stdin:
            print(_answer(link, line) if link == "direct" else _forked(link, line), file=out, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
