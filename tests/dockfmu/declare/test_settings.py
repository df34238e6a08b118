"""Values from the command line: parsing, and setting every kind of variable."""

import pytest

from dockfmu.declare.settings import Settings, parse_value, set_value
from dockfmu.fmus import build, catalogue
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure
from dockfmu.ssp.model import SsvParameter, SsvParameterSet
from tests.dockfmu.small_systems import changed_text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("-2.5e-3", -2.5e-3),
        (".5", 0.5),
        ("true", True),
        ("False", False),
        ("1,2, 3", [1, 2, 3]),
        ("[1, 2.5]", [1, 2.5]),
        ("(1, 2)", [1, 2]),
        ("[[1,0],[0,1]]", [[1, 0], [0, 1]]),
        ("true,false", [True, False]),
        ("LAGGED", "LAGGED"),
        ("SOURCE,LAGGED", ["SOURCE", "LAGGED"]),
        ("1_0", "1_0"),
        ("\uff11", "\uff11"),
        ("null", "null"),
        ('{"a": 1}', '{"a": 1}'),
        ("[" * 5000, "[" * 5000),
        ("9" * 5000, float("inf")),
        ("+1.5E3", 1500.0),
    ],
)
def test_text_of_a_value(text, value):
    parsed = parse_value(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.fixture(scope="module")
def fmus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmus")
    return {name: build(catalogue.component(name), folder) for name in ("Spacecraft", "ProbeCyclogram")}


@pytest.fixture
def craft(fmus):
    system = Structure("craft")
    system.add("craft", fmus["Spacecraft"])
    system.add("sequence", fmus["ProbeCyclogram"])
    return system


@pytest.mark.parametrize(
    ("name", "value", "start"),
    [
        ("craft.parameters.mass", 7e3, {"parameters.mass": 7e3}),
        ("craft.parameters.mass", 7000, {"parameters.mass": 7e3}),
        ("craft.parameters.port[1].position[2]", 1, {"parameters.port[1].position[2]": 1.0}),
        (
            "craft.parameters.port[1].position",
            [1, 2, 3],
            {f"parameters.port[1].position[{k}]": float(k) for k in (1, 2, 3)},
        ),
        ("craft.parameters.center_of_mass", 0.5, {f"parameters.center_of_mass[{k}]": 0.5 for k in (1, 2, 3)}),
        (
            "craft.parameters.inertia",
            [[1, 4, 5], [4, 2, 6], [5, 6, 3]],
            {
                f"parameters.inertia[{i},{j}]": v
                for (i, j), v in {
                    (1, 1): 1.0, (1, 2): 4.0, (1, 3): 5.0, (2, 1): 4.0, (2, 2): 2.0, (2, 3): 6.0,
                    (3, 1): 5.0, (3, 2): 6.0, (3, 3): 3.0,
                }.items()
            },
        ),
        ("craft.parameters.fixed", True, {"parameters.fixed": True}),
        ("craft.parameters.fixed", 1, {"parameters.fixed": 1}),
        ("sequence.parameters.attitude_control", [True, False],
         {"parameters.attitude_control[1]": True, "parameters.attitude_control[2]": False}),
        ("craft.command.push", -1, {"command.push": -1}),
        ("craft.parameters.port[1].base_motion", "SOURCE", {"parameters.port[1].base_motion": 1}),
        ("craft.parameters.port[1].base_motion", 3, {"parameters.port[1].base_motion": 3}),
    ],
)  # fmt: skip
def test_every_kind_of_variable_is_reached(craft, name, value, start):
    set_value(craft, name, value)
    element = name.partition(".")[0]
    assert craft.elements[element].start == start
    craft.check()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        (
            "crafd.parameters.mass",
            1,
            ["the system craft has no element 'crafd'; there are craft, sequence", "did you mean craft?"],
        ),
        ("craft", 1, ["craft is an element; name a variable of it, craft.VARIABLE"]),
        ("craft.parameters.mas", 1, ["craft has no variable 'parameters.mas'", "did you mean parameters.mass"]),
        ("craft.parameters.port[3].position", [1, 2, 3], ["no variable", "parameters.port[2].position"]),
        ("craft.parameters.mass", "heavy", ["craft.parameters.mass = 'heavy': must be a number"]),
        ("craft.parameters.mass", True, ["craft.parameters.mass = true: must be a number"]),
        ("craft.parameters.mass", 10**400, ["mass = an integer of 1329 bits: must be a finite number"]),
        ("craft.parameters.mass", {"a": 1}, ["craft.parameters.mass = {'a': 1}: must be a number"]),
        ("craft.parameters.mass", "x" * 5000, ["...", "must be a number"]),
        ("craft.parameters.port[1].position", [1, {}, 3], ["port[1].position[2] = {}: must be a number"]),
        ("craft.parameters.mass", [1, 2], ["craft.parameters.mass = [1, 2]: must be one value, not 2"]),
        ("craft.parameters.fixed", "no", ["craft.parameters.fixed = 'no': must be true or false"]),
        ("craft.parameters.port[1].position", [1, 2], ["the array takes 3 values, got 2"]),
        ("craft.parameters.inertia", [1, 2, 3], ["the array takes 3 x 3 values, got 3"]),
        ("craft.parameters.inertia", [[1, 2, 3], [1, 2]], ["takes 3 x 3 values, got rows of unequal length"]),
        ("craft.parameters.port[1].position", [1, "a", 3], ["port[1].position[2] = 'a': must be a number"]),
        ("craft.parameters.port[1].base_motion", "LAGED",
         ["'LAGED': not one of SOURCE, LAGGED, AFFINE", "did you mean LAGGED?"]),
    ],
)  # fmt: skip
def test_values_of_the_wrong_name_shape_or_type(craft, name, value, words):
    with pytest.raises(StructureError) as caught:
        set_value(craft, name, value)
    for word in words:
        assert word in str(caught.value)
    assert len(str(caught.value)) < 300
    craft.check()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("craft.parameters.mass", -1, "craft.parameters.mass = -1.0: less than its minimum 0.001 kg"),
        ("craft.parameters.mass", float("nan"), "must be a finite number"),
        ("craft.parameters.mass", float("inf"), "must be a finite number"),
        ("craft.parameters.fixed", 2, "craft.parameters.fixed = 2: must be a Boolean"),
        ("craft.command.push", 0.5, "an Integer takes integers"),
        ("craft.command.push", 7, "craft.command.push = 7: more than its maximum 1"),
        (
            "craft.command.push",
            10**400,
            "craft.command.push = an integer of 1329 bits: outside the range of 32-bit integers",
        ),
        ("craft.parameters.port[1].base_motion", 4, "not one of {SOURCE = 1, LAGGED = 2, AFFINE = 3}"),
        ("craft.body.position[1]", 1.0, "craft.body.position[1] cannot be set"),
    ],
)
def test_values_out_of_range_are_found_when_the_system_is_checked(craft, name, value, words):
    set_value(craft, name, value)
    with pytest.raises(StructureError) as caught:
        craft.check()
    assert words in str(caught.value)


def test_single_values_go_before_sets_and_all_problems_are_told_together(craft):
    mass, fixed = (
        SsvParameter("craft.parameters.mass", "Real", 9e3),
        SsvParameter("craft.parameters.fixed", "Boolean", True),
    )
    entry = SsvParameterSet("mine", [mass, fixed])
    Settings({"craft.parameters.mass": 8e3}, (entry,)).apply(craft)
    assert craft.elements["craft"].start == {"parameters.mass": 8e3, "parameters.fixed": True}
    entry.parameters.append(SsvParameter("craft.parameters.mas", "Real", 1.0))
    with pytest.raises(StructureError) as caught:
        Settings({"crafd.x": 1, "craft.y": 2}, (entry,)).apply(craft)
    assert len(caught.value.problems) == 3
    assert "mine: craft has no variable 'parameters.mas'; did you mean parameters.mass" in str(caught.value)


def test_names_of_elements_may_hold_dots(oscillator):
    system = Structure("nested")
    system.add("a", oscillator)
    system.add("a.b", oscillator)
    set_value(system, "a.b.parameters.mass", 2.0)
    set_value(system, "a.parameters.mass", 3.0)
    assert system.elements["a.b"].start == {"parameters.mass": 2.0}
    assert system.elements["a"].start == {"parameters.mass": 3.0}


def test_an_array_of_enumerations_takes_names(fmus, tmp_path):
    """Renamed to an array, the two base motions of a craft are set at once."""
    file = fmus["Spacecraft"]
    for k in (1, 2):
        old, new = f'name="parameters.port[{k}].base_motion"', f'name="parameters.motion[{k}]"'
        file = changed_text(file, tmp_path / f"renamed-{k}.fmu", "modelDescription.xml", old, new)
    system = Structure("craft")
    system.add("craft", file)
    set_value(system, "craft.parameters.motion", ["SOURCE", "AFFINE"])
    assert system.elements["craft"].start == {"parameters.motion[1]": 1, "parameters.motion[2]": 3}
