"""Numbers for strings, so that the compiled loop can pass, observe and record them like integers."""

from __future__ import annotations

import threading

_strings = [""]
_numbers = {"": 0}
_adding = threading.Lock()


def number(string: str) -> int:
    """Return the number of a string, which is constant within this process; the empty string has the number 0."""
    with _adding:
        found = _numbers.setdefault(string, len(_strings))
        if found == len(_strings):
            _strings.append(string)
    return found


def string(number: int) -> str:
    """Return the string with a number."""
    return _strings[number]
