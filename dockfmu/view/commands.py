"""Messages from the page of a live run, checked before anything is done with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dockfmu.base.errors import DockfmuError
from dockfmu.base.number_text import strict_json

LONGEST = 1 << 16
"""Largest number of characters of a message."""

MOST_NAMES = 4096

SPEEDS = (0.01, 100.0)

CENTRED = ("stick", "button")
"""Kinds of controls that return to zero when they are released; choices and numbers keep their values."""


class PageMessageError(DockfmuError, ValueError):
    """A message of the page is refused; the text says why."""


@dataclass(frozen=True)
class Control:
    """An input of the system with which an operator commands it.

    Attributes
    ----------
    variable : str
        Full name of the input.
    kind : {"stick", "button", "choice", "number"}
        Deflection of a hand controller; 1 while pressed; one of `values`; any number, which the run checks.
    full : float
        Value at full deflection of a stick.
    values : tuple of float
        Values of a choice.
    """

    variable: str
    kind: str
    full: float = 1.0
    values: tuple[float, ...] = ()

    def value(self, given: float) -> float:
        """Return the value of the input. Raises PageMessageError for a value that the control cannot give."""
        if self.kind == "stick":
            if not -1.0 <= given <= 1.0:
                raise PageMessageError(f"{self.variable}: a deflection of {given:g} is not between -1 and 1")
            return given * self.full
        if self.kind == "number":
            return given
        allowed = (0.0, 1.0) if self.kind == "button" else self.values
        if given not in allowed:
            raise PageMessageError(f"{self.variable}: {given:g} is not one of {', '.join(f'{v:g}' for v in allowed)}")
        return given


@dataclass(frozen=True)
class PageMessage:
    """One message: its word and its value.

    `drawn`: number of the block of rows that the page has drawn; `names`: variables that it requests; `take`: whether
    it takes the controls or releases them; `set`: values of inputs; `hold`; `speed`; `end`.
    """

    word: str
    value: Any


def read_message(text: str, controls: Sequence[Control]) -> PageMessage:
    """Read a message of a page, with deflections converted to values of inputs.

    Raises PageMessageError and no other error, whatever `text` is.
    """
    if len(text) > LONGEST:
        raise PageMessageError(f"a message of more than {LONGEST} characters")
    try:
        content = strict_json(text)
    except (ValueError, RecursionError) as error:
        raise PageMessageError("not JSON") from error
    if not isinstance(content, dict) or len(content) != 1:
        raise PageMessageError("not an object with one word")
    ((word, value),) = content.items()
    check = {
        "drawn": _count,
        "names": _names,
        "take": _switch,
        "hold": _switch,
        "speed": _speed,
        "end": _true,
    }.get(word)
    if word == "set":
        return PageMessage("set", _values(value, controls))
    if check is None:
        raise PageMessageError(f"there is no message {word[:40]!a}")
    return PageMessage(word, check(value))


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 53:
        raise PageMessageError("not a non-negative integer")
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or len(value) > MOST_NAMES or not all(isinstance(name, str) for name in value):
        raise PageMessageError("not a list of names")
    return list(dict.fromkeys(value))


def _switch(value: Any) -> bool:
    if not isinstance(value, bool):
        raise PageMessageError("neither true nor false")
    return value


def _true(value: Any) -> bool:
    if value is not True:
        raise PageMessageError("not true")
    return True


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise PageMessageError("not a number")
    try:
        number = float(value)
    except OverflowError as error:
        raise PageMessageError("not a finite number") from error
    if not math.isfinite(number):
        raise PageMessageError("not a finite number")
    return number


def _speed(value: Any) -> float:
    speed = _number(value)
    if not SPEEDS[0] <= speed <= SPEEDS[1]:
        raise PageMessageError(f"{speed:g}: a speed is between {SPEEDS[0]:g} and {SPEEDS[1]:g}")
    return speed


def _values(value: Any, controls: Sequence[Control]) -> dict[str, float]:
    """Return the values of inputs from pairs (number of a control, its value)."""
    if not isinstance(value, list) or len(value) > len(controls):
        raise PageMessageError("not a list of controls")
    values = {}
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise PageMessageError("not a pair of control and value")
        place = _count(pair[0])
        if place >= len(controls):
            raise PageMessageError(f"there is no control {place}")
        control = controls[place]
        values[control.variable] = control.value(_number(pair[1]))
    return values
