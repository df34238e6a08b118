"""The page on systems in TOML documents every table and key of the code, and its example is a valid system."""

import math
import re
import tomllib

import pytest

from dockfmu.base.cache import ROOT
from dockfmu.base.units import parse_unit
from dockfmu.declare import declaration
from dockfmu.declare.parameters import parameters
from dockfmu.declare.toml.tables import Table

pytestmark = pytest.mark.quick

PAGE = (ROOT / "docs" / "guide" / "systems.md").read_text(encoding="utf-8")

EVERYTHING = """
extends = "atv_probe_cone"
name = "everything"
[initial_conditions.limits]
miss = "30cm"
angles = "7deg"
velocity = "0.3m/s"
angular_velocity = "1deg/s"
[loads]
element = "mechanism"
[loads.limits]
shear = { static = "3.2 kN", source = "assumed" }
"""


def example():
    found = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    return found[1]


def documented():
    """Return the keys in the first column of the page's tables."""
    rows = (line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `"))
    return {key for cell in rows for key in re.findall(r"`(\w+)`", cell)}


@pytest.fixture
def known(monkeypatch, tmp_path):
    """Return every key that the code reads from a file with all tables."""
    keys = set()
    initialise = Table.__init__

    def spy(self, content, where, known=None):
        keys.update(known or ())
        initialise(self, content, where, known)

    monkeypatch.setattr(Table, "__init__", spy)
    file = tmp_path / "everything.toml"
    file.write_text(EVERYTHING)
    declaration.read(str(file))
    # initial conditions of an arm have keys of their own
    declaration.read("airlock_era")
    return keys | {"extends", "standard"}


def test_the_page_has_every_key_and_no_other(known):
    tables = {
        "elements", "connections", "initial_conditions", "run", "adaptive", "events", "audit", "outcome", "final",
        "loads",
    }  # fmt: skip
    tables |= {"report", "scene"}
    for table in tables:
        assert re.search(rf"^### `\[+{table}[.\]]", PAGE, re.MULTILINE), table
    in_values = {"value", "unit", "source"}
    # `elements` is a key of audit too; `angles` one of the limits, which a row of the page names together
    assert documented() == (known - tables - in_values - {"angles"}) | {"elements"}


def test_the_example_is_a_system(tmp_path):
    file = tmp_path / "heavy_atv.toml"
    file.write_text(example())
    changed = {p.full_name: p for p in parameters(str(file)) if p.changed}
    assert changed["chaser.parameters.mass"].value == 24e3
    assert changed["chaser.parameters.mass"].source == "assumed"
    assert changed["chaser.parameters.push_thrust"].value == 1200.0
    assert changed["initial_conditions.yaw"].value == math.radians(2.0)
    assert changed["initial_conditions.miss"].value == [0.08, -0.05]
    assert declaration.read(str(file)).plan.stop == 60.0


def test_the_three_ways_to_write_a_value_are_equal(tmp_path):
    found = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None
    angles = set()
    for k, line in enumerate(found[1].splitlines()):
        tomllib.loads(line)
        file = tmp_path / f"way{k}.toml"
        file.write_text(f'extends = "atv_probe_cone"\nname = "way{k}"\n[initial_conditions]\n{line}\n')
        conditions = declaration.read(str(file)).initial_conditions
        assert conditions is not None
        angles.add(conditions.angles[0])
    assert angles == {math.radians(1.0)}


def test_the_units_of_the_page_are_known():
    found = re.search(r"The SI units and\n([\w, ]+) are known\.", PAGE)
    assert found is not None
    for unit in found[1].split(", "):
        parse_unit(unit)
