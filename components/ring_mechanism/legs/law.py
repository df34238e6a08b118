"""Definition of a law of the legs: the parts of the record that it needs, and its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dockfmu.components.core.component import Message
from dockfmu.components.core.field import Field, Group
from dockfmu.components.physics.linkage import hexapod


@dataclass(frozen=True)
class LegLaw:
    """The record fields and messages of a law of the legs.

    The module of the law also has the kernels `initialize(m)`, `drive(m, h, share)`, `set_outputs(m)` and `audit(m)`.
    `drive` sets the forces of the placed legs; h is the time since the last call, `share` the time over which losses
    are counted. The module may have others: `check(m)` returns 0, or the code of inconsistent parameters; `lose(m, h)`
    counts losses after the ring's acceleration is known; `retract(m, h)` advances the law's own drive (`retractor`);
    `load_ring(m)` and `load_base(m)` add forces other than those of the legs to the wrenches on ring and base.
    `legs.chosen` lists the kernels of all laws and calls those of the law whose group of state is in the record. The
    kernels that depend on the kind of legs are in `struts` and `cranked`: `check_geometry(m)`, `build(m)` and
    `set_strokes(m)`.
    """

    name: str
    """Name of the FMU."""
    description: str
    geometry: tuple[Field | Group, ...]
    """Parameters `ring`, `legs` and those of the start."""
    parameters: tuple[Group, ...]
    state: Group
    leg: tuple[Field, ...]
    """Outputs of each leg."""
    devices: tuple[str, ...]
    """Names of the devices that dissipate energy."""
    works: tuple[str, ...] = ()
    """Names of what does work on the mechanism, other than its ports."""
    command: tuple[Field, ...] = ()
    drive: tuple[Group, ...] = ()
    """State of the drive that draws the ring in."""
    hexapod: Group = field(default_factory=hexapod.hexapod)
    """The ring and its legs."""
    public: tuple[Group, ...] = ()
    """Further groups of outputs."""
    starts: Mapping[str, Any] = field(default_factory=dict)
    """Start values of the mechanism's parameters that differ from the defaults, by name."""
    messages: Mapping[int, Message] = field(default_factory=dict)
