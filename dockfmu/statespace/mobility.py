"""How ports of craft answer to wrenches: the 6x6 mobility of each, by steps of its FMU with a wrench that differs.

The mobility Y is the mean acceleration of a port, over some time, by a unit wrench on it: [a; epsilon] = Y [f; m], at
the origin of the port. Over one step it is J_p M^-1 J_p^T with the modes of the craft that are slower than the step
(flexible 4.2); over the time of a contact it is what that contact feels. Any FMU whose state can be saved has one: the
port needs wrench, attitude and twist by the names of conventions 5.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.numbers import is_positive, real
from dockfmu.declare.base_motion import check_base_motion
from dockfmu.declare.port_mobility import ATTITUDE, TWIST, WRENCH, PortMobility, alone, inverses
from dockfmu.master import algorithms
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.system import Structure
from dockfmu.statespace.errors import LinearisationError
from dockfmu.statespace.selection import select
from dockfmu.statespace.source import macro_step, source_system
from dockfmu.system import System


@dataclass(frozen=True)
class PortPair:
    """Two ports that an element of the system joins, such as those of two craft by a docking mechanism.

    `effective_mass` (3,), kg, is what a force between both has to accelerate, along the axes of the first port, each at
    its own port: with the velocity of approach v the energy of a contact is half of it times v squared.
    """

    first: str
    second: str
    by: str
    effective_mass: np.ndarray


@dataclass(frozen=True)
class Mobility:
    """Mobilities of the ports of a system at a time, as `dockfmu.mobility` finds them.

    Attributes
    ----------
    name : str
        The system.
    time, over : float
        Time of the run, and time over which accelerations are means, s; `over` of each element is a whole number of
        its steps, and this one is the longest.
    ports : tuple of PortMobility
    pairs : tuple of PortPair
    """

    name: str
    time: float
    over: float
    ports: tuple[PortMobility, ...]
    pairs: tuple[PortPair, ...]

    def __getitem__(self, port: str) -> PortMobility:
        """Return the mobility of a port. Raises KeyError with the ports that there are."""
        for entry in self.ports:
            if entry.port == port:
                return entry
        raise KeyError(f"no port {shown(port)}; there are {', '.join(entry.port for entry in self.ports)}")

    def to_json(self) -> dict[str, Any]:
        """Return all numbers as plain data."""
        return {
            "system": self.name,
            "time": self.time,
            "over": self.over,
            "ports": [
                {
                    "port": entry.port,
                    "mobility": entry.matrix.tolist(),
                    "effective_mass": entry.effective_mass.tolist(),
                    "effective_inertia": entry.effective_inertia.tolist(),
                    "asymmetry": entry.asymmetry,
                }
                for entry in self.ports
            ],
            "pairs": [
                {
                    "first": pair.first,
                    "second": pair.second,
                    "by": pair.by,
                    "effective_mass": pair.effective_mass.tolist(),
                }
                for pair in self.pairs
            ],
        }


def mobility(
    source: str | Path | System,
    at: float = 0.0,
    *,
    ports: Sequence[str] = ("*",),
    over: float | None = None,
    settings: Mapping[str, Any] | None = None,
    step: float | None = None,
) -> Mobility:
    """Return the 6x6 mobility of each port of a system or an FMU: how it accelerates by a wrench on it.

    The system runs to the time `at`. Then each element with a port steps alone, with the inputs that its next step has
    in the system, and with a wrench on the port that is a little higher, then lower. What the element itself does in
    that time, such as its attitude control, is part of the answer.

    Parameters
    ----------
    source : str, Path or System
        A system by name, a .toml, .ssp or .fmu file, or a System.
    at : float
        Time of the run, s.
    ports : sequence of str
        Patterns of ports: groups of an element with the inputs `force` and `torque` and the outputs `quaternion`,
        `velocity` and `angular_velocity`.
    over : float, optional
        Time over which the accelerations are means, s, rounded to whole steps; by default one macro step. A contact of
        20 ms feels the mobility over 20 ms: that of the modes slower than this.
    settings : mapping of str to value, optional
        Start values, as for `load`; of an FMU without the name of an element.
    step : float, optional
        Macro step, s; by default that of the plan, or of the default experiment of an FMU.

    Raises
    ------
    LinearisationError
        for patterns without a port, and for times that are none
    DockfmuError
        for a system that cannot be loaded or run, and FMUs whose state cannot be saved, as `load` and `System.run`
        raise it
    """
    _check(at, over, step)
    system = source_system(source, settings or {})
    structure = system.structure
    structure.check()
    check_base_motion(structure)
    length = macro_step(system, step)
    known = [port for element in structure.elements for port in _ports(structure, element)]
    if not known:
        raise LinearisationError(
            f"{structure.name}: no element has a port: inputs force and torque, outputs quaternion, velocity and "
            "angular_velocity of one group"
        )
    chosen = select(ports, known, "ports", f"port; there are {', '.join(known)}")
    found: list[PortMobility] = []
    longest = 0.0
    algorithm = algorithms.by_name(system.plan.algorithm)
    with CoSimulation(structure, Schedule(step=length), algorithm).open() as run:
        if at > 0.0:
            run.advance(at)
        for element in dict.fromkeys(port.partition(".")[0] for port in chosen):
            with alone(structure, run, element, length) as part:
                count = max(1, round((over or 0.0) / part.step))
                longest = max(longest, count * part.step)
                found += [part.mobility(port, count) for port in chosen if port.startswith(f"{element}.")]
        time = run.time
    return Mobility(structure.name, time, longest, tuple(found), tuple(_pairs(structure, found)))


def _check(at: object, over: object, step: object) -> None:
    problems = []
    time = real(at)
    if time is None or not (math.isfinite(time) and time >= 0.0):
        problems.append(f"at must be a finite time in s, at least 0, not {shown(at)}")
    for name, value in (("over", over), ("step", step)):
        if value is not None and not is_positive(value):
            problems.append(f"{name} must be a positive time in s, not {shown(value)}")
    if problems:
        raise LinearisationError("\n".join(problems))


def _ports(structure: Structure, element: str) -> list[str]:
    """Return the ports of an element with wrench, attitude and twist, in order."""
    description = structure.description(element)
    inputs, outputs = ({v.name for v in description.select(kind)} for kind in ("input", "output"))
    groups = [match[1] for name in inputs if (match := re.fullmatch(r"(.+)\.force\[1\]", name))]
    return sorted(
        f"{element}.{group}"
        for group in groups
        if {f"{group}.{name}" for name in WRENCH} <= inputs
        and {f"{group}.{name}" for name in (*TWIST, *ATTITUDE)} <= outputs
    )


def _pairs(structure: Structure, found: Sequence[PortMobility]) -> Iterator[PortPair]:
    """Yield the pairs of ports of different elements whose motion goes to one element, each once."""
    seen = set()
    for by in structure.elements:
        joined = [entry for entry in found if _feeds(structure, entry.port, by)]
        for first, second in pairwise(joined):
            names = first.port, second.port
            if names in seen or first.port.partition(".")[0] == second.port.partition(".")[0]:
                continue
            seen.add(names)
            turn = first.attitude @ second.attitude.T
            both = first.matrix[:3, :3] + turn @ second.matrix[:3, :3] @ turn.T
            yield PortPair(*names, by, inverses(np.diag(both)))


def _feeds(structure: Structure, port: str, target: str) -> bool:
    """Return whether an element gets the motion of a port."""
    element, _, group = port.partition(".")
    return any(
        c.target == target and c.source == element and c.output.startswith(f"{group}.") for c in structure.connections
    )
