"""Findings of checks, and the conformance report made from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
        """Return the finding as a line of text."""
        place = f"{self.file}, {self.element}" if self.element else self.file
        return f"{self.severity}: {place}: {self.text}. {self.advice}."


def error(file: str, element: str, text: str, advice: str) -> Finding:
    """Return a finding of severity error."""
    return Finding("error", file, element, text, advice)


def warning(file: str, element: str, text: str, advice: str) -> Finding:
    """Return a finding of severity warning."""
    return Finding("warning", file, element, text, advice)


def write_report(checks: Mapping[str, tuple[str, str]], results: Mapping[str, Mapping[str, Sequence[Finding]]]) -> str:
    """Return the conformance report as Markdown: a table of checks by FMUs, then the findings.

    `checks` maps the key of each check to (what it checks, section of FMI 2.0), `results` each file to its findings by
    these keys. A check whose key is missing there was not run.
    """
    lines = ["# Conformance to FMI", "", f"| check | section | {' | '.join(results)} |"]
    lines.append("| --- " * (2 + len(results)) + "|")
    for key, (text, section) in checks.items():
        verdicts = " | ".join(_verdict(found.get(key)) for found in results.values())
        lines.append(f"| {text} | {section} | {verdicts} |")
    for name, found in results.items():
        findings = [finding for of_check in found.values() for finding in of_check]
        if findings:
            lines += ["", f"## {name}", "", *(f"- {finding}" for finding in findings)]
    return "\n".join(lines) + "\n"


def _verdict(findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return "not run"
    counts = {severity: sum(f.severity == severity for f in findings) for severity in ("error", "warning")}
    return ", ".join(f"{n} {word}{'s' * (n > 1)}" for word, n in counts.items() if n) or "ok"
