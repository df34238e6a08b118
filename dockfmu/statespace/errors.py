"""The error of linearisation."""

from __future__ import annotations

from dockfmu.base.errors import DockfmuError


class LinearisationError(DockfmuError, ValueError):
    """An FMU or a system cannot be linearised as requested; the message says why, and what can be done."""
