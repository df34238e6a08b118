"""The error of invalid options, of runs and of what users give while they run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.errors import StructureError


class OptionError(StructureError, ValueError):
    """An option of a run, or an argument given while it runs, is invalid; `problems` holds one sentence for each."""


@contextmanager
def named_place(where: str) -> Iterator[None]:
    """Prefix the file and place `where` to the message of a StructureError or DeclarationError that lacks them."""
    try:
        yield
    except StructureError as error:
        raise type(error)([_prefixed(text, where) for text in error.problems]) from error
    except DeclarationError as error:
        raise DeclarationError(_prefixed(str(error), where)) from error


def _prefixed(text: str, where: str) -> str:
    return text if text.startswith(where) else f"{where}: {text}"
