"""The page for systems of every family: all panes against the recording, and lengths that the mechanisms keep.

Positions are read from the two projections, which together give three coordinates. They are compared with what no frame
of a scene knows: strokes of legs, lengths of rods and segments, poses of the payload.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from dockfmu.master.observers.recording.results import read_results
from tests.dockfmu.command_line import status_of
from tests.dockfmu.view.browser import Shown, opened, served
from tests.dockfmu.view.test_gltf import Read, assert_rules

pytestmark = pytest.mark.slow

GREEN, RED = "#3fbf6f", "#ff5a4f"
FAMILIES = {
    "probe-cone V3": ("soyuz_probe_cone_v3", 2.5),
    "hydraulic ring": ("hydraulic_ring_5t", 1.5),
    "peripheral": ("central_impact_peripheral_25t", 0.6),
    "arm": ("airlock_era_coarse", 14.0),
    "radiator": ("radiator_era_blind", 12.0),
    "stand": ("atv_stand", 1.0),
}
"""A system of each family, and a time until which something touches, or moves."""


class Family:
    """A run of a system of a family, and the page that shows it."""

    def __init__(self, folder: Path, shown: Shown) -> None:
        self.folder, self.shown = folder, shown
        with read_results(folder / "results.h5") as results:
            self.time = np.array(results.time)
            self.columns = {
                name: np.array(results[name])
                for name in results.variables
                if results.attribute(name)["type"] != "String"
            }
            self.about = {name: results.attribute(name) for name in results.variables}
            self.parameters = {element: results.parameters(element) for element in results.fmus}
            self.scenes = json.loads(results.attributes["scenes"])
        self.rows = np.unique(np.linspace(0, len(self.time) - 1, 9).astype(int))

    def seek(self, row: int) -> None:
        self.shown("t => dockfmu.seek(t)", float(self.time[row]))

    def number(self, quantity, row: int) -> float:
        """Return the value of a scalar quantity of a scene; NaN for a parameter that an element does not have."""
        if not isinstance(quantity, dict):
            return quantity
        ((word, inner),) = quantity.items()
        if word == "v":
            return self.columns[inner][row]
        if word == "p":
            element, _, name = inner.partition(".")
            return self.parameters[element].get(name, np.nan)
        return {"sum": np.sum, "product": np.prod}[word]([self.number(part, row) for part in inner])

    def above(self, quantity, row: int) -> bool:
        """Return whether a flag of a scene is up."""
        return self.number(quantity, row) > 0.0


@pytest.fixture(scope="module", params=FAMILIES)
def family(request, browser, tmp_path_factory):
    system, stop = FAMILIES[request.param]
    folder = tmp_path_factory.mktemp("family") / "r"
    command = [sys.executable, "-m", "dockfmu", "run", system, "--stop", str(stop), "--no-report", "-o", str(folder)]
    subprocess.run(command, check=False, capture_output=True)  # it is stopped before its outcome
    with served(folder) as address, opened(browser) as context:
        yield Family(folder, Shown(context, address))


def test_shapes_are_there_and_lit_when_the_recording_says_so(family):
    """Every shape of every scene: whether it is drawn, in the order of the scenes, and its colour."""
    seen = set()
    for view, wanted in (("craft", lambda _: True), (None, lambda scene: "view" in scene)):
        first = next((element for element, scene in family.scenes.items() if "view" in scene), None)
        if view is None and first is None:
            continue
        family.shown("v => dockfmu.view(v)", view or first)
        for row in family.rows:
            family.seek(row)
            expected = []
            for element, scene in family.scenes.items():
                for shape in scene["shapes"] if wanted(scene) else ():
                    if not all(family.above(shape[key], row) for key in ("shown", "active") if key in shape):
                        continue
                    flags = shape.get("lit")
                    flags = flags if isinstance(flags, list) else [] if flags is None else [flags]
                    lit = any(family.above(flag, row) for flag in flags) if flags else None
                    expected.append((element, shape["shape"], shape.get("label", ""), lit))
                    seen.add(lit)
            # marks of contacts lie over the others
            expected.sort(key=lambda item: item[1] == "contact")
            drawn = family.shown("dockfmu.drawn()")
            for pane in ("side", "axial"):
                found = [(i["element"], i["kind"], i["label"], i.get("lit")) for i in drawn[pane]["items"]]
                assert found == expected
                for item in drawn[pane]["items"]:
                    if item.get("lit") is not None:
                        assert item["colour"] == (RED if item["lit"] else GREEN)
    assert seen & {True, False}
    assert family.shown.errors == []


FACTORS = {"°": np.degrees(1.0), "°/s": np.degrees(1.0), "mm": 1e3, "mm/s": 1e3, "kN": 1e-3, "kN·m": 1e-3}
"""Of what is shown to what is recorded, where the units differ."""


def test_devices_and_numbers_are_those_of_the_recording(family):
    compared = 0
    inputs = {
        (group["title"], item["label"]): item["variable"]
        for scene in family.scenes.values()
        for group in scene["devices"]
        for item in group["items"]
        if not (isinstance(item["variable"], dict) and "v" in item["variable"])
    }
    for row in family.rows:
        family.seek(row)
        drawn = family.shown("dockfmu.drawn()")
        for item in [*drawn["devices"], *drawn["numbers"]]:
            name = item.get("variable")
            if name is None:
                assert_input(item, family.number(inputs[item["title"].rpartition(": ")[2], item["label"]], row))
                continue
            value, about, text = family.columns[name][row], family.about[name], str(item["text"])
            device = item.get("device", "number")
            if text[0].isalpha() and device == "number":
                device = "state"  # a number of the panes beside, which do not say what they are
            if device == "lamp":
                assert text == ("on" if value > 0 else "off"), name
            elif device == "state":
                items = dict(entry.split("=", 1) for entry in about["items"])
                assert text == items[str(int(value))].replace("_", " ").lower(), name
            else:
                unit = item["unit"] if "unit" in item else " ".join(text.split()[1:])
                # a number with a dimension has a unit
                assert unit or about["unit"] in ("1", ""), name
                shown = float(text.split()[0])
                wanted = value * FACTORS.get(unit, 1.0)
                # four digits, at most six decimals, three digits of what is smaller; below 1e-9 SI is rounding
                assert shown == pytest.approx(wanted, rel=5.1e-3 if abs(wanted) < 1e-5 else 6e-4, abs=5.1e-7), name
            bar = item.get("bar")
            if bar and bar["high"] > bar["low"]:
                share = np.clip((value - bar["low"]) / (bar["high"] - bar["low"]), 0.0, 1.0)
                assert (bar["end"] - bar["x"]) / bar["width"] == pytest.approx(share, abs=1e-5), name
            compared += 1
    assert compared > 15 * len(family.rows)


def assert_input(item, value: float) -> None:
    """Compare what is shown of an input that became a number, or a sum, with its value."""
    number, *units = str(item["text"]).split()
    if item.get("device", "number") in ("state", "lamp") or not number[0].isdecimal():
        return
    unit = item.get("unit", " ".join(units))
    # angles are shown as those of outputs are
    assert "rad" not in unit, item
    assert float(number) == pytest.approx(value * FACTORS.get(unit, 1.0), rel=6e-4, abs=5.1e-7), item


def test_the_animated_file_has_legs_and_rods_of_their_lengths(family, tmp_path):
    """An independent reader composes the nodes: rods are scaled to their lengths."""
    file = tmp_path / "run.glb"
    assert status_of("export", family.folder, "--gltf", "-o", file) == 0
    read = Read(file)
    assert_rules(read)
    kept = read.accessor(next(iter(read.samplers.values())).input)[:, 0]
    for row in family.rows[:: len(family.rows) - 1]:
        t = float(kept[np.argmin(np.abs(kept - (family.time[row] - family.time[0])))])
        at = int(np.argmin(np.abs(family.time - family.time[0] - t)))
        for element in family.scenes:
            for k in range(1, 7):
                for label, column in ((f"leg {k}", f"leg[{k}].stroke"), (f"rod {k}", f"rod[{k}].length")):
                    if f"{element}.{column}" not in family.columns:
                        continue
                    (rod,) = (
                        n
                        for n in read.numbers
                        if n.startswith(f"{element}.{label}.")
                        and n.endswith(".rod")
                        and read.seen(n.removesuffix(".rod"), t)
                    )
                    ends = [read.point(rod, t, end) for end in ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))]
                    neutral = family.parameters[element]["parameters.legs.retracted_length"] if "leg" in label else 0.0
                    wanted = neutral + family.columns[f"{element}.{column}"][at]
                    assert np.linalg.norm(ends[1] - ends[0]) == pytest.approx(wanted, abs=2e-5)


class Space:
    """Points of what is drawn, m, from both projections: exact up to the place of the middle of the picture."""

    def __init__(self, family: Family) -> None:
        self.drawn = family.shown("dockfmu.drawn()")
        self.side, self.axial = (self.drawn[pane]["items"] for pane in ("side", "axial"))

    def point(self, side, axial) -> np.ndarray:
        x, y = np.array(side) * (1, -1) / self.drawn["side"]["scale"]
        z = axial[0] / self.drawn["axial"]["scale"]
        return np.array([x, y, z])

    def line(self, element: str, label: str) -> np.ndarray:
        """Return the points of a line, shape (points, 3)."""
        (side,) = (item for item in self.side if (item["element"], item["label"]) == (element, label))
        (axial,) = (item for item in self.axial if (item["element"], item["label"]) == (element, label))
        return np.array([self.point(a, b) for a, b in zip(side["lines"][0], axial["lines"][0], strict=True)])


def length(line: np.ndarray) -> float:
    return float(np.linalg.norm(line[-1] - line[0]))


def test_lengths_and_joints_are_those_of_the_mechanism(family):
    """Legs are as long as their stroke says, rods of the stand as recorded; the arm ends where it holds its payload."""
    family.shown("v => dockfmu.view(v)", "craft")
    compared = 0
    for row in family.rows:
        family.seek(row)
        space = Space(family)

        def value(name, row=row):
            return family.columns[name][row]

        for element, scene in family.scenes.items():
            for k in range(1, 7):
                if f"{element}.leg[{k}].stroke" in family.columns:
                    legs = family.parameters[element]["parameters.legs.retracted_length"]
                    wanted = legs + value(f"{element}.leg[{k}].stroke")
                    assert length(space.line(element, f"leg {k}")) == pytest.approx(wanted, abs=2e-5)
                    compared += 1
                if f"{element}.rod[{k}].length" in family.columns:
                    rod = length(space.line(element, f"rod {k}"))
                    assert rod == pytest.approx(value(f"{element}.rod[{k}].length"), abs=2e-5)
                    compared += 1
            if any(shape.get("label") == "link 7" for shape in scene["shapes"]):
                compared += assert_arm(family, space, element, row)
            if any(shape.get("label") == "probe" for shape in scene["shapes"]):
                probe = length(space.line(element, "probe"))
                assert probe == pytest.approx(value(f"{element}.probe.length"), abs=2e-5)
                compared += 1
    assert compared >= len(family.rows)


def assert_arm(family: Family, space: Space, element: str, row: int) -> int:
    """Compare segments of an arm, drawn from joint angles, with its data and with the pose of the payload."""
    parameters = family.parameters[element]
    for k in range(8):
        segments = np.array(
            [[parameters[f"parameters.segment.length[{k + 1},{i},{j}]"] for j in (1, 2, 3)] for i in (1, 2, 3)]
        )
        assert length(space.line(element, f"link {k}")) == pytest.approx(np.linalg.norm(segments.sum(0)), abs=2e-5)

    def vector(name, count=3):
        return np.array([family.columns[f"{element}.{name}[{i}]"][row] for i in range(1, count + 1)])

    payload = space.line(element, "payload")
    # the grapple, from the pose of the payload, is the end of the arm but for what the spring between them gives way
    deflection = np.linalg.norm(vector("tip.deflection"))
    gap = np.linalg.norm(payload[0] - space.line(element, "link 7")[-1])
    assert gap == pytest.approx(deflection, abs=2e-5)
    w, x, y, z = vector("payload.quaternion", 4)
    grapple = [parameters[f"parameters.grapple.position[{i}]"] for i in (1, 2, 3)]
    held = vector("payload.position") + Rotation.from_quat([x, y, z, w]).apply(grapple)
    assert np.allclose(payload[1] - payload[0], vector("interface.position") - held, atol=2e-5)
    return 1


def seen_by(camera, half, width, height, point):
    """Return where a camera that turns around the middle sees a point relative to it: without three.js."""
    a, e = camera["azimuth"], camera["elevation"]
    ways = np.array([np.cos(e) * np.sin(a), np.sin(e), np.cos(e) * np.cos(a)])
    place, right = camera["distance"] * half * ways, np.cross(-ways, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    up, way = np.cross(right, -ways), np.array(point) - place
    scale = height / 2 / np.tan(np.radians(camera["field"]) / 2) / (-ways @ way)
    return [width / 2 + scale * (right @ way), height / 2 - scale * (up @ way)]


def test_three_dimensions_show_what_the_projections_show(family):
    """Dots and balls of all craft, seen by a camera that is computed here, where both projections have them."""
    if family.shown("document.getElementById('dimensions').hidden"):
        pytest.skip("needs jupyter-threejs-sage")
    family.shown("v => dockfmu.view(v)", "craft")
    family.shown("dockfmu.look('side')")
    compared = 0
    for row in family.rows[::4]:
        family.seek(row)
        flat = Space(family)
        boxes = {pane: family.shown.page.locator(f"#{pane}").bounding_box() for pane in ("side", "axial")}
        family.shown("dockfmu.look('orbit')")
        solid = family.shown("dockfmu.drawn()")
        box = family.shown.page.locator("#solid").bounding_box()
        unique = {(i["element"], i["label"]) for i in flat.side if i["label"]}
        for element, label in unique:
            sides, axials, solids = (
                [i for i in items if (i["element"], i["label"]) == (element, label) and i.get("centre")]
                for items in (flat.side, flat.axial, solid["solid"]["items"])
            )
            if not len(sides) == len(axials) == len(solids) == 1:
                continue
            middle = [np.array([boxes[pane]["width"], boxes[pane]["height"]]) / 2 for pane in ("side", "axial")]
            point = flat.point(np.array(sides[0]["centre"]) - middle[0], np.array(axials[0]["centre"]) - middle[1])
            expected = seen_by(solid["solid"], solid["size"], box["width"], box["height"], point)
            assert np.allclose(solids[0]["centre"], expected, atol=0.5), (element, label)
            compared += 1
        family.shown("dockfmu.look('side')")
    assert compared >= 6
    assert family.shown.errors == []


@pytest.mark.parametrize("size", [(1280, 720), (3840, 2160)])
def test_nothing_is_squeezed_or_overlaps(family, size):
    family.shown.page.set_viewport_size({"width": size[0], "height": size[1]})
    try:
        family.shown.settle()
        family.shown.check_layout(size)
        squeezed = family.shown(
            """() => { const found = [], kept = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
              if (most !== undefined && this.measureText(text).width > most + 0.5) found.push(text);
              kept.apply(this, arguments); };
            dockfmu.seek(dockfmu.time);
            CanvasRenderingContext2D.prototype.fillText = kept;
            return found; }"""
        )
        assert squeezed == []
    finally:
        family.shown.page.set_viewport_size({"width": 1280, "height": 720})
