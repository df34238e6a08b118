"""Optional packages: imported where they are used, with an error that says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dockfmu.base.errors import DockfmuError


class MissingPackageError(DockfmuError, ImportError):
    """A package that something needs is not installed."""


def load_extra(module: str, purpose: str, extra: str) -> Any:
    """Return an optional module, the submodule for a dotted name.

    Raises MissingPackageError where it or a package that it needs is not installed; the message says the `purpose`,
    such as "a Parquet file", and the `extra` of dockfmu that has it.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        here = "make campaign" if extra == "campaign" else f"python -m pip install --editable '.[{extra}]'"
        raise MissingPackageError(
            f"{purpose} needs {error.name}, which is not installed: {here} in a checkout, elsewhere "
            f"python -m pip install 'dockfmu[{extra}]'"
        ) from error
