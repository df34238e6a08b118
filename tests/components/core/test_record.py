"""The record declaration: names, memory, start values, parameter sets, and what it refuses."""

import subprocess
import sys

import numpy as np
import pytest

from dockfmu.base.cache import ROOT
from dockfmu.components.core import field
from dockfmu.components.core.component import Component, Message
from dockfmu.components.core.kernel import kernel
from dockfmu.components.core.parameters import read_parameter_set
from dockfmu.components.core.record import GAP, ParameterError, Record, Span
from dockfmu.components.core.sources import digest, kernel_digest, kernel_sources, sources

RECORD = Record(
    field.Group(
        "base",
        field.input("position", "m", "a name that numpy uses too", shape=3),
        field.output("block", "N", "another", shape=(2, 2)),
    ),
    field.Group("leg", field.parameter("stiffness", "N/m", "spring", (1.0, 2.0), shape=2, minimum=0.0), count=2),
    field.local("phase", "1", "enumeration", 1, type=field.enumeration("Phase", READY="waits", GO="moves")),
    field.Group("tables", field.table("curve", "m", "constant", shape=4, resource="curve.f64")),
)


@kernel
def _fill(m):
    for k in range(2):
        m.leg[k].stiffness[1] += 10.0 * (k + 1)
    m.base.position[2] = 7.0
    m.base.block[1, 0] = m.base.position[2] + m.leg[1].stiffness[1]
    m.phase = 2.0
    return 0


def _component(messages=None, **rest):
    return Component("Test", "", RECORD, _fill, _fill, messages or {}, ROOT / "components/core/record.py", **rest)


def test_changed_fields_of_a_group_and_of_groups_inside():
    """Name, count and all else stay; the group that was given stays as it was."""
    legs = field.Group("leg", field.parameter("mass", "kg", "of a leg", 1.0), count=2, description="all equal")
    group = field.Group("bodies", field.parameter("mass", "kg", "of all", 5.0), legs, description="what moves")
    other = field.changed(group, {"mass": {"start": 3.0, "unit": "t"}}, name="cargo")
    assert other == field.Group(
        "cargo",
        field.parameter("mass", "t", "of all", 3.0),
        field.Group("leg", field.parameter("mass", "t", "of a leg", 3.0), count=2, description="all equal"),
        description="what moves",
    )
    assert group.members == (field.parameter("mass", "kg", "of all", 5.0), legs)


def test_saved_slots_leave_temporaries_and_tables_out_and_changing_ones_constants_and_fixed_parameters_too():
    """In ascending spans that go on over short gaps."""
    work = field.Group("work", field.private("sum", "1", "of all", shape=20), field.output("total", "1", "of all"))
    record = Record(
        field.parameter("mass", "kg", "fixed", 1.0),
        field.parameter("gain", "1", "tunable", 1.0, tunable=True),
        field.private("state", "1", "hidden"),
        field.temporary("few", "1", "fewer than a gap", shape=GAP - 1),
        field.private("more", "1", "hidden"),
        field.temporary("many", "1", "as many as a gap", shape=GAP),
        field.constants(field.Group("geometry", field.private("length", "m", "hidden"), field.input("x", "m", "set"))),
        field.temporaries(work),
        field.Group("tables", field.table("curve", "1", "of all", shape=4)),
    )
    place = {slot.name: slot.index for slot in record.slots}
    first, second, third = place["mass"], place["geometry.length"], place["work.total"]
    assert record.saved == (Span(first, 4 + GAP - 1), Span(second, 2), Span(third, 1))
    assert record.changing == (Span(place["gain"], 3 + GAP - 1), Span(place["geometry.x"], 1), Span(third, 1))
    assert record.state_size == third + 1
    assert {slot.name for slot in record.variables} == {"mass", "gain", "geometry.x", "work.total"}


def test_names_and_slots_follow_memory():
    names = [slot.name for slot in RECORD.slots]
    assert names[:3] == ["base.position[1]", "base.position[2]", "base.position[3]"]
    assert names[3:7] == ["base.block[1,1]", "base.block[1,2]", "base.block[2,1]", "base.block[2,2]"]
    assert names[7:11] == ["leg[1].stiffness[1]", "leg[1].stiffness[2]", "leg[2].stiffness[1]", "leg[2].stiffness[2]"]
    assert [slot.index for slot in RECORD.slots] == list(range(RECORD.size))
    assert (RECORD.size, RECORD.state_size) == (16, 12)
    assert RECORD.dtype.itemsize == 8 * RECORD.size
    assert "tables.curve[1]" not in [slot.name for slot in RECORD.variables]


@pytest.mark.parametrize("function", [_fill, _fill.py_func], ids=["compiled", "interpreted"])
def test_kernels_write_through_to_the_block(function):
    memory = RECORD.start.copy()
    assert function(RECORD.view(memory)) == 0
    expected = {"leg[1].stiffness[2]": 12.0, "leg[2].stiffness[2]": 22.0, "base.block[2,1]": 29.0, "phase": 2.0}
    for name, value in expected.items():
        assert memory[RECORD.index[name]] == value


def test_a_field_that_does_not_exist_cannot_be_written():
    with pytest.raises(AttributeError, match="no field 'positon'; it has position, block"):
        RECORD.memory().base.positon = 1.0


def test_tables_belong_at_the_end():
    with pytest.raises(ValueError, match="end of the record"):
        Record(field.Group("tables", field.table("a", "1", "")), field.local("b", "1", ""))


def test_values_by_array_and_by_element():
    component = _component(resources={"curve.f64": np.arange(4.0)})
    start = component.start(**{"leg[2].stiffness": (5.0, 6.0), "leg[1].stiffness[1]": 3.0})
    assert list(start[7:11]) == [3.0, 2.0, 5.0, 6.0]
    assert list(start[12:]) == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"leg[1].stifness": 1.0}, r"no variable 'leg\[1\].stifness'; did you mean .*leg\[1\].stiffness"),
        ({"leg[1].stiffness": (1.0, 2.0, 3.0)}, "does not fit its shape"),
        ({"leg[2].stiffness[2]": -1.0}, r"leg\[2\].stiffness\[2\] = -1 N/m lies outside \[0, inf\]"),
        ({"leg[2].stiffness[2]": float("nan")}, "= nan N/m lies outside"),
        ({"base.block[1,1]": 1.0}, "is not a parameter but output"),
    ],
)
def test_bad_values_are_refused_by_name(values, message):
    with pytest.raises(ParameterError, match=message):
        _component(resources={"curve.f64": np.zeros(4)}).start(**values)


def test_a_resource_of_the_wrong_length_is_refused():
    with pytest.raises(ParameterError, match=r"curve.f64 holds 3 values, the record needs 4"):
        _component(resources={"curve.f64": np.zeros(3)}).start()


def test_parameter_sets_are_read_with_units_and_sources(tmp_path):
    file = tmp_path / "soft.toml"
    file.write_text(
        'name = "soft"\n[[leg]]\nstiffness = { value = [5, 6], unit = "N/m", source = "assumed" }\n', encoding="utf-8"
    )
    entry = read_parameter_set(file)
    entry.check(RECORD)
    assert (entry.name, entry.values) == ("soft", {"leg[1].stiffness": [5, 6]})
    block = _component(resources={"curve.f64": np.zeros(4)}).start(entry)
    assert RECORD.view(block).leg[0].stiffness[0] == 5.0


def test_a_set_over_another_has_its_values_unless_it_gives_its_own(tmp_path):
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "stiff.toml").write_text(
        '[[leg]]\nstiffness = { value = [5, 6], unit = "N/m", source = "assumed" }\n'
        'length = { value = 1, unit = "m", source = "assumed" }\n',
        encoding="utf-8",
    )
    file = tmp_path / "long.toml"
    file.write_text(
        'over = "sets/stiff.toml"\n[[leg]]\nlength = { value = 2, unit = "m", source = "measured" }\n', encoding="utf-8"
    )
    entry = read_parameter_set(file)
    assert entry.name == "long"
    assert entry.values == {"leg[1].stiffness": [5, 6], "leg[1].length": 2}
    assert entry.sources == {"leg[1].stiffness": "assumed", "leg[1].length": "measured"}


def test_of_several_sets_below_the_last_one_wins(tmp_path):
    for name, stiffness in (("soft", 1), ("stiff", 5)):
        (tmp_path / f"{name}.toml").write_text(
            f'[[leg]]\nstiffness = {{ value = [{stiffness}, 6], unit = "N/m", source = "{name}" }}\n'
            f'{name} = {{ value = 1, unit = "1", source = "{name}" }}\n',
            encoding="utf-8",
        )
    file = tmp_path / "both.toml"
    file.write_text('over = ["soft.toml", "stiff.toml"]\n', encoding="utf-8")
    entry = read_parameter_set(file)
    assert entry.values == {"leg[1].stiffness": [5, 6], "leg[1].soft": 1, "leg[1].stiff": 1}
    assert entry.sources["leg[1].stiffness"] == "stiff"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("over = 'soft.toml'", r"soft.toml: the set is laid over itself"),
        ("over = 'none.toml'", r"none.toml"),
        ("over = 5", r"soft.toml: over = 5 is not the path of another set"),
        ("over = ['none.toml']", r"none.toml"),
        ("over = [5]", r"soft.toml: over = \[5\] is not the path of another set, or a list of paths"),
        ("[[leg]]\nstiffness = 5", "is not a table with value, unit and source"),
        ("[[leg]]\nstiffness = { value = 5, unit = 'N/m' }", r"leg\[1\].stiffness lacks source"),
        ("[[leg]]\nstiffness = { value = 5, unit = 'N/mm', source = 'x' }", "given in 'N/mm' but declared in 'N/m'"),
        ("leg = [", r"soft.toml"),
    ],
)
def test_bad_parameter_files_are_refused_by_name(tmp_path, text, message):
    file = tmp_path / "soft.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ParameterError, match=message):
        read_parameter_set(file).check(RECORD)


def test_messages_print_values_of_the_record():
    component = _component(messages={3: Message("stroke {base.position[2]:.2f} m")})
    block = RECORD.start.copy()
    block[1] = 1.234
    assert component.explain(3, block) == "stroke 1.23 m"
    assert component.explain(9, block) == "Test: unknown status 9"


def test_sources_follow_imports():
    found = {path.name for path in sources(ROOT / "components/physics/mechanics/rotation.py")}
    assert {"rotation.py", "kernel.py", "sources.py"} <= found
    assert "matrix.py" not in found


def test_the_text_of_base_and_core_is_no_part_of_machine_code():
    """Compile nothing anew by a change of a message: what kernels refer to there is named by its content."""
    file = ROOT / "components/physics/mechanics/inertia.py"
    floors = {source.relative_to(ROOT).parts[:2] for source in kernel_sources(file)}
    assert floors == {("components", "physics")}
    assert file in kernel_sources(file)
    assert kernel_digest(file) != digest(file)


def test_sources_follow_imports_of_files_beside(tmp_path):
    """Scripts and tests import each other by bare names; a change of one makes the cache of the other stale."""
    user, helper = tmp_path / "user.py", tmp_path / "helper.py"
    user.write_text("import math\nfrom helper import f\n")
    helper.write_text("def f(x):\n    return x\n")
    assert set(sources(user)) == {user, helper}


@pytest.mark.slow
def test_kernels_run_without_numba_compiling(tmp_path):
    """NUMBA_DISABLE_JIT leaves plain Python functions that give the same numbers."""
    module = "dockfmu.components.physics.mechanics.rotation"
    code = f"from {module} import from_angles; print(repr(from_angles(0.1, 0.2, 0.3)))"
    printed = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=env).stdout
        for env in ({"NUMBA_DISABLE_JIT": flag, "PATH": "", "DOCKFMU_CACHE": str(tmp_path)} for flag in "01")
    ]
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    ("type_", "number", "message"),
    [
        (field.enumeration("Phase", READY="waits", GO="moves"), 0, r"a = 0 1 lies outside \[1, 2\]"),
        (field.enumeration("Phase", READY="waits", GO="moves"), 3, r"a = 3 1 lies outside \[1, 2\]"),
        (field.INTEGER, 1.5, r"a = 1\.5 is not a value of type Integer"),
        (field.BOOLEAN, 2, r"a = 2 is not a value of type Boolean"),
    ],
)
def test_values_are_of_the_type_of_the_parameter(tmp_path, type_, number, message):
    record = Record(field.parameter("a", "1", "", 1, type=type_))
    file = tmp_path / "some.toml"
    file.write_text(f'a = {{ value = {number}, unit = "1", source = "assumed" }}\n')
    with pytest.raises(ParameterError, match=message):
        read_parameter_set(file).check(record)
