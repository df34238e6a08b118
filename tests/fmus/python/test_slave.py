"""FMUs through pythonfmu: same names and references as native ones, and its traps avoided.

Each test runs importers in a process of its own, which also must end without a crash.
"""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from dockfmu import fmus
from dockfmu.components.oscillator import component as oscillator

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from tests.fmus import gadget

    place = tmp_path_factory.mktemp("python")
    fmus.build(gadget.component(), place, kind="native")
    fmus.build(oscillator(), place, kind="python")
    return place


def importer(folder: Path, code: str) -> str:
    """Run `code` with `library(name)` at hand; what it prints."""
    head = f"""
        import ctypes, sys
        from pathlib import Path
        from tests.fmus.library import OK, DISCARD, ERROR, FATAL, Library
        folder = Path({str(folder)!r})
        def library(name):
            return Library(folder / f"{{name}}.fmu", folder / "unpacked" / name)
    """
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(head) + textwrap.dedent(code)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_same_names_and_value_references_as_the_native_fmu(folder, oscillator_fmu, tmp_path):
    code = f"""
        native = Library(Path({str(oscillator_fmu)!r}), Path({str(tmp_path)!r}))
        print(native.variables == library("Oscillator-python").variables)
    """
    assert importer(folder, code) == "True\n"


@pytest.mark.slow
def test_many_instances_come_and_go(folder):
    """pythonfmu 0.7 gives back a reference to the script's dictionary that it never took: twice, and it is gone."""
    code = """
        import gc
        which = library("Oscillator-python")
        path = len(sys.path)
        for _ in range(20):
            one = which.running(parameters__initial_position=1.0)
            assert one.step(0.0, 0.1) == OK
            one.free()
            gc.collect()
        print(len(sys.path) - path)
    """
    assert importer(folder, code) == "0\n"


def test_two_components_in_one_process_are_two(folder, tmp_path_factory):
    """Scripts of the same name would both be the first one's."""
    from dockfmu.fmus import catalogue

    fmus.build(catalogue.component("ProbeCyclogram"), folder, kind="python")
    code = """
        a, b = library("Oscillator-python").running(), library("ProbeCyclogram-python").running()
        assert a.step(0.0, 0.1) == b.step(0.0, 0.1) == OK
        print(a.get("parameters.mass"), b.get("phase"))
    """
    mass, phase = importer(folder, code).split()
    assert mass == "1.0"
    assert int(phase) >= 1


def test_state_is_the_whole_record(folder):
    code = """
        one = library("Oscillator-python").running(parameters__initial_position=1.0)
        def run(first, last):
            out = []
            for k in range(first, last):
                one.set(force=0.1 * k)
                assert one.step(0.1 * k, 0.1) == OK
                out.append((one.get("position"), one.get("audit.work_force")))
            return out
        run(0, 10)
        state = one.save()
        data = one.serialize(state)
        first = run(10, 50)
        assert one("SetFMUstate", state) == OK
        assert run(10, 50) == first
        copy = ctypes.c_void_p()
        assert one("DeSerializeFMUstate", data, ctypes.c_size_t(len(data)), ctypes.byref(copy)) == OK
        assert one("SetFMUstate", copy) == OK
        assert run(10, 50) == first
        for each in (state, copy):
            assert one("FreeFMUstate", ctypes.byref(each)) == OK
        print("equal")
    """
    assert importer(folder, code) == "equal\n"


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        ('one.try_set("force", float("nan"))', "force = nan is refused"),
        ('one.try_set("parameters.mass", 2.0)', "parameters.mass = 2.0 is refused"),
        ('one.try_set("position", 2.0)', "position = 2.0 is refused"),
        ('one("GetInteger", one.references("position"), ctypes.c_size_t(1), room)', "not all of the requested type"),
        ('one("SetReal", (ctypes.c_uint * 1)(9999), ctypes.c_size_t(1), room)', "9999"),
        ('one.step(5.0, 0.1)', "no step of 0.1 s can be done at t = 5 s; the FMU is at t = 0 s"),
        ('one.step(0.0, -0.1)', "no step of -0.1 s"),
        ('one("DeSerializeFMUstate", b"nonsense", ctypes.c_size_t(8), ctypes.byref(state)), one("SetFMUstate", state)',
         "not a state of this FMU"),
    ],
)  # fmt: skip
def test_what_is_refused_is_logged_and_discards_the_steps_that_follow(folder, fault, text):
    """And nothing crashes, however often it happens: pythonfmu does at the second exception."""
    code = f"""
        one = library("Oscillator-python").running()
        room, state = ctypes.create_string_buffer(16), ctypes.c_void_p()
        for _ in range(3):
            {fault}
        for _ in range(3):
            assert one.step(0.0, 0.1) == DISCARD
        print(one.messages)
        one.free()
    """
    assert text in importer(folder, code)


def test_failure_of_a_kernel_is_told_and_a_reset_helps(folder):
    code = """
        one = library("Oscillator-python").running(parameters__travel_limit=0.5, parameters__initial_velocity=10.0)
        assert one.step(0.0, 0.1) == DISCARD
        print(one.messages)
        assert one("Reset") == OK
        assert one.setup() == one("EnterInitializationMode") == one("ExitInitializationMode") == OK
        assert one.step(0.0, 0.1) == OK
    """
    assert "displacement 0.9983 m exceeds parameters.travel_limit = 0.5 m" in importer(folder, code)


def test_fmu_of_another_version_of_the_component_is_refused(folder):
    code = """
        which = library("Oscillator-python")
        file = which.folder / "resources" / "component.json"
        import json
        content = json.loads(file.read_text())
        file.write_text(json.dumps({**content, "fingerprint": "0"}))
        from tests.fmus.library import Instance
        print(Instance(which).component)
    """
    assert importer(folder, code) == "None\n"


def test_options_that_cannot_be_written_are_refused(tmp_path):
    from dataclasses import replace

    with pytest.raises(ValueError, match="options of a Python FMU must be JSON"):
        fmus.build(replace(oscillator(), options={"modes": object()}), tmp_path, kind="python")


def test_what_is_no_number_is_never_an_output(folder):
    """1e200 squared in the kinetic energy: the kernel does not notice, the wrapper does, as the native FMU."""
    code = """
        one = library("Oscillator-python").running(parameters__initial_velocity=1e200)
        print(one.step(0.0, 0.1) == DISCARD, "audit.kinetic_energy = inf is not finite" in one.messages)
    """
    assert importer(folder, code) == "True True\n"
