"""The commands in normal use and when they are interrupted."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import loadmat

from dockfmu.base.units import Unit
from dockfmu.fmus import catalogue
from dockfmu.master.errors import MasterError
from dockfmu.master.observers.recording.labelled import whole_arrays
from dockfmu.master.observers.recording.results import read_results
from dockfmu.report.files import RUN_FILES
from dockfmu.report.page import ReportError
from dockfmu.ssp.model import SsvParameter, SsvParameterSet, UnitDefinition
from dockfmu.ssp.write import write_parameter_set
from tests.dockfmu.command_line import dockfmu, run_system, status_of
from tests.dockfmu.small_systems import PLAN, TOML, write_pair

pytestmark = pytest.mark.slow

KEYS = {
    "system", "status", "t_end", "wall_s", "real_time_factor", "macro_steps", "algorithm", "step", "events", "peaks",
    "audit", "message", "warnings", "finals",
    "outcome", "success", "audit_checks", "validity", "rejected_steps", "sweeps", "shortest_step", "longest_step",
}  # fmt: skip
FORCE = "mechanism.target.force_now[1]"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """The command works in the present folder."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def says(capfd):
    """Return the standard output of a command that succeeds."""

    def run(*arguments):
        assert status_of(*arguments) == 0
        return capfd.readouterr().out

    return run


@pytest.fixture(scope="module")
def results(pair, tmp_path_factory):
    """Return the folder of a run of the pair."""
    folder = tmp_path_factory.mktemp("results")
    assert status_of("run", pair, "-o", folder, "--no-report") == 0
    return folder


def test_version_and_help(says):
    assert says("--version") == f"dockfmu {version('dockfmu')}\n"
    overview = says("--help")
    assert all(f"    {command} " in overview for command in ("list", "build", "run", "validate", "report", "export"))
    page = says("run", "--help")
    assert page.startswith("usage: dockfmu run SYSTEM|FILE.ssp [options]\n")
    for option in ("--set", "--parameters", "--swap", "--algorithm", "--step", "--stop", "--output", "--json"):
        assert option in page
    assert "examples:" in page


def test_list_imports_neither_compiler_nor_master_nor_physics():
    """It takes a fraction of a second; parameter sets read from files alone equal those of the components."""
    heavy = (
        "numba",
        "scipy",
        "h5py",
        "lxml",
        "jinja2",
        "matplotlib",
        "plotly",
        "pandas",
        "fmpy",
        "dockfmu.master.system",
    )
    code = f"""
import sys
from dockfmu.cli import main
assert main(["list"]) == 0
assert not [name for name in {heavy} if name in sys.modules], [name for name in {heavy} if name in sys.modules]
"""
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=False).returncode == 0
    for name in catalogue.names():
        assert catalogue.parameter_sets(name) == tuple(catalogue.component(name).parameter_sets)


def test_list_names_systems_components_and_parameter_sets(says):
    listed = says("list")
    for name in ("atv_probe_cone", "soyuz_probe_cone", "central_impact_20t", *catalogue.names(), "AX-1", "ATV-20t"):
        assert f"  {name} " in listed


def test_list_describes_each_parameter_set_once(says):
    lines = says("list").partition("components\n")[2].splitlines()
    described = [line[26:] for line in lines if line.startswith("    ") and not line.startswith("    those of ")]
    assert len(described) == len(set(described)) > 50
    (brakes,) = (k for k, line in enumerate(lines) if line.startswith("  ProbeMechanismTwoBrakes"))
    assert lines[brakes + 2].startswith("    those of ProbeMechanism DP-1, DR-1, ")


def test_a_reader_that_goes_away_is_no_fault():
    command = f"{sys.executable} -u -m dockfmu list | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("systems\n", "")
    assert done.returncode in (0, 1)


def test_build_says_which_file_and_for_which_fmu_it_works(says, tmp_path):
    assert says("build", "oscillator", "-o", "here") == "here/Oscillator.fmu\n"
    assert says("build", "Oscillator", "--kind", "python") == "build/fmus/Oscillator-python.fmu\n"
    assert says("validate", "here/Oscillator.fmu").endswith("here/Oscillator.fmu: valid\n")


def test_validate_a_package(says, pair):
    assert says("validate", pair) == f"{pair}: valid\n"


def test_json_is_the_summary_alone_and_equals_the_file(pair):
    done = dockfmu("run", pair, "--json", "-o", "out")
    assert done.returncode == 0
    assert all(line.startswith(("pair: ", "out: ")) for line in done.stderr.splitlines())
    summary = json.loads(done.stdout)
    assert set(summary) == KEYS
    assert summary == json.loads(Path("out/summary.json").read_text())
    assert summary["events"] == json.loads(Path("out/events.json").read_text())
    assert (summary["system"], summary["status"], summary["t_end"]) == ("pair", "completed", 2.0)
    assert [event["name"] for event in summary["events"]] == ["pushed_far"]
    assert summary["audit"]["energy_residual"] < 1e-12


def test_a_run_leaves_what_was_promised_and_nothing_else(says, pair, tmp_path):
    said = says("run", pair)
    assert said.startswith("pair: completed\n  completed at 2.000 s")
    assert "pushed far" in said
    folder = tmp_path / "build" / "results" / "pair"
    # pictures are drawn on demand; inputs are logged only of a run that an operator can command
    assert {path.name for path in folder.iterdir()} == set(RUN_FILES) - {"overview.png", "impact.png", "inputs.jsonl"}
    assert all(path.stat().st_size > 0 for path in folder.iterdir())


def test_nothing_of_an_earlier_run_is_left(pair, tmp_path):
    """This includes the close-up of the impact, which only runs beyond 15 s have, and the events."""
    assert status_of("run", pair, "-o", "out", "--stop", 20) == 0
    assert status_of("report", "out", "--png") == 0
    assert (tmp_path / "out" / "impact.png").exists()
    assert status_of("run", pair, "-o", "out", "--stop", 0.1) == 0
    assert not (tmp_path / "out" / "impact.png").exists()
    assert (tmp_path / "out" / "events.json").read_text() == "[]\n"
    assert status_of("run", pair, "-o", "out", "--stop", 0.1, "--no-report") == 0
    assert not (tmp_path / "out" / "report.html").exists()


def start(folder, element):
    with read_results(folder / "results.h5") as content:
        return content.parameters(element)


def test_set_and_parameters_reach_the_fmu(pair, tmp_path):
    """Values with other units are converted; single values override files, later ones override earlier ones."""
    entries = [
        SsvParameter("first.parameters.mass", "Real", 2000.0, "g"),
        SsvParameter("first.parameters.stiffness", "Real", 3.0),
        SsvParameter("second.parameters.damping", "Real", 0.5),
    ]
    gram = Unit("g", (1, 0, 0, 0, 0, 0, 0, 0), 1e-3)
    (tmp_path / "one.ssv").write_bytes(
        write_parameter_set(SsvParameterSet("one", entries, units=[UnitDefinition(gram)]))
    )
    other = SsvParameterSet("two", [SsvParameter("second.parameters.damping", "Real", 0.25)])
    (tmp_path / "two.ssv").write_bytes(write_parameter_set(other))
    arguments = ["--parameters", "one.ssv", "--parameters", "two.ssv", "--no-report", "-o", "out"]
    settings = ["first.parameters.stiffness=4", "first.parameters.stiffness=5"]
    assert status_of("run", pair, *arguments, *(f"--set={setting}" for setting in settings)) == 0
    first, second = start(tmp_path / "out", "first"), start(tmp_path / "out", "second")
    assert (first["parameters.mass"], first["parameters.stiffness"]) == (2.0, 5.0)
    assert first["parameters.initial_position"] == 1.0
    assert second["parameters.damping"] == 0.25


def test_a_declaration_of_the_user_runs_with_settings_and_leaves_its_package(tmp_path):
    (tmp_path / "alone.toml").write_text(TOML, encoding="utf-8")
    arguments = ("--set", "mass.parameters.initial_position=0.25", "--no-report")
    assert status_of("run", "alone.toml", *arguments, "-o", "out") == 0
    assert start(tmp_path / "out", "mass")["parameters.initial_position"] == 0.25
    assert status_of("run", "out/alone-changed.ssp", "--no-report", "-o", "again") == 0
    with read_results(tmp_path / "out/results.h5") as one, read_results(tmp_path / "again/results.h5") as two:
        assert all(np.array_equal(one[name], two[name]) for name in one.variables)


def test_step_stop_and_algorithm(pair, capfd):
    assert status_of("run", pair, "--step", 0.02, "--stop", 0.5, "--algorithm", "jacobi", "--json", "--no-report") == 0
    summary = json.loads(capfd.readouterr().out)
    assert (summary["step"], summary["t_end"], summary["algorithm"], summary["macro_steps"]) == (
        0.02,
        0.5,
        "jacobi",
        25,
    )


def test_csv_holds_every_sample_of_every_variable(results, says, tmp_path):
    assert says("export", results, "--csv", "-o", "out.csv") == "out.csv\n"
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        header = file.readline().rstrip("\n").split(",")
    table = np.loadtxt(tmp_path / "out.csv", delimiter=",", skiprows=1)
    with read_results(results / "results.h5") as content:
        assert len(header) == table.shape[1] == 1 + len(content.variables)
        assert header[0] == "time [s]"
        assert np.array_equal(table[:, 0], content.time)
        assert np.array_equal(table[:, header.index("second.position [m]")], content["second.position"])
        assert np.array_equal(table[:, header.index("first.status.code")], content["first.status.code"])


def test_mat_is_read_back(results, says, tmp_path):
    assert says("export", results / "results.h5", "--mat", "-o", "out.mat") == "out.mat\n"
    table = loadmat(tmp_path / "out.mat", squeeze_me=True)
    original = dict(table["names"])
    with read_results(results / "results.h5") as content:
        assert sorted(original.values()) == sorted(whole_arrays(content.variables))
        assert np.array_equal(table["time"], content.time)
        for name, variable in original.items():
            assert np.array_equal(table[name], np.asarray(content[variable], float)), name
        assert table["first_audit_momentum"].shape == (len(content.time), 3)
    assert original["first_audit_momentum"] == "first.audit.momentum"


def test_elements_that_were_chosen_alone_stay_columns_in_matlab(results, says, tmp_path):
    assert says("export", results, "--mat", "-o", "out.mat", "--signals", "first.audit.momentum[2]") == "out.mat\n"
    table = loadmat(tmp_path / "out.mat")
    assert table["first_audit_momentum_2"].shape == table["time"].shape


def test_export_beside_the_results_and_into_a_folder_that_is_not_there(pair, says, capfd):
    assert status_of("run", pair, "-o", "out", "--no-report") == 0
    capfd.readouterr()
    assert says("export", "out", "--csv") == "out/results.csv\n"
    assert status_of("export", "out", "--csv", "-o", "nosuch/out.csv") == 1
    assert "nosuch/out.csv: cannot be written (No such file or directory)" in capfd.readouterr().err


def interrupted(pair, folder, number):
    """Send a signal to a long run once rows are on disk; return (exit status, standard output and error)."""
    arguments = [sys.executable, "-m", "dockfmu", "run", str(pair), "--stop", "1e6", "--json", "-o", str(folder)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and not rows(folder):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.2)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def rows(folder):
    """Return the number of rows on disk while the file is being written."""
    try:
        with read_results(folder / "results.h5") as content:
            return len(content.time)
    except MasterError:
        return 0


@pytest.fixture
def slow_pair(oscillator, tmp_path):
    """Return the pair, recorded once per simulated second, so that a long run leaves a small file."""
    return write_pair(oscillator, tmp_path, replace(PLAN, record_every=100))


@pytest.mark.slow
def test_ctrl_c_leaves_a_stopped_run(slow_pair, tmp_path):
    status, out, err = interrupted(slow_pair, tmp_path / "out", signal.SIGINT)
    assert status == 128 + signal.SIGINT, err
    summary = json.loads(out)
    assert summary == json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["status"] == "stopped"
    assert "interrupted at t = " in summary["message"]
    assert "Traceback" not in err
    assert (tmp_path / "out" / "report.html").is_file()
    with read_results(tmp_path / "out" / "results.h5") as content:
        assert content.attributes["status"] == "stopped"
        assert content.time[-1] == pytest.approx(summary["t_end"])


@pytest.mark.slow
def test_a_killed_run_leaves_what_was_flushed_and_can_be_reported(slow_pair, tmp_path, says):
    status, out, _ = interrupted(slow_pair, tmp_path / "out", signal.SIGKILL)
    assert (status, out) == (-signal.SIGKILL, "")
    with read_results(tmp_path / "out" / "results.h5") as content:
        assert content.attributes["status"] == "running"
        assert len(content.time) > 0
        assert np.isfinite(content["second.position"]).all()
    assert not (tmp_path / "out" / "summary.json").exists()
    assert says("report", "out") == "out/report.html\n"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "killed" in page
    assert "the process ended before its run did" in page
    assert says("export", "out", "--mat") == "out/results.mat\n"


def test_report_of_a_failed_run(pair, says, tmp_path):
    arguments = ("--set", "second.parameters.travel_limit=0.1", "-o", "out", "--no-report")
    assert status_of("run", pair, *arguments) == 1
    assert not (tmp_path / "out" / "report.html").exists()
    assert says("report", "out").endswith("out/report.html\n")
    assert "exceeds parameters.travel_limit = 0.1 m" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_a_report_that_cannot_be_made_does_not_hide_how_the_run_ended(pair, monkeypatch, capfd):
    def fail(*_):
        raise ReportError("nothing was recorded")

    monkeypatch.setattr("dockfmu.report.page.write_report", fail)
    assert status_of("run", pair, "--set", "second.parameters.travel_limit=0.1", "--json") == 1
    said = capfd.readouterr()
    assert "warning: no report: nothing was recorded" in said.err
    assert json.loads(said.out)["message"] in said.err


def test_report_without_rows_or_with_a_damaged_summary(pair, tmp_path, capfd):
    assert status_of("run", pair, "-o", "out", "--no-report") == 0
    (tmp_path / "out" / "summary.json").write_text('{"system": ')
    assert status_of("report", "out") == 2
    assert "out/summary.json: not JSON" in capfd.readouterr().err
    with h5py.File(tmp_path / "out" / "results.h5", "r+") as content:
        content["time"].resize(0, axis=0)
    (tmp_path / "out" / "summary.json").unlink()
    assert status_of("report", "out") == 2
    assert "the run ended before anything was recorded" in capfd.readouterr().err
    (tmp_path / "out" / "results.h5").write_text("no HDF5")
    assert status_of("report", "out") == 2
    assert "not a readable recording" in capfd.readouterr().err


@pytest.mark.slow
def test_a_package_equals_its_system_and_takes_the_same_settings(tmp_path):
    """`dockfmu run FILE.ssp` gives the same bits as `dockfmu run SYSTEM`, with and without settings."""
    settings = (
        "chaser.parameters.mass=18e3",
        "chaser.parameters.port[1].base_motion=SOURCE",
        "mechanism.parameters.base_motion=SOURCE",
        "station.parameters.port[1].base_motion=2",
        "mechanism.parameters.axial.magnetic_force=[0, 1e3, 2e3, 5e3]",
        "mechanism.parameters.drive.wheel_radius[2]=0.021",
        "mechanism.probe_cone.parameters.limiter.pads=8",
        "cyclogram.parameters.fault.push=true",
    )
    plain = ("--stop", 0.2, "--no-report")
    changed = (*plain, *(f"--set={setting}" for setting in settings))
    runs = [
        run_system(tmp_path / "system", "central_impact_20t", *plain),
        run_system(tmp_path / "package", "build/ssp/central_impact_20t.ssp", *plain),
        run_system(tmp_path / "changed", "central_impact_20t", *changed),
        run_system(tmp_path / "changed-package", "build/ssp/central_impact_20t.ssp", *changed),
    ]
    for one, other in (runs[:2], runs[2:]):
        assert one.results.variables == other.results.variables
        for name in one.results.variables:
            assert np.array_equal(one.results[name], other.results[name]), name
    assert not np.array_equal(runs[0].results[FORCE], runs[2].results[FORCE])
    for run in runs[2:]:
        chaser, mechanism = run.results.parameters("chaser"), run.results.parameters("mechanism")
        assert chaser["parameters.mass"] == 18e3
        assert chaser["parameters.port[1].base_motion"] == 1.0
        assert run.results.parameters("station")["parameters.port[1].base_motion"] == 2.0
        assert mechanism["parameters.axial.magnetic_force[4]"] == 5e3
        assert mechanism["parameters.drive.wheel_radius[2]"] == 0.021
        assert mechanism["probe_cone.parameters.limiter.pads"] == 8.0
        assert run.results.parameters("cyclogram")["parameters.fault.push"] == 1.0


@pytest.mark.slow
def test_initial_conditions_place_the_craft_and_start_states_go_before_them(tmp_path):
    arguments = ("central_impact_20t", "--stop", 0.02, "--no-report")
    moved = run_system(tmp_path / "moved", *arguments, "--set", "initial_conditions.velocity=0.1,0,0")
    assert moved.results["chaser.body.velocity[1]"][0] == pytest.approx(0.1, rel=1e-12)
    gap = "--set=initial_conditions.start_gap=0.05"
    apart = run_system(tmp_path / "apart", *arguments, gap)
    first = moved.results["chaser.body.position[1]"][0]
    assert first - apart.results["chaser.body.position[1]"][0] == pytest.approx(0.05, abs=1e-5)
    assert apart.summary["events"] == []
    given = run_system(tmp_path / "given", *arguments, gap, "--set", "chaser.parameters.initial.velocity[1]=0.3")
    assert given.results["chaser.body.velocity[1]"][0] == pytest.approx(0.3, rel=1e-12)
