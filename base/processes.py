"""Separate processes of Python."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path


def import_path() -> Path:
    """Return the folder in which Python finds the package dockfmu: site-packages, or the root of a checkout."""
    spec = find_spec("dockfmu")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parents[1]


def with_temporary_files_in(folder: Path) -> dict[str, str]:
    """Return the environment of a process whose temporary files go to `folder`, where they do not outlive a crash."""
    return {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))}


def python_command(*arguments: str) -> list[str]:
    """Return the command of this Python with arguments; it imports nothing from the current folder."""
    return [sys.executable, "-P", *arguments]


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill a process and those that it has started, if it runs, and wait for it; it has a session of its own."""
    if process.poll() is None and hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.wait()
