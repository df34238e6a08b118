"""The error of invalid options, of runs and of what users give while they run."""

from __future__ import annotations

from dockfmu.master.errors import StructureError


class OptionError(StructureError, ValueError):
    """An option of a run, or an argument given while it runs, is invalid; `problems` holds one sentence for each."""
