"""Names that other tools write: commas, brackets, quotes, equals signs, digits and "true" mean one thing everywhere."""

import csv
import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
import scipy.io

from dockfmu import System, load
from dockfmu.base.names import array_shape, matching, split_list
from dockfmu.cli import main
from dockfmu.commands.arguments import CommandError, divided, file_pairs, pairs, processes
from dockfmu.commands.reduce import _section as section
from dockfmu.declare.settings import Written, set_value
from dockfmu.master.errors import StructureError
from dockfmu.master.system import Structure

ODD = ["A[1,2]", "der(x,2)", 'say "hi"', "a*b", "axb", "semi;colon", "one, two", "1st", "µ", "last.", "old\rline"]


def description(outputs=ODD, items=(), extra=""):
    """A lag whose outputs have other names, all for y[1]."""
    listed = "".join(
        f'<ScalarVariable name={quoteattr(name)} valueReference="1" causality="output" '
        'variability="continuous" initial="calculated"><Real/></ScalarVariable>'
        for name in outputs
    )
    ending = "".join(f'<Item name="{name}" value="{value}"/>' for name, value in items)
    types = f'<TypeDefinitions><SimpleType name="E"><Enumeration>{ending}</Enumeration></SimpleType></TypeDefinitions>'
    mode = '<Enumeration declaredType="E" start="1"/>' if items else '<Integer start="0"/>'
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Lag" guid="lag">
<CoSimulation modelIdentifier="Lag" canHandleVariableCommunicationStepSize="true"/>{types if items else ""}
<ModelVariables>{listed}
<ScalarVariable name="p[1,2]" valueReference="2" causality="parameter" variability="fixed">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="mode" valueReference="0" causality="input" variability="discrete">{mode}</ScalarVariable>
<ScalarVariable name="label" valueReference="0" causality="parameter" variability="fixed">
<String start=""/></ScalarVariable>
{extra}</ModelVariables>
<ModelStructure/></fmiModelDescription>"""


@pytest.fixture(scope="module")
def recorded(third_party, tmp_path_factory):
    """The folder of a run with odd names."""
    folder = tmp_path_factory.mktemp("odd")
    system = System("odd")
    system.add("n", third_party.build(folder, xml=description()))
    system.record(folder / "out", step=0.5, stop=1.0, report=False)
    return folder / "out"


@pytest.mark.parametrize("name", ODD)
def test_each_name_selects_itself_alone_in_an_export(recorded, tmp_path, name):
    file = tmp_path / "x.csv"
    assert main(["export", str(recorded), "--csv", "-o", str(file), "--signals", f"n.{name}"]) == 0
    with file.open(newline="") as lines:
        assert next(csv.reader(lines)) == ["time [s]", f"n.{name} [1]"]


def test_lists_and_patterns_still_select_several(recorded, tmp_path):
    file = tmp_path / "x.csv"
    assert main(["export", str(recorded), "--csv", "-o", str(file), "--signals", "n.A[1,2],n.der(x,2),n.a*"]) == 0
    with file.open(newline="") as lines:
        assert set(next(csv.reader(lines))) == {
            "time [s]",
            *(f"n.{n} [1]" for n in ("A[1,2]", "der(x,2)", "a*b", "axb")),
        }


@pytest.mark.parametrize("name", ODD)
def test_a_comparison_takes_each_name(recorded, name, capsys):
    assert main(["compare", str(recorded), str(recorded), "--no-figure", "--signals", f"n.{name}"]) == 0
    assert "of 1, from" in capsys.readouterr().out


def test_a_header_of_odd_names_is_csv(recorded, tmp_path):
    assert main(["export", str(recorded), "--csv", "-o", str(tmp_path / "x.csv")]) == 0
    with (tmp_path / "x.csv").open(newline="") as lines:
        rows = list(csv.reader(lines))
    assert {len(row) for row in rows} == {len(ODD) + 1}
    assert {f"n.{name} [1]" for name in ODD} < set(rows[0])


def test_names_in_matlab_are_legal(recorded, tmp_path):
    assert main(["export", str(recorded), "--mat", "-o", str(tmp_path / "x.mat")]) == 0
    found = scipy.io.loadmat(tmp_path / "x.mat")
    for name in found.keys() - {"__header__", "__version__", "__globals__"}:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name), name


@pytest.mark.parametrize(
    ("names", "legal"), [(["a+", "a-"], "n_a"), (["y" * 61 + "1", "y" * 61 + "2"], "n_" + "y" * 61)]
)
def test_names_that_matlab_cannot_tell_apart_are_refused(third_party, tmp_path, capsys, names, legal):
    system = System("odd")
    system.add("n", third_party.build(tmp_path, xml=description(names)))
    system.record(tmp_path / "out", step=0.5, stop=1.0, report=False)
    export = ["export", str(tmp_path / "out"), "--mat", "-o", str(tmp_path / "x.mat")]
    assert main(export) == 2
    assert f"n.{names[1]} and n.{names[0]} have the same MATLAB name {legal}: leave one out" in capsys.readouterr().err
    assert not (tmp_path / "x.mat").exists()
    assert main([*export, "--signals", f"n.{names[1]}"]) == 0
    found = scipy.io.loadmat(tmp_path / "x.mat")
    assert found["names"][0, 0] == legal
    assert found["names"][0, 1] == f"n.{names[1]}"
    assert found[legal].shape == (3, 1)


def alone(third_party, folder, **changes):
    system = Structure("alone")
    system.add("a", third_party.build(folder, xml=description(**changes)))
    return system


@pytest.mark.parametrize("text", ["true", "007", "1e3", "[1, 2]", "1,2", "20t", "null", " x"])
def test_a_text_stays_as_it_is_written(third_party, tmp_path, text):
    system = alone(third_party, tmp_path)
    set_value(system, "a.label", Written(text))
    assert system.elements["a"].start == {"label": text}


ITEMS = [("true", 3), ("1", 5), ("2", 2), ("x,y", 1), ("off", 4)]


@pytest.mark.parametrize(("text", "value"), [("true", 3), ("2", 2), ("x,y", 1), ("4", 4), ("off", 4), ("3", 3)])
def test_items_are_taken_by_name_or_number(third_party, tmp_path, text, value):
    system = alone(third_party, tmp_path, items=ITEMS)
    set_value(system, "a.mode", Written(text))
    assert system.elements["a"].start == {"mode": value}


def test_an_item_whose_name_is_the_number_of_another_is_refused(third_party, tmp_path):
    system = alone(third_party, tmp_path, items=ITEMS)
    with pytest.raises(
        StructureError, match=r"a.mode = 1: is both the item '1', which is 5, and the number of .* 'x,y'"
    ):
        set_value(system, "a.mode", Written("1"))


def test_one_name_with_subscripts_is_a_scalar(third_party, tmp_path, capsys):
    system = System("alone")
    system.add("a", third_party.build(tmp_path, xml=description()))
    file = system.write(tmp_path / "alone.ssp")
    assert main(["parameters", str(file)]) == 0
    assert "a.p[1,2]  1" in capsys.readouterr().out
    assert load(file, {"a.p[1,2]": 3.0}).structure.elements["a"].start["p[1,2]"] == 3.0
    with pytest.raises(StructureError, match=r"a has no variable 'p'"):
        load(file, {"a.p": 3.0})


def test_a_name_that_two_elements_have_is_refused(third_party, tmp_path):
    system = Structure("two")
    system.add("a", third_party.build(tmp_path, "A", xml=description(["b.y", "b.z"])))
    system.add("a.b", third_party.build(tmp_path, "B", xml=description(["y"])))
    assert system.resolve("a.b.z")[0] == "a"
    assert system.resolve("a.b.y")[0] == "a.b"
    with pytest.raises(StructureError, match=r"a.b.y is the variable 'y' of element 'a.b', and b.'y' of element 'a'"):
        system.check()


def test_outcomes_that_differ_in_case_only_are_refused(third_party, tmp_path):
    extra = (
        '<ScalarVariable name="end" valueReference="1" causality="output" variability="discrete" initial="calculated">'
        '<Enumeration declaredType="E"/></ScalarVariable>'
    )
    system = System("case")
    system.add("a", third_party.build(tmp_path, xml=description(items=[("Docked", 1), ("DOCKED", 2)], extra=extra)))
    system.declare_outcome("a.end", ["docked"])
    with pytest.raises(StructureError, match=r"the items 'Docked' and 'DOCKED' of a.end both give 'docked'"):
        system.run(step=0.5, stop=1.0)
    system.declare_outcome("a.end", ["docked"], names={1: "captured", 2: "docked"})
    assert system.run(step=0.5, stop=1.0).outcome == "docked"


@pytest.mark.quick
def test_lists_are_split_outside_brackets():
    assert split_list("a[1,2], der(x,2),b") == ["a[1,2]", "der(x,2)", "b"]
    assert split_list("a[1,*") == ["a[1,*"]
    assert split_list("one, two", {"one, two"}) == ["one, two"]
    assert matching("a*b", ["a*b", "axb", "a*b.c"]) == ["a*b", "a*b.c"]
    assert array_shape([(1, 1), (1, 2), (2, 1), (2, 2)]) == (2, 2)
    assert array_shape([(1, 2)]) == array_shape([()]) == array_shape([(0,)]) == array_shape([]) == ()


def test_a_name_of_5000_digits_is_shortened_in_the_message(recorded, tmp_path, capsys):
    words = ["--signals", f"n.A[{'9' * 5000}]"]
    assert main(["export", str(recorded), "--csv", "-o", str(tmp_path / "x.csv"), *words]) == 2
    said = capsys.readouterr().err
    assert "holds no 'n.A[99" in said
    assert len(said) < 500


EQUAL = """<ScalarVariable name="p=q" valueReference="2" causality="parameter" variability="fixed">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="p=r" valueReference="2" causality="parameter" variability="fixed">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="label=a" valueReference="0" causality="parameter" variability="fixed">
<String start=""/></ScalarVariable>
"""


@pytest.mark.parametrize(
    ("texts", "start"),
    [
        (["a.p=q=3"], {"p=q": 3.0}),
        (["a.p=q=3", "a.p=r=4"], {"p=q": 3.0, "p=r": 4.0}),
        (["a.p=q=3", "a.p=q=4"], {"p=q": 4.0}),
        (["a.p[1,2]=3"], {"p[1,2]": 3.0}),
        (["a.label=x=y"], {"label": "x=y"}),
        (["a.label=b=c=d"], {"label": "b=c=d"}),
    ],
)
def test_names_with_equal_signs_are_found(third_party, tmp_path, texts, start):
    """Regression: `--set n.p=q=3` set a variable p, which there was not."""
    system = alone(third_party, tmp_path, extra=EQUAL)
    for name, value in pairs(texts, "--set").items():
        set_value(system, name, Written(value))
    assert system.elements["a"].start == start


def test_a_text_that_can_set_two_variables_is_refused(third_party, tmp_path):
    system = alone(third_party, tmp_path, extra=EQUAL)
    with pytest.raises(
        StructureError, match=r"a.label=a=b: could set a.label to a=b and a.label=a to b; give .* \.ssv"
    ):
        set_value(system, "a.label", Written("a=b"))
    with pytest.raises(StructureError, match=r"a has no variable 'x'"):
        set_value(system, "a.x", Written("y=3"))


def test_elements_with_equal_signs_are_replaced():
    file = Path("f.fmu")
    assert divided({"a": file}, ["a", "b"]) == {"a": file}
    assert divided({"a": Path("b=f.fmu")}, ["a=b"]) == {"a=b": file}
    assert divided({"a": Path("b=f.fmu")}, ["a"]) == {"a": Path("b=f.fmu")}
    with pytest.raises(CommandError, match="could replace a or a=b"):
        divided({"a": Path("b=f.fmu")}, ["a", "a=b"])


BLANK = """<ScalarVariable name="p" valueReference="2" causality="parameter" variability="fixed">
<Real start="1"/></ScalarVariable>
<ScalarVariable name="p " valueReference="2" causality="parameter" variability="fixed">
<Real start="1"/></ScalarVariable>
"""


@pytest.mark.parametrize(
    ("texts", "start"),
    [
        (["a.p[1,2] = 3"], {"p[1,2]": 3.0}),
        ([" a.p[1,2] =3"], {"p[1,2]": 3.0}),
        (["a.p=3", "a.p =4"], {"p": 3.0, "p ": 4.0}),
        (["a.p = 4"], {"p ": 4.0}),
        (["a.mode =0", "a.mode= 1"], {"mode": 1}),
    ],
)
def test_blanks_around_the_equals_sign_do_not_count_unless_a_name_has_them(third_party, tmp_path, texts, start):
    system = alone(third_party, tmp_path, extra=BLANK)
    for name, value in pairs(texts, "--set").items():
        set_value(system, name, Written(value))
    assert system.elements["a"].start == start
    with pytest.raises(CommandError, match="must be NAME=VALUE"):
        pairs([" =3"], "--set")
    with pytest.raises(StructureError, match=r"a has no variable 'x'"):
        set_value(system, "a.x ", Written("3"))


def test_blanks_around_equals_signs_are_the_same_in_every_option():
    """Regression: `--process "a =3"` and `--section "a =1-2"` were refused, `--set "a.p =3"` not."""
    file = Path("f.fmu")
    assert divided(file_pairs(["a = f.fmu"], "--swap"), ["a"]) == {"a": file}
    assert divided(file_pairs(["a =f.fmu"], "--swap"), ["a", "a "]) == {"a ": file}
    assert processes(["a = 3", " b "], ["a", "b"]) == {"a": 3.0, "b": None}
    assert processes(["a =3"], ["a", "a "]) == {"a ": 3.0}
    assert section("a = 1-2") == section("a=1-2")
    assert split_list("a , b", ["a ", "b"]) == ["a ", "b"]


def test_elements_with_equal_signs_get_a_process():
    """Regression: they could not, and `a=3` meant the element a where both were there."""
    assert processes(["a=b", "c=4ms"], ["a=b", "c"]) == {"a=b": None, "c": 4e-3}
    assert processes(["a=b=5"], ["a=b"]) == {"a=b": 5.0}
    with pytest.raises(CommandError, match=r"--process a=3: could mean a=3 or a"):
        processes(["a=3"], ["a", "a=3"])
    with pytest.raises(CommandError, match=r"--process a=x: 'x' is not a positive time"):
        processes(["a=x"], ["a"])
