"""Entries of the table `[direct]`: which wrenches are unknown, and what is assumed of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dockfmu.base.messages import shown
from dockfmu.base.names import did_you_mean
from dockfmu.base.units import parse_unit
from dockfmu.declare.toml.quantities import in_unit
from dockfmu.declare.toml.tables import DeclarationError, Table, finite_number
from dockfmu.master.system import Structure
from dockfmu.reconstruct.craft import WRENCH

ENTRIES = (
    "ports", "modes", "components", "input", "length", "force", "torque", "adaptive", "together", "tolerance",
    "method", "mass_error", "samples", "seed", "known",
)  # fmt: skip
KNOWN = ("input", "times", "values")
INPUTS = {"rough": 1, "smooth": 2}
METHODS = ("augmented", "unbiased")


@dataclass(frozen=True)
class DirectSettings:
    """Set what the direct method is asked for.

    Attributes
    ----------
    ports : tuple of str
        The ports of craft on which a wrench is unknown; empty for all that join a mechanism and whose craft have
        sensors.
    modes : int or None
        Modes of each craft, from the lowest; None for those that the system uses.
    components : tuple of str
        Components of the wrench that are unknown; the others are zero.
    order : int
        1 for a rough, 2 for a smooth input in time.
    length : float
        Length scale of the input, s.
    force, torque : float or None
        Standard deviations of the input, N and N m; None to estimate them by the likelihood.
    adaptive : bool
        Whether the input may be rougher at some times than at others, where the likelihood says so.
    together : bool
        Whether the wrenches on both craft are one, opposite up to a share `tolerance` of it.
    method : str
        "augmented" or "unbiased".
    mass_error : float
        Relative standard deviation of the masses and inertias of a craft, which the bands of peaks include.
    samples, seed : int
        Samples of the posterior for the bands of peaks, and the seed of their random numbers.
    known : tuple of (str, ndarray, ndarray)
        Inputs of craft that are known by name, with the times from which their values hold.
    """

    ports: tuple[str, ...] = ()
    modes: int | None = None
    components: tuple[str, ...] = WRENCH
    order: int = 2
    length: float = 1.0
    force: float | None = None
    torque: float | None = None
    adaptive: bool = True
    together: bool = False
    tolerance: float = 0.05
    method: str = "augmented"
    mass_error: float = 0.0
    samples: int = 200
    seed: int = 1
    known: tuple[tuple[str, np.ndarray, np.ndarray], ...] = ()


def direct_settings(table: Table) -> DirectSettings:
    """Return the settings that the table `direct` of a file has. Raises DeclarationError."""
    own = table.table("direct", ENTRIES)
    components = own.texts("components", WRENCH)
    for name in components:
        if name not in WRENCH:
            raise DeclarationError(
                f"{own.where}: components: there is no {shown(name)}{did_you_mean(name, WRENCH)}; there are "
                f"{', '.join(WRENCH)}"
            )
    if not components:
        raise DeclarationError(f"{own.where}: components names none")
    modes = own.content.get("modes")
    tolerance = own.number("tolerance", 0.05, positive=True)
    settings = DirectSettings(
        ports=own.texts("ports", ()),
        modes=None if modes is None else own.whole("modes", least=0),
        components=components,
        order=INPUTS[own.text("input", "smooth", tuple(INPUTS))],
        length=_quantity(own, "length", "s") or 1.0,
        force=_quantity(own, "force", "N"),
        torque=_quantity(own, "torque", "N.m"),
        adaptive=own.flag("adaptive", True),
        together=own.flag("together", False),
        tolerance=tolerance,
        mass_error=own.number("mass_error", 0.0),
        method=own.text("method", "augmented", METHODS),
        samples=own.whole("samples", 200),
        seed=own.whole("seed", 1),
        known=tuple(map(_known, own.rows("known", KNOWN))),
    )
    if settings.mass_error < 0.0:
        raise DeclarationError(f"{own.where}: mass_error must not be negative")
    if (settings.force is None) != (settings.torque is None) and len(components) == len(WRENCH):
        raise DeclarationError(f"{own.where}: give both `force` and `torque`, or neither to estimate them")
    return settings


def _quantity(table: Table, name: str, unit: str) -> float | None:
    given = table.content.get(name)
    if given is None:
        return None
    value = finite_number(in_unit(given, parse_unit(unit), f"{table.where}: {name}"))
    if value is None or value <= 0.0:
        raise DeclarationError(f"{table.where}: {name} = {shown(given)}: must be a positive number, in {unit}")
    return value


def _known(row: Table) -> tuple[str, np.ndarray, np.ndarray]:
    times, values = row.items("times"), row.items("values")
    numbers = [finite_number(value) for value in (*times, *values)]
    if len(times) != len(values) or not times or None in numbers:
        raise DeclarationError(f"{row.where}: times and values must be lists of numbers of the same length")
    at = np.array(numbers[: len(times)], float)
    if np.any(np.diff(at) <= 0.0):
        raise DeclarationError(f"{row.where}: times must rise")
    return row.text("input"), at, np.array(numbers[len(times) :], float)


def joined_ports(structure: Structure) -> dict[str, bool]:
    """Return the ports of craft that receive a wrench by a connection, and whether they are those of a target.

    A target is the passive craft: the x axis of its port points into it, so that a positive force presses it.
    """
    found = {}
    for connection in structure.connections:
        if connection.input.startswith("port[") and connection.input.endswith("].force[1]"):
            port = f"{connection.target}.{connection.input.removesuffix('.force[1]')}"
            found[port] = "target" in connection.output.split(".")
    return found


def chosen_ports(settings: DirectSettings, structure: Structure, told: Sequence[str]) -> dict[str, bool]:
    """Return the ports whose wrench is unknown, of the craft in `told`, which have sensors. Raises DeclarationError."""
    known = joined_ports(structure)
    for port in settings.ports:
        if port not in known:
            raise DeclarationError(
                f"direct: ports: {shown(port)} joins no mechanism{did_you_mean(port, known)}; there are "
                f"{', '.join(known)}"
            )
    ports = settings.ports or tuple(port for port in known if port.rpartition(".")[0] in told)
    return {port: known[port] for port in ports}
