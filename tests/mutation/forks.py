"""Tests that are collected once, and run as often as wanted, each time in a fork of the process that holds them."""

from __future__ import annotations

import contextlib
import os
import pickle
import resource
import signal
from collections.abc import Callable
from typing import Any

import _pytest.main
import pytest

BROKEN = 70


class Tests:
    """A plugin of pytest: the tests of some folders, in memory, with all that they import."""

    def __init__(self) -> None:
        self.items: dict[str, Any] = {}
        self._session: Any = None
        self._work: Callable[[], None] = lambda: None

    def hold(self, folders: list[str], work: Callable[[], None]) -> None:
        """Collect the tests of folders, then call `work`, in which they can be run."""
        self._work = work
        arguments = ["-q", "-s", "-W", "ignore", "-m", "not slow", "--continue-on-collection-errors"]
        pytest.main([*arguments, "-p", "no:cacheprovider", "-p", "no:xdist", *folders], plugins=[self])

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: Any) -> bool:
        self._session = session
        self.items = {item.nodeid: item for item in session.items}
        session.testsfailed = 0  # files that cannot be collected
        self._work()
        return True

    def run(
        self, names: list[str], plugin: Any, prepare: Callable[[], None], cpu: float, wall: float, stop: bool
    ) -> tuple[int, Any]:
        """Run tests in a fork, after `prepare`; (exit status, `plugin.answer()` or None).

        The fork ends at the first failure with `stop`, and is killed after so many seconds of CPU or of the clock.
        """
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 3))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            signal.alarm(int(wall))
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            status = BROKEN
            try:
                prepare()
                session = self._session
                session.items = [self.items[name] for name in names]
                session.config.option.maxfail = 1 if stop else 0
                session.config.pluginmanager.register(plugin)
                with contextlib.suppress(session.Failed, session.Interrupted):
                    _pytest.main.pytest_runtestloop(session)
                with os.fdopen(writing, "wb") as out:
                    pickle.dump(plugin.answer(), out)
                status = 0
            finally:
                os._exit(status)
        os.close(writing)
        with os.fdopen(reading, "rb") as answer:
            data = answer.read()
        _, ended = os.waitpid(child, 0)
        status = -os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended)
        return status, pickle.loads(data) if data else None
