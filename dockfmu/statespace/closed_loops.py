"""What linear models of declared mechanisms with closed loops need: several steps, of micro-steps of one length."""

from __future__ import annotations

from collections.abc import Iterator

from dockfmu.master.system import Structure

LOOPS = "closure.equations"
TOLERANCE = "parameters.stepping.micro_tolerance"
STEPS = 4
"""Macro steps of at least one micro-step each, after which a ten-thousandth of what opens a loop is left, or less."""


def loop_notes(structure: Structure, count: int) -> Iterator[str]:
    """Yield what to do about each element with closed loops whose model over `count` macro steps has false modes.

    What opens a loop is taken back by nine tenths in each micro-step. Over one it looks like a fast mode; and moves
    that open the loop change the length of micro-steps that follow a tolerance.
    """
    for element in structure.elements:
        if LOOPS not in structure.description(element).variables:
            continue
        asked = []
        if count < STEPS:
            asked.append(f"--count {STEPS} or more")
        if structure.start_value(element, TOLERANCE) != 0.0:
            asked.append(f"--set {element}.{TOLERANCE}=0")
        if asked:
            yield (
                f"{element} has closed loops, and what opens them appears as fast modes that no input excites: take "
                f"{' and '.join(asked)}"
            )
