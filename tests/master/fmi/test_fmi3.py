"""FMUs of FMI 3.0: arrays, all types, states, derivatives, and coupling with FMUs of FMI 2.0."""

import ctypes
import zipfile

import numpy as np
import pytest

from dockfmu.master.errors import DescriptionError, FmuError, StructureError
from dockfmu.master.fmi.description import read_description
from dockfmu.master.fmi.instance import Fmu
from dockfmu.master.observers.recording.recorder import Recorder
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.run.schedule import Schedule
from dockfmu.master.run.simulation import CoSimulation
from dockfmu.master.step_control import Retry
from dockfmu.master.system import Structure

WHOLE = ("Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64")


def test_arrays_are_described_as_their_elements(arrays):
    description = read_description(arrays)
    assert description.fmi_version == "3.0"
    names = list(description.variables)
    assert [name for name in names if name.startswith("u[")] == ["u[1]", "u[2]", "u[3]"]
    assert [name for name in names if name.startswith("matrix")] == [
        f"matrix[{i},{j}]" for i in (1, 2) for j in (1, 2, 3)
    ]
    assert description.variables["matrix[2,1]"].start == 4.0
    # an alias is the same element under another name, and what the type says holds for all
    assert description.variables["position[2]"].reference == description.variables["y[2]"].reference
    assert description.variables["y[2]"].unit == "m"
    assert description.variables["y[2]"].minimum == -100.0
    assert description.variables["Enumeration.in"].items == (("off", 1), ("on", 2))
    assert description.outputs["through[1]"] == ("u[1]", "u[2]", "u[3]")
    assert description.outputs["y[3]"] == ()
    assert description.left_out == {"blob": "it is a Binary variable, which this master does not support"}


def test_structural_parameters_give_the_lengths(arrays):
    assert "u[5]" in read_description(arrays, {"n": 5}).variables
    assert "u[1]" not in read_description(arrays, {"n": 0}).variables


def test_after_an_error_in_configuration_mode_nothing_else_is_called_and_the_reason_is_that_of_the_fmu(arrays):
    """FMI 3.0, 2.3.1: after fmi3Error only a reset or the end. StateSpace of the Reference FMUs of 2026 showed it."""
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        with pytest.raises(FmuError, match=r'for n = 1000 .*the FMU says: "n is too large"'):
            instance.set({"n": 1000})


@pytest.mark.parametrize("kind", WHOLE)
def test_whole_numbers_of_every_type_pass(arrays, kind):
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        largest = 2**31 - 1 if "32" in kind or "64" in kind else np.iinfo(kind.lower()).max
        for value in (largest, 0, 1):
            instance.set({f"{kind}.in": value})
            assert instance.get([f"{kind}.out"]) == [value]
        if largest < 2**31 - 1 or kind.startswith("U"):
            with pytest.raises(FmuError, match=r"fmi3SetInt\.\.\. gave fmi3Error.*does not fit the type"):
                instance.set({f"{kind}.in": -1 if kind.startswith("U") else largest + 1})


def test_other_types_pass(arrays):
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"single.in": 0.1, "Boolean.in": True, "Enumeration.in": 2, "label": "Größe"})
        assert instance.get(["single.out", "Boolean.out", "Enumeration.out", "label", "echo"]) == [
            2.0 * float(np.float32(0.1)),
            True,
            2,
            "Größe",
            "Größe 0",
        ]


def test_a_number_beyond_single_precision_is_refused(arrays):
    """It would have become infinite without a word."""
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        with pytest.raises(FmuError, match="does not fit the type"):
            instance.set({"single.in": 1e39})
        # the FMU gives twice the number
        instance.set({"single.in": -1.5e38})
        assert instance.get(["single.out"]) == [2.0 * float(np.float32(-1.5e38))]


def test_a_number_that_needs_more_than_32_bits_is_refused(arrays):
    with Fmu(arrays) as fmu, pytest.raises(FmuError, match="needs more than 32 bits"):
        fmu.instantiate("a").get(["wide"])


def test_single_elements_are_set_and_leave_the_others(arrays):
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"matrix[2,3]": 60.0, "names[2]": "z"})
        assert instance.get(["matrix[1,1]", "matrix[2,3]", "rows[2]", "joined"]) == [1.0, 60.0, 69.0, "a+z"]
        # any order, elements twice, several variables in one call
        assert instance.get(["rows[2]", "matrix[2,2]", "gain", "matrix[2,2]", "rows[1]"]) == [69.0, 5.0, 1.0, 5.0, 6.0]


def test_after_a_state_is_restored_single_elements_do_not_bring_back_others(arrays):
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        instance.initialize()
        state = instance.get_state()
        instance.set({"u[1]": 7.0})
        instance.set_state(state)
        instance.set({"u[2]": 1.0})
        assert instance.get(["u[1]", "u[2]", "u[3]"]) == [0.0, 1.0, 0.0]
        copy = instance.deserialize(instance.serialize(instance.get_state()))
        instance.set({"u[2]": 9.0})
        instance.set_state(copy)
        assert instance.get(["u[2]"]) == [1.0]


def test_elements_of_a_resized_array_that_are_not_set_keep_the_values_of_the_fmu(arrays):
    """The start values of the description are those of another length: they were zeros."""
    with Fmu(arrays, {"n": 5}) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"bias[2]": 1.0})
        assert instance.get([f"bias[{k}]" for k in range(1, 6)]) == [7.0, 1.0, 9.0, 10.0, 11.0]


def test_elements_of_an_array_without_start_values_keep_the_values_of_the_fmu(fmi3, arrays_library, tmp_path):
    text = fmi3.description()
    assert ' start="7 8 9"' in text
    file = fmi3.build(tmp_path, arrays_library, xml=text.replace(' start="7 8 9"', ""))
    with Fmu(file) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"bias[3]": 1.0})
        assert instance.get(["bias[1]", "bias[2]", "bias[3]"]) == [7.0, 8.0, 1.0]


@pytest.mark.parametrize("process", [False, True])
def test_a_resized_array_in_a_run_has_the_values_of_the_fmu(arrays, tmp_path, process):
    system = Structure("resized")
    system.add("a", arrays, {"bias[4]": 1.0, "n": 4}, process=process)
    names = [f"a.bias[{k}]" for k in range(1, 5)]
    result = CoSimulation(system, Schedule(step=0.01, stop=0.02), observers=[Recorder(tmp_path / "r.h5", names)]).run()
    assert result.status == "completed", result.message
    with read_results(tmp_path / "r.h5") as results:
        assert [results[name][-1] for name in names] == [7.0, 8.0, 9.0, 1.0]


def test_an_array_that_cannot_be_read_yet_is_set_as_a_whole(arrays):
    """FMI does not oblige FMUs to give values before they are initialised."""
    with Fmu(arrays, {"n": 4}) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"fault": 8})
        instance.set({f"bias[{k}]": float(k) for k in (3, 1, 4, 2)})
        instance.initialize()
        assert instance.get([f"bias[{k}]" for k in range(1, 5)]) == [1.0, 2.0, 3.0, 4.0]
        other = fmu.instantiate("b")
        other.set({"fault": 8})
        with pytest.raises(FmuError, match=r"bias\[2\] = 1\.0.*set all elements of the array"):
            other.set({"bias[2]": 1.0})


@pytest.mark.parametrize("n", [3, 5])
def test_after_a_reset_single_elements_do_not_bring_back_others(arrays, n):
    with Fmu(arrays, {"n": n}) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"bias[1]": 1.0, "names[1]": "x"})
        instance.initialize()
        instance.renew()
        instance.set({"bias[2]": 2.0, "names[2]": "y"})
        assert instance.get(["bias[1]", "bias[2]", "bias[3]", f"bias[{n}]", "joined"]) == [
            7.0,
            2.0,
            9.0,
            6.0 + n,
            "a+y",
        ]


def test_an_array_of_its_own_length_needs_no_reading(arrays):
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        instance.set({"fault": 8, "bias[2]": 1.0})
        instance.initialize()
        assert instance.get(["bias[1]", "bias[2]", "bias[3]"]) == [7.0, 1.0, 9.0]


def test_derivatives_of_elements(arrays):
    with Fmu(arrays) as fmu:
        instance = fmu.instantiate("a")
        instance.initialize()
        instance.set({"u[3]": 4.0})
        number = {name: instance.variable(name).reference for name in ("u[2]", "u[3]", "through[2]", "through[3]")}
        two = ctypes.c_uint32 * 2
        found = (ctypes.c_double * 2)()
        instance.call(
            "fmi2GetDirectionalDerivative",
            two(number["through[3]"], number["through[2]"]),
            2,
            two(number["u[2]"], number["u[3]"]),
            2,
            (ctypes.c_double * 2)(1.0, 10.0),
            found,
        )
        assert list(found) == [20.0, 2.0]
        y = (ctypes.c_uint32 * 1)(instance.variable("y[3]").reference)
        instance.call("fmi2GetRealOutputDerivatives", y, 1, (ctypes.c_int32 * 1)(1), found)
        assert found[0] == 4.0


def test_fmus_of_both_versions_in_one_system(arrays, lag, tmp_path):
    """A ring: y' = u - y in FMI 3.0 with four elements, the second of which passes through a lag in FMI 2.0."""
    system = Structure("mixed")
    system.add("three", arrays, {"n": 4, "gain": 2.0, "u[1]": 1.0})
    system.add("two", lag, {"gain": 3.0})
    system.connect("three", "y[1]", "three", "u[2]")
    system.connect("three", "y[2]", "two", "u[1]")
    system.connect("two", "y[1]", "three", "u[4]", factor=0.5)
    names = ["three.y[1]", "three.position[2]", "two.y[1]", "three.y[4]"]
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0), observers=[Recorder(tmp_path / "r.h5", names)]).run()
    assert result.status == "completed", result.message
    x = np.zeros(4)
    rows = [x.copy()]
    for _ in range(100):
        y1, y2, y4 = x[[0, 1, 3]] + 0.01 * 2.0 * (np.array([1.0, x[0], 0.5 * x[2]]) - x[[0, 1, 3]])
        x = np.array([y1, y2, x[2] + 0.01 * 3.0 * (y2 - x[2]), y4])
        rows.append(x.copy())
    with read_results(tmp_path / "r.h5") as results:
        assert np.array_equal(np.column_stack([results[name] for name in names]), np.array(rows))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (1, "fmi3DoStep gave fmi3Discard for a step of 0.01 s; it reached t = 0.505 s"),
        (3, "eventHandlingNeeded, though event mode is not used"),
        (4, "fmi3DoStep gave fmi3Discard"),
        (5, 'fmi3DoStep gave fmi3Error for a step of 0.01 s at t = 0.5 s (Arrays.fmu); the FMU says: "a fault on'),
        (6, "fmi3DoStep gave fmi3Fatal"),
    ],
)
def test_faults_are_told_in_the_words_of_fmi3(arrays, fault, words):
    system = Structure("faulty")
    system.add("a", arrays, {"fault": fault, "fault_time": 0.499})
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0)).run()
    assert result.status == "failed"
    assert words in result.message
    assert result.t_end == pytest.approx(0.5)


def test_a_step_that_returns_early_is_retried_to_there(arrays, tmp_path):
    system = Structure("early")
    system.add("a", arrays, {"fault": 1, "fault_time": 0.499, "gain": 2.0, "u[1]": 1.0})
    recorder = Recorder(tmp_path / "r.h5", ["a.y[1]"])
    result = CoSimulation(system, Schedule(step=0.01, stop=1.0, control=Retry(1e-3)), observers=[recorder]).run()
    assert (result.status, result.macro_steps, result.rejected_steps) == ("completed", 100, 50)
    # Euler's steps of 10 ms, then two of 5 ms for each
    factors = np.where(np.arange(100) < 50, 0.98, 0.99**2)
    with read_results(tmp_path / "r.h5") as results:
        assert np.allclose(1.0 - results["a.y[1]"][1:], np.cumprod(factors), rtol=1e-13)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<Binary", '<Clock name="c" valueReference="71"/><Binary', "does not run FMUs with clocks"),
        ('<Dimension valueReference="1"/>', '<Dimension valueReference="7"/>', "dimension refers to 7"),
        ('start="1 2 3 4 5 6"', 'start="1 2 3"', "has 3 start values for 6 elements"),
        ('name="gain"', 'name="u[1]"', r"two variables have the name 'u\[1\]'"),
        ('<Dimension start="3"/>', '<Dimension start="900000"/>', "brings the number of elements of arrays above"),
        ('<Dimension start="2"/>\n<Dimension start="3"/>', '<Dimension start="0"/><Dimension start="900000000000"/>',
         "a dimension of 900000000000 elements"),
        ('<Dimension start="3"/>', '<Dimension start="-3"/>', "a dimension of -3 elements"),
        ('causality="parameter" start="0"/>', 'causality="parameter" start="3000000000"/>',
         "start = 3000000000 does not fit its type"),
        ('Output valueReference="3"', 'Output valueReference="99"', "no variable has the value reference 99"),
        ("<CoSimulation", "<ScheduledExecution", "has no CoSimulation element"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused(fmi3, tmp_path, old, new, words):
    file = tmp_path / "modelDescription.xml"
    if "99" in new:
        text = fmi3.description().replace(fmi3.BLOB, "")
    else:
        text = fmi3.description()
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(DescriptionError, match=words):
        read_description(file)


def test_a_variable_that_was_left_out_is_refused_with_the_reason(arrays):
    system = Structure("binary")
    system.add("a", arrays, {"blob": 1})
    with pytest.raises(StructureError, match="a has no variable 'blob' that can be used: it is a Binary variable"):
        system.check()


def test_a_library_without_the_functions(arrays_library, fmi3, lag, tmp_path):
    import zipfile

    with zipfile.ZipFile(lag) as archive:
        library = archive.read(next(name for name in archive.namelist() if name.startswith("binaries")))
    with pytest.raises(FmuError, match=r"its library lacks fmi3GetVersion.*, which FMI 3\.0 requires"):
        Fmu(fmi3.build(tmp_path, library))


def test_the_schema_agrees_with_the_description_of_the_test(arrays):
    from fmpy import read_model_description

    found = read_model_description(str(arrays), validate=True)
    assert found.fmiVersion == "3.0"


@pytest.mark.parametrize(("step", "control", "uneven"), [(0.005, None, 0), (0.003, None, 1), (0.01, Retry(1e-4), 1)])
def test_steps_that_a_fixed_internal_step_does_not_divide_are_reported(
    fmi3, arrays_library, tmp_path, step, control, uneven
):
    file = fmi3.build(tmp_path, arrays_library)
    xml = fmi3.description().replace("<CoSimulation ", '<CoSimulation fixedInternalStepSize="0.0025" ')
    with zipfile.ZipFile(file) as source:
        members = {name: source.read(name) for name in source.namelist()}
    with zipfile.ZipFile(file, "w") as sink:
        for name, data in members.items():
            sink.writestr(name, xml if name == "modelDescription.xml" else data)
    system = Structure("fixed")
    system.add("a", file)
    result = CoSimulation(system, Schedule(step=step, stop=0.03, control=control)).run()
    assert result.status == "completed"
    assert [note.startswith("a takes steps") for note in result.warnings] == [True] * uneven
