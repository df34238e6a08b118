"""Which statements of kernels each test runs in the interpreter, and the CPU time that it takes."""

from __future__ import annotations

import ast
import contextlib
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.mutation.functions import Change, Functions
from tests.mutation.mutants import kernels

MARK = "__reached__"


class Statements:
    """Numbers of the statements of all kernels: those that begin on one line of a file have one number."""

    def __init__(self, sources: dict[Path, bytes]) -> None:
        self._sources = sources
        self.number: dict[tuple[Path, int], int] = {}
        for file, source in sources.items():
            for function in kernels(ast.parse(source)):
                for node in ast.walk(function):
                    if isinstance(node, ast.stmt) and node is not function:
                        self.number.setdefault((file, node.lineno), len(self.number))
        self.reached = bytearray(len(self.number))

    def counting(self, functions: Functions) -> list[Change]:
        """Return code with which every kernel in memory marks in `reached` what it runs."""
        found = []
        for file, source in self._sources.items():
            tree = ast.parse(source)
            for kernel in kernels(tree):
                self._mark(file, kernel)
            changes = functions.changes(file, source, ast.fix_missing_locations(tree))
            for function, _ in changes:
                function.__globals__[MARK] = self.reached
            found += changes
        return found

    def _mark(self, file: Path, function: ast.FunctionDef) -> None:
        for node in list(ast.walk(function)):
            for name in ("body", "orelse", "finalbody"):
                body = getattr(node, name, None)
                if not isinstance(body, list):
                    continue
                marked: list[ast.stmt] = []
                for statement in body:
                    mark = ast.parse(f"{MARK}[{self.number[file, statement.lineno]}] = 1").body[0]
                    for inner in ast.walk(mark):
                        if hasattr(inner, "lineno"):
                            ast.copy_location(inner, statement)
                    marked += [mark, statement]
                setattr(node, name, marked)


class TooLong(BaseException):
    """A test takes more CPU time than it may. No test, and not hypothesis, takes it for a failure of its own."""


class Reach:
    """A plugin of pytest: statements and CPU seconds of each test that passes within `each` seconds.

    Each test is charged what it would run alone: what fixtures of wider scope run, and what functions of the tests keep
    in a cache. The run stops after `budget` seconds.
    """

    def __init__(self, reached: bytearray, each: float, budget: float) -> None:
        self._reached, self._each, self._budget = reached, each, budget
        self._found: dict[str, tuple[float, np.ndarray]] = {}
        self._failed: set[str] = set()
        self._began = 0.0
        self._fixtures: dict[Any, np.ndarray] = {}
        self._caches: list[Callable[[], None]] = []

    def answer(self) -> dict[str, tuple[float, np.ndarray]]:
        return self._found

    def pytest_plugin_registered(self) -> None:
        modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "tests"]
        values = [value for module in modules for value in vars(module).values()]
        self._caches = [value.cache_clear for value in values if hasattr(value, "cache_clear")]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        before = bytes(self._reached)
        self._clear()
        try:
            return (yield)
        finally:
            self._fixtures[fixturedef] = self._now()
            for k in np.flatnonzero(np.frombuffer(before, np.uint8)):
                self._reached[k] = 1

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[None]:
        for clear in self._caches:
            clear()
        self._clear()
        self._began = time.process_time()
        try:
            return (yield)
        finally:
            took = time.process_time() - self._began
            of_fixtures = [
                self._fixtures[definition]
                for definitions in item._fixtureinfo.name2fixturedefs.values()
                for definition in definitions
                if definition in self._fixtures
            ]
            if item.nodeid not in self._failed and took < self._each:
                self._found[item.nodeid] = took, np.unique(np.concatenate([self._now(), *of_fixtures]))
            if time.process_time() > self._budget:
                item.session.shouldstop = "the time of a file is over"

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Iterator[None]:
        with self._limit():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        with self._limit():
            return (yield)

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not report.passed:
            self._failed.add(report.nodeid)

    @contextlib.contextmanager
    def _limit(self) -> Iterator[None]:
        signal.signal(signal.SIGPROF, _stop)
        signal.setitimer(signal.ITIMER_PROF, max(0.01, self._began + self._each - time.process_time()))
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)

    def _clear(self) -> None:
        self._reached[:] = bytes(len(self._reached))

    def _now(self) -> np.ndarray:
        return np.flatnonzero(np.frombuffer(self._reached, np.uint8)).astype(np.int32)


def _stop(*_: object) -> None:
    raise TooLong
