"""Where the citations in code, data and tests lead: to targets in docs/theory.

`contact-geometry 6.6`, `ruling R38`, `erratum D6`, `oracle 15 of central-docking`, `test_spec02_oracle_DO5_...`,
`eq. (4.2.1)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

THEORY = Path(__file__).parents[1] / "theory"
_PAGES = tuple(
    sorted((page.stem for page in THEORY.glob("*.md") if page.stem not in ("errata", "index")), key=len, reverse=True)
)


class Citation(NamedTuple):
    """`text` as it is cited, and the `target` in docs/theory to which it leads."""

    text: str
    target: str


_ITEM = r"(?:sections? )?(?:set C\b|(?:KO|DO|[A-Z])-?\d+[bc]?\b|[1-9]\d?(?:\.\d+)*\b(?! ?(?:%|mm|kg|t\b|Hz|ms|s\b)))"
_SECTION = re.compile(rf"(?<![\w/.-])({'|'.join(_PAGES)}) ({_ITEM}(?:(?: to |\u2013|, and | and |, ){_ITEM})*)")
_BOUND = re.compile(r"set C\b|(?:KO|DO|[A-Z])-?\d+[bc]?|\d+(?:\.\d+)*")
_ERRATUM = re.compile(r"[Ee]rrat(?:um|a) ((?:E-\d+|[KDE]\d+)(?:(?:, | and | to |\u2013)(?:E-\d+|[KDE]\d+))*)")
_TEST = re.compile(r"test_spec(\d\d)_(oracles?|erratum|ruling|r(?=\d)|section|fixtures)_?((?:[A-Za-z]{0,2}\d+_?)+)")
_NAMED = re.compile(
    r"test_spec(\d\d)_(?!oracle|erratum_?\d|ruling|r\d|section|fixtures)(?:example_)?((?:[A-Za-z]?\d+[bc]?(?:_\d+)*_)?)"
)
_ORACLE = re.compile(rf"oracles? (\d+|[A-Z]+\d+)(?: \([^)]*\))? of ({'|'.join(_PAGES)})\b")
_RULING = re.compile(r"(?<!engine )\b(?:ruling R?|\(R|, R)(\d{1,2})\b")
_EQUATION = re.compile(r"\((?:S )?([1-8]\.\d\.\d{1,2})\)")

# letters of the checks of each chapter; errata and algorithms have letters of their own
_CHECKS = {"01": "KO", "02": "DO", "03": "H", "04": "S", "05": "T", "09": "O", "11": "O"}


def slug(text: str) -> str:
    """Return `text` as part of a target: lower case, its digits and letters joined by hyphens."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def target(spec: str, item: str) -> str:
    """Return the target of an `item` (a section, ruling, check, erratum, algorithm or pair) of the chapter `spec`."""
    letters = re.match(r"[A-Z]*", item)[0]  # type: ignore[index]
    if letters == "R":
        return f"engine-{slug(item)}" if spec == "09" else slug(item)
    if letters and letters == _CHECKS.get(spec):
        return f"oracle-{spec}-{slug(item)}"
    if letters == "K" or (letters == "E" and spec in ("05", "06")):
        return f"erratum-{item.lower()}"
    if letters == "C" and spec == "05":
        return "spec-05-6-2"
    return f"spec-{spec}-{slug(item)}"


def target_of_page(page: str, item: str) -> str:
    """Return the target of an `item` of the chapters of which `page` has parts: there, or a check elsewhere."""
    here = known()[page]
    chapters = sorted({found[1] for name in here if (found := re.match(r"(?:spec|chapter)-(\d\d)", name))})
    possible = [target(chapter, item) for chapter in chapters]
    elsewhere = set().union(*known().values()) if item[0].isalpha() else set()
    return next((name for name in possible for places in (here, elsewhere) if name in places), f"{page}-{slug(item)}")


def _in_sections(text: str) -> Iterator[Citation]:
    for match in _SECTION.finditer(text):
        for item in _BOUND.findall(match[2]):
            yield Citation(f"{match[1]} {item}", target_of_page(match[1], item))


def _in_names_of_tests(text: str) -> Iterator[Citation]:
    for match in _TEST.finditer(text):
        spec, kind = match[1], match[2]
        items = re.findall(r"[A-Za-z]*\d+", match[3])
        if kind == "section":
            yield Citation(match[0], target(spec, ".".join(items)))
        elif kind == "fixtures":
            yield Citation(match[0], f"oracle-{spec}-fixtures")
        elif kind in ("ruling", "r"):
            yield Citation(match[0], f"r{int(items[0])}")
        elif kind == "erratum":
            yield Citation(match[0], f"erratum-e{'-' if spec == '06' else ''}{int(items[0])}")
        else:
            for item in items:
                letters, number = re.match(r"([A-Za-z]*)0*(\d+)", item).groups()  # type: ignore[union-attr]
                letters = letters or _CHECKS.get(spec, "")
                yield Citation(match[0], f"oracle-{spec}-{letters.lower()}{number}")
    for match in _NAMED.finditer(text):
        item = re.sub(r"(?<=[A-Z])0+(?=\d)", "", match[2].strip("_").replace("_", ".").upper()).replace("B", "b")
        yield Citation(match[0], target(match[1], item) if item else f"chapter-{match[1]}")


def citations(text: str) -> Iterator[Citation]:
    """Yield all citations of these pages and of the source's equations in `text`."""
    yield from _in_sections(text)
    yield from _in_names_of_tests(text)
    for match in _ERRATUM.finditer(text):
        for code in re.findall(r"E-\d+|[KDE]\d+", match[1]):
            yield Citation(f"erratum {code}", f"erratum-{code.lower()}")
    for match in _ORACLE.finditer(text):
        (spec,) = (name.removeprefix("chapter-") for name in known()[match[2]] if name.startswith("chapter-"))
        item = match[1] if match[1][0].isalpha() else _CHECKS.get(spec, "") + match[1]
        yield Citation(match[0], f"oracle-{spec}-{item.lower()}")
    for match in _RULING.finditer(text):
        yield Citation(match[0], f"r{match[1]}")
    for match in _EQUATION.finditer(text):
        yield Citation(match[0], f"eq-{slug(match[1])}")


@cache
def known() -> dict[str, set[str]]:
    """Return the targets of each page of docs/theory by its name."""
    return {page.stem: targets(page.read_text(encoding="utf-8")) for page in THEORY.glob("*.md")}


def targets(page: str) -> set[str]:
    """Return the targets that a page of docs/theory has."""
    return set(re.findall(r"^\(([^()\s]+)\)=$", page, re.MULTILINE))
