"""Numbers that users give, and numbers in JSON."""

from __future__ import annotations

import json
import math
from numbers import Integral, Real
from typing import Any

LARGEST_COUNT = 2**31 - 1
"""Largest count of steps or threads that a user can give."""
LARGEST_PORT = 65535


def real(value: object) -> float | None:
    """Return a real number of Python or NumPy as a float; None for other values, including truth values.

    A number that is too large becomes infinite.
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return -math.inf if value < 0 else math.inf


def is_positive(value: object) -> bool:
    """Return whether a value is a positive, finite real number."""
    number = real(value)
    return number is not None and 0.0 < number < math.inf


def is_integer(value: object) -> bool:
    """Return whether a value is an integer of Python or NumPy; truth values are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def finite(content: Any) -> Any:
    """Return `content` with None in place of infinities and NaN, which JSON cannot express."""
    if isinstance(content, dict):
        return {key: finite(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [finite(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content


def as_json(content: Any) -> str:
    """Return `content` as JSON in one line, with null in place of infinities and NaN."""
    try:
        return json.dumps(content, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(finite(content), separators=(",", ":"), allow_nan=False)


def figure_text(value: float) -> str:
    """Return a number with four significant digits, without an exponent if it is of ordinary size."""
    if math.isinf(value):
        return "∞" if value > 0.0 else "-∞"
    return f"{float(f'{value:.4g}'):.10g}"
