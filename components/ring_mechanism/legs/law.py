"""What a law of the legs is made of: the parts of the record that it needs, and its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.core.component import Message
from components.core.field import Field, Group
from components.linkage import hexapod


@dataclass(frozen=True)
class LegLaw:
    """A law of the legs as the record of the mechanism sees it.

    Its module also has the kernels `check(m)` (0, or the code of parameters that do not fit), `initialize(m)`,
    `drive(m, h, share)` (forces of the placed legs; h since the last call, `share` that for which losses count),
    `set_outputs(m)` and `audit(m)`. It may have others: `lose(m, h)` counts its losses where the ring's acceleration is
    known, `retract(m, h)` advances a drive of its own (`retractor`), `load_ring(m)` and `load_base(m)` add to the
    wrenches on ring and base what draws the ring in beside the legs. `legs.chosen` calls those of the law whose group
    of state the record has. What depends on the kind of legs is in `struts` and `cranked`: `check_geometry(m)`,
    `build(m)` and `set_strokes(m)`.
    """

    name: str
    """of the FMU"""
    description: str
    geometry: tuple[Field | Group, ...]
    """parameters `ring`, `legs` and those of the start"""
    parameters: tuple[Group, ...]
    state: Group
    leg: tuple[Field, ...]
    """outputs of each leg"""
    devices: tuple[str, ...]
    """what dissipates"""
    works: tuple[str, ...] = ()
    """what does work on the mechanism besides its ports"""
    command: tuple[Field, ...] = ()
    drive: tuple[Group, ...] = ()
    """state of the drive that draws the ring in"""
    hexapod: Group = field(default_factory=hexapod.hexapod)
    """The ring and its legs."""
    public: tuple[Group, ...] = ()
    """more groups of outputs"""
    starts: Mapping[str, Any] = field(default_factory=dict)
    """start values of parameters of the mechanism that differ, by name"""
    messages: Mapping[int, Message] = field(default_factory=dict)
