"""The site is built without a warning, is whole, and fetches nothing from a network."""

import importlib
import json
import os
import re
import subprocess
import sys
import zlib
from functools import cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

import lxml.html
import pytest

import dockfmu
from dockfmu.cli import argument_parser
from dockfmu.declare import declaration
from tests.dockfmu.view.browser import CHROMIUM

pytestmark = pytest.mark.slow

pytest.importorskip("sphinx", reason="pip install dockfmu[docs]")

ROOT = Path(__file__).parents[2]
FETCHED = (
    "//script/@src | //link[not(@rel='canonical')]/@href | //img/@src | //iframe/@src | //object/@data | //source/@src"
)


SOURCES = ("base", "components", "docs", "dockfmu", "fmus", "master", "ssp")
"""Folders of which the site is made."""


def left_by_make_docs(folder):
    """Return the folder of a site that `make docs` has built, without a warning, after the last change of a source."""
    built = (folder / "searchindex.js").stat().st_mtime
    changed = [
        file.relative_to(ROOT).as_posix()
        for name in SOURCES
        for file in (ROOT / name).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts and file.stat().st_mtime > built
    ]
    assert not changed, f"{folder} is older than these: make docs"
    return folder


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site; DOCKFMU_SITE names one that `make docs` has left, as in CI."""
    if left := os.environ.get("DOCKFMU_SITE"):
        return left_by_make_docs(ROOT / left)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going"]
    done = subprocess.run(
        [*command, "--doctree-dir", folder / "doctrees", ROOT / "docs", folder / "html"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "html"


@cache
def parsed(page):
    return lxml.html.parse(page).getroot()


@cache
def anchors(page):
    return {*parsed(page).xpath("//@id"), *parsed(page).xpath("//a/@name")}


def pages(site):
    found = sorted(page for page in site.rglob("*.html") if "_static" not in page.parts)
    assert len(found) > 40
    return found


def test_nothing_is_fetched_from_a_network(site):
    remote = {
        f"{page.relative_to(site)}: {address}"
        for page in pages(site)
        for address in parsed(page).xpath(FETCHED)
        if urlsplit(address).scheme not in ("", "data") or urlsplit(address).netloc
    }
    assert not remote


def test_a_site_that_is_older_than_a_source_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("new")
    (tmp_path / "searchindex.js").write_text("old")
    assert left_by_make_docs(tmp_path) == tmp_path
    os.utime(tmp_path / "searchindex.js", (1.0, 1.0))
    with pytest.raises(AssertionError, match=r"older than these: make docs(.|\n)*docs/index.md"):
        left_by_make_docs(tmp_path)


def test_styles_refer_to_nothing_on_a_network(site):
    styles = sorted(site.rglob("*.css"))
    assert styles
    remote = re.compile(r"""(url\(|@import)\s*["']?\s*(https?:)?//""")
    assert not [style.name for style in styles if remote.search(style.read_text())]


def test_equations_are_drawn_by_a_script_of_the_site(site):
    page = site / "validation" / "oracles.html"
    (script,) = [source for source in parsed(page).xpath("//script/@src") if "svg" in source]
    assert (page.parent / urlsplit(script).path).resolve().stat().st_size > 1_000_000


def test_links_within_the_site_lead_somewhere(site):
    broken = []
    for page in pages(site):
        for address in {*parsed(page).xpath("//a/@href"), *parsed(page).xpath(FETCHED)}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            lost = not target.is_file() or (
                parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in anchors(target)
            )
            if lost:
                broken.append(f"{page.relative_to(site)}: {address}")
    assert not broken


def inventory(site):
    """Return what the site describes, {name: kind}, of the inventory that Sphinx leaves for other sites."""
    content = (site / "objects.inv").read_bytes().split(b"\n", 4)[4]
    entries = (line.split(" ") for line in zlib.decompress(content).decode().splitlines())
    return {entry[0]: entry[1] for entry in entries}


def test_every_public_name_of_dockfmu_is_described(site):
    described = inventory(site)
    assert not [name for name in dockfmu.__all__ if not described.get(f"dockfmu.{name}", "").startswith("py:")]


def test_every_component_and_system_has_a_page(site):
    for folder, names in (("fmus", dockfmu.list_components()), ("systems", dockfmu.list_systems())):
        reference = site / "reference" / folder
        assert {page.stem for page in reference.glob("*.html")} == {*names, "index"}


def test_page_of_a_component_shows_its_declaration(site):
    page = parsed(site / "reference" / "fmus" / "Oscillator.html")
    rows = [[cell.text_content().strip() for cell in row.xpath("./td")] for row in page.xpath("//tr")]
    assert ["parameters.mass", "moving mass", "kg", "1.0", "1e-09 to ∞"] in rows
    assert any(row and row[0] == "1" and row[1] == "fmi2Error" and "{force:g}" in row[2] for row in rows)


def test_every_option_of_every_command_is_described(site):
    text = parsed(site / "reference" / "commands.html").text_content()
    (commands,) = (action for action in argument_parser()._actions if action.dest == "command")
    options = {option for parser in commands.choices.values() for a in parser._actions for option in a.option_strings}
    assert {"--set", "--platform"} < options
    assert not [name for name in commands.choices if f"dockfmu {name}" not in text]
    assert not [option for option in options - {"-h", "--help"} if option not in text]


def test_search_finds_words_without_a_server(site):
    index = (site / "searchindex.js").read_text()
    assert index.startswith("Search.setIndex(")
    assert "gauss_seidel" in index


def test_gallery_shows_every_system_with_a_picture(site):
    page = parsed(site / "gallery.html")
    cards = page.xpath("//div[contains(concat(' ', @class, ' '), ' sd-card ')]")
    shown = {link.text_content() for card in cards for link in card.xpath(".//a[contains(@href, 'reference/systems')]")}
    assert set(dockfmu.list_systems()) <= shown
    text = page.text_content()
    for name in dockfmu.list_systems():
        assert f"dockfmu run {name}\n" in text
    pictures = [text for text in page.xpath("//img/@alt") if text.endswith("in the view")]
    assert len(pictures) >= len(dockfmu.list_systems())
    # all but the newest have been run for a picture of their own, `make gallery`
    flights = [text for text in text.split("\n") if "s of flight" in text]
    assert len(flights) >= len(dockfmu.list_systems()) - 3
    # what starts as another run is shown over it, or said to move alike
    assert re.search(r"violet: atv_probe_cone; \d\d+ mm apart at [\d.]+ s", text)
    assert "moves just as atv_probe_cone" in text
    for figure in ("capture_limit.png", "soyuz_10.png"):
        assert any(figure in source for source in page.xpath("//img/@src"))


def test_runs_that_end_alike_are_told_apart_by_their_events(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    gallery = importlib.import_module("gallery")
    text = "\n".join(gallery.gallery(""))
    cards = [
        text.partition(f"dockfmu run {name}\n")[2]
        for name in ("atv_late_capture", "atv_missing_latch", "atv_no_capture")
    ]
    captions = [card.partition("<br>")[2].partition("\n")[0] for card in cards]
    assert len(set(captions)) == 3
    assert all(caption.endswith("retreat 10 s") for caption in captions)
    assert ["capture" in caption for caption in captions] == [True, False, False]


def test_systems_of_the_gallery_end_as_they_declare():
    runs = json.loads((ROOT / "docs" / "images" / "gallery" / "runs.json").read_text(encoding="utf-8"))
    ends = {name: (run["outcome"], declaration.read(name).plan.outcome) for name, run in runs.items()}
    assert [name for name, (outcome, rule) in ends.items() if rule and outcome not in rule.success] == []


def test_a_new_system_appears_in_the_gallery_by_itself(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    gallery = importlib.import_module("gallery")
    for file in gallery.SYSTEMS.glob("*.toml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    new = 'extends = "atv_probe_cone"\nname = "brand_new"\ndescription = "something that nobody docked"\n'
    (tmp_path / "brand_new.toml").write_text(new)
    monkeypatch.setattr(gallery, "SYSTEMS", tmp_path)
    text = "\n".join(gallery.gallery(""))
    assert "## More systems" in text
    assert "dockfmu run brand_new" in text
    # its own picture comes with `make gallery`; until then it has that of the system that it extends
    assert "atv_probe_cone, which brand_new extends" in text
    assert "brand_new" in "\n".join(gallery.other_systems(""))


@pytest.fixture(scope="module")
def page():
    """A page of Chromium, with the errors of its scripts in `page.errors`."""
    playwright = pytest.importorskip("playwright.sync_api", reason="pip install dockfmu[dev]")
    if CHROMIUM is None:
        pytest.skip("no Chromium on the PATH")
    with playwright.sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM)
        opened = browser.new_page(viewport={"width": 1280, "height": 720})
        opened.errors = []
        opened.on("pageerror", lambda error: opened.errors.append(str(error)))
        yield opened
        browser.close()


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("own mechanism", "guide/own-mechanism"),
        ("center of mass", "guide/my-craft"),
        ("cubesat", "guide/own-mechanism"),
        ("monte carlo", "guide/first-campaign"),
        ("ProbeMechanism", "reference/fmus/ProbeMechanism"),
    ],
)
def test_search_finds_guides_first_and_works_from_a_file(site, page, words, first):
    page.goto(f"{(site / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    # the title until all results are there is "Searching"
    page.wait_for_function(
        "document.querySelector('#search-results h2')?.innerText === 'Search Results'", timeout=60_000
    )
    links = page.evaluate("[...document.querySelectorAll('#search-results li > a')].map(a => a.getAttribute('href'))")
    # the page stands among the first three, and all before it are guides too
    found = [link.partition(".html")[0] for link in links[:3]]
    assert first in found, found
    assert all(name.startswith("guide/") for name in found[: found.index(first)]), found
    assert not page.errors


def test_pages_of_the_reference_are_not_endless(site, page):
    heights = {}
    for file in [*pages(site / "reference"), site / "theory" / "data.html", site / "validation" / "oracles.html"]:
        page.goto(file.as_uri(), wait_until="domcontentloaded")
        heights[file.relative_to(site).as_posix()] = page.evaluate("document.documentElement.scrollHeight")
    # the longest had 192,000 px, and FMUs 80,000, before tables were folded
    assert max(heights.values()) < 35_000, sorted(heights.items(), key=lambda item: -item[1])[:5]


def test_a_link_into_a_folded_part_opens_it(site, page):
    page.goto(f"{(site / 'reference' / 'api' / 'systems.html').as_uri()}")
    inside = page.evaluate("document.querySelector('details.fold dt[id]').id")
    page.goto("about:blank")
    page.goto(f"{(site / 'reference' / 'api' / 'systems.html').as_uri()}#{inside}")
    page.wait_for_function("id => document.getElementById(id)?.closest('details').open", arg=inside, timeout=60_000)
