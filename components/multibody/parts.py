"""The parts of the record of a system, for kernels that take most of them."""

from __future__ import annotations

from typing import Any, NamedTuple


class Parts(NamedTuple):
    """The groups of a record and its arrays of groups, these as slices, whose type is the same for all models."""

    base: Any
    target: Any
    gravity: Any
    link: Any
    body: Any
    coordinate: Any
    law: Any
    turning: Any
    spring: Any
    strength: Any
    loop: Any
    drive: Any
    drive_data: Any
    port: Any
    surface: Any
    face: Any
    pair: Any
    contact: Any
    kind: Any
    tally: Any
    sums: Any
    load: Any
    cut: Any
    row: Any
    solver: Any
    flex: Any
    sensor: Any
    level: Any
    condition: Any
    lock: Any
    run: Any
    audit: Any
    stepping: Any
    clock: Any
