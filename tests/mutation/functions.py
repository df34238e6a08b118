"""Functions that are in memory already are given the code of another source, wherever they are referred to."""

from __future__ import annotations

import ast
import gc
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

Change = tuple[FunctionType, CodeType]
"""A function, and the code that it is to run."""


class Functions:
    """The functions of this process, by the file of their source."""

    def __init__(self) -> None:
        self._of: defaultdict[str, list[FunctionType]] = defaultdict(list)
        for found in gc.get_objects():
            # isinstance asks what a weak proxy stands for, which may be gone
            if type(found) is FunctionType:
                self._of[found.__code__.co_filename].append(found)

    def changes(self, file: Path, old: bytes, new: bytes | ast.Module) -> list[Change]:
        """Return the code that the functions of a file have if its source is `new` instead of `old`.

        A function that another one makes when it is called follows from the code of that one.
        """
        places = {(code.co_qualname, code.co_firstlineno): key for key, code in _codes(old, file)}
        codes = dict(_codes(new, file))
        found = []
        for function in self._of[str(file)]:
            place = places.get((function.__code__.co_qualname, function.__code__.co_firstlineno))
            if place in codes:
                found.append((function, codes[place]))
        return found


def apply(changes: list[Change]) -> None:
    """Give functions their code."""
    for function, code in changes:
        function.__code__ = code


def _codes(source: bytes | ast.Module, file: Path) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Yield all code of a source with its qualified name and its number among those of this name."""
    seen: Counter[str] = Counter()
    todo = [compile(source, str(file), "exec", dont_inherit=True)]
    while todo:
        code = todo.pop(0)
        yield (code.co_qualname, seen[code.co_qualname]), code
        seen[code.co_qualname] += 1
        todo += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
