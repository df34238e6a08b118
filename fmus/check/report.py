"""The conformance report: what was checked of which FMU, and what came out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fmus.check import behaviour, crowd, dependencies, process, states
from fmus.check.finding import Finding
from fmus.check.memory import check_memory

_FIRST = {
    "archive": "The archive can be unpacked: no path leads out of it, no link, no entities in its XML",
    "description": "The model description holds to the schema, to the rules of sections 2.2 and 4.3, and to itself",
    "libraries": "The libraries export all functions and need nothing but what is on every machine",
    "loading": "The library for this platform can be loaded",
}
_SECTIONS = {behaviour: "4.2", states: "4.2.4", dependencies: "2.2.8, 4.2.1", crowd: "4.3.1"}


def _checks() -> dict[str, tuple[str, str]]:
    """Key of each check -> (what it checks, section of the standard)."""
    listed = {key: (text, "2") for key, text in _FIRST.items()}
    sections = {module.__name__: section for module, section in _SECTIONS.items()}
    for check in process.CHECKS:
        listed[check.__name__] = (_sentence(check), sections[check.__module__])
    return listed | {check_memory.__name__: (_sentence(check_memory), "2.1.5")}


def _sentence(function: object) -> str:
    return (function.__doc__ or "").splitlines()[0].rstrip(".")


def _verdict(findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return "not run"
    counts = {severity: sum(f.severity == severity for f in findings) for severity in ("error", "warning")}
    return ", ".join(f"{n} {word}{'s' * (n > 1)}" for word, n in counts.items() if n) or "ok"


def write_report(results: Mapping[str, Mapping[str, Sequence[Finding]]]) -> str:
    """Markdown: a table of checks by FMUs, then the findings. `results` maps files to what `examine` found."""
    lines = ["# Conformance to FMI 2.0", "", f"| check | section | {' | '.join(results)} |"]
    lines.append("| --- " * (2 + len(results)) + "|")
    for key, (text, section) in _checks().items():
        verdicts = " | ".join(_verdict(found.get(key)) for found in results.values())
        lines.append(f"| {text} | {section} | {verdicts} |")
    for name, found in results.items():
        findings = [finding for each in found.values() for finding in each]
        if findings:
            lines += ["", f"## {name}", "", *(f"- {finding}" for finding in findings)]
    return "\n".join(lines) + "\n"
