"""The page for what is seldom: FMUs without a scene or with a wrong one, odd names, gaps in data, one row."""

import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from dockfmu import fmus
from dockfmu.base.scene import FILE
from dockfmu.fmus import catalogue
from dockfmu.master.observers.recording.results import read_results
from tests.dockfmu.view.browser import Shown, exported, opened, served
from tests.dockfmu.view.drift import flown, rescened

pytestmark = pytest.mark.slow

ODD = ("a craft", '<img src=x onerror="document.title=1">', "ünï & 'x'", "constructor", "__proto__")
"""Names of elements, which SSP does not restrict."""


@pytest.fixture(scope="module")
def spacecraft(tmp_path_factory):
    return fmus.build(catalogue.component("Spacecraft"), tmp_path_factory.mktemp("craft"))


def test_fmus_without_a_scene_or_with_a_wrong_one_are_drawn_by_their_ports(spacecraft, browser, tmp_path):
    wrong = json.dumps(
        {"scene": 1, "shapes": [{"shape": "sphere", "frame": "I", "radius": "nowhere"}], "frames": {"I": {}}}
    )
    files = {
        "foreign": rescened(spacecraft, tmp_path / "foreign.fmu", None),
        "wrong": rescened(spacecraft, tmp_path / "wrong.fmu", wrong),
    }
    folder, said = flown(tmp_path, files)
    assert "wrong: its scene is not used" in said
    assert "'nowhere'" in said
    assert "foreign" not in said
    with served(folder) as address, opened(browser) as context, read_results(folder / "results.h5") as results:
        shown = Shown(context, address)
        for t in (0.0, 1.0, 2.0):
            shown("t => dockfmu.seek(t)", t)
            row, drawn = int(np.searchsorted(results.time, t - 1e-9)), shown("dockfmu.drawn()")
            for element in files:
                (body,) = (i for i in drawn["side"]["items"] if (i["element"], i["label"]) == (element, "body"))
                (port,) = (i for i in drawn["side"]["items"] if (i["element"], i["label"]) == (element, "port[1]"))
                # the axes: origin, and the tips of x, y and z, 0.3 m long, turned about z
                origin, tip = np.array(body["lines"][0]) * (1, -1) / drawn["side"]["scale"]
                place = [results[f"{element}.body.position[{k}]"][row] for k in (1, 2)]
                apart = [results[f"{element}.port[1].position[{k}]"][row] for k in (1, 2)]
                other = np.array(port["lines"][0][0]) * (1, -1) / drawn["side"]["scale"]
                assert np.allclose(other - origin, np.subtract(apart, place), atol=1e-5)
                assert np.allclose(tip - origin, 0.3 * np.array([np.cos(0.4 * t), np.sin(0.4 * t)]), atol=1e-4)
            outputs = [item for item in drawn["devices"] if item["element"] == "foreign"]
            assert len(outputs) == 12
            assert all(item["value"] == pytest.approx(results[item["variable"]][row], rel=1e-6) for item in outputs)
        assert shown.errors == []


def test_names_are_texts_and_cameras_find_their_frames(spacecraft, browser, tmp_path):
    folder, _ = flown(tmp_path, dict.fromkeys(ODD, spacecraft), title='odd "<i>system</i>"')
    with served(folder) as address, opened(browser) as context:
        shown = Shown(context, address)
        assert shown.page.inner_text("#title") == 'odd "<i>system</i>"'
        assert shown.page.inner_text("#description") == "x <b>y</b>"
        assert shown("document.images.length") == 0
        cameras = shown("[...document.getElementById('camera').options].map(option => option.value)")
        if not shown("document.getElementById('dimensions').hidden"):
            for name in ODD:
                assert f"orbit {name} body" in cameras
                shown("c => dockfmu.look(c)", f"orbit {name} body")
                box, solid = shown.page.locator("#solid").bounding_box(), shown("dockfmu.drawn().solid")
                (mass,) = (i for i in solid["items"] if (i["element"], i["label"]) == (name, "centre of mass"))
                assert np.allclose(mass["centre"], [box["width"] / 2, box["height"] / 2], atol=0.5)
            refused = shown("dockfmu.look('orbit nobody body').catch(error => error.message)")
            assert refused == "there is no camera orbit nobody body"
        shown("dockfmu.look('side')")
        for name in ODD:
            shown("n => dockfmu.curve(n)", f"{name}.body.velocity[2]")
            assert shown("n => dockfmu.value(n)", f"{name}.body.velocity[2]") == pytest.approx(0.5, rel=1e-6)
        assert shown.errors == []
        alone = Shown(context, exported(folder, tmp_path / "odd.html").as_uri())
        assert alone.page.inner_text("#title") == 'odd "<i>system</i>"'
        assert alone.errors == []


def rewritten(source: Path, file: Path, rows: int | None = None, change=lambda name, values: values) -> Path:
    """Write the first rows of a recording again, with changed columns."""
    file.parent.mkdir()
    with h5py.File(source) as old, h5py.File(file, "w") as new:
        new.attrs.update(old.attrs)
        old.copy("parameters", new)
        count = len(old["time"])
        new["time"] = old["time"][:rows]

        def copy(name, item):
            if isinstance(item, h5py.Dataset) and item.shape[:1] == (count,) and name != "time":
                new[name] = change(name, item[:rows])
                new[name].attrs.update(item.attrs)

        old.visititems(copy)
    return file


def test_one_row_is_shown(central_impact, browser, tmp_path):
    file = rewritten(central_impact.folder / "results.h5", tmp_path / "one" / "results.h5", 1)
    with served(file) as address, opened(browser) as context:
        shown = Shown(context, address)
        for key in ("ArrowRight", "End", "Home", " ", "f", "n", "b"):
            shown.page.keyboard.press(key)
            assert shown("dockfmu.time") == 0.0
        assert shown("dockfmu.duration") == 0.0
        assert shown.item("side", "head")["centre"]
        assert shown.errors == []


def test_what_cannot_be_shown_is_said_and_the_rest_stays(central_impact, browser):
    """The outcome of the run is still shown where the server fails, or has ended."""
    with served(central_impact.folder) as address, opened(browser) as context:
        context.route("**/three.js", lambda route: route.fulfill(status=500, body="no room"))
        shown = Shown(context, address)
        outcome, trouble = shown.page.inner_text("#outcome"), shown.page.locator("#trouble")
        name = shown("dockfmu.variables().find(name => !dockfmu.rows(name)[1].length)")
        if not shown("document.getElementById('dimensions').hidden"):
            # the page opens with the scene in three dimensions, and goes on without it
            trouble.wait_for(state="visible")
            assert trouble.inner_text() == "3-D: three.js cannot be loaded"
            assert shown.page.input_value("#camera") == "side"
            context.unroute("**/three.js")
            shown.page.select_option("#camera", "orbit")
            trouble.wait_for(state="hidden")
            assert shown.page.input_value("#camera") == "orbit"
        shown.page.route("**/columns", lambda route: route.fulfill(status=500, body="no room"))
        shown("n => dockfmu.curve(n)", name)
        trouble.wait_for(state="visible")
        assert trouble.inner_text() == f"{name}: columns: 500 no room"
        assert shown.page.inner_text("#outcome") == outcome
        assert shown("dockfmu.seek(0.1)") == 0.1
        shown.page.unroute("**/columns")
        shown("n => dockfmu.curve(n)", name)
        trouble.wait_for(state="hidden")
        assert shown.page.inner_text("#outcome") == outcome
        assert name in shown("dockfmu.curves")


def test_what_is_not_finite_is_a_gap(central_impact, browser, tmp_path):
    """No picture of what is not there, which is said; curves have a gap, and the scale is that of the other values."""
    name, results = "mechanism.target.force_now[1]", central_impact.results
    first, last = len(results.time) // 3, len(results.time) // 2

    def change(column, values):
        values = np.array(values)
        if values.dtype.kind == "f":
            values[first:last] = np.nan
        if column.endswith("target.force_now[1]"):
            values[5] = np.inf
        return values

    file = rewritten(central_impact.folder / "results.h5", tmp_path / "gap" / "results.h5", change=change)
    force = np.array(results[name])
    kept = np.delete(force, [5, *range(first, last)])
    drawn_texts = """t => { const texts = [], kept = CanvasRenderingContext2D.prototype.fillText;
        CanvasRenderingContext2D.prototype.fillText = function (text) {
          texts.push(text); kept.apply(this, arguments); };
        dockfmu.seek(t); CanvasRenderingContext2D.prototype.fillText = kept; return texts; }"""
    with served(file) as address, opened(browser) as context:
        shown = Shown(context, address)
        assert "no finite positions at this time" not in shown(drawn_texts, float(results.time[first - 1]))
        texts = shown(drawn_texts, float(results.time[(first + last) // 2]))
        assert texts.count("no finite positions at this time") == 2
        (curve,) = (c for c in shown("dockfmu.drawn().curves") if c["name"] == name)
        margin = 0.06 * np.ptp(kept)
        assert curve["low"] < kept.min() <= curve["low"] + 1.01 * margin
        shown.page.keyboard.press("f")
        (curve,) = (c for c in shown("dockfmu.drawn().curves") if c["name"] == name)
        assert curve["low"] < kept.min() < kept.max() < curve["high"]
        # no line across the gap: its colour is nowhere beside the cursor, but beside the middle of what comes before
        coloured = """([x, top, height]) => { const canvas = document.getElementById('curves');
            const data = canvas.getContext('2d').getImageData(x + 5, top + 1, 6, height - 2).data;
            let found = 0;
            for (let k = 0; k < data.length; k += 4) found += data[k] > 200 && data[k + 1] > 120 && data[k + 2] < 120;
            return found; }"""
        assert shown(coloured, [curve["at"][0], curve["top"], curve["height"]]) == 0
        shown("t => dockfmu.seek(t)", float(results.time[first // 2]))
        (curve,) = (c for c in shown("dockfmu.drawn().curves") if c["name"] == name)
        assert shown(coloured, [curve["at"][0], curve["top"], curve["height"]]) > 0
        assert shown.errors == []


def test_variables_of_one_shown_unit_may_be_recorded_in_two(central_impact, browser, tmp_path):
    """Show variables recorded in rad/s and deg/s, as by a third-party FMU, in one unit; held integers are converted."""
    own, foreign = (f"mechanism.docking.angular_velocity[{k}]" for k in (2, 3))
    file = rewritten(central_impact.folder / "results.h5", tmp_path / "deg" / "results.h5")
    with h5py.File(file, "r+") as recording:
        recording["mechanism/docking.angular_velocity[3]"].attrs["unit"] = "deg/s"
    with served(file) as address, opened(browser) as context:
        shown = Shown(context, address)
        for name in (own, foreign):
            shown("n => dockfmu.curve(n)", name)
        shown("dockfmu.seek(0.5 * dockfmu.duration)")
        texts = shown("""() => { const texts = [], kept = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text) {
              texts.push(text); kept.apply(this, arguments); };
            dockfmu.seek(dockfmu.time); CanvasRenderingContext2D.prototype.fillText = kept; return texts; }""")
        for name, factor in ((own, 180.0 / np.pi), (foreign, 1.0)):
            (said,) = (text for text in texts if name in text)
            expected = factor * shown("n => dockfmu.value(n)", name)
            assert float(said.rpartition("= ")[2]) == pytest.approx(expected, rel=1e-3)
        assert shown.errors == []


def test_frames_whose_names_are_numbers_stand_on_their_parents(spacecraft, browser, tmp_path):
    with zipfile.ZipFile(spacecraft) as archive:
        scene = json.loads(archive.read(FILE))
    parent = next(iter(scene["frames"]))
    scene["frames"]["1"] = {"parent": parent, "position": [0.0, 0.5, 0.0]}
    scene["shapes"].append({"shape": "triad", "frame": "1", "length": 0.3, "label": "numbered"})
    folder, said = flown(tmp_path, {"craft": rescened(spacecraft, tmp_path / "n.fmu", json.dumps(scene))})
    assert "scene is not used" not in said
    with served(folder) as address, opened(browser) as context:
        shown = Shown(context, address)
        assert "numbered" in {item["label"] for item in shown("dockfmu.drawn()")["side"]["items"]}
        assert shown.errors == []


def test_one_loop_of_pictures_however_often_it_is_played(central_impact, browser):
    with served(central_impact.folder) as address, opened(browser) as context:
        shown = Shown(context, address)
        # callbacks of one frame are called with the same time
        most_in_a_frame = """async () => {
            const native = window.requestAnimationFrame, calls = new Map();
            window.requestAnimationFrame = callback => native(now => {
                calls.set(now, (calls.get(now) ?? 0) + 1);
                callback(now);
            });
            dockfmu.seek(0);
            for (let k = 0; k < 10; k++) dockfmu.play(0.01);
            while (calls.size < 5) await new Promise(done => setTimeout(done, 50));
            dockfmu.pause();
            window.requestAnimationFrame = native;
            return Math.max(...calls.values()); }"""
        assert shown(most_in_a_frame) == 1
        refused = shown("(() => { try { dockfmu.play(1000); } catch (error) { return error.message; } })()")
        assert "0.01 and 100" in refused


def test_keys_belong_to_the_control_that_has_the_focus(central_impact, browser):
    with served(central_impact.folder) as address, opened(browser) as context:
        shown = Shown(context, address)
        shown("dockfmu.seek(0.1)")
        before = shown("dockfmu.time")
        shown.page.focus("#forward")
        shown.page.keyboard.press(" ")
        assert not shown("dockfmu.playing")
        assert shown("dockfmu.time") > before
        shown.page.fill("#search", "target.force_now[2]")
        shown.page.locator("#found li").first.focus()
        count = len(shown("dockfmu.curves"))
        shown.page.keyboard.press(" ")
        shown.page.wait_for_function("count => dockfmu.curves.length !== count", arg=count)
        assert not shown("dockfmu.playing")
        assert shown("document.activeElement.dataset.name") == "mechanism.target.force_now[2]"
        # what is typed and is no time changes nothing
        now = shown("dockfmu.time")
        for text in ("", "nonsense"):
            shown.page.fill("#time", text)
            shown.page.keyboard.press("Enter")
            assert shown("dockfmu.time") == now
            assert float(shown.page.input_value("#time")) == pytest.approx(now, abs=5e-4)
