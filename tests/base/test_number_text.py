"""Numbers in text: each place accepts what its format allows, and nothing that Python alone takes for a number."""

import math
import re
from pathlib import Path

import pytest

from dockfmu.base.number_text import (
    any_number,
    count_number,
    decimal_number,
    strict_json,
    whole_number,
    xml_boolean,
    xml_double,
    xml_integer,
    xml_list,
)

pytestmark = pytest.mark.quick

OF_PYTHON = (
    "1_0",
    "Infinity",
    "infinity",
    "\u0661",
    "\u00b2",
    "1e1_0",
    "0x10",
    "\u20091",
    "",
    "e1",
    "1e",
    ".",
)
"""Texts that `float` or `int` takes, or that look like numbers, and that no format allows."""


@pytest.mark.parametrize("text", OF_PYTHON)
@pytest.mark.parametrize("read", [decimal_number, any_number, whole_number, xml_double, xml_integer, strict_json])
def test_forms_of_python_are_refused(read, text):
    with pytest.raises(ValueError, match=r"."):
        read(text)
    assert count_number(text, 10**9) is None


def test_decimal_numbers_and_integers():
    texts = ("1", "-1.", "+.5", "1e3", "1E-3", "5e-324", "1e999")
    assert [decimal_number(text) for text in texts] == [1.0, -1.0, 0.5, 1e3, 1e-3, 5e-324, math.inf]
    assert (any_number("-INF"), any_number("inf"), math.isnan(any_number("NaN"))) == (-math.inf, math.inf, True)
    assert (whole_number("-7"), whole_number("+7")) == (-7, 7)
    assert [count_number(text, 9) for text in ("0", "9", "10", "-1", "+1")] == [0, 9, None, None, None]
    for refused in ("inf", "nan", " 1", "1 "):
        with pytest.raises(ValueError, match="decimal"):
            decimal_number(refused)
    with pytest.raises(ValueError, match="integer"):
        whole_number("1" * 101)


def test_types_of_xml_schema():
    """xs:double has INF, -INF and NaN in these letters only; blanks around a value collapse, and these four alone."""
    assert (xml_double(" INF\n"), xml_double("-INF"), math.isnan(xml_double("NaN"))) == (math.inf, -math.inf, True)
    assert (xml_double("\t-1.5E3 "), xml_integer(" -3\r\n")) == (-1500.0, -3)
    assert (xml_boolean("1"), xml_boolean(" false ")) == (True, False)
    assert xml_list(" 1 2\n\t3 ", xml_double) == (1.0, 2.0, 3.0)
    assert xml_list("", xml_double) == ()
    for refused in ("inf", "nan", "-inf", "+INF", "1.5\x0b", "\u00a01"):
        with pytest.raises(ValueError, match="decimal"):
            xml_double(refused)
    for refused in ("True", "yes", ""):
        with pytest.raises(ValueError, match="true"):
            xml_boolean(refused)


def test_json_has_no_infinities():
    assert strict_json('{"a": [1e3, -2]}') == {"a": [1e3, -2]}
    for refused in ("NaN", "[Infinity]", '{"a": -Infinity}'):
        with pytest.raises(ValueError, match="JSON"):
            strict_json(refused)


def test_no_module_that_reads_text_has_a_parse_of_its_own():
    """`float(text)` and `int(word)` are written in the one place; an item of a bracket is checked by its pattern."""
    root = Path(__file__).parents[2]
    own = re.compile(
        r"\b(?:float|int)\((?:text|word|words\[\d\]|cell|given|line)\b|\.isdigit\(\)|[(, ](?:float|int), [\d.]+\)"
    )
    found = [
        f"{file.relative_to(root)}: {line.strip()}"
        for folder in ("ssp", "master/fmi", "master/drivers", "dockfmu/commands", "dockfmu/declare", "dockfmu/view")
        for file in (root / folder).rglob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if own.search(line)
    ]
    assert found == []
