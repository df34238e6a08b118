"""The page in a real browser: what it draws is compared with the recording, projected here by other formulas."""

import json
import re
import shutil
import time

import h5py
import matplotlib.image
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.dockfmu.view.browser import Shown, eventually, exported, opened, quickly_drawn, served

pytestmark = pytest.mark.slow

GREEN, RED = "#3fbf6f", "#ff5a4f"


@pytest.fixture(scope="module")
def shown(central_impact, browser):
    with served(central_impact.folder) as address, opened(browser) as context:
        yield Shown(context, address)


@pytest.fixture(scope="module")
def results(central_impact):
    return central_impact.results


@pytest.fixture(scope="module")
def times(results):
    """Times of rows: the first, one without any contact, three with contacts of the head, the last."""
    head = np.flatnonzero(results["mechanism.sensor.first_contact"] | results["mechanism.sensor.socket_bottom"])
    free = np.flatnonzero(~results["mechanism.contact[1].active"])
    rows = [0, free[len(free) // 2], head[0], head[len(head) // 2], head[-1], len(results.time) - 1]
    return [float(results.time[row]) for row in rows]


def vector(results, name, row, count=3):
    return np.array([results[f"mechanism.{name}[{k}]"][row] for k in range(1, count + 1)])


def turn(quaternion):
    """Components in the parent of what is given in the child."""
    w, x, y, z = quaternion
    return Rotation.from_quat([x, y, z, w])


def base(results, row):
    """Place and turn of the mechanism's base in PU: yaw about y first, then pitch about z, then roll about x."""
    yaw, pitch, roll = vector(results, "docking.angles", row)
    return vector(results, "docking.position", row), Rotation.from_euler("YZX", [yaw, pitch, roll])


def in_target(results, row, link, point=(0.0, 0.0, 0.0)):
    """A point of a link in PU."""
    place, turned = base(results, row)
    inner = turn(vector(results, f"link[{link}].quaternion", row, 4)).apply(point)
    return place + turned.apply(vector(results, f"link[{link}].position", row) + inner)


def pixels(shown, pane, point, lateral):
    """Return where a point of PU is in a pane."""
    box = shown.page.locator(f"#{pane}").bounding_box()
    drawn = shown("dockfmu.drawn()")
    scale, half = drawn[pane]["scale"], drawn["size"]
    right, up = {"side": ((1, 0, 0), lateral), "axial": ((0, 0, 1), (0, 1, 0))}[pane]
    shift = -0.4 * half if pane == "side" else 0.0
    return [box["width"] / 2 + (np.dot(right, point) + shift) * scale, box["height"] / 2 - np.dot(up, point) * scale]


def side_plane(results, row):
    """Direction across the axis to the exit hinge."""
    distance = results.parameters("mechanism")["parameters.probe.bearing_distance"]
    hinge = in_target(results, row, 2, (distance, 0.0, 0.0))[1:]
    size = np.linalg.norm(hinge)
    return np.array([0.0, *(hinge / size)]) if size > 1e-3 else np.array([0.0, 1.0, 0.0])


def test_the_page_is_without_errors_and_asks_nobody_else(shown):
    assert shown.errors == []
    assert all(url.startswith(("http://127.0.0.1:", "data:")) for url in shown.requests)
    assert not any("token" in url for url in shown.requests[2:])


def test_head_is_drawn_where_it_is(shown, results, times):
    for t in times:
        row = int(np.searchsorted(results.time, t))
        assert shown("t => dockfmu.seek(t)", t) == t
        head = in_target(results, row, 1)
        for pane in ("side", "axial"):
            drawn = shown.item(pane, "head")
            assert np.allclose(drawn["centre"], pixels(shown, pane, head, side_plane(results, row)), atol=0.3)
            radius = results.parameters("mechanism")["probe_cone.parameters.head.radius"]
            assert drawn["radius"] == pytest.approx(radius * shown("dockfmu.drawn()")[pane]["scale"], rel=1e-6)


def test_what_touches_is_red_and_what_does_not_is_green(shown, results, times):
    seen = set()
    for t in times:
        row = int(np.searchsorted(results.time, t))
        shown("t => dockfmu.seek(t)", t)
        touches = results["mechanism.sensor.first_contact"][row] or results["mechanism.sensor.socket_bottom"][row]
        head = shown.item("side", "head")
        assert (head["lit"], head["colour"]) == (bool(touches), RED if touches else GREEN)
        # where the head is drawn, its colour is on the canvas: the circle's line to the left
        x, y = head["centre"][0] - head["radius"], head["centre"][1]
        colour = shown(
            """([x, y]) => { const found = [];
            const data = document.getElementById('side').getContext('2d').getImageData(x - 2, y - 2, 5, 5).data;
            for (let k = 0; k < data.length; k += 4) if (data[k + 3]) found.push([data[k], data[k + 1], data[k + 2]]);
            return found; }""",
            [x, y],
        )
        if not touches and shown("dockfmu.contacts()"):
            continue  # the mark of another contact may lie over it
        strongest = max(colour, key=max)
        assert (strongest[0] > strongest[1]) == bool(touches)
        seen.add(bool(touches))
    assert seen == {True, False}


def test_contact_points_are_those_of_the_recording(shown, results, times):
    counted = 0
    for t in times:
        row = int(np.searchsorted(results.time, t))
        shown("t => dockfmu.seek(t)", t)
        active = [k for k in range(1, 17) if results[f"mechanism.contact[{k}].active"][row]]
        found = shown("dockfmu.contacts()")
        assert [contact["label"] for contact in found] == [f"contact {k}" for k in active]
        for k, contact in zip(active, found, strict=True):
            point = vector(results, f"contact[{k}].position", row)
            assert np.allclose(contact["position"], point, atol=1e-6)
            assert contact["force"] == pytest.approx(results[f"mechanism.contact[{k}].normal_force"][row], rel=1e-6)
            drawn = shown.item("axial", f"contact {k}")
            assert np.allclose(drawn["centre"], pixels(shown, "axial", point, None), atol=0.3)
            counted += 1
    assert counted >= 2


def test_bars_and_numbers_are_those_of_the_recording(shown, results, times):
    for t in times:
        row = int(np.searchsorted(results.time, t))
        shown("t => dockfmu.seek(t)", t)
        bar = shown.item("devices", "spring, stroke")
        stroke = results["mechanism.axial.stroke"][row]
        limit = results.parameters("mechanism")["parameters.axial.spring_stroke"]
        assert bar["value"] == pytest.approx(stroke, rel=1e-6, abs=1e-12)
        inside = bar["bar"]
        assert (inside["low"], inside["high"]) == (0, pytest.approx(limit))
        share = (inside["end"] - inside["x"]) / inside["width"]
        assert share == pytest.approx(np.clip(stroke / limit, 0, 1), abs=1e-6)
        numbers = {number["variable"]: number["text"] for number in shown("dockfmu.drawn().numbers")}
        text, unit = numbers["mechanism.docking.angles[1]"].split()
        assert unit == "°"
        assert float(text) == pytest.approx(np.degrees(results["mechanism.docking.angles[1]"][row]), rel=2e-3, abs=1e-6)


def test_curves_stand_under_the_cursor(shown, results, times):
    t = times[3]
    row = int(np.searchsorted(results.time, t))
    shown("t => dockfmu.seek(t)", t)
    (curve,) = (c for c in shown("dockfmu.drawn().curves") if c["name"] == "mechanism.target.force_now[1]")
    force = results["mechanism.target.force_now[1]"]
    assert curve["value"] == pytest.approx(force[row], rel=1e-6)
    y = curve["top"] + curve["height"] * (1 - (force[row] - curve["low"]) / (curve["high"] - curve["low"]))
    assert curve["at"][1] == pytest.approx(y, abs=0.1)
    assert curve["low"] < force.min() < force.max() < curve["high"]


def test_level_pieces_of_curves_are_drawn_by_their_ends(shown):
    """Lines through fewer points are within a tenth of a pixel of all points, with their ends and gaps."""
    x = np.arange(400.0)
    y = np.round(30.0 * np.sin(x / 40.0) ** 7, 2)
    draw = """async ([xs, ys]) => { const { Path } = await import('/page/curves.js'), lines = [];
        const path = new Path({ moveTo: (x, y) => lines.push([[x, y]]), lineTo: (x, y) => lines.at(-1).push([x, y]) });
        xs.forEach((x, k) => { if (k === 200) path.gap(); else path.to(x, ys[k]); });
        path.end(); return lines; }"""
    first, second = (np.array(line) for line in shown(draw, [x.tolist(), y.tolist()]))
    assert (first[0, 0], first[-1, 0], second[0, 0], second[-1, 0]) == (0.0, 199.0, 201.0, 399.0)
    assert len(first) + len(second) < 0.75 * len(x)
    for line, part in ((first, slice(0, 200)), (second, slice(201, None))):
        assert np.interp(x[part], *line.T) == pytest.approx(y[part], abs=0.1 + 1e-9)


def test_values_between_rows_are_interpolated_or_held(shown, results, times):
    row = int(np.searchsorted(results.time, times[3]))
    shown("t => dockfmu.seek(t)", float(0.25 * results.time[row] + 0.75 * results.time[row + 1]))
    position = results["mechanism.docking.position[1]"]
    expected = 0.25 * position[row] + 0.75 * position[row + 1]
    assert shown("dockfmu.value('mechanism.docking.position[1]')") == pytest.approx(expected, rel=1e-9)
    assert shown("dockfmu.value('cyclogram.phase')") == results["cyclogram.phase"][row]


def test_three_dimensions_have_numbers_names_section_and_cameras(shown, results, times):
    rows = [int(np.searchsorted(results.time, t)) for t in times]
    row = next(r for r in rows if any(results[f"mechanism.contact[{k}].active"][r] for k in range(1, 17)))
    force = max(
        results[f"mechanism.contact[{k}].normal_force"][row]
        for k in range(1, 17)
        if results[f"mechanism.contact[{k}].active"][row]
    )
    shown("t => dockfmu.seek(t)", float(results.time[row]))
    shown("dockfmu.look('orbit')")
    solid = shown("dockfmu.drawn().solid")
    assert solid["section"]
    texts = [entry["text"] for entry in solid["texts"]]
    numbers = [text.split() for text in texts if re.fullmatch(r"[\d.]+ k?N", text)]
    assert any(float(x) == pytest.approx(force * (1 if unit == "N" else 1e-3), rel=6e-3) for x, unit in numbers)
    assert {"roller 1", "roller 2"} <= set(texts)
    # section, cameras and ground by keys
    shown.page.keyboard.press("c")
    assert not shown("dockfmu.drawn().solid.section")
    shown.page.keyboard.press("c")
    shown.page.keyboard.press("2")
    angles = "[dockfmu.drawn().solid.azimuth, dockfmu.drawn().solid.elevation]"
    eventually(lambda: shown(angles) == [0, 0])
    shown.page.keyboard.press("6")
    eventually(lambda: shown.page.input_value("#camera").startswith("orbit mechanism "))
    shown.page.keyboard.press("g")
    assert shown("dockfmu.drawn().solid.ground") == "floor"
    shown("dockfmu.show({ground: ''})")
    shown.page.keyboard.press("1")
    assert shown.errors == []


def test_lamps_at_an_event_are_those_after_it_and_a_failed_run_says_why(central_impact, browser, tmp_path):
    """Regression: rows are 10 ms apart and flags held, so that at a jump to an event its lamp was not lit."""
    with (
        h5py.File(central_impact.folder / "results.h5") as source,
        h5py.File(tmp_path / "results.h5", "w") as target,
    ):
        target.attrs.update(source.attrs)
        source.copy("parameters", target)
        for element in ("mechanism", "chaser", "station", "cyclogram"):
            for name, column in source[element].items():
                target[f"{element}/{name}"] = column[::10]
                target[f"{element}/{name}"].attrs.update(column.attrs)
        target["time"] = source["time"][::10]
        time_of, flags = target["time"][()], target["cyclogram/command.lateral_brakes"][()]
    why = "mechanism: the arm is shorter than 1 mm at t = 1.2 s"
    ended = {**central_impact.summary, "status": "failed", "outcome": "failed", "success": False, "message": why}
    (tmp_path / "summary.json").write_text(json.dumps(ended))
    shutil.copy(central_impact.folder / "events.json", tmp_path)
    (event,) = (event for event in central_impact.summary["events"] if event["name"] == "lateral_brakes_on")
    row = int(np.searchsorted(time_of, event["t"])) - 1
    assert time_of[row] < event["t"] - 5e-4
    assert event["t"] < time_of[row + 1] - 5e-4
    assert (flags[row], flags[row + 1]) == (0, 1)
    with served(tmp_path) as address, quickly_drawn(browser) as context:
        shown = Shown(context, address)
        said = shown.page.locator("#why")
        assert said.is_visible()
        assert why in said.inner_text()
        number = [event["name"] for event in shown("dockfmu.events")].index("lateral_brakes_on")
        shown.page.select_option("#events", str(number))
        assert shown("dockfmu.time") == event["t"]
        assert shown.item("devices", "switchable brakes")["text"] == "on"
        shown("t => dockfmu.seek(t)", float(0.5 * (time_of[row] + event["t"])))
        assert shown.item("devices", "switchable brakes")["text"] == "off"


def test_keys_step_row_by_row_and_jump_to_events(shown, central_impact):
    time_of = central_impact.results.time
    shown("dockfmu.seek(0)")
    for key, row in (("ArrowRight", 1), ("Shift+ArrowRight", 11), ("ArrowLeft", 10), ("End", -1), ("Home", 0)):
        shown.page.keyboard.press(key)
        assert shown("dockfmu.time") == time_of[row]
    events = sorted({event["t"] for event in central_impact.summary["events"]})
    shown.page.keyboard.press("End")
    shown.page.keyboard.press("b")
    assert shown("dockfmu.time") == pytest.approx([t for t in events if t < time_of[-1]][-1])


def test_the_wheel_zooms_around_the_pointer_and_a_drag_moves_the_scene(shown, times):
    shown("t => dockfmu.seek(t)", times[2])
    box = shown.page.locator("#side").bounding_box()
    before, scale = shown.item("side", "head")["centre"], shown("dockfmu.drawn().side.scale")
    axial = shown("dockfmu.drawn().axial.scale")
    shown.page.mouse.move(box["x"] + before[0], box["y"] + before[1])
    shown.page.mouse.wheel(0, -400)
    eventually(lambda: shown("dockfmu.drawn().side.scale") == pytest.approx(np.e * scale, rel=1e-6))
    # what is under the pointer stays there; both projections are magnified alike
    assert np.allclose(shown.item("side", "head")["centre"], before, atol=1.0)
    drawn = shown("dockfmu.drawn()")
    assert drawn["axial"]["scale"] == pytest.approx(np.e * axial, rel=1e-6)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + before[0] + 40, box["y"] + before[1] - 25, steps=4)
    shown.page.mouse.up()
    assert np.allclose(shown.item("side", "head")["centre"], np.add(before, (40, -25)), atol=1.0)
    shown.page.mouse.dblclick(box["x"] + 30, box["y"] + 30)
    assert np.allclose(shown.item("side", "head")["centre"], before, atol=1e-6)
    assert shown("dockfmu.drawn().side.scale") == pytest.approx(scale)
    # and with keys
    shown.page.keyboard.press("+")
    assert shown("dockfmu.drawn().side.scale") == pytest.approx(1.25 * scale)
    shown.page.keyboard.press("0")
    assert shown("dockfmu.drawn().side.scale") == pytest.approx(scale)


def test_time_is_moved_by_curves_rail_field_and_list(shown, results, central_impact):
    shown("dockfmu.seek(2)")
    box, before = shown.page.locator("#curves").bounding_box(), shown("dockfmu.drawn().curves[0].at[0]")
    shown.page.mouse.move(box["x"] + before, box["y"] + box["height"] / 2)
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + before + 50, box["y"] + box["height"] / 2, steps=5)
    shown.page.mouse.up()
    # the whole run is in the window, which stands still: no time before or after it takes more than a margin of 3 %
    assert shown("dockfmu.drawn().curves[0].at[0]") == pytest.approx(before + 50, abs=0.5)
    first, last = shown("dockfmu.drawn().window")
    assert first == pytest.approx(-0.03 * (last - first), abs=1e-9)
    assert last - first == pytest.approx(1.06 * results.time[-1])
    # further in, curves go with the pointer
    shown("dockfmu.seek(2)")
    shown.page.mouse.wheel(0, -400)
    eventually(lambda: np.diff(shown("dockfmu.drawn().window")) < 0.9 * (last - first))
    first, last = shown("dockfmu.drawn().window")
    assert (first + last) / 2 == pytest.approx(2.0)
    start = shown("dockfmu.drawn().curves[0].at[0]")
    shown.page.mouse.down()
    shown.page.mouse.move(box["x"] + before, box["y"] + box["height"] / 2, steps=5)
    shown.page.mouse.up()
    assert shown("dockfmu.time") == pytest.approx(2 + 50 / (2 * (start - 62)) * (last - first), rel=2e-3)
    assert shown("dockfmu.drawn().curves[0].at[0]") == pytest.approx(start)
    shown.page.mouse.wheel(0, -400)
    eventually(lambda: np.diff(shown("dockfmu.drawn().window")) < 0.9 * (last - first))
    rail = shown.page.locator("#slider").bounding_box()
    shown.page.mouse.click(rail["x"] + 0.75 * rail["width"], rail["y"] + rail["height"] / 2)
    # less half of the knob at both ends
    assert shown("dockfmu.time") == pytest.approx(0.75 * results.time[-1], rel=0.02)
    shown.page.fill("#time", "1.25")
    shown.page.keyboard.press("Enter")
    assert shown("dockfmu.time") == 1.25
    events = central_impact.summary["events"]
    shown.page.select_option("#events", str(len(events) - 1))
    assert shown("dockfmu.time") == pytest.approx(events[-1]["t"])
    assert [
        mark.split(" at ")[0] for mark in shown("[...document.querySelectorAll('#marks i')].map(m => m.title)")
    ] == [event["name"] for event in events]


STAND_IN_CLOCK = """(() => {
    const { requestAnimationFrame, cancelAnimationFrame } = window;
    let now = 0, asked = 0, due = new Map();
    performance.now = () => now;
    window.requestAnimationFrame = draw => { due.set(++asked, draw); return asked; };
    window.cancelAnimationFrame = number => due.delete(number);
    window.standIn = {
      frames(count, every) { for (; count > 0; count--) {
        const draws = [...due.values()]; due.clear(); now += every; draws.forEach(draw => draw(now)); } },
      away() {
        delete performance.now; delete window.standIn;
        Object.assign(window, { requestAnimationFrame, cancelAnimationFrame });
        due.forEach(draw => requestAnimationFrame(draw)); } };
    })()"""
"""Frames come when the test asks for them, and take as long as it says."""


def test_it_plays_at_the_chosen_speed(shown):
    """A clock of the test's stands in for that of the machine, which other work may load."""
    shown(STAND_IN_CLOCK)
    try:
        shown("dockfmu.seek(0)")
        shown("dockfmu.play(0.5)")
        shown("standIn.frames(60, 1000 / 30)")
        assert shown("dockfmu.time") == pytest.approx(0.5 * 2.0)
        # the pictures of the last second, at both of its ends too
        assert shown("dockfmu.fps") in (30, 31)
        assert shown.page.inner_text("#rate") == f"{shown('dockfmu.fps')} fps"
        shown("standIn.frames(20, 100)")
        assert shown("dockfmu.time") == pytest.approx(0.5 * 4.0)
        assert shown("dockfmu.fps") in (10, 11)
        # a tab that was hidden goes on where it was
        shown("standIn.frames(1, 10_000)")
        assert shown("dockfmu.time") == pytest.approx(0.5 * 4.25)
        shown("dockfmu.pause()")
        shown("standIn.frames(10, 100)")
        assert shown("dockfmu.time") == pytest.approx(0.5 * 4.25)
    finally:
        shown("standIn.away()")


def test_it_plays_no_faster_than_the_clock_and_stops_at_the_end(shown, results):
    shown("dockfmu.seek(0)")
    start = time.monotonic()
    shown("dockfmu.play(0.5)")
    eventually(lambda: shown("dockfmu.time") > 0.2)
    shown("dockfmu.pause()")
    assert shown("dockfmu.time") < 0.5 * (time.monotonic() - start)
    shown("dockfmu.play(100)")
    eventually(lambda: not shown("dockfmu.playing"))
    assert shown("dockfmu.time") == results.time[-1]


def test_any_recorded_variable_is_found_and_shown(shown, results):
    shown("dockfmu.seek(1)")
    shown.page.fill("#search", "audit momentum chaser")
    listed = shown("[...document.querySelectorAll('#found li')].map(li => li.dataset.name)")
    assert "chaser.audit.momentum[1]" in listed
    # names before descriptions, and all hits are seen without scrolling the page
    assert "linear momentum, axes I" in shown.page.locator("#found").inner_text()
    box = shown.page.locator("#found").bounding_box()
    assert box["y"] >= 0
    assert box["height"] >= 100
    assert all("momentum" in name and "chaser" in name for name in listed)
    shown.page.locator("#found li", has_text="chaser.audit.momentum[1]").first.click()
    eventually(lambda: "chaser.audit.momentum[1]" in shown("dockfmu.curves"))
    row = int(np.searchsorted(results.time, 1.0 + 1e-9)) - 1
    assert shown("dockfmu.value('chaser.audit.momentum[1]')") == pytest.approx(
        results["chaser.audit.momentum[1]"][row], rel=1e-3
    )
    shown("dockfmu.curve('chaser.audit.momentum[1]')")
    shown.page.fill("#search", "")


def test_wrong_arguments_of_the_interface_are_refused(shown):
    for script in ("dockfmu.seek('x')", "dockfmu.play(-1)", "dockfmu.value('nowhere')"):
        assert "Error" in shown(f"(() => {{ try {{ {script}; return ''; }} catch (e) {{ return String(e); }} }})()")


def test_all_craft_are_drawn_where_they_are(shown, results):
    shown("dockfmu.view('craft'); dockfmu.seek(0)")
    try:
        drawn = shown("dockfmu.drawn().side")
        (mass,) = (i for i in drawn["items"] if (i["element"], i["label"]) == ("chaser", "centre of mass"))
        (other,) = (i for i in drawn["items"] if (i["element"], i["label"]) == ("station", "centre of mass"))
        apart = results["station.body.position[1]"][0] - results["chaser.body.position[1]"][0]
        assert (other["centre"][0] - mass["centre"][0]) / drawn["scale"] == pytest.approx(apart, rel=1e-6)
    finally:
        shown("dockfmu.view('mechanism')")


@pytest.mark.parametrize("size", [(1280, 720), (3840, 2160)])
def test_nothing_overlaps(central_impact, browser, size):
    with served(central_impact.folder) as address, opened(browser, size) as context:
        shown = Shown(context, address)
        shown.check_layout(size)
        # letters grow with the window
        assert shown("dockfmu.drawn().unit") == pytest.approx(max(1.0, 0.012 * size[1] / 13), rel=0.01)


@pytest.fixture(scope="module")
def changed(central_impact, tmp_path_factory):
    """The same run, as another program would write it: half as long, 0.1 m further back, with twice the force."""
    file = tmp_path_factory.mktemp("changed") / "results.h5"
    with h5py.File(central_impact.folder / "results.h5") as source, h5py.File(file, "w") as target:
        rows = len(source["time"]) // 2
        target.attrs.update(source.attrs)
        source.copy("parameters", target)
        for element in ("mechanism", "chaser", "station", "cyclogram"):
            for name, column in source[element].items():
                factor = 2 if name == "target.force_now[1]" else 1
                values = column[:rows] * factor if factor > 1 else column[:rows]
                target[f"{element}/{name}"] = values - 0.1 if name == "docking.position[1]" else values
                target[f"{element}/{name}"].attrs.update(column.attrs)
        target["time"] = source["time"][:rows]
    return file


def test_a_second_run_lies_under_the_first(central_impact, browser, changed, results, tmp_path):
    row = len(results.time) // 4
    t = float(results.time[row])
    force = results["mechanism.target.force_now[1]"][row]
    with served(central_impact.folder, changed) as address, opened(browser) as context:
        shown = Shown(context, address)
        shown("t => dockfmu.seek(t)", t)
        assert shown("dockfmu.other('mechanism.target.force_now[1]')") == pytest.approx(2 * force, rel=1e-6)
        drawn = shown("dockfmu.drawn()")
        second, first = (item for item in drawn["side"]["items"] if item["label"] == "head")
        assert (first["other"], second["other"]) == (False, True)
        assert (second["centre"][0] - first["centre"][0]) / drawn["side"]["scale"] == pytest.approx(-0.1, abs=1e-5)
        assert shown.errors == []
        # nothing of it after its end
        shown("dockfmu.seek(dockfmu.duration)")
        assert np.isnan(shown("dockfmu.other('mechanism.target.force_now[1]')"))
        assert not any(item["other"] for item in shown("dockfmu.drawn().side.items"))


def test_the_exported_file_opens_offline_and_shows_the_same(central_impact, browser, times, shown, tmp_path):
    file = exported(central_impact.folder, tmp_path / "run.html")
    with opened(browser) as context:
        context.set_offline(True)
        alone = Shown(context, file.as_uri())
        assert alone.errors == []
        assert alone.requests == [file.as_uri(), "data:,"] or alone.requests == [file.as_uri()]
        for t in times:
            served_time = shown("t => dockfmu.seek(t)", t)
            assert alone("t => dockfmu.seek(t)", t) == served_time
            assert np.allclose(alone.item("side", "head")["centre"], shown.item("side", "head")["centre"], atol=0.5)
    assert file.stat().st_size < 3e6


def seen_by(camera, size, width, height, point):
    """Return where a camera that turns around the origin of the scene sees a point: by hand, without three.js."""
    middle = np.array(camera["target"]) * size / 0.55
    a, e = camera["azimuth"], camera["elevation"]
    ways = np.array([np.cos(e) * np.sin(a), np.sin(e), np.cos(e) * np.cos(a)])
    place = middle + camera["distance"] * size * ways
    forward = -ways
    right = np.cross(forward, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    way = np.array(point) - place
    scale = height / 2 / np.tan(np.radians(camera["field"]) / 2) / (forward @ way)
    return [width / 2 + scale * (right @ way), height / 2 - scale * (up @ way)]


def test_three_dimensions_show_the_head_where_it_is_in_its_colour(shown, results, times, tmp_path):
    if shown("document.getElementById('dimensions').hidden"):
        pytest.skip("needs jupyter-threejs-sage")
    shown("dockfmu.look('orbit')")
    try:
        seen = set()
        for t in times:
            row = int(np.searchsorted(results.time, t))
            shown("t => dockfmu.seek(t)", t)
            drawn, box = shown("dockfmu.drawn()"), shown.page.locator("#solid").bounding_box()
            (head,) = (item for item in drawn["solid"]["items"] if item["label"] == "head")
            point = in_target(results, row, 1)
            wanted = seen_by(drawn["solid"], drawn["size"], box["width"], box["height"], point)
            assert np.allclose(head["centre"], wanted, atol=0.5)
            if shown("dockfmu.contacts()") and not head["lit"]:
                continue  # the mark of another contact may lie over it
            shown.page.screenshot(path=tmp_path / "page.png")
            x, y = (round(c + box[side]) for c, side in zip(head["centre"], ("x", "y"), strict=True))
            red, green, _ = matplotlib.image.imread(tmp_path / "page.png")[y - 3 : y + 4, x - 3 : x + 4, :3].mean(
                (0, 1)
            )
            assert (red > green) == head["lit"]
            seen.add(head["lit"])
        assert seen == {True, False}
    finally:
        shown("dockfmu.look('side')")


def test_a_camera_on_a_frame_looks_along_its_axis(shown, results, times):
    if shown("document.getElementById('dimensions').hidden"):
        pytest.skip("needs jupyter-threejs-sage")
    shown("t => dockfmu.seek(t)", times[1])
    shown("dockfmu.look('aim mechanism base')")
    try:
        row = int(np.searchsorted(results.time, times[1]))
        box, drawn = shown.page.locator("#solid").bounding_box(), shown("dockfmu.drawn().solid")
        x, y, z = vector(results, "link[1].position", row)  # relative to the base
        (head,) = (item for item in drawn["items"] if item["label"] == "head")
        scale = box["height"] / 2 / np.tan(np.radians(drawn["field"]) / 2) / (x + 0.001)
        assert np.allclose(head["centre"], [box["width"] / 2 + scale * z, box["height"] / 2 - scale * y], atol=0.5)
        assert shown.page.locator("#cross").is_visible()
    finally:
        shown("dockfmu.look('side')")


def test_a_second_run_is_drawn_in_three_dimensions(central_impact, browser, changed, results):
    row = len(results.time) // 4
    with served(central_impact.folder, changed) as address, opened(browser) as context:
        shown = Shown(context, address)
        if shown("document.getElementById('dimensions').hidden"):
            pytest.skip("needs jupyter-threejs-sage")
        shown("t => dockfmu.seek(t)", float(results.time[row]))
        shown("dockfmu.look('orbit')")
        drawn, box = shown("dockfmu.drawn()"), shown.page.locator("#solid").bounding_box()
        heads = {item["other"]: item for item in drawn["solid"]["items"] if item["label"] == "head"}
        for other, shift in ((False, 0.0), (True, -0.1)):
            point = in_target(results, row, 1) + np.array([shift, 0.0, 0.0])
            expected = seen_by(drawn["solid"], drawn["size"], box["width"], box["height"], point)
            assert np.allclose(heads[other]["centre"], expected, atol=0.5)
        shown("dockfmu.seek(dockfmu.duration)")
        assert not any(item["other"] for item in shown("dockfmu.drawn().solid.items"))
        assert shown.errors == []


def test_a_camera_follows_a_frame_and_an_overview_holds_all_craft(shown, results, times):
    if shown("document.getElementById('dimensions').hidden"):
        pytest.skip("needs jupyter-threejs-sage")
    box = None
    try:
        for t in times:
            shown("t => dockfmu.seek(t)", t)
            shown("dockfmu.look('orbit mechanism H')")
            box = box or shown.page.locator("#solid").bounding_box()
            (head,) = (item for item in shown("dockfmu.drawn().solid.items") if item["label"] == "head")
            assert np.allclose(head["centre"], [box["width"] / 2, box["height"] / 2], atol=0.5)
        shown("dockfmu.view('craft')")
        for t in times:
            shown("t => dockfmu.seek(t)", t)
            shown("dockfmu.look('overview')")
            masses = [i for i in shown("dockfmu.drawn().solid.items") if i["label"] == "centre of mass"]
            assert len(masses) == 2
            for item in masses:
                assert 0 < item["centre"][0] < box["width"]
                assert 0 < item["centre"][1] < box["height"]
            assert np.hypot(*np.subtract(masses[0]["centre"], masses[1]["centre"])) > 0.2 * box["height"]
            # axes shorter than their letters from so far away have no names
            assert not {"x", "y", "z"} & {entry["text"] for entry in shown("dockfmu.drawn().solid.texts")}
    finally:
        shown("dockfmu.look('side')")
        shown("dockfmu.view('mechanism')")
