"""The animated GLB, read by pygltflib: where its nodes are, against the recording by other formulas."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.view import gltf
from tests.dockfmu.command_line import dockfmu, status_of

pytestmark = pytest.mark.slow

PLACES = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}
TYPES = {5126: "<f4", 5125: "<u4"}


class Read:
    """A GLB as an importer sees it: nodes composed with their parents at a time."""

    def __init__(self, file) -> None:
        self.gltf = pytest.importorskip("pygltflib").GLTF2().load(str(file))
        self.blob = self.gltf.binary_blob()
        self.parents = {child: k for k, node in enumerate(self.gltf.nodes) for child in node.children or ()}
        self.numbers = {node.name: k for k, node in enumerate(self.gltf.nodes)}
        (animation,) = self.gltf.animations
        self.samplers = {(c.target.node, c.target.path): animation.samplers[c.sampler] for c in animation.channels}

    def accessor(self, number):
        found = self.gltf.accessors[number]
        view = self.gltf.bufferViews[found.bufferView]
        data = self.blob[view.byteOffset : view.byteOffset + view.byteLength]
        return np.frombuffer(data, TYPES[found.componentType]).reshape(found.count, PLACES[found.type])

    def value(self, node, path, time, missing):
        sampler = self.samplers.get((node, path))
        if sampler is None:
            return np.array(getattr(self.gltf.nodes[node], path) or missing)
        times, values = self.accessor(sampler.input)[:, 0], self.accessor(sampler.output)
        row = int(np.clip(np.searchsorted(times, time, "right") - 1, 0, len(times) - 2))
        if sampler.interpolation == "STEP":
            return values[row + (time >= times[row + 1])]
        share = (time - times[row]) / (times[row + 1] - times[row])
        return (1 - share) * values[row] + share * values[row + 1]

    def point(self, name, time, point=(0.0, 0.0, 0.0)):
        """A point of a node in the axes of the scene."""
        node, at = self.numbers[name], np.array(point, float)
        while node is not None:
            at = at * self.value(node, "scale", time, (1.0, 1.0, 1.0))
            at = Rotation.from_quat(self.value(node, "rotation", time, (0.0, 0.0, 0.0, 1.0))).apply(at)
            at = at + self.value(node, "translation", time, (0.0, 0.0, 0.0))
            node = self.parents.get(node)
        return at

    def seen(self, name, time):
        return bool(self.value(self.numbers[name], "scale", time, (1.0, 1.0, 1.0))[0])


@pytest.fixture(scope="module")
def read(central_impact, tmp_path_factory):
    file = tmp_path_factory.mktemp("glb") / "impact.glb"
    assert status_of("export", central_impact.folder, "--gltf", "-o", file) == 0
    return Read(file)


def vector(results, name, row, count=3):
    return np.array([results[f"{name}[{k}]"][row] for k in range(1, count + 1)])


def turn(results, name, row):
    w, x, y, z = vector(results, name, row, 4)
    return Rotation.from_quat([x, y, z, w])


def rows(results):
    head = np.flatnonzero(results["mechanism.sensor.first_contact"] | results["mechanism.sensor.socket_bottom"])
    return [0, head[0], head[len(head) // 2], head[-1], len(results.time) - 1]


def test_bodies_and_head_are_where_they_are(read, central_impact):
    results = central_impact.results
    for row in rows(results):
        t = results.time[row]
        for craft in ("chaser", "station"):
            assert np.allclose(
                read.point(f"{craft}.body", t), vector(results, f"{craft}.body.position", row), atol=1e-4
            )
        target = turn(results, "station.port[1].quaternion", row)
        yaw, pitch, roll = vector(results, "mechanism.docking.angles", row)
        base = Rotation.from_euler("YZX", [yaw, pitch, roll])
        in_unit = vector(results, "mechanism.docking.position", row) + base.apply(
            vector(results, "mechanism.link[1].position", row)
        )
        head = vector(results, "station.port[1].position", row) + target.apply(in_unit)
        assert np.allclose(read.point("mechanism.H", t), head, atol=1e-4)
        name = next(name for name in read.numbers if name.startswith("mechanism.head.") and name.endswith("lit.ball"))
        radius = results.parameters("mechanism")["probe_cone.parameters.head.radius"]
        surface = read.point(name.replace("lit", "lit" if read.seen(name[:-5], t) else "free"), t, (0.0, 1.0, 0.0))
        assert np.linalg.norm(surface - head) == pytest.approx(radius, abs=1e-4)


def test_what_touches_is_the_red_one(read, central_impact):
    results, seen = central_impact.results, set()
    (lit,) = (name for name in read.numbers if name.startswith("mechanism.head.") and name.endswith(".lit"))
    for row in rows(results):
        touches = bool(results["mechanism.sensor.first_contact"][row] or results["mechanism.sensor.socket_bottom"][row])
        t = float(np.float32(results.time[row])) + 1e-6
        assert read.seen(lit, t) == touches
        assert read.seen(lit.replace(".lit", ".free"), t) == (not touches)
        seen.add(touches)
    assert seen == {True, False}


def test_the_file_keeps_the_rules_of_gltf(read):
    assert_rules(read)


def assert_rules(read: Read) -> None:
    """Check what the specification of glTF 2.0 asks of buffers, accessors, samplers and nodes."""
    gltf = read.gltf
    assert gltf.asset.version == "2.0"
    for view in gltf.bufferViews:
        assert view.byteOffset % 4 == 0
        assert view.byteOffset + view.byteLength <= gltf.buffers[0].byteLength
    for (node, path), sampler in read.samplers.items():
        times, values = read.accessor(sampler.input)[:, 0], read.accessor(sampler.output)
        assert times[0] == 0.0
        assert (np.diff(times) > 0.0).all()
        weights = len(gltf.meshes[gltf.nodes[node].mesh].primitives[0].targets) if path == "weights" else 1
        assert len(values) == len(times) * weights
        if path == "rotation":
            assert np.allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-5)
            # the shorter way; an arrow may turn over
            assert (np.sum(values[1:] * values[:-1], axis=1) > -1e-6).all(), gltf.nodes[node].name
    for accessor in gltf.accessors:
        assert accessor.count > 0
    for mesh in gltf.meshes:
        (primitive,) = mesh.primitives
        points = read.accessor(primitive.attributes.POSITION)
        about = gltf.accessors[primitive.attributes.POSITION]
        assert np.array_equal(about.min, points.min(axis=0))
        assert np.array_equal(about.max, points.max(axis=0))
        assert read.accessor(primitive.indices).max() < len(points)
    # no node has two parents
    children = [child for node in gltf.nodes for child in node.children or ()]
    assert len(children) == len(set(children)) == len(gltf.nodes) - 1


def test_circles_are_as_round_as_on_the_page():
    page = (Path(gltf.__file__).parent / "page/geometry.js").read_text()
    corners = int(re.search(r"AROUND = (\d+)", page)[1])
    points, _ = gltf._lathe(np.array([0.0, 1.0]), np.ones(2), 0)
    assert len(points) == 2 * corners


def test_faces_of_a_box_close_it_and_look_outward():
    half, centre = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])
    points, triangles = gltf._faces(gltf._edges(half, centre)[0])
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    # the volume that outward faces enclose (divergence theorem)
    assert np.sum(a * np.cross(b, c)) / 6.0 == pytest.approx(8.0 * half.prod())
    assert (np.sum(np.cross(b - a, c - a) * (a - centre), axis=1) > 0.0).all()


def test_lines_that_change_their_form_follow(tmp_path):
    """Two latches that slide toward the axis, half a turn apart: rods; what keeps its form stays one line."""
    time = np.linspace(0.0, 2.0, 5)
    radius = 0.3 - 0.1 * time
    scene = {"frames": {"F": {"position": [1.0, 0.0, 0.0]}}, "shapes": [
        {"shape": "radial", "frame": "F", "label": "latch", "azimuth": np.pi / 2, "count": 2,
         "points": [[0.0, {"v": "r"}], [0.2, {"v": "r"}, 0.1], [0.2, 0.5]]},
        {"shape": "radial", "frame": "F", "label": "pad", "points": [[0.0, 0.4], [0.1, 0.4]]},
    ]}  # fmt: skip
    model = gltf._Model(time)
    gltf._ElementNodes(model, "a", scene, {"r": radius}.__getitem__).add()
    file = tmp_path / "latch.glb"
    file.write_bytes(model.glb("latches"))
    read = Read(file)
    for t in (0.0, 0.75, 2.0):
        r = 0.3 - 0.1 * t
        # azimuth a quarter of a turn: from y to z; the second one opposite
        assert np.allclose(read.point("a.latch.0.0.rod", t), (1.0, 0.0, r), atol=1e-6)
        assert np.allclose(read.point("a.latch.0.1.rod", t), (1.2, -0.1, r), atol=1e-6)
        assert np.allclose(read.point("a.latch.0.2.rod", t), (1.0, 0.0, -r), atol=1e-6)
        if t != 0.75:  # between rows the turn of a rod is not that of its ends
            assert np.allclose(read.point("a.latch.0.0.rod", t, (1.0, 0.0, 0.0)), (1.2, -0.1, r), atol=1e-6)
            assert np.allclose(read.point("a.latch.0.3.rod", t, (1.0, 0.0, 0.0)), (1.2, 0.0, -0.5), atol=1e-6)
    assert [name for name in read.numbers if name.startswith("a.pad")] == ["a.pad.1"]


def test_signals_and_gltf_exclude_each_other(central_impact):
    done = dockfmu("export", central_impact.folder, "--gltf", "--signals", "chaser.*")
    assert done.returncode == 2
    assert "--signals" in done.stderr
