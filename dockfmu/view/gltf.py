"""A run as an animated GLB, binary glTF 2.0: all craft and mechanisms of its scenes, for other viewers.

Every frame of a scene is a node in I whose translation and rotation are animated; its shapes are nodes below it. Core
glTF animates neither colours nor visibility. A shape that lights up therefore exists twice, green and red, and hidden
nodes are scaled to zero, in steps. Lines whose points move in their frame become rods that follow the points.
An elastic body is a mesh of lines with a morph target for each shape, whose weights are the coordinates; its colours
are the largest displacements of its points in the run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.files import write_file
from dockfmu.base.scene import unpacked
from dockfmu.view.export import kept_rows
from dockfmu.view.motion import Read, conjugate, evaluate, outward, poses
from dockfmu.view.recording import Replay

COLOURS = {
    "free": (0.05, 0.52, 0.16), "lit": (1.0, 0.1, 0.08), "passive": (0.27, 0.44, 0.74), "line": (0.58, 0.65, 0.78),
    "thin": (0.24, 0.29, 0.41), "contact": (1.0, 0.1, 0.08), "arrow": (1.0, 0.45, 0.06), "deformed": (1.0, 1.0, 1.0),
}  # fmt: skip
"""Base colours, linear."""

DEFORMED = np.array([[0.093, 0.162, 0.392], [0.028, 0.451, 0.434], [0.905, 0.791, 0.144]])
"""Colours of displacements, linear: none, half of the largest, the largest; those of page/deformation.js."""

TUBE, DOT = 0.008, 0.02
"""Radii of rods and of points, m."""

STILL = 1e-6
"""Motion of a point in its frame below which it counts as fixed, m."""

_AROUND = 72
_FLOAT, _INDEX = 5126, 5125
_TRIANGLES, _LINES = 4, 1


def write_gltf(replay: Replay, file: Path, every: int = 1) -> Path:
    """Write a recording as GLB; return the file. One in `every` of the rows of an exported page is kept."""
    page_rows = kept_rows(replay.time, [event["t"] for event in replay.description([])["events"]])
    # always with the last one, at which the run ends
    rows = np.union1d(page_rows[::every], page_rows[-1:])
    columns: dict[str, np.ndarray] = {}

    def read(name: str) -> np.ndarray:
        if name not in columns:
            whole = next(iter(replay.columns([name]))) if name in replay else np.full(len(replay.time), np.nan)
            columns[name] = np.asarray(whole[rows], float)
        return columns[name]

    model = _Model(replay.time[rows] - replay.time[0])
    for element, scene in replay.scenes.items():
        _ElementNodes(model, element, scene, read).add()
    return write_file(file, model.glb(str(replay.description([])["title"])))


class _Model:
    """A glTF document that grows."""

    def __init__(self, time: np.ndarray) -> None:
        self.time = time
        self.nodes: list[dict[str, Any]] = [{"name": "I", "children": []}]
        self.meshes: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.views: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self._binary = bytearray()
        self._material_of: dict[tuple[str, bool], int] = {}
        self._clock = self.accessor(time.astype("<f4"), bounds=True)

    def accessor(self, values: np.ndarray, *, bounds: bool = False, target: int | None = None) -> int:
        """Add an array, shape (n,) or (n, places), of float32 or uint32; return its number."""
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": values.nbytes}
        self.views.append(view if target is None else {**view, "target": target})
        self._binary += np.ascontiguousarray(values).tobytes()
        self._binary += bytes(-len(self._binary) % 4)
        places = 1 if values.ndim == 1 else values.shape[1]
        made = {
            "bufferView": len(self.views) - 1,
            "componentType": _INDEX if values.dtype == np.dtype("<u4") else _FLOAT,
            "count": len(values),
            "type": {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[places],
        }
        if bounds:
            table = values.reshape(len(values), -1)
            made |= {"min": table.min(axis=0).tolist(), "max": table.max(axis=0).tolist()}
        self.accessors.append(made)
        return len(self.accessors) - 1

    def material(self, paint: str, *, clear: bool = False) -> int:
        """Return the number of a material, added when it is first used."""
        if (paint, clear) not in self._material_of:
            self._material_of[paint, clear] = len(self.materials)
            look: dict[str, Any] = {
                "name": paint,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [*COLOURS[paint], 0.28 if clear else 1.0],
                    "metallicFactor": 0.0,
                    "roughnessFactor": 0.7,
                },
            }
            self.materials.append({**look, "alphaMode": "BLEND", "doubleSided": True} if clear else look)
        return self._material_of[paint, clear]

    def deformed_mesh(
        self, points: np.ndarray, edges: np.ndarray, shapes: np.ndarray, colours: np.ndarray, material: int
    ) -> int:
        """Add lines between points, (n, 3), with displacements by each weight, (weights, n, 3), and colours, (n, 3)."""
        number = self.mesh(points, edges, material, _LINES)
        (primitive,) = self.meshes[number]["primitives"]
        primitive["attributes"]["COLOR_0"] = self.accessor(colours.astype("<f4"), target=34962)
        primitive["targets"] = [
            {"POSITION": self.accessor(shape.astype("<f4"), bounds=True, target=34962)} for shape in shapes
        ]
        return number

    def mesh(self, points: np.ndarray, indices: np.ndarray, material: int, mode: int = _TRIANGLES) -> int:
        """Add points, shape (n, 3), joined to triangles or lines; return the number of the mesh."""
        points = np.nan_to_num(points)
        attributes = {"POSITION": self.accessor(points.astype("<f4"), bounds=True, target=34962)}
        if mode == _TRIANGLES:
            attributes["NORMAL"] = self.accessor(_normals(points, indices).astype("<f4"), target=34962)
        corners = self.accessor(indices.ravel().astype("<u4"), target=34963)
        primitive = {"attributes": attributes, "indices": corners, "material": material, "mode": mode}
        self.meshes.append({"primitives": [primitive]})
        return len(self.meshes) - 1

    def node(self, name: str, parent: int = 0, mesh: int | None = None) -> int:
        """Add a node below another one; return its number."""
        self.nodes.append({"name": name} if mesh is None else {"name": name, "mesh": mesh})
        self.nodes[parent].setdefault("children", []).append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def move(self, node: int, path: str, values: np.ndarray, *, step: bool = False) -> None:
        """Set translation, rotation (scalar first), scale or weights of a node: constant, or one for each time."""
        if path == "rotation":
            values = _continuous(values)[:, [1, 2, 3, 0]]
        if not np.isfinite(values).all():
            values = np.nan_to_num(values)
        if len(values) == 1 or np.ptp(values, axis=0).max() < 1e-9:
            self.nodes[node][path] = values[0].tolist()
            return
        # weights are scalars, all of one time after another
        output = self.accessor((values.ravel() if path == "weights" else values).astype("<f4"))
        sampler = {"input": self._clock, "output": output, "interpolation": "STEP" if step else "LINEAR"}
        self.samplers.append(sampler)
        self.channels.append({"sampler": len(self.samplers) - 1, "target": {"node": node, "path": path}})

    def glb(self, title: str) -> bytes:
        """Return the content of the GLB file."""
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "dockfmu"},
            "scene": 0,
            "scenes": [{"name": title, "nodes": [0]}],
            "nodes": self.nodes,
            "meshes": self.meshes,
            "materials": self.materials,
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self._binary)}],
        }
        if self.channels:
            document["animations"] = [{"name": "run", "channels": self.channels, "samplers": self.samplers}]
        document = {key: value for key, value in document.items() if value != []}
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        chunks = b"".join(
            len(chunk).to_bytes(4, "little") + kind + chunk
            for kind, chunk in ((b"JSON", text), (b"BIN\0", self._binary))
        )
        return b"glTF" + (2).to_bytes(4, "little") + (12 + len(chunks)).to_bytes(4, "little") + chunks


class _ElementNodes:
    """One element of a system: its frames as nodes, its shapes below them."""

    def __init__(self, model: _Model, name: str, scene: Mapping[str, Any], read: Read) -> None:
        self.model, self.name, self.scene, self.read = model, name, scene, read
        self.poses = poses(scene, read)
        self.nodes: dict[str, int] = {}

    def add(self) -> None:
        """Add all frames and shapes."""
        for frame, (position, turn) in self.poses.items():
            node = self.nodes[frame] = self.model.node(f"{self.name}.{frame}")
            self.model.move(node, "translation", position)
            self.model.move(node, "rotation", turn)
        for number, shape in enumerate(self.scene["shapes"]):
            label = f"{self.name}.{shape.get('label') or shape['shape']}.{number}"
            look = [("lit", True), ("free", False)] if "lit" in shape else [(self._paint(shape), None)]
            for paint, when in look:
                self._shape(shape, label if when is None else f"{label}.{paint}", paint, when)

    def _paint(self, shape: Mapping[str, Any]) -> str:
        return shape["shape"] if shape["shape"] in ("contact", "arrow") else str(shape.get("style", "line"))

    def _value(self, shape: Mapping[str, Any], key: str, missing: Any = None) -> np.ndarray:
        return evaluate(shape.get(key, missing), self.read)

    def _seen(self, shape: Mapping[str, Any], when: bool | None) -> np.ndarray:
        """Return a mask of the times at which a shape is visible."""
        seen = np.ones(1, bool)
        for key in ("shown", "active"):
            if key in shape:
                seen = seen & (self._value(shape, key)[:, 0] > 0.0)
        if when is not None:
            flags = shape["lit"] if isinstance(shape["lit"], list) else [shape["lit"]]
            lit = _any_of([evaluate(flag, self.read)[:, 0] > 0.0 for flag in flags])
            seen = seen & (lit == when)
        return seen

    def _shape(self, shape: Mapping[str, Any], label: str, paint: str, when: bool | None) -> None:
        seen = self._seen(shape, when)
        if not seen.any():
            return
        node = self.model.node(label, self.nodes[shape["frame"]])
        self.model.move(node, "scale", np.repeat(seen[:, None].astype(float), 3, axis=1), step=True)
        kind = shape["shape"]
        if kind in ("sphere", "point", "contact"):
            centre = self._value(shape, "position" if kind == "contact" else "centre", [0.0, 0.0, 0.0])
            radius = self._value(shape, "radius") if kind == "sphere" else np.full((1, 1), DOT)
            ball = self.model.node(f"{label}.ball", node, self.model.mesh(*_ball(), self.model.material(paint)))
            self.model.move(ball, "translation", centre)
            self.model.move(ball, "scale", np.repeat(radius, 3, axis=1))
        elif kind == "revolution":
            points, indices = _lathe(self._value(shape, "x")[0], self._value(shape, "r")[0], self._count(shape))
            self.model.nodes[node]["mesh"] = self.model.mesh(points, indices, self.model.material(paint, clear=True))
        elif kind == "rod":
            here, there = self.poses[shape["frame"]], self.poses[shape["to_frame"]]
            end = there[0] + outward(there[1], self._value(shape, "to"))
            origin, end = self._value(shape, "origin", [0.0] * 3), outward(conjugate(here[1]), end - here[0])
            self._tube(label, node, origin, end, paint, self._radius(shape))
        elif kind == "arrow":
            origin = self._value(shape, "origin", [0.0] * 3)
            length = self._value(shape, "value") * self._value(shape, "scale")
            self._tube(label, node, origin, origin + self._value(shape, "along") * length, paint)
        elif kind == "polyline":
            corners = [evaluate(point, self.read) for point in shape["points"]]
            for k, (start, end) in enumerate(pairwise(corners)):
                self._tube(f"{label}.{k}", node, start, end, paint, self._radius(shape))
        elif kind == "radial":
            points, pieces = self._radial(shape)
            if np.ptp(points, axis=0).max() < STILL:
                self.model.nodes[node]["mesh"] = self._mesh_of_lines(points[0], pieces, paint)
            else:
                for k, (first, last) in enumerate(pieces):
                    self._tube(f"{label}.{k}", node, points[:, first], points[:, last], paint)
        elif kind == "wireframe":
            self._wireframe(label, node, shape)
        elif kind == "mesh":
            points = unpacked(shape["positions"], "<f4").reshape(-1, 3).astype(float)
            indices = unpacked(shape["indices"], "<u4").reshape(-1, 3).astype(int)
            self.model.nodes[node]["mesh"] = self.model.mesh(points, indices, self.model.material(paint))
        elif kind == "cylinder":
            centre, half = self._value(shape, "centre", [0.0] * 3), 0.5 * self._value(shape, "length")
            along = np.array([1.0, 0.0, 0.0])
            self._tube(label, node, centre - half * along, centre + half * along, paint, self._value(shape, "radius"))
        else:
            points, pieces = self._lines(shape)
            self.model.nodes[node]["mesh"] = self._mesh_of_lines(points, pieces, paint)
            if kind != "triad":
                faces = self.model.mesh(*_faces(points), self.model.material(paint, clear=True))
                self.model.node(f"{label}.faces", node, faces)

    def _wireframe(self, label: str, node: int, shape: Mapping[str, Any]) -> None:
        """Add an elastic body; the end of its scale of colours is in its name."""
        points = unpacked(shape["positions"], "<f4").reshape(-1, 3)
        edges = unpacked(shape["edges"], "<u4").reshape(-1, 2).astype(int)
        coordinates = self._value(shape, "coordinates")
        shapes = unpacked(shape["deformations"], "<f4").reshape(-1, len(points), 3)
        far = np.zeros(len(points))
        for row in np.nan_to_num(coordinates):
            far = np.maximum(far, np.linalg.norm(np.tensordot(row, shapes, 1), axis=1))
        largest = far.max()
        share = far / largest if largest > 0.0 else far
        colours = np.stack([np.interp(share, [0.0, 0.5, 1.0], DEFORMED[:, k]) for k in range(3)], axis=1)
        mesh = self.model.deformed_mesh(points, edges, shapes, colours, self.model.material("deformed"))
        lines = self.model.node(f"{label}, deformed by at most {largest:.3g} m", node, mesh)
        self.model.move(lines, "weights", coordinates)

    def _mesh_of_lines(self, points: np.ndarray, pieces: np.ndarray, paint: str) -> int:
        return self.model.mesh(points, pieces, self.model.material(paint), _LINES)

    def _radial(self, shape: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of a line copied around x, shape (times, points, 3), and the pairs that are joined."""
        profile = [evaluate(point, self.read) for point in shape["points"]]
        corners = np.zeros((max(len(point) for point in profile), len(profile), 3))
        for k, point in enumerate(profile):
            corners[:, k, : point.shape[1]] = point
        return _copied(corners, float(self._value(shape, "azimuth", 0.0)[0, 0]), max(1, self._count(shape)))

    def _count(self, shape: Mapping[str, Any]) -> int:
        return int(self._value(shape, "count", 0)[0, 0])

    def _radius(self, shape: Mapping[str, Any]) -> np.ndarray | None:
        return self._value(shape, "radius") if "radius" in shape else None

    def _tube(
        self, label: str, node: int, start: np.ndarray, end: np.ndarray, paint: str, radius: np.ndarray | None = None
    ) -> None:
        """Add a rod between two points that may move."""
        span = end - start
        length = np.linalg.norm(span, axis=1, keepdims=True)
        tube = self.model.node(f"{label}.rod", node, self.model.mesh(*_cylinder(), self.model.material(paint)))
        self.model.move(tube, "translation", np.broadcast_to(start, span.shape))
        self.model.move(tube, "rotation", _turns_from_x(span / np.where(length > 0.0, length, 1.0)))
        thick = np.where(length > 1e-6, TUBE if radius is None else radius, 0.0)
        self.model.move(tube, "scale", np.hstack([length, thick, thick]))

    def _lines(self, shape: Mapping[str, Any]) -> tuple[np.ndarray, np.ndarray]:
        """Return the points of a triad or a box, which keep their form, and the pairs of points that are joined."""
        if shape["shape"] == "triad":
            size = float(self._value(shape, "length")[0, 0])
            return np.vstack([np.zeros(3), size * np.eye(3)]), np.array([[0, 1], [0, 2], [0, 3]])
        if shape["shape"] == "box":
            return _edges(self._value(shape, "size")[0] / 2.0, self._value(shape, "centre", [0.0] * 3)[0])
        return _box(
            *(
                self._value(shape, key, missing)[0]
                for key, missing in (("mass", 1.0), ("inertia", [0.0] * 9), ("centre", [0.0] * 3))
            )
        )


def _any_of(parts: list[np.ndarray]) -> np.ndarray:
    """Return where any of the parts holds."""
    found = parts[0]
    for part in parts[1:]:
        found = found | part
    return found


def _continuous(q: np.ndarray) -> np.ndarray:
    """Return the same rotations with signs for which neighbouring quaternions are close."""
    sign = np.sign(np.sum(q[1:] * q[:-1], axis=1))
    return np.asarray(q * np.concatenate([[1.0], np.cumprod(np.where(sign < 0.0, -1.0, 1.0))])[:, None])


def _turns_from_x(unit: np.ndarray) -> np.ndarray:
    """Return quaternions that rotate x to unit vectors."""
    q = np.hstack([1.0 + unit[:, :1], np.zeros((len(unit), 1)), -unit[:, 2:], unit[:, 1:2]])
    q[np.linalg.norm(q, axis=1) < 1e-9] = (0.0, 0.0, 0.0, 1.0)
    return np.asarray(q / np.linalg.norm(q, axis=1, keepdims=True))


def _normals(points: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return unit normals at points: means over the triangles around each."""
    corners = points[indices]
    face = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    found = np.zeros_like(points)
    for k in range(3):
        np.add.at(found, indices[:, k], face)
    size = np.linalg.norm(found, axis=1, keepdims=True)
    return np.where(size > 0.0, found / np.where(size > 0.0, size, 1.0), np.array([1.0, 0.0, 0.0]))


def _lathe(x: np.ndarray, r: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return points and triangles of a surface about x."""
    count = count or len(x)
    azimuth = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
    points = np.stack(
        [
            np.repeat(x[:count], _AROUND),
            np.outer(r[:count], np.cos(azimuth)).ravel(),
            np.outer(r[:count], np.sin(azimuth)).ravel(),
        ],
        axis=1,
    )
    row, column = np.divmod(np.arange((count - 1) * _AROUND), _AROUND)
    beside = (column + 1) % _AROUND
    a, b = row * _AROUND + column, row * _AROUND + beside
    return points, np.vstack([np.stack([a, a + _AROUND, b], 1), np.stack([b, a + _AROUND, b + _AROUND], 1)])


def _ball() -> tuple[np.ndarray, np.ndarray]:
    angle = np.linspace(0.0, np.pi, 13)
    return _lathe(-np.cos(angle), np.sin(angle), 0)


def _cylinder() -> tuple[np.ndarray, np.ndarray]:
    """Return a cylinder along x with length and radius 1."""
    return _lathe(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 0.0]), 0)


def _box(mass: np.ndarray, inertia: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the edges of the homogeneous cuboid of a mass and an inertia."""
    xx, yy, zz = inertia[0], inertia[4], inertia[8]
    half = np.sqrt(np.maximum(6.0 * np.array([yy + zz - xx, zz + xx - yy, xx + yy - zz]) / mass[0], 0.0)) / 2.0
    return _edges(half, centre)


def _edges(half: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a cuboid, and the pairs that its edges join."""
    corners = np.array([[k >> axis & 1 for axis in range(3)] for k in range(8)]) * 2.0 - 1.0
    edges = [(k, k | bit) for k in range(8) for bit in (1, 2, 4) if not k & bit]
    return centre + corners * half, np.array(edges)


def _faces(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of each face of a cuboid, as those of `_edges`, shape (24, 3), and its triangles, outward."""
    places: list[int] = []
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        for side in range(2):
            a, b, c, d = range(len(places), len(places) + 4)
            places += [k for k in range(8) if k >> axis & 1 == side]
            # y x z is x, x x y is z, but x x z is -y
            out = (side == 1) != (axis == 1)
            triangles += [(a, b, c), (b, d, c)] if out else [(a, c, b), (b, c, d)]
    return corners[places], np.array(triangles)


def _copied(corners: np.ndarray, azimuth: float, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a line of points (x, radius, tangential), shape (times, n, 3), copied around x, and the joined pairs."""
    x, r, t = np.moveaxis(corners, 2, 0)
    turns = azimuth + 2.0 * np.pi * np.arange(count) / count
    copies = [
        np.stack([x, r * c - t * s, r * s + t * c], axis=2) for c, s in zip(np.cos(turns), np.sin(turns), strict=True)
    ]
    places = np.arange(count * x.shape[1]).reshape(count, -1)
    return np.concatenate(copies, axis=1), np.stack([places[:, :-1].ravel(), places[:, 1:].ravel()], axis=1)
