"""The summary of a run as the command line prints it."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

from dockfmu.commands.terminal import styled, width
from dockfmu.report.loads import load_lines
from dockfmu.report.words import START, condition_texts, severity_text


def print_summary(summary: dict[str, Any], folder: Path) -> None:
    """Print the outcome first, then times, events, the audit, and violated ranges of validity."""
    outcome = styled(summary["outcome"].replace("_", " "), "green" if summary["success"] else "red", sys.stdout)
    print(f"{summary['system']}: {outcome}")
    print(f"  {summary['status']} at {summary['t_end']:.3f} s after {summary['wall_s']:.2f} s,")
    print(f"  {summary['real_time_factor']:.1f} times real time, {summary['macro_steps']} macro steps")
    failure = summary.get("failure", {})
    if failure.get("says"):
        print(f"  {failure['element']}: {failure['says']}")
    if "craft" in failure:
        print(f"  {failure['craft']}")
    if resumed := summary.get("resumed"):
        print(f"  continued from a checkpoint at {resumed['t']:.3f} s; the following covers the time since then")
    if conditions := summary.get("initial_conditions"):
        _print_conditions(conditions)
    if summary["status"] == "completed" and summary["message"]:
        print(f"  {summary['message']}")
    seen: set[str] = set()
    for event in summary["events"]:
        if event["name"] not in seen:
            print(f"  {event['t']:10.3f} s  {event['name'].replace('_', ' ')}")
            seen.add(event["name"])
    for name, final in summary.get("finals", {}).items():
        from dockfmu.report.shown_units import quantity_text

        print(f"  {name.replace('_', ' '):24} {quantity_text(final['value'], final['unit'])}")
    _print_loads(summary)
    if real := summary.get("realtime"):
        _print_pace(real)
    for name, value in summary["audit"].items():
        if summary["audit_checks"].get(name, {"limit": 1.0})["limit"] is None:
            continue  # no balance of this system: a craft that is held from outside keeps no momentum
        _print_balance(name, value, summary["audit_checks"].get(name))
    for name, counter in summary["validity"].items():
        if counter["count"]:
            heading = styled("NOT VALID", "red", sys.stdout)
            print(f"  {heading} {name} = {counter['count']} from {counter['t_first']:.3f} s on")
    print(f"  {folder}")


def _print_conditions(conditions: dict[str, Any]) -> None:
    """Print the initial conditions that differ from 0, as given, and how severe they are."""
    text = f"initial conditions: {', '.join(condition_texts(conditions))}"
    for line in textwrap.wrap(text, min(width(sys.stdout) or 100, 100) - 4, subsequent_indent="  "):
        print(f"  {line}")
    if severity := severity_text(conditions):
        print(f"    {severity}")


def _print_loads(summary: dict[str, Any]) -> None:
    """Print the largest loads of each interface, and the verdict on them where limits are declared."""
    element = ""
    for line in load_lines(summary):
        if line["element"] != element:
            element = line["element"]
            print(f"  loads of {element}")
        verdict = ""
        if line["ok"] is not None:
            word = styled("ok", "green", sys.stdout) if line["ok"] else styled("NOT OK", "red", sys.stdout)
            verdict = f"  {word}{line['verdict'].removeprefix('ok').removeprefix('not ok')}, limit {line['limits']}"
        phase = "" if line["phase"] == START else f", {line['phase']}"
        print(f"    {line['name']:12} {line['largest']:>11} at {line['t_max']:.3f} s{phase}{verdict}")


def _print_balance(name: str, value: float | None, check: dict[str, Any] | None) -> None:
    shown = "not finite" if value is None else format(value, ".3g")
    judgement = ""
    if check and check["ok"] is not None:
        verdict = styled("ok", "green", sys.stdout) if check["ok"] else styled("NOT OK", "red", sys.stdout)
        judgement = f"  {verdict}, limit {check['limit']:.3g}, tests the {check['tests']}"
    print(f"  {name.replace('_', ' '):24} {shown:10}{judgement}".rstrip())


def _print_pace(real: dict[str, Any]) -> None:
    lost = f"; the deadlines moved by {real['slipped_s']:.3g} s" if real["slipped_s"] else ""
    print(f"  {real['overruns']} of {real['steps']} steps late, by {1e3 * real['late_max_s']:.3g} ms at most{lost}")
    for what, key in (("work of a step", "step"), ("late end of a wait", "jitter")):
        # without a single wait there is no jitter
        if f"{key}_mean_s" in real:
            mean, most, worst = (f"{1e3 * real[f'{key}_{of}_s']:.2g} ms" for of in ("mean", "99", "max"))
            print(f"  {what:24} {mean}, 99 % within {most}, worst {worst}")
