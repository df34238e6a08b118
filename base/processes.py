"""Separate processes of Python."""

from __future__ import annotations

import sys


def python_command(*arguments: str) -> list[str]:
    """Return the command of this Python with arguments; it imports nothing from the current folder."""
    return [sys.executable, "-P", *arguments]
