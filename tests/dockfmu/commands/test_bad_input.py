"""Bad input: exit status 2 before a run, 1 with readable partial results after its start; always a clear message."""

import errno
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from dockfmu.base.cache import cache_root
from dockfmu.base.files import WriteError, write_file
from dockfmu.cli import main
from dockfmu.commands.streams import printable
from dockfmu.declare.packages import bundle
from dockfmu.declare.plan import Panel, Plan
from dockfmu.fmus import build, catalogue
from dockfmu.fmus.toolchain.zig import LinkError
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.system import Structure
from dockfmu.ssp.archive import write_ssp
from dockfmu.ssp.from_system import from_system
from dockfmu.ssp.model import Annotation, SsvParameter, SsvParameterSet
from dockfmu.ssp.write import write_parameter_set
from tests.dockfmu.command_line import dockfmu, status_of
from tests.dockfmu.small_systems import PLAN, TOML, changed_archive, changed_text, pair_system, write_pair

DESCRIPTION = "modelDescription.xml"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """The command works in the present folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def refused(capfd, tmp_path):
    """Return the message of a command with exit status 2; it must leave no files."""

    def run(*arguments):
        assert status_of(*arguments) == 2
        said = capfd.readouterr()
        assert said.out == ""
        assert "Traceback" not in said.err
        assert not (tmp_path / "out" / "summary.json").exists()
        return said.err

    return run


@pytest.fixture
def failed(capfd, tmp_path):
    """Return (message, summary) of a run that fails with exit status 1.

    summary.json equals what was printed, and the message on standard error is that of the summary.
    """

    def run(*arguments):
        assert status_of("run", *arguments, "-o", "out", "--json") == 1
        said = capfd.readouterr()
        summary = json.loads(said.out)
        assert summary == json.loads((tmp_path / "out" / "summary.json").read_text())
        assert summary["status"] == "failed"
        assert summary["message"] in said.err
        assert "Traceback" not in said.err
        return summary["message"], summary

    return run


def partial(summary):
    """Return the recording of a failed run, which is readable to its end; check that its report was written."""
    with h5py.File("out/results.h5") as raw:
        assert raw.attrs["status"] == "failed"
        assert raw.attrs["message"] == summary["message"]
    assert "failed" in Path("out/report.html").read_text(encoding="utf-8")
    return read_results("out/results.h5")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ["a COMMAND is needed"]),
        (("rum",), ["there is no command 'rum'", "did you mean run?"]),
        (("run",), ["required: SYSTEM|FILE.ssp"]),
        (
            ("run", "central_impact"),
            ["no system 'central_impact'", "did you mean central_impact_20t"],
        ),
        (
            ("run", "xyzzy"),
            ["no system 'xyzzy'", "`dockfmu list` names all", "ends in .ssp or .toml"],
        ),
        (("run", "nosuch.ssp"), ["nosuch.ssp: there is no such file"]),
        (("run", "nosuch.toml"), ["nosuch.toml: No such file"]),
        (("run", "PAIR", "--set", "first"), ["--set first: must be NAME=VALUE"]),
        (("run", "PAIR", "--set", "first.parameters.mass="), ["must be NAME=VALUE"]),
        (
            ("run", "PAIR", "--set", "frist.parameters.mass=1"),
            ["has no element 'frist'; there are first, second", "did you mean first?"],
        ),
        (("run", "PAIR", "--set", "first.parameters.mas=1"), ["no variable 'parameters.mas'", "parameters.mass"]),
        (("run", "PAIR", "--set", "first.parameters.mass=-1"), ["first.parameters.mass = -1.0", "minimum 1e-09 kg"]),
        (("run", "PAIR", "--set", "first.parameters.mass=heavy"), ["'heavy': must be a number"]),
        (("run", "PAIR", "--set", "first.parameters.mass=1,2"), ["must be one value, not 2"]),
        (("run", "PAIR", "--set", "first.force=nan"), ["first.force = nan: must be a finite number"]),
        (("run", "PAIR", "--set", "first.position=1"), ["first.position cannot be set"]),
        (
            ("run", "PAIR", "--set", "initial_conditions.miss=0,0"),
            ["initial_conditions.miss: an .ssp has start states"],
        ),
        (
            ("run", "PAIR", "--algorithm", "euler"),
            ["no algorithm 'euler'", "gauss_seidel, gauss_seidel_linear, jacobi"],
        ),
        (("run", "PAIR", "--step", "fast"), ["--step", "'fast' is not a positive time"]),
        (("run", "PAIR", "--step", "0"), ["'0' is not a positive time"]),
        (("run", "PAIR", "--stop", "-1"), ["'-1' is not a positive time"]),
        (("run", "PAIR", "--stop", "inf"), ["'inf' is not a positive time"]),
        (("run", "PAIR", "--parameters", "nosuch.ssv"), ["parameters nosuch.ssv: No such file"]),
        (
            ("run", "PAIR", "--swap", "third=x.fmu"),
            ["third: the system pair has no element 'third'; there are first, second"],
        ),
        (("run", "PAIR", "--swap", "first=x.fmu"), ["x.fmu: there is no such file"]),
        (("build", "Oscilator"), ["'Oscilator'", "did you mean Oscillator?"]),
        (("build", "Oscillator", "--platform", "linux"), ["--platform: unknown linux; choose from linux64"]),
        (("build", "Oscillator", "--option", "modes=3"), ["Oscillator: cannot be made with modes = 3"]),
        (("validate", "nosuch.fmu"), ["nosuch.fmu: there is no such file"]),
        (("report", "nosuch"), ["nosuch holds no results.h5; run a system with -o nosuch first"]),
        (("export", "nosuch", "--csv"), ["nosuch: there is no such file or folder; give the folder of a run"]),
        (("view", "nosuch"), ["nosuch: there is no such file or folder; give the folder of a run"]),
        (("view", "."), ["results.h5: there is no such file; run a system with -o . first"]),
        (("export", ".", "--csv", "-o", "."), ["-o/--output: '.' is a folder; give the name of a file"]),
        (("export", ".", "--gltf", "-o", "/"), ["-o/--output: '/' is a folder; give the name of a file"]),
        (("view", ".", "--export", "."), ["--export: '.' is a folder; give the name of a file"]),
        (("run", "PAIR", "--every", "1" + 30 * "0"), ["--every", "is not a positive integer up to 2147483647"]),
        (("run", "PAIR", "--threads", 5000 * "9"), ["--threads", "is not a positive integer up to 2147483647"]),
        (("run", "PAIR", "--step", "1e-17"), ["the macro step of 1e-17 s is lost in times of 2 s: at least 2e-14 s"]),
        (("run", "PAIR", "--stop", "1e300"), ["the macro step of 0.01 s is lost in times of 1e+300 s"]),
        (("run", "PAIR", "--realtime", "1e-12"), ["a multiple of real time from 1e-06 to 1e+06, not 1e-12"]),
        (("run", "PAIR", "--realtime", "1e12"), ["a multiple of real time from 1e-06 to 1e+06, not 1000000000000.0"]),
        (("run", "PAIR", "--set", "first.parameters.mass=1MN99"), ["first.parameters.mass = '1MN99': unknown unit"]),
        (("run", "PAIR", "--set", f"first.x[{5000 * '9'}]=1"), ["first has no variable 'x[99", "...", "9999]'"]),
        (("run", "PAIR", "--stream", "70000"), ["'70000' is not a port, 0 to 65535"]),
        (("import", "nosuch.urdf"), ["nosuch.urdf", "there is no such file"]),
        (("import", "x.urdf", "-o", "."), ["-o/--output: '.' is a folder; give the name of a file"]),
        (("export", "nosuch"), ["one of the arguments --csv --fmi-csv --parquet --mat --gltf is required"]),
    ],
)
def test_wrong_commands(refused, pair, arguments, words):
    said = refused(*(pair if argument == "PAIR" else argument for argument in arguments))
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "PAIR", "-o", "PATH"), ("run", "PAIR", "--build", "PATH"), ("run", "PAIR", "--resume", "PATH"),
        ("run", "PATH"), ("export", "PATH", "--csv"), ("export", "PAIR", "--mat", "-o", "PATH"),
        ("compare", "PATH", "PATH"), ("report", "PATH"), ("view", "PATH"), ("validate", "PATH"),
        ("campaign", "PATH"), ("build", "Oscillator", "-o", "PATH"), ("diagram", "PATH"), ("import", "PATH"),
    ],
)  # fmt: skip
def test_paths_that_are_empty_or_too_long(refused, pair, arguments):
    for path, words in (("", "the path is empty"), (300 * "x", "is longer than a file name can be")):
        said = refused(*(pair if word == "PAIR" else path if word == "PATH" else word for word in arguments))
        assert words in said
        assert 100 * "x" not in said.split("error:")[1]


def test_a_swap_by_a_file_whose_name_is_too_long(refused, pair):
    assert "--swap: 'xxx" in refused("run", pair, "--swap", f"first={300 * 'x'}")


def test_a_file_cannot_be_written_in_the_place_of_a_folder(tmp_path):
    for file in (Path(), Path("/"), tmp_path, tmp_path / (300 * "x")):
        with pytest.raises(WriteError, match="cannot be written"):
            write_file(file, b"content")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_version_that_cannot_be_printed():
    code = f"{sys.executable} -m dockfmu --version >/dev/full"
    done = subprocess.run(code, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "dockfmu: standard output: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_module_of_the_command_line_is_the_command():
    done = subprocess.run([sys.executable, "-m", "dockfmu.cli", "rum"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no command 'rum'" in done.stderr


def test_all_wrong_values_are_told_at_once(refused, pair):
    said = refused("run", pair, "--set", "first.parameters.mass=-1", "--set", "second.parameters.damping=-2")
    assert "first.parameters.mass = -1.0" in said
    assert "second.parameters.damping = -2.0" in said


@pytest.mark.parametrize("command", ["view", "report"])
def test_a_run_that_recorded_nothing_is_told_from_a_folder_without_one(refused, tmp_path, command):
    (tmp_path / "failed").mkdir()
    (tmp_path / "failed/summary.json").write_text("{}")
    assert "its run ended before anything was recorded; failed/summary.json says why" in refused(command, "failed")


@pytest.mark.parametrize("folder", ["file/below", "file", "/proc/nosuch"])
def test_an_output_folder_that_cannot_be(refused, pair, tmp_path, folder):
    (tmp_path / "file").write_text("no folder")
    said = refused("run", pair, "-o", folder)
    assert folder in said
    assert (tmp_path / "file").read_text() == "no folder"


def test_parameter_files_with_unknown_names(refused, pair, tmp_path):
    entries = [
        SsvParameter(f"{name}.parameters.{what}", "Real", 2.0) for name, what in (("first", "mas"), ("frist", "mass"))
    ]
    (tmp_path / "p.ssv").write_bytes(write_parameter_set(SsvParameterSet("mine", entries)))
    said = refused("run", pair, "--parameters", "p.ssv", "-o", "out")
    assert "p.ssv: first has no variable 'parameters.mas'; did you mean parameters.mass" in said
    assert "p.ssv: 'frist.parameters.mass' names no element; did you mean first" in said


def test_wrong_values_of_a_parameter_file_are_told_with_the_file(refused, pair, tmp_path):
    entries = [
        SsvParameter("first.parameters.mass", "Boolean", True),
        SsvParameter("second.parameters.mass", "Real", -1.0),
        SsvParameter("second.parameters.mass", "Real", -2.0),
        SsvParameter("second.force", "Real", float("inf")),
    ]
    (tmp_path / "p.ssv").write_bytes(write_parameter_set(SsvParameterSet("mine", entries)))
    said = refused("run", pair, "--parameters", "p.ssv", "-o", "out")
    assert "p.ssv: parameter first.parameters.mass = True: it is a Boolean, but parameters.mass is a Real" in said
    assert "p.ssv: 'second.parameters.mass' has 2 values: -1.0, -2.0" in said
    assert "p.ssv: second.parameters.mass = -1.0: less than its minimum" in said
    assert "p.ssv: second.force = inf: must be a finite number" in said


def test_a_whole_number_of_5000_digits_in_a_parameter_file(refused, pair, tmp_path):
    entry = SsvParameter("first.parameters.mass", "Integer", 7777)
    content = write_parameter_set(SsvParameterSet("mine", [entry])).replace(b"7777", b"7" * 5000)
    (tmp_path / "p.ssv").write_bytes(content)
    said = refused("run", pair, "--parameters", "p.ssv", "-o", "out")
    assert "p.ssv" in said
    assert len(said) < 500


@pytest.mark.parametrize("value", ['{"a":1}', "1" + 400 * "0", 5000 * "9", 5000 * "[", "1_0", "null", "[[[{}]]]"])
def test_texts_that_are_no_value(refused, pair, value):
    said = refused("run", pair, "--set", f"first.parameters.mass={value}", "-o", "out")
    assert "first.parameters.mass" in said
    assert len(said) < 300


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"audited": ("frist",)}, "audit: there is no element 'frist'; did you mean first?"),
        ({"panels": (Panel("Forces", ("first.nix",)),)}, "report, 'Forces': first has no variable 'nix'"),
        (
            {"panels": (Panel("Forces", ("first.force",)),)},
            "report, 'Forces': first.force is not an output (causality input)",
        ),
    ],
)
def test_a_plan_that_names_what_there_is_not(refused, oscillator, tmp_path, plan, words):
    assert words in refused("run", write_pair(oscillator, tmp_path, replace(PLAN, **plan)), "-o", "out")


@pytest.mark.parametrize("content", [b"no XML", b"<a/>", b""])
def test_parameter_files_that_are_none(refused, pair, tmp_path, content):
    (tmp_path / "p.ssv").write_bytes(content)
    assert "p.ssv" in refused("run", pair, "--parameters", "p.ssv")


def test_a_damaged_package(refused, pair, tmp_path):
    data = pair.read_bytes()
    (tmp_path / "cut.ssp").write_bytes(data[: len(data) // 2])
    assert "cut.ssp: not a readable zip archive" in refused("run", "cut.ssp")
    place = data.index(b"<?xml") if b"<?xml" in data else data.index(b"SystemStructure.ssd") + 40
    (tmp_path / "hurt.ssp").write_bytes(data[:place] + bytes(60) + data[place + 60 :])
    assert "hurt.ssp: member 'SystemStructure.ssd' cannot be unpacked" in refused("run", "hurt.ssp")


def test_a_package_without_description(refused, pair, tmp_path):
    changed_archive(pair, tmp_path / "p.ssp", {"SystemStructure.ssd": None})
    assert "holds no SystemStructure.ssd" in refused("run", "p.ssp")


def test_a_package_without_its_fmu(refused, pair, tmp_path):
    changed_archive(pair, tmp_path / "p.ssp", {"resources/Oscillator.fmu": None})
    assert "Oscillator.fmu" in refused("run", "p.ssp")


def test_a_package_whose_plan_is_damaged(refused, oscillator, tmp_path):
    for text in ("no JSON", "[]", '{"order": []}'):
        content = from_system(pair_system(oscillator), annotations=[Annotation.of_text(bundle.ANNOTATION, text)])
        write_ssp(content, tmp_path / "p.ssp")
        assert "annotation org.dockfmu.plan is not the plan of a run" in refused("run", "p.ssp")


@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/dockfmu-evil.txt", "resources/../../evil.txt", "C:\\evil.txt"])
@pytest.mark.parametrize("kind", ["ssp", "fmu"])
def test_paths_that_leave_an_archive(refused, pair, oscillator, tmp_path, name, kind):
    if kind == "ssp":
        changed_archive(pair, tmp_path / "evil.ssp", {name: b"evil"})
        said = refused("run", "evil.ssp")
    else:
        changed_archive(oscillator, tmp_path / "evil.fmu", {name: b"evil"})
        said = refused("run", pair, "--swap", "first=evil.fmu")
    assert f"evil.{kind}: member" in said
    assert "points out of the archive" in said or "absolute path" in said
    assert not list(tmp_path.parent.glob("**/evil.txt"))


def test_a_damaged_fmu(refused, pair, oscillator, tmp_path):
    (tmp_path / "cut.fmu").write_bytes(oscillator.read_bytes()[:5000])
    assert "cut.fmu: not a readable zip archive" in refused("run", pair, "--swap", "first=cut.fmu")
    changed_archive(oscillator, tmp_path / "empty.fmu", {DESCRIPTION: None})
    assert "holds no modelDescription.xml, so it is not an FMU" in refused("run", pair, "--swap", "first=empty.fmu")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('guid="{', 'guid="{0', "its library may not belong to its description"),
        ('valueReference="0"', 'valueReference="4000"', "no variable has the value reference 4000"),
        ('modelIdentifier="Oscillator"', 'modelIdentifier="Pendulum"', "has no binaries/linux64/Pendulum.so"),
    ],
)
def test_descriptions_that_lie_about_their_library(failed, pair, oscillator, tmp_path, old, new, words):
    changed_text(oscillator, tmp_path / "liar.fmu", DESCRIPTION, old, new)
    message, summary = failed(pair, "--swap", "first=liar.fmu")
    assert words in message
    assert "first" in message or "liar.fmu" in message
    assert summary["macro_steps"] == 0


def test_a_library_that_is_none(failed, pair, oscillator, tmp_path):
    changed_archive(oscillator, tmp_path / "text.fmu", {"binaries/linux64/Oscillator.so": b"no library"})
    message, _ = failed(pair, "--swap", "first=text.fmu")
    assert "text.fmu: its library cannot be loaded" in message


def test_a_missing_resource(failed, tmp_path):
    """The modes of an elastic spacecraft are in a separate file; without it nothing is recorded."""
    fmu = build(catalogue.component("spacecraft", modes="station_beam"), tmp_path)
    broken = changed_archive(fmu, tmp_path / "broken.fmu", {"resources/modes.f64": None})
    system = Structure("craft")
    system.add("craft", broken)
    bundle.write_bundle(system, Plan(stop=1.0), "", tmp_path / "craft.ssp")
    message, summary = failed("craft.ssp")
    assert "cannot open the resource" in message
    assert "modes.f64" in message
    assert (summary["macro_steps"], summary["peaks"]) == (0, {})
    assert not (tmp_path / "out" / "results.h5").exists()


def test_a_limit_that_is_exceeded_leaves_what_was_recorded(failed, pair):
    message, summary = failed(pair, "--set", "second.parameters.travel_limit=0.1")
    assert "second: fmi2DoStep gave fmi2Error for a step of 0.01 s" in message
    assert "exceeds parameters.travel_limit = 0.1 m" in message
    with partial(summary) as results:
        assert results.time[-1] == pytest.approx(summary["t_end"])
        assert 0.09 < results["second.position"][-1] <= 0.1
        assert np.isfinite(results["first.position"]).all()


def test_a_macro_step_too_long_for_stability(failed, pair, capfd):
    """Forces delayed by Jacobi add energy to the oscillators: little with steps of 0.01 s, without bound with 1 s."""
    arguments = [f"--set={name}.parameters.travel_limit=100" for name in ("first", "second")]
    arguments += ["--algorithm", "jacobi", "--stop", 1000.0]
    assert status_of("run", pair, *arguments, "--no-report", "-o", "stable") == 0
    capfd.readouterr()
    message, summary = failed(pair, *arguments, "--step", 1.0)
    assert "exceeds parameters.travel_limit = 100 m" in message
    assert "fmi2DoStep gave fmi2Error for a step of 1 s" in message
    with partial(summary) as results:
        assert len(results.time) == summary["macro_steps"] + 1


def test_an_energy_balance_that_does_not_close_is_warned_of(pair, oscillator, tmp_path, capfd):
    """The work of the forces is left out of the balance."""
    assert status_of("run", pair, "--no-report") == 0
    assert "warning" not in capfd.readouterr().err
    write_pair(oscillator, tmp_path, replace(PLAN, supplied=()))
    assert status_of("run", "pair.ssp", "--no-report", "--json") == 4
    said = capfd.readouterr()
    summary = json.loads(said.out)
    (warning,) = summary["warnings"]
    assert warning in said.err
    assert f"energy residual {summary['audit']['energy_residual']:.3g}, limit 0.01" in warning
    assert "a smaller macro step than 0.01 s may help" in warning


def test_nan_from_an_fmu_is_named_with_its_time(python_fmu, tmp_path):
    """Use a separate process, because pythonfmu keeps scripts that it has loaded."""
    system = pair_system(python_fmu("plain_oscillator"))
    system.elements["first"].start = {"parameters.nan_at": 0.5}
    bundle.write_bundle(system, Plan(step=0.01, stop=2.0), "", tmp_path / "nan.ssp")
    done = dockfmu("run", "nan.ssp", "-o", "out", cwd=tmp_path)
    assert done.returncode == 1
    assert "first: output position became nan" in done.stderr
    assert "at t = 0.51 s" in done.stderr
    with read_results(tmp_path / "out" / "results.h5") as results:
        assert results.time[-1] == pytest.approx(0.5)
        assert np.isfinite(results["first.position"]).all()


def test_a_failed_run_leaves_nothing_of_an_earlier_one(failed, pair, oscillator, tmp_path, capfd):
    assert status_of("run", pair, "-o", "out") == 0
    capfd.readouterr()
    assert (tmp_path / "out" / "report.html").exists()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    changed_text(oscillator, tmp_path / "liar.fmu", DESCRIPTION, 'guid="{', 'guid="{0')
    failed(pair, "--swap", "first=liar.fmu")
    left = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert left == ["events.json", "notes.txt", "report.html", "summary.json"]
    assert "ended before anything was recorded" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_wrong_command_leaves_the_results_of_an_earlier_run(pair, tmp_path):
    assert status_of("run", pair, "-o", "out", "--no-report") == 0
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert status_of("run", pair, "-o", "out", "--set", "first.parameters.mass=-1") == 2
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_a_package_without_a_plan_runs_to_its_own_stop_time(oscillator, tmp_path, capfd):
    write_ssp(from_system(pair_system(oscillator), stop_time=0.5), tmp_path / "plain.ssp")
    assert status_of("run", "plain.ssp", "--json") == 0
    summary = json.loads(capfd.readouterr().out)
    assert (summary["t_end"], summary["step"], summary["events"]) == (0.5, Plan().step, [])


def test_a_plan_for_another_system_is_refused(refused, oscillator, tmp_path):
    plan = Plan(order=("first", "third"))
    write_pair(oscillator, tmp_path, PLAN)
    with zipfile.ZipFile(tmp_path / "pair.ssp") as archive:
        text = archive.read("SystemStructure.ssd").decode()
    assert PLAN.to_json() in text.replace("&quot;", '"')
    changed_text(tmp_path / "pair.ssp", tmp_path / "other.ssp", "SystemStructure.ssd", PLAN.to_json(), plan.to_json())
    assert "the order (first, third) does not name each element once (first, second)" in refused("run", "other.ssp")


def test_a_declaration_of_the_user_with_a_wrong_name(refused, tmp_path):
    (tmp_path / "alone.toml").write_text(TOML.replace('"soft"', '"sofd"'), encoding="utf-8")
    assert "parameter sets of Oscillator" in refused("run", "alone.toml")
    assert "did you mean soft?" in refused("run", "alone.toml")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (LinkError("zig cc: no space left"), "zig cc: no space left"),
        (OSError(errno.EBADF, "Bad file descriptor"), "Bad file descriptor: a file of this process has been closed, "),
        (OSError(errno.EROFS, "Read-only", str(cache_root() / "x")), f"{cache_root() / 'x'}: Read-only: this is the "),
    ],
)
def test_a_build_that_fails(monkeypatch, capfd, error, told):
    def fail(*arguments, **options):
        raise error

    monkeypatch.setattr("dockfmu.declare.packages.assembly.build", fail)
    assert status_of("build", "Oscillator") == 1
    assert capfd.readouterr().err.startswith(f"dockfmu: {told}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--set", "initial_conditions.velocity=2,0,0"), ["penetration", "of roller", "on cone exceeds its limit"]),
        (("--set", "mechanism.probe_cone.parameters.law_bottom.stiffness=1e5"), ["of head on socket bottom exceeds"]),
        (("--step", 0.05), ["step 0.05 s is longer than parameters.step_limit = 0.02 s", "a smaller macro step"]),
        # micro-steps are halved in vain: an error of the model, no step to be discarded (contact-geometry 10.4)
        (
            ("--step", 0.5, "--set", "mechanism.parameters.step_limit=1"),
            [
                "for a step of 0.5 s",
                "exceeds its limit of 0.005 m",
                "frame 0 of the mechanism was",
            ],
        ),
    ],
)
def test_limits_of_the_docking_mechanism(failed, arguments, words):
    message, summary = failed("central_impact_20t", *arguments)
    for word in words:
        assert word in message
    with partial(summary) as results:
        assert results.time[-1] == pytest.approx(summary["t_end"])
        assert all(np.isfinite(results[name]).all() for name in results.variables)


def test_no_name_commands_the_terminal(capfd):
    """A name from somebody's file may set the title, clear the screen, or type into it."""
    name = "\x1b]0;owned\x07\x1b[2J\x9b5n\x08"
    assert status_of("report", name) == 2
    said = capfd.readouterr().err
    assert r"\x1b]0;owned\x07\x1b[2J\x9b5n\x08 holds no results.h5" in said
    assert not set(said) & {"\x1b", "\x07", "\x08", "\x9b"}


def test_colours_and_lines_that_overwrite_stay():
    assert printable("\x1b[31mred\x1b[0m\t1\r2\n") == "\x1b[31mred\x1b[0m\t1\r2\n"


def test_a_current_folder_that_is_gone_is_told(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = (
        "import os, dockfmu.cli; os.rmdir(os.getcwd()); raise SystemExit(dockfmu.cli.main(['run', 'atv_probe_cone']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=gone, capture_output=True, text=True, check=False)
    assert (done.returncode, "the current folder no longer exists" in done.stderr) == (1, True), done.stderr


@pytest.mark.parametrize("number", ["1_0", "Infinity", "\u0661\u0660", "0x10"])
def test_numbers_of_options_are_those_of_the_manual(pair, tmp_path, number, capsys):
    """Refuse, wherever a number is typed, what `float` and `int` of Python accept beyond a decimal number."""
    sections = [
        ["run", str(pair), "--step", number],
        ["run", str(pair), "--every", number],
        ["run", str(pair), "--set", f"first.parameters.mass={number}"],
        ["run", str(pair), "--realtime", number],
        ["compare", str(tmp_path), str(tmp_path), "--tolerance", number],
        ["view", str(tmp_path), "--port", number],
        ["campaign", "x.toml", "--index", number],
        ["reduce", "x.bdf", "--rayleigh", f"{number},0"],
        ["reduce", "x.bdf", "--modes", number],
    ]
    for command in sections:
        try:
            status = main(command)
        except SystemExit as end:
            status = end.code
        said = capsys.readouterr().err
        assert status in (1, 2), (command, said)
        assert "Traceback" not in said
        assert "first.parameters.mass" in said or f"argument {command[-2]}" in said, said


@pytest.fixture
def _bounded_in_time():
    """Raise TimeoutError in a test that waits for what never comes."""

    def late(*_):
        raise TimeoutError("it still waits")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, 60.0)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


WITH_A_FILE = {
    "run": ("x.toml", "run", "x.toml", "-o", "out"),
    "parameters": ("x.ssv", "run", "pair.ssp", "--parameters", "x.ssv", "-o", "out"),
    "campaign": ("x.toml", "campaign", "x.toml", "-o", "out"),
    "build": ("x.toml", "build", "x.toml"),
    "linearise": ("x.toml", "linearise", "x.toml"),
    "reduce": ("x.toml", "reduce", "x.toml", "--modes", "1"),
    "reduce npz": ("x.npz", "reduce", "x.npz", "--modes", "1", "--units", "m,kg"),
    "reduce mtx": ("x.mtx", "reduce", "x.mtx", "--modes", "1", "--units", "m,kg", "--mass-file", "x.mtx"),
    "reconstruct": ("x.toml", "reconstruct", "x.toml"),
    "life": ("x.toml", "life", "--sections", "x.toml", "."),
    "check-swap": ("x.xml", "check-swap", "pair.ssp.first", "x.xml"),
}


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
@pytest.mark.parametrize("command", sorted({*WITH_A_FILE} - {"parameters", "life"}))
@pytest.mark.usefixtures("_bounded_in_time")
def test_a_pipe_in_place_of_a_file_is_refused_without_waiting(command, refused, oscillator, tmp_path):
    file, *words = WITH_A_FILE[command]
    write_pair(oscillator, tmp_path)
    os.mkfifo(file)
    assert file in (said := refused(*words))
    assert "is a pipe" in said or "is not" in said or "no such" in said


BASH = shutil.which("bash")


@pytest.mark.skipif(BASH is None or sys.platform == "win32", reason="needs bash")
def test_what_a_shell_pipes_into_an_option_is_read(oscillator, tmp_path):
    write_pair(oscillator, tmp_path)
    (tmp_path / "sections.toml").write_text("# none", encoding="utf-8")
    entries = [SsvParameter("first.parameters.initial_position", "Real", 0.25)]
    (tmp_path / "x.ssv").write_bytes(write_parameter_set(SsvParameterSet("mine", entries)))
    command = f"{shlex.quote(sys.executable)} -m dockfmu"

    def said(words):
        script = f"{command} {words}"
        return subprocess.run([BASH, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)

    listed = said("parameters pair.ssp --parameters <(cat x.ssv) | grep first.*initial_position")
    assert listed.stdout.split()[1] == "0.25"
    done = said("life --sections /dev/stdin . < <(cat sections.toml)")
    assert done.returncode == 2
    assert "/dev/stdin: has no [[section]]" in done.stderr


@pytest.mark.parametrize("text", ["a = " + "[" * 50_000, ".".join(["a"] * 50_000) + " = 1", "a = " + "9" * 5000])
@pytest.mark.parametrize("command", ["run", "campaign", "build", "linearise", "reduce", "reconstruct", "life"])
def test_declarations_without_bottom_are_refused(command, text, refused):
    file, *words = WITH_A_FILE[command]
    Path(file).write_text(text)
    said = refused(*words)
    assert "x.toml" in said
    assert len(said) < 1000


def test_characters_that_no_xml_can_hold_are_refused_where_they_stand(refused):
    Path("x.toml").write_text(TOML.replace("an oscillator of its own", "\\u001b[2J"))
    assert "description = '\\x1b[2J': no XML can hold the character U+001B" in refused("run", "x.toml", "-o", "out")


def test_a_system_and_a_component_in_the_place_of_each_other_are_told(refused):
    assert "this is a component, no system; `dockfmu build Spacecraft` makes" in refused("linearise", "Spacecraft")
    assert "this is a system, no component; `dockfmu run atv_probe_cone` builds the FMUs" in refused(
        "build", "atv_probe_cone"
    )
    assert "name an element of it: atv_probe_cone.chaser, atv_probe_cone.station" in refused("ports", "atv_probe_cone")
