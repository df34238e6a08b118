"""Numbers for texts, so that the compiled loop can pass them on, watch and record them like any whole number."""

from __future__ import annotations

import threading

_texts = [""]
_numbers = {"": 0}
_adding = threading.Lock()


def number(text: str) -> int:
    """The number of a text in this process; 0 is the empty one."""
    with _adding:
        found = _numbers.setdefault(text, len(_texts))
        if found == len(_texts):
            _texts.append(text)
    return found


def text(number: int) -> str:
    """The text of a number."""
    return _texts[number]
