"""The contract of components at the edges of what they are given, over the whole catalogue."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from dockfmu.components.core.component import Message, combined
from dockfmu.components.core.sources import ROOT, sources
from dockfmu.fmus import catalogue
from tests.components import contract

PROGRAM = Path(contract.__file__)


@pytest.fixture(scope="module")
def broken():
    """Return what breaks each property, found in a process of its own, which then gives its memory back."""
    done = subprocess.run(
        [sys.executable, PROGRAM],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", [check.__name__ for check in contract.PROPERTIES])
@pytest.mark.slow
def test_every_component_keeps_the_contract(broken, name):
    assert broken[name] == []


def _constant(node, module, imports):
    """(module that defines it, name, number) of the constant that a kernel fails with; None for a code passed on."""
    if isinstance(node, ast.Name):
        home, name = imports.get(node.id, module.__name__), node.id
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        home, name = getattr(module, node.value.id).__name__, node.attr
    else:
        return None
    code = getattr(import_module(home), name, None)
    return (home, name, code) if isinstance(code, int) else None


def failures(component):
    """{(module, name): code} of the constants of all `fail(status, CODE, ...)` in the sources of a component."""
    return {place: code for file in sources(component.module) for place, code in _failures_in(file).items()}


@cache
def _failures_in(file):
    """Return those of one file."""
    found = {}
    parts = ("dockfmu", *file.relative_to(ROOT).with_suffix("").parts)
    module = import_module(".".join(parts).removesuffix(".__init__"))
    package = parts[:-1]
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    imports = {
        alias.asname or alias.name: ".".join((*package[: len(package) + 1 - node.level], node.module or ""))
        if node.level
        else node.module
        for node in nodes
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "fail":
            constant = _constant(node.args[1], module, imports)
            if constant is not None:
                found[constant[:2]] = constant[2]
    return found


@pytest.mark.parametrize("name", catalogue.names())
def test_codes_of_failure_are_disjoint_and_have_messages(name):
    """Each code that a part fails with has one meaning in the component, and a message."""
    component = catalogue.component(name)
    meanings = {}
    for place, code in failures(component).items():
        meanings.setdefault(code, set()).add(place)
    assert len(meanings) > 0
    assert {code: places for code, places in meanings.items() if len(places) > 1} == {}
    assert 0 not in component.messages
    # a source that two variants share may fail with what only one of them can meet
    variants = [other for other in map(catalogue.component, catalogue.names()) if other.module == component.module]
    messages = {code for variant in variants for code in variant.messages}
    strangers = {place for code, places in meanings.items() for place in places if code not in messages}
    if component.module.parent.name == "ring_mechanism":
        # the peripheral mechanism, whose parts it uses, brings the checks of its own parameters along
        strangers = {place for place in strangers if place[0] != "dockfmu.components.peripheral_mechanism.validity"}
    unused = {("dockfmu.components.core.check", constant) for constant in ("NOT_FINITE", "QUATERNION")}
    assert strangers <= (unused if name == "Spacecraft" else set())


@pytest.mark.parametrize("name", catalogue.names())
def test_messages_print(name):
    """Every variable that a message names is in the record."""
    component = catalogue.component(name)
    for code in component.messages:
        assert component.explain(code, component.start())


def test_parts_with_one_code_for_two_things_cannot_be_combined():
    one, two = {1: Message("one"), 2: Message("two")}, {2: Message("another two")}
    assert combined(one, {3: Message("three")}).keys() == {1, 2, 3}
    with pytest.raises(ValueError, match=r"\[2\] have two meanings"):
        combined(one, two)
