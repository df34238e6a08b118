"""The base class of all errors of dockfmu, with the exit status of the command line."""

from __future__ import annotations

from typing import ClassVar

FAILED, WRONG = 1, 2
"""Exit statuses: a valid request failed; a request was wrong, and nothing was run."""


class DockfmuError(Exception):
    """An error whose message is for the user; every other exception is a fault of dockfmu itself.

    The message names what is wrong, where, and what to do about it. `exit_status` is that of the command line.
    """

    exit_status: ClassVar[int] = WRONG
