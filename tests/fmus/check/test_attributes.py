"""Causality, variability, initial: every combination, against fmpy, and those of every FMU; names, against fmpy."""

import itertools
import re

import pytest
from fmpy import read_model_description
from fmpy.model_description import ModelDescription, ScalarVariable
from fmpy.validation import _validate_variable_names
from lxml import etree

from dockfmu.fmus import catalogue
from dockfmu.fmus.check.description import INITIAL, check_attributes, check_names
from dockfmu.fmus.description import NATIVE_CAPABILITIES, describe

CAUSALITIES = ("parameter", "calculatedParameter", "input", "output", "local", "independent")
VARIABILITIES = ("constant", "fixed", "tunable", "discrete", "continuous")


def description(kind="Real", **attributes):
    """A model description with one variable; an attribute that is None is left out."""
    root = etree.Element("fmiModelDescription", fmiVersion="2.0", modelName="One", guid="{1}")
    etree.SubElement(root, "CoSimulation", modelIdentifier="One")
    given = {key: value for key, value in attributes.items() if value is not None}
    variables = etree.SubElement(root, "ModelVariables")
    variable = etree.SubElement(variables, "ScalarVariable", name="x", valueReference="0", **given)
    etree.SubElement(variable, kind)
    etree.SubElement(root, "ModelStructure")
    return root


def accepted_by_fmpy(root, start, folder):
    """Its reader looks at start values too: right ones are given."""
    if start:
        root.find("ModelVariables/ScalarVariable")[0].set("start", "0")
    (folder / "modelDescription.xml").write_bytes(etree.tostring(root))
    try:
        read_model_description(str(folder / "modelDescription.xml"), validate=True)
    except Exception:  # what it raises depends on the fault
        return False
    return True


@pytest.mark.parametrize("causality", CAUSALITIES)
def test_combinations_that_are_legal_for_fmpy_too(causality, tmp_path):
    for variability, initial in itertools.product(VARIABILITIES, ("exact", "approx", "calculated", None)):
        root = description(causality=causality, variability=variability, initial=initial)
        legal = not list(check_attributes(root))
        default = (*INITIAL.get((causality, variability), ()), "none")[0]
        start = causality == "input" or (initial or default) in ("exact", "approx")
        if causality in ("input", "independent") and initial is not None:
            # forbidden in words, below the table; fmpy takes "exact" for an input
            assert not legal
        else:
            assert legal == accepted_by_fmpy(root, start, tmp_path), (variability, initial)


@pytest.mark.parametrize(
    ("attributes", "text", "advice"),
    [
        ({"kind": "Integer", "causality": "output"}, "only a Real is continuous", "Make it discrete"),
        ({"causality": "parameter"}, "parameter with variability continuous", "one of: fixed, tunable"),
        ({"causality": "input", "variability": "tunable"}, "input with variability tunable", "discrete, continuous"),
        ({"variability": "fixed", "initial": "exact"}, "local and .* fixed with initial exact", "calculated, approx"),
        ({"causality": "input", "initial": "exact"}, "with initial exact", "Leave it out"),
    ],
)
def test_faults(attributes, text, advice):
    (finding,) = check_attributes(description(**attributes))
    assert (finding.severity, finding.element) == ("error", "x")
    assert re.search(text, finding.text)
    assert advice in finding.advice


NAMES = (
    "a", "_", "body.position[1]", "a[1,22].b_c[3]", "der(a)", "der(a.b[1],2)", "'odd name'", "a.'1/2 [x]'[3]", "der",
    "", "1a", "a.", ".a", "a..b", "a[x]", "a[1", "a[]", "a[1,]", "a b", "der(a", "der(a,b)", "der(der(a))", "ä", "a-b",
    "''", "'a", "a'b'", "a[1][2]", "a[1]b", "der(a)[1]", "٣", "a[٣]", "a\n", "\ta",
)  # fmt: skip


def test_names_are_those_that_the_parser_of_fmpy_takes():
    """Two algorithms for one grammar: an expression, and an Earley parser."""
    variables = [ScalarVariable(name, k, sourceline=k) for k, name in enumerate(NAMES)]
    root = etree.Element("fmiModelDescription", variableNamingConvention="structured")
    listed = etree.SubElement(root, "ModelVariables")
    for name in NAMES:
        etree.SubElement(listed, "ScalarVariable", name=name)
    problems = _validate_variable_names(
        ModelDescription(variableNamingConvention="structured", modelVariables=variables)
    )
    refused = {int(re.search(r"\(line (\d+)\)", problem)[1]) for problem in problems}
    assert {finding.element for finding in check_names(root)} == {NAMES[k] for k in refused}
    assert 5 < len(refused) < len(NAMES) - 5


@pytest.mark.parametrize("name", catalogue.names())
def test_every_variable_of_every_fmu(name):
    root = etree.fromstring(describe(catalogue.component(name), "{1}", NATIVE_CAPABILITIES))
    assert list(check_attributes(root)) == list(check_names(root)) == []
    assert len(root.findall("ModelVariables/ScalarVariable")) == len(catalogue.component(name).record.variables)
