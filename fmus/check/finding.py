"""What a check reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """One fault: where it is, what it is, and what to do about it.

    An `error` breaks the standard or a promise of the model description; a `warning` may surprise an importer.
    """

    severity: Literal["error", "warning"]
    file: str
    element: str
    text: str
    advice: str

    def __str__(self) -> str:
        place = f"{self.file}, {self.element}" if self.element else self.file
        return f"{self.severity}: {place}: {self.text}. {self.advice}."


def error(file: str, element: str, text: str, advice: str) -> Finding:
    return Finding("error", file, element, text, advice)


def warning(file: str, element: str, text: str, advice: str) -> Finding:
    return Finding("warning", file, element, text, advice)
