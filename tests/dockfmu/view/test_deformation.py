"""Elastic bodies in the page and as GLB: places, colours and their scale, against the shapes computed here."""

import json

import numpy as np
import pytest

from dockfmu import fmus
from dockfmu.base.scene import packed
from dockfmu.fmus import catalogue
from dockfmu.master.observers.recording.results import read_results
from tests.dockfmu.command_line import status_of
from tests.dockfmu.view.browser import Shown, exported, opened, served
from tests.dockfmu.view.drift import flown, rescened
from tests.dockfmu.view.test_gltf import Read, assert_rules

pytestmark = pytest.mark.slow

REST = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])
EDGES = np.array([[0, 1], [1, 2]])
WAYS = np.array([[[0, 0, 0], [0, 0.3, 0], [0, 0.5, 0]], [[0, 0, 0], [0.1, 0, 0], [-0.3, 0, 0]]])
"""Displacements of the points by each coordinate."""
COORDINATES = ("craft.body.position[2]", "craft.body.velocity[2]")
COLOURS = np.array([[0x56, 0x70, 0xA8], [0x2F, 0xB3, 0xB0], [0xF4, 0xE6, 0x6A]])


@pytest.fixture(scope="module")
def bent(tmp_path_factory):
    """The folder of a run in which two coordinates bend three points."""
    folder = tmp_path_factory.mktemp("bent")
    scene = {
        "scene": 1,
        "frames": {"I": {}},
        "shapes": [
            {
                "shape": "wireframe",
                "frame": "I",
                "label": "boom",
                "positions": packed(REST, "<f4"),
                "edges": packed(EDGES, "<u4"),
                "deformations": packed(WAYS, "<f4"),
                "coordinates": [name.removeprefix("craft.") for name in COORDINATES],
            }
        ],
    }
    craft = fmus.build(catalogue.component("Spacecraft"), folder)
    return flown(folder, {"craft": rescened(craft, folder / "bent.fmu", json.dumps(scene))})[0]


def moved(results, row):
    """Return how each point is displaced in a row."""
    return np.tensordot([results[name][row] for name in COORDINATES], WAYS, 1)


def test_the_page_shows_deformation_and_its_scale(bent, browser, tmp_path):
    """Draw each line where its ends are, in the colour of their displacement, with the end of the scale in metres."""
    with served(bent) as address, opened(browser) as context, read_results(bent / "results.h5") as results:
        for page in (address, exported(bent, tmp_path / "bent.html").as_uri()):
            shown = Shown(context, page)
            shown("dockfmu.view('craft')")
            shown("dockfmu.look('side')")
            farthest = max(np.linalg.norm(moved(results, row), axis=1).max() for row in range(len(results.time)))
            for t in (0.0, 0.75, 2.0):
                shown("t => dockfmu.seek(t)", t)
                row, item = int(np.searchsorted(results.time, t - 1e-9)), shown.item("side", "boom", "craft")
                scale = shown("dockfmu.drawn()")["side"]["scale"]
                points, far = REST + moved(results, row), np.linalg.norm(moved(results, row), axis=1)
                for (a, b), (start, end), distance in zip(EDGES, item["lines"], item["far"], strict=True):
                    drawn = np.subtract(end, start) * (1, -1) / scale
                    assert np.allclose(drawn, (points[b] - points[a])[:2], atol=1e-5)
                    assert distance == pytest.approx((far[a] + far[b]) / 2, rel=1e-5, abs=1e-6)
            # the next round number
            assert 0.5 < farthest < 1.0
            assert shown("dockfmu.drawn()")["full"] == 1.0
            if not shown("document.getElementById('dimensions').hidden"):
                shown("dockfmu.look('orbit')")
                assert shown("dockfmu.drawn().solid.deformation") == "deformed by 0 to 1 m"
            assert shown.errors == []


def test_the_glb_bends_by_weights(bent, tmp_path):
    """Animate a weight for each coordinate; colours and name have the largest displacement of each point."""
    file = tmp_path / "bent.glb"
    assert status_of("export", bent, "--gltf", "-o", file) == 0
    read = Read(file)
    assert_rules(read)
    with read_results(bent / "results.h5") as results:
        far = np.max([np.linalg.norm(moved(results, row), axis=1) for row in range(len(results.time))], axis=0)
        coordinates = [np.interp(read.accessor(0)[:, 0], results.time, results[name]) for name in COORDINATES]
    (name,) = (name for name in read.numbers if "deformed by" in name)
    assert name.endswith(f"deformed by at most {far.max():.3g} m")
    node = read.numbers[name]
    (primitive,) = read.gltf.meshes[read.gltf.nodes[node].mesh].primitives
    assert np.allclose(read.accessor(primitive.attributes.POSITION), REST)
    assert np.allclose([read.accessor(target["POSITION"]) for target in primitive.targets], WAYS)
    sampler = read.samplers[node, "weights"]
    assert np.allclose(read.accessor(sampler.output).reshape(-1, 2), np.transpose(coordinates), atol=1e-6)
    share = far / far.max()
    colours = np.stack([np.interp(share, [0.0, 0.5, 1.0], COLOURS[:, k] / 255) for k in range(3)], axis=1)
    # of the ends, as colours between them are interpolated in other spaces
    linear = read.accessor(primitive.attributes.COLOR_0)[[0, 2]]
    drawn = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    assert np.allclose(drawn, colours[[0, 2]], atol=2e-3)
