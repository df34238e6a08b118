"""The look of a user's craft: shapes of a system's `[[scene.ELEMENT]]`, with meshes read from GLB and STL files.

The files may come from strangers: sizes are limited, nothing is fetched, and errors name the file and what to do.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.given_files import check_plain
from dockfmu.base.number_text import decimal_number, strict_json
from dockfmu.base.scene import MOST_TRIANGLES, packed
from dockfmu.declare.toml.tables import DeclarationError

LARGEST_FILE = 32 << 20
"""Largest size of a mesh file, bytes."""

_FILE_KEYS = ("file", "scale", "rotation", "offset")
_DEEPEST_NODE = 32
_TYPES = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_BINARY_STL = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


def scene_of_craft(content: Any, elements: Mapping[str, Any], where: str) -> dict[str, str]:
    """Return the shapes of each element as JSON, with meshes in place of files. Raises DeclarationError."""
    if not isinstance(content, dict):
        raise DeclarationError(f"{where}: scene: must be tables [[scene.ELEMENT]]")
    found = {}
    for element, shapes in content.items():
        place = f"{where}, scene.{element}"
        if element not in elements:
            raise DeclarationError(f"{place}: there is no element {element}; there are {', '.join(elements)}")
        if not isinstance(shapes, list) or not all(isinstance(shape, dict) for shape in shapes):
            raise DeclarationError(f"{place}: must be a list of shapes, [[scene.{element}]]")
        packed = [_packed(shape, f"{place}, shape {k}") for k, shape in enumerate(shapes, start=1)]
        found[element] = json.dumps(packed, separators=(",", ":"))
    return found


def _packed(shape: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return a shape with the triangles of its file, if it has one."""
    if "file" not in shape:
        return dict(shape)
    if shape.get("shape") != "mesh":
        raise DeclarationError(f'{place}: file goes with shape = "mesh"')
    if not isinstance(shape["file"], str):
        raise DeclarationError(f"{place}: file = {shape['file']!r} is not the path of a .glb or .stl")
    corners = read_mesh(Path(shape["file"]))
    corners = corners * _numbers(shape, "scale", [1.0], place)
    w, *vector = _numbers(shape, "rotation", [1.0, 0.0, 0.0, 0.0], place)
    size = np.linalg.norm([w, *vector])
    if size < 1e-9:
        raise DeclarationError(f"{place}: rotation is not a quaternion w, x, y, z")
    axis = np.array(vector) / size
    twice = 2.0 * np.cross(axis, corners)
    corners = corners + (w / size) * twice + np.cross(axis, twice) + _numbers(shape, "offset", [0.0, 0.0, 0.0], place)
    points, indices = np.unique(corners.reshape(-1, 3).astype("<f4"), axis=0, return_inverse=True)
    return {
        **{key: value for key, value in shape.items() if key not in _FILE_KEYS},
        "positions": packed(points, "<f4"),
        "indices": packed(indices, "<u4"),
    }


def _numbers(shape: Mapping[str, Any], key: str, missing: list[float], place: str) -> np.ndarray:
    value = shape.get(key, missing)
    listed = value if isinstance(value, list) else [value]
    if len(listed) != len(missing) or not all(type(x) in (int, float) and abs(x) < 1e12 for x in listed):
        raise DeclarationError(f"{place}: {key} = {value!r}: needs {len(missing)} finite numbers")
    return np.array(listed, float)


def read_mesh(file: Path) -> np.ndarray:
    """Return the corners of the triangles of a GLB or STL file, shape (n, 3, 3).

    Raises DeclarationError for a file that cannot be read, is too large, or is of another kind.
    """
    try:
        check_plain(file)
        size = file.stat().st_size
        data = file.read_bytes() if size <= LARGEST_FILE else b""
    except OSError as error:
        raise DeclarationError(f"{file}: cannot be read ({error.strerror})") from error
    if size > LARGEST_FILE:
        raise DeclarationError(f"{file}: {size >> 20} MB; at most {LARGEST_FILE >> 20} MB are read: simplify the mesh")
    try:
        corners = _glb(data) if data[:4] == b"glTF" else _stl(data)
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, struct.error, RecursionError) as error:
        raise DeclarationError(f"{file}: not a GLB or STL that can be shown: {error}") from error
    if not 1 <= len(corners) <= MOST_TRIANGLES:
        raise DeclarationError(f"{file}: {len(corners)} triangles; 1 to {MOST_TRIANGLES} are shown: simplify the mesh")
    if not np.isfinite(corners).all() or np.abs(corners).max() > 1e9:
        raise DeclarationError(f"{file}: a corner is not finite, or farther than 1e9")
    return corners


def _stl(data: bytes) -> np.ndarray:
    """Return the corners of a binary STL, or of one that is text."""
    if len(data) >= 84 and len(data) == 84 + 50 * (count := struct.unpack_from("<I", data, 80)[0]):
        return np.asarray(np.frombuffer(data, _BINARY_STL, count, 84)["corners"], float)
    words = data.decode("ascii", "strict").split()
    if not words or words[0] != "solid":
        raise ValueError("neither 'glTF' nor the length of a binary STL nor 'solid' at its start")
    numbers = [decimal_number(x) for k, word in enumerate(words) if word == "vertex" for x in words[k + 1 : k + 4]]
    return np.array(numbers).reshape(-1, 3, 3)


def _glb(data: bytes) -> np.ndarray:
    """Return the corners of all triangles of a binary glTF, in the axes of its scene."""
    _, version, length = struct.unpack_from("<4sII", data)
    if version != 2 or length != len(data):
        raise ValueError(f"glTF version {version} with {length} of {len(data)} bytes; version 2, whole, is needed")
    chunks: dict[bytes, bytes] = {}
    offset = 12
    while offset < length:
        size, kind = struct.unpack_from("<I4s", data, offset)
        chunks.setdefault(kind, data[offset + 8 : offset + 8 + size])
        offset += 8 + size
    document, binary = strict_json(chunks[b"JSON"]), chunks.get(b"BIN\0", b"")
    if required := document.get("extensionsRequired"):
        raise ValueError(f"it requires {', '.join(map(str, required))}: export it without compression")
    roots = document.get("scenes", [{}])[document.get("scene", 0)].get("nodes", [])
    parts = [part for root in roots for part in _node(document, binary, root, np.eye(4), 0)]
    return np.concatenate(parts) if parts else np.zeros((0, 3, 3))


def _node(document: Any, binary: bytes, number: int, above: np.ndarray, depth: int) -> Iterator[np.ndarray]:
    """Yield the triangles of a node and of those below it."""
    if depth > _DEEPEST_NODE:
        raise ValueError("its nodes are nested too deeply")
    node = document["nodes"][number]
    place = above @ _matrix(node)
    if "mesh" in node:
        for primitive in document["meshes"][node["mesh"]]["primitives"]:
            if primitive.get("mode", 4) != 4:
                continue
            points = _accessor(document, binary, primitive["attributes"]["POSITION"], 3)
            points = points @ place[:3, :3].T + place[:3, 3]
            if "indices" in primitive:
                points = points[_accessor(document, binary, primitive["indices"], 1)[:, 0].astype(int)]
            yield points.reshape(-1, 3, 3)
    for child in node.get("children", []):
        yield from _node(document, binary, child, place, depth + 1)


def _matrix(node: Mapping[str, Any]) -> np.ndarray:
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    x, y, z, w = np.array(node.get("rotation", [0.0, 0.0, 0.0, 1.0]), float)
    turn = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    found = np.eye(4)
    found[:3, :3] = turn * np.array(node.get("scale", [1.0, 1.0, 1.0]), float)
    found[:3, 3] = node.get("translation", [0.0, 0.0, 0.0])
    return found


def _accessor(document: Any, binary: bytes, number: int, width: int) -> np.ndarray:
    """Return the rows of an accessor into the file's own buffer, shape (count, width)."""
    about = document["accessors"][number]
    view = document["bufferViews"][about["bufferView"]]
    if "uri" in document["buffers"][view["buffer"]] or "sparse" in about:
        raise ValueError("its numbers lie in another file or are sparse: export one whole .glb")
    dtype, count = np.dtype(_TYPES[about["componentType"]]), int(about["count"])
    if not 0 <= count <= 3 * MOST_TRIANGLES:
        raise ValueError(f"{count} points; simplify the mesh to {MOST_TRIANGLES} triangles")
    step = int(view.get("byteStride", 0)) or width * dtype.itemsize
    first = int(view.get("byteOffset", 0)) + int(about.get("byteOffset", 0))
    if first < 0 or step < width * dtype.itemsize or first + step * (count - 1) + width * dtype.itemsize > len(binary):
        raise ValueError("its numbers reach beyond its end")
    rows = np.ndarray((count, width), dtype, binary, first, (step, dtype.itemsize))
    return np.asarray(rows, float)
