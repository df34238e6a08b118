"""Modal data: of a whole model (`ModalModel`), and at the ports and nozzles of one spacecraft (`Modes`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.components.physics.elastic.sections import ElasticSections
from dockfmu.components.spacecraft.modes.inertia import InertialCoupling
from dockfmu.components.spacecraft.modes.sections import CraftSections, sections_at
from dockfmu.components.spacecraft.modes.wireframe import Wireframe

Bands = Sequence[tuple[float, float, float]]

ASSUMED_BANDS: Bands = ((0.0, 1.0, 0.03), (1.0, 10.0, 0.05), (10.0, float("inf"), 0.1))
"""Logarithmic decrements by frequency: (from Hz, up to Hz, decrement). Assumed, contact-forces section 12."""


def _decrement(bands: Bands, hertz: float) -> float:
    for low, high, decrement in bands:
        if low < hertz <= high:
            return decrement
    raise ValueError(f"no damping band contains {hertz:g} Hz")


@dataclass(frozen=True)
class Modes:
    """Mass-normalised free-free modes as one spacecraft uses them, without the six rigid-body modes.

    frequency : (n,) undamped circular frequency, rad/s, rising
    decrement : (n,) logarithmic decrement
    port : (ports, 6, n) displacement (kg^-1/2) and rotation (rad/m kg^-1/2) at the docking ports, axes S
    thruster : (thrusters, 3, n) displacement at the nozzles, axes S
    control : (6, n) displacement and rotation at the first nozzle, where control wrench, push and attitude control act
        on the structure; by default the displacement of that nozzle, with zero rotation
    initial_coordinate, initial_rate : (n,) state at the start, kg^1/2 m and kg^1/2 m/s; zero by default
    coupling : inertial coupling to the motion of the craft, for `coupling = "two_way"`; None if the masses behind the
        shapes are not known
    sections : loads at sections of the structure, or None
    wireframe : lines for pictures, or None if the source does not give them
    """

    frequency: np.ndarray
    decrement: np.ndarray
    port: np.ndarray
    thruster: np.ndarray
    initial_coordinate: np.ndarray = field(default_factory=lambda: np.zeros(0))
    initial_rate: np.ndarray = field(default_factory=lambda: np.zeros(0))
    control: np.ndarray = field(default_factory=lambda: np.zeros(0))
    coupling: InertialCoupling | None = None
    sections: CraftSections | None = None
    wireframe: Wireframe | None = None

    def __post_init__(self) -> None:
        n = len(self.frequency)
        if not len(self.control) and np.shape(self.thruster)[1:] == (3, n):
            object.__setattr__(self, "control", np.concatenate([self.thruster[0], np.zeros((3, n))]))
        for name in ("initial_coordinate", "initial_rate"):
            if not len(getattr(self, name)):
                object.__setattr__(self, name, np.zeros(n))
        shapes = {
            "decrement": (n,),
            "initial_coordinate": (n,),
            "initial_rate": (n,),
            "port": (len(self.port), 6, n),
            "thruster": (len(self.thruster), 3, n),
            "control": (6, n),
        }
        for name, shape in shapes.items():
            if np.shape(getattr(self, name)) != shape:
                raise ValueError(f"modes: {name} has shape {np.shape(getattr(self, name))}, expected {shape}")
            if not np.all(np.isfinite(getattr(self, name))):
                raise ValueError(f"modes: {name} has values that are not finite")
        if self.coupling is not None:
            self.coupling.check(n)
        if self.sections is not None:
            self.sections.check(n)
        if not (n and np.all(self.frequency > 0.0) and np.all(np.isfinite(self.frequency))):
            raise ValueError("modes: frequencies must be positive; drop the rigid-body modes")
        if np.any(self.decrement < 0.0) or np.any(np.diff(self.frequency) < 0.0):
            raise ValueError("modes: decrements must not be negative, and frequencies must be ascending")

    def table(self) -> np.ndarray:
        """Return all numbers in the order of the record's tables."""
        parts = (
            self.frequency,
            self.decrement,
            self.initial_coordinate,
            self.initial_rate,
            np.swapaxes(self.port, 1, 2),
            np.swapaxes(self.thruster, 1, 2),
            np.swapaxes(self.control, 0, 1),
        )
        return np.concatenate([np.ravel(part) for part in parts])


@dataclass(frozen=True)
class ModalModel:
    """Free-free modes of a model at its grid points.

    frequency : (n,) rad/s
    point_ids : (k,) numbers of the grid points
    shape : (k, 6, n) displacement and rotation of each point, axes S, mass-normalised
    position : (k, 3) positions of the points in S, m, or None if the source does not give them
    coupling : inertial coupling of all modes, or None if the source does not give the masses
    sections : loads at sections of the structure, its nodes being the grid points, or None
    wireframe : lines for pictures, or None if the source does not give them
    """

    frequency: np.ndarray
    point_ids: np.ndarray
    shape: np.ndarray
    position: np.ndarray | None = None
    coupling: InertialCoupling | None = None
    sections: ElasticSections | None = None
    wireframe: Wireframe | None = None

    @classmethod
    def of_nastran(
        cls,
        frequency: np.ndarray,
        masses: np.ndarray,
        point_ids: np.ndarray,
        shape: np.ndarray,
        position: np.ndarray | None,
        units: tuple[float, float],
    ) -> ModalModel:
        """Return a model from shapes of any normalisation in the model's own units.

        `masses` (n,) are generalized masses, `units` those of length and mass, m and kg.
        """
        length, mass = units
        shape = shape / np.sqrt(masses * mass)
        shape[:, 3:] /= length
        return cls(frequency, point_ids, shape, None if position is None else position * length)

    def nearest(self, place: Sequence[float]) -> int:
        """Return the number of the grid point nearest to a position in S."""
        if self.position is None:
            raise ValueError("the modal model gives no positions of its points: select points by their numbers")
        distance = np.linalg.norm(self.position - np.asarray(place), axis=1)
        return int(self.point_ids[np.argmin(distance)])

    def _row(self, point: int | Sequence[float]) -> int:
        number = point if isinstance(point, int) else self.nearest(point)
        rows = np.flatnonzero(self.point_ids == number)
        if not len(rows):
            raise ValueError(f"the modal model has no grid point {number}")
        return int(rows[0])

    def select(
        self,
        ports: Iterable[int | Sequence[float]],
        thrusters: Iterable[int | Sequence[float]],
        *,
        bands: Bands = ASSUMED_BANDS,
        above: float = 1e-2,
        below: float = float("inf"),
        limit: int | None = None,
    ) -> Modes:
        """Return the modes at ports and nozzles, each given by the number of a grid point or a position in S.

        Modes of frequency up to `above` (Hz) are taken as rigid-body modes and dropped. Modes above `below` (Hz), or
        beyond the lowest `limit`, are dropped too. Raises ValueError if no mode is left or a point does not exist.
        """
        hertz = self.frequency / (2.0 * np.pi)
        order = np.argsort(self.frequency, kind="stable")
        kept = [j for j in order if above < hertz[j] <= below][:limit]
        if not kept:
            raise ValueError(f"no mode lies between {above:g} and {below:g} Hz")
        at_ports, at_nozzles = [self._row(point) for point in ports], [self._row(point) for point in thrusters]
        nozzles = [self.shape[row][:, kept] for row in at_nozzles]
        return Modes(
            frequency=self.frequency[kept],
            decrement=np.array([_decrement(bands, hertz[j]) for j in kept]),
            port=np.stack([self.shape[row][:, kept] for row in at_ports]),
            thruster=np.stack([nozzle[:3] for nozzle in nozzles]),
            control=nozzles[0],
            coupling=None if self.coupling is None else self.coupling.select(kept),
            sections=sections_at(self.sections, kept, at_ports, at_nozzles),
            wireframe=None if self.wireframe is None else self.wireframe.select(kept),
        )

    def write(self, file: Path, bands: Bands = ASSUMED_BANDS) -> None:
        """Write a neutral file (npz).

        It contains omega (n), delta_bands (m, 3: from Hz, up to Hz, decrement), point_ids (k), T and R (k, 3, n), and
        x (k, 3) if the positions are known.
        """
        extra: dict[str, Any] = {} if self.position is None else {"x": self.position}
        np.savez_compressed(
            file,
            omega=self.frequency,
            delta_bands=np.array(bands, float),
            point_ids=self.point_ids,
            T=self.shape[:, :3],
            R=self.shape[:, 3:],
            **extra,
        )

    @staticmethod
    def read(file: Path) -> tuple[ModalModel, Bands]:
        """Read a neutral file as written by `write`. Raises ValueError, naming the file, if it is not valid."""
        try:
            with np.load(file, allow_pickle=False) as data:
                shape = np.concatenate([data["T"], data["R"]], axis=1)
                bands = [(float(low), float(high), float(value)) for low, high, value in data["delta_bands"]]
                position = data.get("x")
                return ModalModel(data["omega"], data["point_ids"], shape, position), bands
        except (OSError, KeyError, ValueError) as error:
            raise ValueError(f"{file}: {error}") from error
