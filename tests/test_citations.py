"""Every citation of the theory in code, data and tests leads to a target in docs/theory."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_extensions"))

import citations as extension  # noqa: E402
from citations import citations, target_of_page, targets  # noqa: E402

FOLDERS = ("base", "benchmarks", "components", "docs", "dockfmu", "fmus", "master", "ssp", "tests")
KINDS = {".c", ".h", ".md", ".py", ".toml"}


def sources() -> list[Path]:
    files = [ROOT / "README.md"]
    for folder in FOLDERS:
        files += [file for file in sorted((ROOT / folder).rglob("*")) if file.suffix in KINDS]
    theory = ROOT / "docs" / "theory"
    return [file for file in files if theory not in file.parents and file != Path(__file__)]


def known() -> set[str]:
    return set().union(*extension.known().values())


def test_every_citation_has_a_target():
    found = known()
    lost, count = [], 0
    for file in sources():
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            for citation in citations(line):
                count += 1
                if citation.target not in found:
                    lost.append(f"{file.relative_to(ROOT)}:{number}: {citation.text} -> {citation.target}")
    assert not lost, "\n".join(lost)
    assert count > 0


MENTION = re.compile(
    r"(?<![/.])\b(?:contact-(?:geometry|forces)|(?:central|peripheral)-docking|ring-mechanisms|multibody-formulations) "
    r"(?:sections? )?[A-Z]?\d|\bruling R\d|test_spec\d\d_|\b[Ee]rrat(?:um|a) (?:E-\d|[KDE]\d)"
)
"""What a citation of a page whose name is no word of a text begins with, read more simply than `citations` reads it."""


def test_no_mention_of_a_chapter_is_passed_over():
    """Each line has at least as many citations as mentions, and each folder that cites has some."""
    missed, mentions = [], Counter()
    for file in sources():
        for number, line in enumerate(file.read_text(errors="replace").splitlines(), 1):
            count = len(MENTION.findall(line))
            mentions[file.relative_to(ROOT).parts[0]] += count
            if len(list(citations(line))) < count:
                missed.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()}")
    assert not missed, "\n".join(missed)
    assert {"components", "docs", "dockfmu", "master", "ssp", "tests"} <= set(+mentions)


def test_targets_are_unique():
    every = [name for file in (ROOT / "docs" / "theory").glob("*.md") for name in sorted(targets(file.read_text()))]
    assert len(every) == len(set(every))


def test_lists_are_complete():
    lists = {
        "r": 45, "erratum-k": 12, "erratum-d": 10, "erratum-e": 27, "erratum-e-": 11, "oracle-01-ko": 13,
        "oracle-02-do": 19, "oracle-03-h": 11, "oracle-04-s": 15, "oracle-05-t": 28, "oracle-06-": 27,
        "oracle-08-o": 40, "oracle-09-o": 10,
    }  # fmt: skip
    assert {f"{name}{n}" for name, last in lists.items() for n in range(1, last + 1)} <= known()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("by contact-geometry 6.2, 6.6 and A12", ["spec-05-6-2", "spec-05-6-6", "spec-05-a12"]),
        ("assumed, conventions 8.1 and contact-forces section 12: 20 t", ["spec-00-8-1", "spec-04-12"]),
        ("Dynamics; dynamics 6 to 8 and 10, with their errata", ["spec-02-6", "spec-02-8", "spec-02-10"]),
        ("(ruling R38), erratum D6; errata E-9, E-10", ["erratum-d6", "erratum-e-9", "erratum-e-10", "r38"]),
        ("erratum E26, contact-geometry T14; symbolic O7", ["oracle-05-t14", "oracle-09-o7", "erratum-e26"]),
        ("oracle 15 of central-docking", ["oracle-06-15"]),
        ("ring-mechanisms 10.5, stand 5", ["spec-01-10-5", "spec-08-5"]),
        ("def test_spec03_oracle_h02_reversals(", ["oracle-03-h2"]),
        ("test_spec06_9_4_forces, test_spec10_E06_array(", ["spec-06-9-4", "spec-10-e6"]),
        ("test_spec02_D6b_gears, test_spec05_a13_rings", ["spec-02-d6b", "spec-05-a13"]),
        ("test_spec05_A0_force_is_the_law", ["spec-05-a0"]),
        ("def test_spec10_erratum_angles_of_table_3_1():", ["chapter-10"]),
        ("eq. (4.2.1), (S 6.1.1)", ["eq-4-2-1", "eq-6-1-1"]),
        ("manipulator and spacecraft, docs/theory/stand.md", []),
    ],
)
def test_what_is_read(text, expected):
    assert [citation.target for citation in citations(text)] == expected


def test_a_section_that_is_not_there_is_no_target():
    assert target_of_page("contact-geometry", "6.9") not in known()
    assert [c.target in known() for c in citations("contact-geometry 6.6, 6.9 and T99")] == [True, False, False]


def test_files_that_the_theory_names_are_there():
    """Paths from the root, or the end of one where a table says in which folder."""
    there = [f"/{file.relative_to(ROOT).as_posix()}" for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    named = {
        (page.name, path)
        for page in (ROOT / "docs" / "theory").glob("*.md")
        for path in re.findall(r"`([\w/]+\.py)`", page.read_text())
    }
    assert len(named) > 60
    assert not sorted((page, path) for page, path in named if not any(file.endswith(f"/{path}") for file in there))


def test_index_of_equations_is_whole():
    listed = re.findall(r"\(#(eq-[^)]+)\)", (ROOT / "docs" / "theory" / "index.md").read_text())
    assert sorted(listed) == sorted(name for name in known() if name.startswith("eq-"))
