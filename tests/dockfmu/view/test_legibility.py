"""Whether people can read and reach what the page shows: contrast as WCAG 2.1 computes it, labels, and the keyboard."""

from itertools import pairwise

import pytest

from dockfmu.cli import main
from tests.dockfmu.axe import violations
from tests.dockfmu.view.browser import Shown, eventually, opened, served

pytestmark = pytest.mark.slow

SIDEWAYS = "[...document.querySelectorAll('.wide')].filter((box) => box.scrollWidth > box.clientWidth)"
"""Tables that are wider than their place."""
WCAG = """
const channel = c => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const ratio = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
  return (x + 0.05) / (y + 0.05); };
const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
const colour = text => { probe.clearRect(0, 0, 1, 1); probe.fillStyle = text; probe.fillRect(0, 0, 1, 1);
  const d = probe.getImageData(0, 0, 1, 1).data; return [d[0], d[1], d[2], d[3] / 255]; };
const over = (a, b) => [0, 1, 2].map(k => a[3] * a[k] + (1 - a[3]) * b[k]);
// colour behind an element: its own ground, or that of what it lies in
const behind = element => {
  const layers = [];
  for (let e = element; e; e = e.parentElement) {
    const ground = colour(getComputedStyle(e).backgroundColor);
    layers.push(ground);
    if (ground[3] === 1) break;
  }
  return layers.reverse().reduce((below, layer) => over(layer, below), [255, 255, 255]);
};
const seen = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
"""
"""Functions of a script: relative luminance and contrast (WCAG 2.1, 1.4.3), and the ground of an element."""

RECORD = """(() => { window.texts = [];
  const kept = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y, most) {
    const wide = this.measureText(text).width;
    window.texts.push({ text, colour: this.fillStyle, most, wide, canvas: this.canvas.id });
    kept.apply(this, arguments); }; })()"""
"""Writes down every text that is drawn on a canvas."""


@pytest.fixture(scope="module", params=["dark", "light"])
def shown(request, central_impact, browser):
    """The page for people who want it dark, and for those who want it light: there is one scheme of colours."""
    with served(central_impact.folder) as address, opened(browser) as context:
        found = Shown(context, address)
        found.page.emulate_media(color_scheme=request.param)
        found("dockfmu.seek(1.95)")
        yield found


def test_texts_and_controls_stand_out_from_their_ground(shown):
    found = shown(
        f"""() => {{ {WCAG}
        const texts = [], edges = [];
        const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) {{
          const element = walk.currentNode.parentElement, text = walk.currentNode.textContent.trim();
          if (!text || !seen(element) || element.closest('script, [disabled]')) continue;
          const style = getComputedStyle(element), size = parseFloat(style.fontSize);
          const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700), ground = behind(element);
          texts.push([text, ratio(over(colour(style.color), ground), ground), large ? 3 : 4.5]);
        }}
        for (const field of document.querySelectorAll('input')) {{
          if (!seen(field)) continue;
          for (const part of field.placeholder ? ['', '::placeholder'] : ['']) {{
            const ground = behind(field);
            const ink = colour(getComputedStyle(field, part || null).color);
            texts.push([field.id + part, ratio(over(ink, ground), ground), 4.5]);
          }}
        }}
        for (const control of document.querySelectorAll('button, select, input:not([type=range])')) {{
          if (!seen(control)) continue;
          const ground = behind(control.parentElement);
          edges.push([control.id, ratio(over(colour(getComputedStyle(control).borderTopColor), ground), ground), 3]);
        }}
        return [texts, edges]; }}"""
    )
    texts, edges = found
    assert len(texts) > 80
    assert len(edges) >= 8
    assert [entry for entry in texts + edges if entry[1] < entry[2]] == []


def test_texts_and_shapes_on_the_canvases_stand_out_and_are_not_squeezed(shown):
    shown(RECORD)
    shown("dockfmu.seek(1.96)")
    found = shown(
        f"""() => {{ {WCAG}
        return window.texts.map(entry => [entry.text, entry.canvas,
          ratio(colour(entry.colour), behind(document.getElementById(entry.canvas))),
          entry.most === undefined ? 1 : entry.most / entry.wide]); }}"""
    )
    assert len(found) > 60
    assert {entry[1] for entry in found} == {"side", "axial", "devices", "curves", "over"}
    assert [entry for entry in found if entry[2] < 4.5] == []
    assert [entry for entry in found if entry[3] < 0.97] == []
    drawn = shown(
        f"""() => {{ {WCAG}
        const ground = behind(document.getElementById('side'));
        const items = [...dockfmu.drawn().side.items, ...dockfmu.drawn().axial.items];
        return items.map(i => [i.label, ratio(colour(i.colour), ground)]); }}"""
    )
    assert len(drawn) > 20
    assert [entry for entry in drawn if entry[1] < 3.0] == []


def test_axe_finds_nothing_on_the_page_wide_or_narrow(shown):
    shown.page.fill("#search", "momentum")
    try:
        assert violations(shown.page) == []
        shown.page.fill("#search", "")
        # the help on keys, and a phone: one pane below the other, none wider than the window
        shown.page.keyboard.press("Escape")
        shown.page.keyboard.press("?")
        assert "play or pause" in shown.page.inner_text("#keys")
        assert violations(shown.page) == []
        shown.page.keyboard.press("Escape")
        shown.page.set_viewport_size({"width": 390, "height": 844})
        shown.settle()
        assert violations(shown.page) == []
        boxes = shown(
            "[...document.querySelectorAll('main > *')].filter(e => e.checkVisibility())"
            ".map(e => e.getBoundingClientRect())"
            ".map(b => [b.left, b.right, b.top, b.bottom]).sort((a, b) => a[2] - b[2])"
        )
        assert all(0 <= left < right <= 390 for left, right, *_ in boxes)
        assert all(a[3] <= b[2] + 1 for a, b in pairwise(boxes))
    finally:
        shown.page.set_viewport_size({"width": 1280, "height": 720})
        shown.settle()


def test_axe_finds_nothing_on_report_and_comparison(central_impact, browser, tmp_path):
    report, compared = central_impact.folder / "report.html", tmp_path / "compare.html"
    main(["compare", str(central_impact.folder), str(central_impact.folder), "-o", str(compared)])
    for file in (report, compared):
        for scheme in ("light", "dark"):
            page = browser.new_page(color_scheme=scheme)
            page.goto(file.as_uri())
            page.wait_for_function("document.querySelectorAll('.plot .main-svg').length > 0")
            assert violations(page) == [], (file, scheme)
            # on a phone tables are folded: nothing is read by scrolling sideways
            assert page.evaluate("document.querySelectorAll('.folded').length") == 0
            page.set_viewport_size({"width": 390, "height": 844})
            eventually(lambda page=page: page.evaluate("document.documentElement.scrollWidth") == 390)
            if scheme == "light":
                assert violations(page) == [], file
            page.evaluate("document.querySelectorAll('details').forEach((part) => part.open = true)")
            eventually(lambda page=page: page.evaluate(f"{SIDEWAYS}.length") == 0)
            assert page.evaluate("document.querySelectorAll('.folded [data-head]').length") > 20
            page.close()


def test_labels_do_not_lie_over_each_other(shown):
    for scene in ("mechanism", "craft"):
        shown("v => dockfmu.view(v)", scene)
        drawn = shown("dockfmu.drawn()")
        for pane in ("side", "axial"):
            boxes = [item["text"] for item in drawn[pane]["items"] if item.get("text")]
            assert boxes
            for k, a in enumerate(boxes):
                for b in boxes[k + 1 :]:
                    assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
    shown("dockfmu.view('mechanism')")


def test_keys_reach_every_control_and_show_where_they_are(shown):
    """Tab goes once around all that can be used, in the order of the page; what it is on has a ring that stands out."""
    wanted = shown(
        f"""() => {{ {WCAG}
        const kinds = 'a[href], button, select, input, canvas[tabindex], li[tabindex], .devices';
        const all = document.querySelectorAll(kinds);
        const used = [...all].filter(e => seen(e) && !e.disabled);
        return used.map((e, k) => {{ e.dataset.number = k; return e.id || e.tagName; }}); }}"""
    )
    assert len(wanted) >= 14
    # Tab goes on from what was used last, in a test before too: begin at the top of the page
    shown("document.activeElement.blur()")
    shown("() => { const top = document.body; top.tabIndex = -1; top.focus(); top.removeAttribute('tabindex'); }")
    order = []
    for _ in range(len(wanted) + 8):
        shown.page.keyboard.press("Tab")
        place, outline, stands = shown(
            f"""() => {{ {WCAG}
            const e = document.activeElement, style = getComputedStyle(e), ground = behind(e.parentElement ?? e);
            return [e.dataset.number, style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth),
              ratio(over(colour(style.outlineColor), ground), ground)]; }}"""
        )
        if place is None:
            continue
        order.append(int(place))
        assert outline >= 2, wanted[int(place)]
        assert stands >= 3, wanted[int(place)]
    reached = list(dict.fromkeys(order))
    assert [name for k, name in enumerate(wanted) if k not in reached] == []
    assert reached == sorted(reached)
