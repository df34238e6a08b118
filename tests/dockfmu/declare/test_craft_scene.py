"""The look of a user's craft: shapes of a system, and meshes from GLB and STL files of strangers."""

import base64
import json
import struct

import numpy as np
import pytest

from dockfmu import build
from dockfmu.base.scene import MOST_TRIANGLES, SceneError
from dockfmu.declare import craft_scene, declaration
from dockfmu.declare.craft_scene import read_mesh
from dockfmu.declare.plan import Plan
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.system import Structure
from dockfmu.view.scenes import scenes_of

# two triangles of a square in the plane of x and y
CORNERS = np.array([[[0, 0, 0], [2, 0, 0], [2, 2, 0]], [[0, 0, 0], [2, 2, 0], [0, 2, 0]]], float)


def stl(corners) -> bytes:
    rows = b"".join(struct.pack("<12fH", 0, 0, 1, *triangle.ravel(), 0) for triangle in corners)
    return bytes(80) + struct.pack("<I", len(corners)) + rows


def text_stl(corners) -> bytes:
    faces = ["facet normal 0 0 1 outer loop " + " ".join(f"vertex {x} {y} {z}" for x, y, z in t) for t in corners]
    return f"solid x {' '.join(faces)} endsolid".encode()


def glb(corners, node=None, **changes) -> bytes:
    """A glTF of these triangles with indices, whose node may be placed."""
    points, indices = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    first = points.astype("<f4").tobytes()
    binary = first + indices.astype("<u2").tobytes()
    binary += bytes(-len(binary) % 4)
    document = {
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, **(node or {})}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3"},
            {"bufferView": 1, "componentType": 5123, "count": indices.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": len(first)},
            {"buffer": 0, "byteOffset": len(first), "byteLength": 2 * indices.size},
        ],
        "buffers": [{"byteLength": len(binary)}], **changes,
    }  # fmt: skip
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(binary), b"BIN\0") + binary
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


@pytest.mark.parametrize("write", [stl, text_stl, glb])
def test_triangles_are_those_of_the_file(write, tmp_path):
    file = tmp_path / "craft"
    file.write_bytes(write(CORNERS))
    assert np.array_equal(read_mesh(file), CORNERS)


def test_nodes_of_a_glb_are_placed(tmp_path):
    file, half = tmp_path / "craft.glb", float(np.sqrt(0.5))
    # a quarter turn about x takes y to z
    file.write_bytes(glb(CORNERS, {"rotation": [half, 0, 0, half], "translation": [1, 0, 0], "scale": [2, 2, 2]}))
    x, y, z = np.moveaxis(2.0 * CORNERS, 2, 0)
    assert np.allclose(read_mesh(file), np.stack([x + 1.0, -z, y], axis=2), atol=1e-6)


BAD = {
    "not a mesh": (b"MZ executable", "neither 'glTF' nor"),
    "cut": (glb(CORNERS)[:-8], "whole, is needed"),
    "outside": (glb(CORNERS, buffers=[{"uri": "http://elsewhere/x.bin", "byteLength": 9}]), "another file"),
    "packed": (glb(CORNERS, extensionsRequired=["KHR_draco_mesh_compression"]), "KHR_draco_mesh_compression"),
    "beyond": (
        glb(CORNERS, bufferViews=[{"buffer": 0, "byteOffset": 10**6}, {"buffer": 0}]),
        "beyond its end",
    ),
    "loop": (glb(CORNERS, {"children": [0]}), "nested too deeply"),
    "not finite": (stl(CORNERS * np.nan), "not finite"),
    "empty": (stl(CORNERS[:0]), "0 triangles"),
    "large": (stl(np.repeat(CORNERS, MOST_TRIANGLES, axis=0)), "simplify the mesh"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_file_that_cannot_be_shown_is_named_with_the_reason(case, tmp_path):
    data, reason = BAD[case]
    file = tmp_path / "craft.glb"
    file.write_bytes(data)
    with pytest.raises(DeclarationError, match=reason) as caught:
        read_mesh(file)
    assert str(file) in str(caught.value)


def test_a_file_that_is_too_large_is_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr(craft_scene, "LARGEST_FILE", 100)
    (tmp_path / "craft.stl").write_bytes(stl(CORNERS))
    with pytest.raises(DeclarationError, match=r"at most .* are read"):
        read_mesh(tmp_path / "craft.stl")


SYSTEM = """
name = "mine"
[elements.chaser]
component = "spacecraft"
[[scene.{element}]]
shape = "mesh"
frame = "{frame}"
file = "{file}"
scale = 0.5
rotation = [0.7071067811865476, 0, 0, 0.7071067811865476]
offset = [0, 0, 1]
[[scene.{element}]]
shape = "cylinder"
frame = "structure"
radius = 1
length = 3
"""


def declared(tmp_path, element="chaser", frame="structure", file="craft.stl"):
    (tmp_path / "craft.stl").write_bytes(stl(CORNERS))
    (tmp_path / "mine.toml").write_text(SYSTEM.format(element=element, frame=frame, file=file))
    return declaration.read(str(tmp_path / "mine.toml"))


def test_a_system_carries_the_mesh_scaled_turned_and_moved(tmp_path):
    plan = Plan.from_json(declared(tmp_path).plan.to_json())
    mesh, cylinder = json.loads(plan.scene["chaser"])
    points = np.frombuffer(base64.b64decode(mesh["positions"]), "<f4").reshape(-1, 3)
    indices = np.frombuffer(base64.b64decode(mesh["indices"]), "<u4")
    # a quarter turn about z takes x to y and y to -x
    x, y, _ = np.moveaxis(0.5 * CORNERS, 2, 0)
    assert np.allclose(points[indices].reshape(-1, 3, 3), np.stack([-y, x, np.ones_like(x)], axis=2), atol=1e-6)
    assert cylinder == {"shape": "cylinder", "frame": "structure", "radius": 1, "length": 3}
    assert "scene" not in json.loads(Plan().to_json())


def test_wrong_elements_and_files_are_named(tmp_path):
    with pytest.raises(DeclarationError, match="there is no element nobody; there are chaser"):
        declared(tmp_path, element="nobody")
    with pytest.raises(DeclarationError, match=r"nowhere\.stl: cannot be read"):
        declared(tmp_path, file="nowhere.stl")


def test_solids_of_a_craft_replace_its_box(tmp_path):
    structure = Structure("one")
    structure.add("chaser", build("Spacecraft", tmp_path), {})
    plain = scenes_of(structure).elements["chaser"]["shapes"]
    given = scenes_of(structure, (), declared(tmp_path).plan.scene).elements["chaser"]["shapes"]
    kinds = [shape["shape"] for shape in given]
    assert kinds == [shape["shape"] for shape in plain if shape["shape"] != "inertia_box"] + ["mesh", "cylinder"]
    with pytest.raises(SceneError, match=r"scene of chaser: shapes\[1\], mesh\.frame: there is no frame 'nowhere'"):
        scenes_of(structure, (), declared(tmp_path, frame="nowhere").plan.scene)
