"""Numbers in text: what a format allows, without what Python alone accepts, such as `1_0` and digits of other scripts.

Every number that a user, a file or a message gives as text is read here. TOML is read by `tomllib`, which is strict.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

MOST_DIGITS = 100
"""Most characters of an integer: its conversion takes time that grows with their square."""
DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
"""The form of a decimal number, without an infinity or NaN; for re.ASCII and re.IGNORECASE."""

_DECIMAL = re.compile(DECIMAL, re.ASCII | re.IGNORECASE)
_WORD = re.compile(r"[+-]?inf|nan", re.IGNORECASE)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_COUNT = re.compile(r"\d+", re.ASCII)
_XML_WORDS = {"INF": math.inf, "-INF": -math.inf, "NaN": math.nan}
_XML_BLANKS = " \t\r\n"


def decimal_number(text: str) -> float:
    """Return a decimal number, such as `-1`, `.5` or `1e-3`; one that is too large is infinite. Raises ValueError."""
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError(f"{text[:60]!r} is not a decimal number")
    return float(text)


def any_number(text: str) -> float:
    """Return a decimal number, or `inf`, `-inf` or `nan` in letters of either case. Raises ValueError."""
    return float(text) if _WORD.fullmatch(text) else decimal_number(text)


def whole_number(text: str) -> int:
    """Return an integer of any sign. Raises ValueError."""
    if _WHOLE.fullmatch(text) is None or len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:60]!r} is not an integer")
    return int(text)


def count_number(text: str, most: int) -> int | None:
    """Return an integer from 0 to `most` without a sign; None for any other text."""
    if _COUNT.fullmatch(text) is None or len(text) > MOST_DIGITS:
        return None
    return number if (number := int(text)) <= most else None


def xml_double(text: str) -> float:
    """Return a number of the types xs:double and xs:float of XML Schema 1.0. Raises ValueError."""
    word = text.strip(_XML_BLANKS)
    return _XML_WORDS[word] if word in _XML_WORDS else decimal_number(word)


def xml_integer(text: str) -> int:
    """Return an integer of the types of XML Schema, of any size up to `MOST_DIGITS`. Raises ValueError."""
    return whole_number(text.strip(_XML_BLANKS))


def xml_boolean(text: str) -> bool:
    """Return a truth value of the type xs:boolean of XML Schema. Raises ValueError."""
    word = text.strip(_XML_BLANKS)
    if word not in ("true", "false", "1", "0"):
        raise ValueError(f"{text[:60]!r} is not true, false, 1 or 0")
    return word in ("true", "1")


def xml_list(text: str, convert: Callable[[str], T]) -> tuple[T, ...]:
    """Return the items of a list of XML Schema, each converted."""
    return tuple(convert(word) for word in re.split(f"[{_XML_BLANKS}]+", text.strip(_XML_BLANKS)) if word)


def strict_json(text: str | bytes, **options: Any) -> Any:
    """Return the content of JSON, without `NaN` and `Infinity`, which JSON does not have. Raises ValueError."""
    return json.loads(text, parse_constant=_no_constant, **options)


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is not a number of JSON")
