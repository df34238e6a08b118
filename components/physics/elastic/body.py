"""The file of an elastic body: shapes at its interface nodes, invariants, stiffness, damping, wireframe, checks."""

from __future__ import annotations

import json
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.files import atomic_file
from dockfmu.base.given_files import check_plain
from dockfmu.components.physics.elastic.invariants import ElasticInvariants
from dockfmu.components.physics.elastic.sections import ElasticSections, rigid_motion

FORMAT = "dockfmu elastic body 1"
LARGEST_FILE = 1 << 30
"""Largest size of the arrays of a file, bytes."""
MOST_SHAPES = 500


class ElasticBodyError(DockfmuError, ValueError):
    """A model cannot be reduced as asked, or a file is no elastic body; the message says why, and what to do."""


@dataclass(frozen=True)
class ElasticCheck:
    """One line of the checks of a reduction: a number, the limit that it must keep (None: for information), a note."""

    name: str
    value: float
    limit: float | None = None
    note: str = ""

    @property
    def ok(self) -> bool:
        """Whether the value keeps its limit."""
        return bool(self.limit is None or abs(self.value) <= self.limit)


@dataclass(frozen=True)
class ElasticBody:
    """A finite-element body reduced to shapes, in its frame E, SI units (flexible 3.2 and 3.3).

    name : of the model
    frame : "mean", or the number of the interface node to which E is tied
    method : where the invariants come from: "bodies", "matrix" or "reduced"
    origin : (3,) origin of E in the axes of the model, which E shares, m
    nodes : (b,) numbers of the interface nodes
    place : (b, 3) their undeformed positions in E, m
    shape : (b, 6, H) displacement and rotation of the interface nodes in each shape, mass-normalised
    frequency : (H,) undamped circular frequencies of the shapes, rad/s, ascending
    damping : (H,) factors of the modal rates, 1/s: 2 gamma omega, or alpha omega^2 + beta
    invariants : I1 to I6
    residual : (H,) whether a shape is one of static flexibility: above the modes that the reduction keeps
    points, point_shape, lines : (k, 3), (k, 3, H), (l, 2) wireframe for pictures, with its displacements
    checks : what was checked when the body was made
    source : files, units and options it was made from
    sections : loads at sections of the body, None without
    """

    name: str
    frame: str
    method: str
    origin: np.ndarray
    nodes: np.ndarray
    place: np.ndarray
    shape: np.ndarray
    frequency: np.ndarray
    damping: np.ndarray
    invariants: ElasticInvariants
    residual: np.ndarray
    points: np.ndarray
    point_shape: np.ndarray
    lines: np.ndarray
    checks: tuple[ElasticCheck, ...]
    source: dict[str, str]
    sections: ElasticSections | None = None

    @property
    def stiffness(self) -> np.ndarray:
        """The reduced stiffness (H, H): diagonal, squares of the frequencies."""
        return np.diag(self.frequency**2)

    @property
    def ok(self) -> bool:
        """Whether all checks are kept."""
        return all(check.ok for check in self.checks)

    def mobility(self, node: int) -> np.ndarray:
        """Return the acceleration and angular acceleration of an interface node by a unit wrench on it, free body, SI.

        (6, 6), axes of E, undeformed: J_p M^-1 J_p^T with the shapes that vibrate; those of static
        flexibility follow their loads. Its inverse is what a mass on the node feels. Raises ElasticBodyError.
        """
        rows = np.flatnonzero(self.nodes == node)
        if not len(rows):
            listed = ", ".join(map(str, self.nodes))
            raise ElasticBodyError(f"{self.name}: node {node} is no interface node; there are {listed}")
        kept = ~self.residual
        motion = np.hstack([rigid_motion(self.place[rows[0]]), self.shape[rows[0]][:, kept]])
        every = np.concatenate([np.ones(6, bool), kept])
        mass = self.invariants.mass_matrix(np.zeros(len(kept)))[np.ix_(every, every)]
        return np.asarray(motion @ np.linalg.solve(mass, motion.T))

    def write(self, file: str | Path) -> Path:
        """Write the body to a .npz file and return its path. Raises WriteError."""
        content: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("origin", "nodes", "place", "shape", "frequency", "damping", "residual", "points",
                         "point_shape", "lines")
        }  # fmt: skip
        content |= {
            f"invariants.{field.name}": getattr(self.invariants, field.name) for field in fields(self.invariants)
        }
        checks = [[check.name, check.value, check.limit, check.note] for check in self.checks]
        about: dict[str, Any] = {
            "format": FORMAT,
            "name": self.name,
            "frame": self.frame,
            "method": self.method,
        }
        if self.sections is not None:
            about["sections"] = list(self.sections.names)
            content |= {f"sections.{name}": getattr(self.sections, name) for name in self.sections.shapes(0, 0)}
        content["about"] = np.array(json.dumps({**about, "source": self.source, "checks": checks}))
        file = Path(file)
        with atomic_file(file) as unfinished, unfinished.open("wb") as stream:
            np.savez_compressed(stream, **content)
        return file

    @staticmethod
    def load(file: str | Path) -> ElasticBody:
        """Return the body of a file that `write` or `dockfmu reduce` wrote.

        Raises ElasticBodyError that names the file and what is wrong with it. Nothing in the file is executed.
        """
        file = Path(file)
        arrays = read_arrays(file)
        if "about" not in arrays:
            raise ElasticBodyError(f"{file}: is no elastic body; make one with `dockfmu reduce MODEL -o {file.name}`")
        try:
            about = json.loads(str(arrays["about"]))
            if about["format"] != FORMAT:
                raise ElasticBodyError(
                    f"{file}: its format is {about['format']!r}, not {FORMAT!r}; reduce the model again"
                )
            texts = {name: str(about[name]) for name in ("name", "frame", "method")}
            source = {str(name): str(value) for name, value in about["source"].items()}
            checks = tuple(
                ElasticCheck(str(name), float(value), None if limit is None else float(limit), str(note))
                for name, value, limit, note in about["checks"]
            )
            cuts = tuple(str(name) for name in about.get("sections", ()))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            if isinstance(error, ElasticBodyError):
                raise
            raise ElasticBodyError(f"{file}: entry 'about' is damaged ({error}); reduce the model again") from error
        sections = _sections(file, arrays, cuts) if cuts else None
        arrays = _checked(file, arrays)
        found: dict[str, Any] = {field.name: arrays[f"invariants.{field.name}"] for field in fields(ElasticInvariants)}
        found["mass"] = float(found["mass"])
        rest: dict[str, Any] = {name: arrays[name] for name in arrays if not name.startswith("invariants.")}
        rest |= texts
        return ElasticBody(
            invariants=ElasticInvariants(**found), checks=checks, source=source, sections=sections, **rest
        )

    def table(self) -> Iterator[str]:
        """Yield the lines that describe the body: what it is, its shapes, the checks."""
        yield f"{self.name}: {len(self.frequency)} shapes, {len(self.nodes)} interface nodes, frame {self.frame}"
        yield f"invariants from {self.method}: " + {
            "bodies": "displaced rigid bodies of the element masses",
            "matrix": "the mass matrix of the whole model",
            "reduced": "a reduced mass matrix: the inertia of the deformed body is that of the undeformed one",
        }.get(self.method, self.method)
        centre = self.invariants.static_moment / self.invariants.mass
        yield f"mass {self.invariants.mass:.9g} kg, centre of mass ({', '.join(f'{x:.6g}' for x in centre)}) m in E"
        yield ""
        yield f"{'shape':>6}  {'frequency':>14}  {'damping':>9}"
        for j, (omega, rate, static) in enumerate(zip(self.frequency, self.damping, self.residual, strict=True), 1):
            note = "  static flexibility" if static else ""
            yield f"{j:6}  {omega / (2.0 * np.pi):11.6g} Hz  {rate / (2.0 * omega):9.4g}{note}"
        if self.sections is not None:
            yield ""
            yield f"{'section':>20}  node at, m in E"
            for name, place in zip(self.sections.names, self.sections.place, strict=True):
                yield f"{name:>20}  ({', '.join(f'{x:.6g}' for x in place)})"
        yield ""
        yield f"{'interface node':>20}  effective mass along x, y, z, kg; inertia about x, y, z, kg.m2 (free body)"
        for node in self.nodes:
            felt = 1.0 / np.diag(self.mobility(int(node)))
            yield f"{node:>20}  {', '.join(f'{m:.4g}' for m in felt[:3])}; {', '.join(f'{m:.4g}' for m in felt[3:])}"
        yield ""
        yield f"{'check':42}  {'value':>12}  {'limit':>8}"
        for check in self.checks:
            limit = "" if check.limit is None else f"{check.limit:.1e}"
            mark = "" if check.ok else "FAILED  "
            yield f"{check.name:42}  {check.value:12.5g}  {limit:>8}  {mark}{check.note}".rstrip()


def read_arrays(file: Path) -> dict[str, np.ndarray]:
    """Return the arrays of a .npz file without executing anything in it. Raises ElasticBodyError."""
    try:
        check_plain(file)
        with zipfile.ZipFile(file) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
            if size > LARGEST_FILE:
                raise ElasticBodyError(f"{file}: its arrays take {size} bytes; at most {LARGEST_FILE} are read")
        with np.load(file, allow_pickle=False) as content:
            return {name: content[name] for name in content.files}
    except ElasticBodyError:
        raise
    except FileNotFoundError as error:
        raise ElasticBodyError(f"{file}: there is no such file") from error
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise ElasticBodyError(f"{file}: cannot be read as .npz ({error}); it is damaged or of another kind") from error
    except (zipfile.error, zlib.error, lzma.LZMAError, MemoryError, SyntaxError, OverflowError) as error:
        raise ElasticBodyError(f"{file}: an array is damaged ({error})") from error


def _sections(file: Path, arrays: dict[str, np.ndarray], names: tuple[str, ...]) -> ElasticSections:
    """Return the loads at sections that a file has. Raises ElasticBodyError that names the entry."""
    none = np.zeros(0)
    sizes = ElasticSections(names, none, none, none, none, none, none).shapes(
        int(np.size(arrays.get("nodes", ()))), int(np.size(arrays.get("frequency", ())))
    )
    found = {}
    for name, shape in sizes.items():
        array = arrays.get(f"sections.{name}", none)
        if array.shape != shape or array.dtype.kind != "f" or not np.all(np.isfinite(array)):
            raise ElasticBodyError(
                f"{file}: entry 'sections.{name}' is {array.dtype} {array.shape}, expected finite numbers {shape}"
            )
        found[name] = array
    return ElasticSections(names, **found)


def _checked(file: Path, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of a body as numbers of the right shapes. Raises ElasticBodyError that names the entry."""
    nodes, count = np.size(arrays.get("nodes", ())), np.size(arrays.get("frequency", ()))
    points = len(np.atleast_1d(arrays.get("points", ())))
    lines = len(np.atleast_1d(arrays.get("lines", ())))
    if not (count <= MOST_SHAPES and nodes):
        raise ElasticBodyError(f"{file}: has {count} shapes and {nodes} nodes; from 1 node, to {MOST_SHAPES} shapes")
    h = count
    expected: dict[str, tuple[int, ...]] = {
        "origin": (3,), "nodes": (nodes,), "place": (nodes, 3), "shape": (nodes, 6, h), "frequency": (h,),
        "damping": (h,), "residual": (h,), "points": (points, 3), "point_shape": (points, 3, h), "lines": (lines, 2),
        "invariants.mass": (), "invariants.static_moment": (3,), "invariants.translation": (3, h),
        "invariants.inertia": (3, 3), "invariants.inertia_slope": (h, 3, 3),
        "invariants.inertia_curvature": (h, h, 3, 3), "invariants.rotation": (3, h), "invariants.gyration": (h, 3, h),
        "invariants.modal_mass": (h, h),
    }  # fmt: skip
    found: dict[str, np.ndarray] = {}
    for name, shape in expected.items():
        if name not in arrays:
            raise ElasticBodyError(f"{file}: has no entry {name!r}; reduce the model again")
        array = arrays[name]
        kinds = {"nodes": "iu", "lines": "iu", "residual": "b"}.get(name, "f")
        if array.shape != shape or array.dtype.kind not in kinds:
            raise ElasticBodyError(f"{file}: entry {name!r} is {array.dtype} {array.shape}, expected {shape}")
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise ElasticBodyError(f"{file}: entry {name!r} has values that are not finite")
        found[name] = array
    if np.any(found["frequency"] <= 0.0) or found["invariants.mass"] <= 0.0:
        raise ElasticBodyError(f"{file}: frequencies and mass must be positive; reduce the model again")
    modal = found["invariants.modal_mass"]
    if h and (np.abs(modal - modal.T).max() > 1e-9 * np.abs(modal).max() or np.linalg.eigvalsh(modal)[0] <= 0.0):
        raise ElasticBodyError(
            f"{file}: entry 'invariants.modal_mass' is not symmetric and positive; reduce the model again"
        )
    if len(found["lines"]) and not (found["lines"].min() >= 0 and found["lines"].max() < points):
        raise ElasticBodyError(f"{file}: entry 'lines' names points that are not there")
    return found
