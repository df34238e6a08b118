"""Which causality, variability and initial go together: the tables of FMI 2.0, section 2.2.7."""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from fmus.check.finding import Finding, error

_FILE = "modelDescription.xml"
_EXACT = ("exact",)
_CALCULATED = ("calculated", "approx")
_ANY = ("calculated", "exact", "approx")
_NONE: tuple[str, ...] = ()

INITIAL: dict[tuple[str, str], tuple[str, ...]] = {
    ("parameter", "fixed"): _EXACT,
    ("parameter", "tunable"): _EXACT,
    ("calculatedParameter", "fixed"): _CALCULATED,
    ("calculatedParameter", "tunable"): _CALCULATED,
    ("input", "discrete"): _NONE,
    ("input", "continuous"): _NONE,
    ("output", "constant"): _EXACT,
    ("output", "discrete"): _ANY,
    ("output", "continuous"): _ANY,
    ("local", "constant"): _EXACT,
    ("local", "fixed"): _CALCULATED,
    ("local", "tunable"): _CALCULATED,
    ("local", "discrete"): _ANY,
    ("local", "continuous"): _ANY,
    ("independent", "continuous"): _NONE,
}
"""(causality, variability) -> what `initial` may be, the default first; pairs that are not here are illegal"""


def check_attributes(root: etree._Element) -> Iterator[Finding]:
    """Findings about the variables of a model description that the schema has accepted."""
    for scalar in root.iterfind("ModelVariables/ScalarVariable"):
        name, initial = scalar.get("name", ""), scalar.get("initial")
        causality, variability = scalar.get("causality", "local"), scalar.get("variability", "continuous")
        if variability == "continuous" and scalar.find("Real") is None:
            yield error(_FILE, name, "only a Real is continuous, which is the default", "Make it discrete")
        elif (causality, variability) not in INITIAL:
            others = ", ".join(second for first, second in INITIAL if first == causality)
            yield error(
                _FILE, name, f"causality {causality} with variability {variability}", f"Make it one of: {others}"
            )
        elif initial is not None and initial not in (legal := INITIAL[causality, variability]):
            yield error(
                _FILE, name, f"causality {causality} and variability {variability} with initial {initial}",
                f"Make it one of: {', '.join(legal)}" if legal else "Leave it out",
            )  # fmt: skip
