"""Another FMU replaces an element: one that fits runs, one that does not is refused port by port."""

import json
import zipfile

import numpy as np
import pytest

from dockfmu import System, load
from dockfmu.commands.arguments import NO_SUCCESS
from dockfmu.master.errors import StructureError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.system import Structure
from dockfmu.swap.fit import swap
from tests.dockfmu.command_line import dockfmu, run_system
from tests.dockfmu.small_systems import PLAN, changed_archive, pair_system

pytestmark = pytest.mark.slow

DESCRIPTION = "modelDescription.xml"


@pytest.fixture
def changed(oscillator, tmp_path):
    """Return an oscillator with texts of its model description replaced."""

    def make(*replacements):
        with zipfile.ZipFile(oscillator) as archive:
            text = archive.read(DESCRIPTION).decode()
        for old, new in replacements:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return changed_archive(oscillator, tmp_path / "changed.fmu", {DESCRIPTION: text.encode()})

    return make


MILLIMETRES = ('<Unit name="m">', '<Unit name="mm"><BaseUnit m="1" factor="1e-3"/></Unit><Unit name="m">')
VARIABLE = ' causality="{}" variability="{}" initial="{}">\n      <Real unit="m"'
IN_METRES = 'relaxed position of the spring"' + VARIABLE.format("output", "continuous", "calculated")


def test_the_same_fmu_fits_and_keeps_its_values(oscillator, changed):
    system = pair_system(oscillator)
    other = changed(('modelName="Oscillator"', 'modelName="Pendulum"'))
    assert swap(system, "first", other) == (set(), [])
    assert system.elements["first"].file == other
    assert system.elements["first"].start == {"parameters.initial_position": 1.0}
    system.check()


@pytest.mark.parametrize(
    ("replacements", "told"),
    [
        ([('name="position"', 'name="place"')], "position: needs output Real in m, has no such variable"),
        ([('name="force"', 'name="push"')], "force: needs input Real in N, has no such variable"),
        (
            [('along x" causality="input"', 'along x" causality="parameter"')],
            "force: needs input Real in N, has parameter Real in N",
        ),
        ([(IN_METRES, IN_METRES[:-3] + '"J"')], "position: needs output Real in m, has output Real in J"),
        (
            [MILLIMETRES, (IN_METRES, IN_METRES[:-3] + '"mm"')],
            "position: needs output Real in m, has output Real in mm",
        ),
        ([('<Real unit="N" start="0.0"/>', '<Integer start="0"/>')], "force: needs input Real in N, has input Integer"),
    ],
)
def test_what_is_missing_or_differs_is_told(oscillator, changed, replacements, told):
    """A unit of millimetres is reported too, because the connections of the pair do not convert."""
    system = pair_system(oscillator)
    with pytest.raises(StructureError) as caught:
        swap(system, "first", changed(*replacements))
    assert caught.value.problems == (f"changed.fmu cannot take the place of first: {told}",)
    assert system.elements["first"].file == oscillator


def test_other_units_of_one_quantity_fit_where_they_are_converted(oscillator, changed):
    system = Structure("chain")
    system.add("first", oscillator, {"parameters.initial_position": 1.0})
    system.add("second", oscillator)
    system.connect("first", "position", "second", "force", convert_units=False)
    start = 'displacement at the start"' + VARIABLE.format("parameter", "fixed", "exact")
    other = changed(MILLIMETRES, (start, start.replace('"m"', '"mm"')))
    assert swap(system, "first", other) == (set(), [])
    assert system.elements["first"].start == {"parameters.initial_position": 1000.0}


def test_start_values_that_the_other_fmu_does_not_know_are_told(oscillator, changed):
    system = pair_system(oscillator)
    lost, notes = swap(system, "first", changed(('name="parameters.initial_position"', 'name="parameters.x0"')))
    assert lost == set()
    assert notes == ["changed.fmu does not take 1 start values of first: parameters.initial_position"]
    assert system.elements["first"].start == {}


def test_an_optional_input_that_the_other_fmu_lacks_is_left_unconnected_and_told(oscillator, changed, tmp_path):
    """Only where the replaced element says so, and only what is missing: what is there must fit all the same."""
    marked = changed(('along x" causality="input"', 'along x; optional" causality="input"')).rename(
        tmp_path / "marked.fmu"
    )
    lacking = changed(('name="force"', 'name="push"'))
    system = pair_system(oscillator)
    system.elements["first"].file = marked
    assert swap(system, "first", lacking) == (set(), ["changed.fmu does not read force of first, which is optional"])
    assert [(c.target, c.input) for c in system.connections] == [("second", "force")]
    system.check()
    system = pair_system(oscillator)
    system.elements["first"].file = marked
    other_kind = changed(('along x" causality="input"', 'along x" causality="parameter"'))
    with pytest.raises(StructureError, match="force: needs input Real in N, has parameter Real in N"):
        swap(system, "first", other_kind)
    assert len(system.connections) == 2


def test_a_plan_goes_on_without_what_is_lost():
    plan, notes = PLAN.without({"second.position", "first.audit.momentum[1]"})
    assert (plan.events, plan.audited, plan.supplied) == ({}, (), ())
    assert notes == [
        "event pushed_far is not watched: there is no second.position",
        "momentum and energy are not audited: there is no first.audit.momentum",
    ]
    assert PLAN.without({"second.velocity", "first.audit.dissipated_damper"}) == (PLAN, [])


ITEMS = (
    '<SimpleType name="Ending"><Enumeration><Item name="NONE" value="1"/><Item name="DONE" value="2"/></Enumeration>'
)


def with_an_ending(third_party, folder, *, plain):
    """A lag whose count of steps is an Enumeration with a description; `plain`: Integer, without unit and start."""
    xml = third_party.description()
    if plain:
        xml = xml.replace(' unit="m"', "").replace('<Real start="1" min="0" max="1000"/>', "<Real/>")
    else:
        count = '<ScalarVariable name="count" valueReference="1" causality="output"'
        assert count in xml
        xml = xml.replace(count, count + ' description="how it ends"')
        xml = xml.replace(
            'initial="calculated"><Integer/>', 'initial="calculated"><Enumeration declaredType="Ending"/>'
        )
        types = f"<TypeDefinitions>{ITEMS}</SimpleType></TypeDefinitions>"
        xml = xml.replace("<DefaultExperiment", f"{types}<DefaultExperiment")
        assert xml.count("Ending") == 2
    folder.mkdir()
    return third_party.build(folder, xml=xml)


def test_what_the_new_fmu_does_not_say_is_that_of_the_replaced_one(third_party, tmp_path):
    """Names of outcomes, units, descriptions and start values: every FMU from a skeleton has Integers only."""
    system = System("endings")
    system.add("a", with_an_ending(third_party, tmp_path / "ours", plain=False))
    system.declare_outcome("a.count", ["done"])
    assert system.run(step=0.5, stop=1.0).outcome == "done"
    file = with_an_ending(third_party, tmp_path / "theirs", plain=True)
    system.swap("a", file)
    outcome = system.run(step=0.5, stop=1.0)
    assert (outcome.outcome, outcome.success) == ("done", True)
    count, y = (system.structure.resolve(name)[1] for name in ("a.count", "a.y[1]"))
    assert (count.type, count.items, count.description) == ("Integer", (("NONE", 1), ("DONE", 2)), "how it ends")
    assert y.unit == outcome.unit("a.y[1]") == "m"
    assert system.structure.elements["a"].start["gain"] == 1.0
    # a package keeps the names of outcomes in its plan
    again = load(system.write(tmp_path / "swapped.ssp"))
    assert again.run(step=0.5, stop=1.0).outcome == "done"


def test_an_fmu_of_a_third_party_runs_in_the_place_of_ours(pair, python_fmu, tmp_path):
    """Its semi-implicit Euler against the exact solution: an error of the order of the step, 0.01 s.

    Its output goes to standard error, because standard output is for the summary.
    """
    fmu = python_fmu("plain_oscillator")
    arguments = ("run", pair, "--stop", 1.0, "--json")
    ours = dockfmu(*arguments, "-o", "ours", "--no-report", cwd=tmp_path)
    theirs = dockfmu(*arguments, "-o", "theirs", "--swap", f"second={fmu}", cwd=tmp_path)
    assert (ours.returncode, theirs.returncode) == (0, 0), ours.stderr + theirs.stderr
    summary = json.loads(theirs.stdout)
    assert summary == json.loads((tmp_path / "theirs" / "summary.json").read_text())
    assert "a line of a library on standard output" in theirs.stderr
    assert [event["name"] for event in summary["events"]] == []
    assert any("are not audited: there is no second.audit" in warning for warning in summary["warnings"])
    with read_results(tmp_path / "ours" / "results.h5") as one, read_results(tmp_path / "theirs" / "results.h5") as two:
        assert np.abs(one["second.position"] - two["second.position"]).max() < 0.01
        assert np.abs(two["second.position"]).max() > 0.05
        assert two.fmus["second"]["model_name"] == "PlainOscillator"
    assert (tmp_path / "theirs" / "report.html").is_file()


@pytest.mark.slow
def test_a_cyclogram_of_a_third_party(python_fmu, tmp_path):
    fmu = python_fmu("plain_cyclogram")
    done = dockfmu("run", "central_impact_20t", "--swap", f"cyclogram={fmu}", "--stop", 1.0, "--json", cwd=tmp_path)
    assert done.returncode == NO_SUCCESS, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["status"], summary["outcome"]) == ("completed", "unknown")
    assert "the outcome will be unknown, hence not a success: there is no cyclogram.outcome" in summary["warnings"]
    assert "the run continues to its stop time: there is no cyclogram.finished to end it" in summary["warnings"]
    unread = "PlainCyclogram.fmu does not read docking.angles[1, 2, 3] of cyclogram, which is optional"
    assert unread in summary["warnings"]
    assert summary["peaks"]["mechanism.target.force_now[1]"]["max"] > 9e3
    assert summary["audit"]["energy_residual"] < 1e-3


@pytest.mark.slow
def test_a_cyclogram_in_the_place_of_a_craft_is_told_port_by_port(tmp_path):
    assert dockfmu("build", "ProbeCyclogram", cwd=tmp_path).returncode == 0
    done = dockfmu("run", "central_impact_20t", "--swap", "chaser=build/fmus/ProbeCyclogram.fmu", cwd=tmp_path)
    assert done.returncode == 2
    begin = "ProbeCyclogram.fmu cannot take the place of chaser: "
    for told in (
        "port[1].force[1, 2, 3]: needs input Real in N, has no such variable",
        "port[1].quaternion[1, 2, 3, 4]: needs output Real in 1, has no such variable",
        "command.push: needs input Integer, has output Integer",
        "command.attitude_hold: needs input Boolean, has no such variable",
    ):
        assert begin + told in done.stderr


@pytest.mark.slow
def test_the_python_fmu_of_a_craft_gives_what_the_native_one_gives(tmp_path):
    """They agree to rounding over an impact: one micrometre of the head is 10 N, and forces are some kN."""
    built = dockfmu("build", "Spacecraft", "--kind", "python", cwd=tmp_path)
    assert built.stdout.strip() == "build/fmus/Spacecraft-python.fmu"
    assert read_description(tmp_path / built.stdout.strip()).needs_execution_tool
    arguments = ("central_impact_20t", "--stop", 0.2, "--no-report")
    native = run_system(tmp_path / "native", *arguments, cwd=tmp_path)
    python = run_system(tmp_path / "python", *arguments, "--swap", f"chaser={built.stdout.strip()}", cwd=tmp_path)
    assert python.results.variables == native.results.variables
    for name in native.results.variables:
        expected, found = np.asarray(native.results[name], float), np.asarray(python.results[name], float)
        assert np.abs(found - expected).max() <= 1e-12 * max(np.abs(expected).max(), 1.0), name
    assert python.results["mechanism.target.force_now[1]"].max() > 1e3
