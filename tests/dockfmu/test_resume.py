"""Runs resumed from a checkpoint, branches, and elements in separate processes or on threads."""

import json

import numpy as np
import pytest

from dockfmu import System
from dockfmu.master.checkpoint import CheckpointError, read_checkpoint
from dockfmu.master.drivers.datagrams import Datagrams
from dockfmu.master.observers.recording.results import read_results
from dockfmu.master.result import Result
from dockfmu.products import ResultsFolder
from dockfmu.report.files import RUN_FILES
from tests.dockfmu.command_line import dockfmu, run_system, status_of
from tests.dockfmu.small_systems import changed_text, write_pair

pytestmark = pytest.mark.slow


def assert_tail(whole, rest):
    """Check that the rows of a resumed run, from the checkpoint on, are bitwise equal to those of the whole run."""
    at = np.searchsorted(whole.time, rest.time[1:])
    assert np.array_equal(whole.time[at], rest.time[1:])
    assert at[-1] == len(whole.time) - 1
    for name in whole.variables:
        assert np.array_equal(whole[name][at], rest[name][1:]), name


@pytest.mark.slow
def test_a_central_impact_goes_on_to_the_bit(central_impact, tmp_path):
    """The run is interrupted in the impact, at 0.3 s, with forces of kilonewtons."""
    run_system(tmp_path / "part", "central_impact_20t", "--stop", 0.3, "--no-report")
    file = tmp_path / "part" / "run.checkpoint"
    rest = run_system(tmp_path / "rest", "central_impact_20t", "--no-report", "--resume", file)
    assert np.abs(rest.results["mechanism.target.force_now[1]"][0]) > 1e3
    for name in ("t_end", "macro_steps"):
        assert rest.summary[name] == central_impact.summary[name]
    assert_tail(central_impact.results, rest.results)


def test_a_longer_run_goes_on_from_a_shorter_one_that_is_replaced(pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = run_system(tmp_path / "whole", pair)
    assert status_of("run", pair, "-o", "out", "--stop", 0.7, "--no-report") == 0
    rest = run_system(tmp_path / "out", pair, "--resume", "out/run.checkpoint", "--no-report")
    assert_tail(whole.results, rest.results)
    assert read_checkpoint(tmp_path / "out" / "run.checkpoint").time == 2.0


def test_the_recording_before_a_checkpoint_is_kept_beside_the_new_one(pair, tmp_path, capsys):
    """This includes runs resumed twice from one checkpoint, and the journal of a run that was killed."""
    whole = run_system(tmp_path / "whole", pair, "--no-report")
    out = tmp_path / "out"
    resume = ("-o", out, "--no-report", "--resume", out / "run.checkpoint")
    assert status_of("run", pair, "-o", out, "--stop", 0.7, "--no-report") == 0
    checkpoint = (out / "run.checkpoint").read_bytes()
    (out / "results.h5.journal").write_bytes(b"last rows")
    capsys.readouterr()
    assert status_of("run", pair, *resume) == 0
    assert f"the recording of the previous run is kept as {out / 'results-until-0.7s.h5'}" in capsys.readouterr().err
    assert (out / "results-until-0.7s.h5.journal").read_bytes() == b"last rows"
    (out / "results-until-0.7s.h5.journal").unlink()
    with read_results(out / "results-until-0.7s.h5") as before, read_results(out / "results.h5") as after:
        assert before.time[-1] == after.time[0] == pytest.approx(0.7)
        for name in before.variables:
            assert np.array_equal(np.append(before[name], after[name][1:]), whole.results[name]), name
    (out / "run.checkpoint").write_bytes(checkpoint)
    assert status_of("run", pair, *resume) == 0
    kept = sorted(file.name for file in out.glob("results*.h5"))
    assert kept == ["results-until-0.7s-2.h5", "results-until-0.7s.h5", "results.h5"]


def test_rows_around_events_are_those_of_the_whole_run(pair, tmp_path):
    """The event is at 1.37 s. One in ten rows elsewhere is counted from the start of the run before."""
    options = ("--every", 10, "--around", "0.2,0.1", "--no-report")
    whole = run_system(tmp_path / "whole", pair, *options)
    for stop in (0.75, 1.37, 1.4):
        part = tmp_path / f"until-{stop}"
        run_system(part, pair, *options, "--stop", stop)
        rest = run_system(tmp_path / f"from-{stop}", pair, *options, "--resume", part / "run.checkpoint")
        # the last step before the checkpoint ends at the stop time to the bit, in the whole run at a sum of steps
        after = whole.results.time[whole.results.time > rest.results.time[0] + 1e-9]
        # what holds at the checkpoint counts as an event there, with a window of its own
        again = rest.results.time[0] + 0.1 if stop >= 1.37 else 0.0
        found = rest.results.time[1:]
        assert np.all(np.isin(after, found)), stop
        assert np.all(np.isin(found[found > again + 1e-6], after)), stop


def test_an_event_that_holds_at_the_start_has_a_window(pair, tmp_path):
    settings = ("--set", "second.parameters.initial_position=0.3", "--no-report")
    run = run_system(tmp_path, pair, "--every", 50, "--around", "0.1,0.2", *settings)
    assert run.summary["events"][0]["t"] == 0.0
    assert run.results.time[:22] == pytest.approx([*np.arange(21) * 0.01, 0.5])


@pytest.fixture
def stiff(oscillator, tmp_path):
    """Return an oscillator that supports neither variable steps nor states."""
    changed = oscillator
    for k, ability in enumerate(("canHandleVariableCommunicationStepSize", "canGetAndSetFMUstate")):
        old, new = f'{ability}="true"', f'{ability}="false"'
        changed = changed_text(changed, tmp_path / f"stiff{k}.fmu", "modelDescription.xml", old, new)
    return changed


def test_what_does_not_fit_is_refused_before_anything_is_removed(pair, stiff, tmp_path, capsys):
    folder = tmp_path / "out"
    swap = ("--swap", f"second={stiff}")
    assert status_of("run", pair, "-o", folder, "--stop", 0.5, "--no-report") == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    other = Datagrams(0, [])
    other.open()
    port = other.port
    for arguments, words in (
        (("--resume", folder / "summary.json"), "summary.json: not a readable checkpoint"),
        (
            ("--resume", folder / "run.checkpoint", "--stop", 0.4),
            "run.checkpoint: is at 0.5 s already; the run ends at 0.4 s",
        ),
        (("--adaptive",), "the system declares no table `adaptive`"),
        ((*swap, "--step", 0.3), "2 s is not a multiple of the step 0.3 s, and second cannot vary the step"),
        ((*swap, "--algorithm", "fixed_point"), "implicit coupling needs rollback, which second cannot do"),
        (("--receive", port), f"port {port} of 127.0.0.1 is not available"),
        (("--process", "third"), "third: the system pair has no element 'third'; there are first, second"),
        (("--process", "first=soon"), "--process first=soon: 'soon' is not a positive time"),
    ):
        assert status_of("run", pair, "-o", folder, *arguments) == 2, arguments
        assert words in capsys.readouterr().err
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    other.end(Result("", "", 0.0))


def test_a_checkpoint_of_another_system_is_refused_with_the_differences(pair, oscillator, tmp_path, capsys):
    """With --force it resumes with the checkpoint's values, and the results are labelled with those."""
    folder = tmp_path / "out"
    resume = ("--resume", folder / "run.checkpoint", "--no-report")
    assert status_of("run", pair, "-o", folder, "--stop", 0.5, "--no-report") == 0
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    settings = ("--set", "first.parameters.mass=2", "--set", "second.parameters.initial_position=0.1")
    assert status_of("run", pair, "-o", folder, *resume, *settings) == 2
    said = capsys.readouterr().err
    assert "the checkpoint at t = 0.5 s was taken from another system:" in said
    assert "\n  first.parameters.mass: 1.0 at the checkpoint, 2.0 now\n" in said
    assert "\n  second.parameters.initial_position: 0.0 at the checkpoint, 0.1 now\n" in said
    other = write_pair(oscillator, tmp_path, name="other")
    assert status_of("run", other, "-o", folder, *resume) == 2
    assert "the name of the system: pair at the checkpoint, other now" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    forced = run_system(tmp_path / "forced", pair, *resume, *settings, "--force")
    assert forced.results.parameters("first")["parameters.mass"] == 1.0
    assert forced.results.parameters("second")["parameters.initial_position"] == 0.0
    assert forced.summary["resumed"]["differences"] == [
        "first.parameters.mass: 1.0 at the checkpoint, 2.0 now",
        "second.parameters.initial_position: 0.0 at the checkpoint, 0.1 now",
    ]
    plain = run_system(tmp_path / "plain", pair, *resume)
    for name in plain.results.variables:
        assert np.array_equal(plain.results[name], forced.results[name]), name
    assert (plain.summary["resumed"]["t"], plain.summary["resumed"]["differences"]) == (0.5, [])
    assert (plain.summary["outcome"], plain.summary["warnings"]) == ("completed", [])


def test_another_fmu_is_refused_but_for_force(pair, stiff, tmp_path, capsys):
    folder = tmp_path / "out"
    assert status_of("run", pair, "-o", folder, "--stop", 0.5, "--no-report") == 0
    arguments = ("--resume", folder / "run.checkpoint", "--no-report", "--swap")
    copy = changed_text(
        stiff,
        tmp_path / "copy.fmu",
        "modelDescription.xml",
        'canGetAndSetFMUstate="false"',
        'canGetAndSetFMUstate="true"',
    )
    assert status_of("run", pair, "-o", folder, *arguments, f"second={copy}") == 2
    assert "the FMU of second: SHA-256 " in capsys.readouterr().err
    assert status_of("run", pair, "-o", folder, *arguments, f"second={copy}", "--force") == 0
    assert "resumed despite a difference: the FMU of second: SHA-256 " in capsys.readouterr().err


def test_the_python_api_refuses_a_checkpoint_of_other_values(oscillator, tmp_path):
    system = System("alone")
    system.add("mass", oscillator, {"parameters.initial_position": 0.5})
    with system.simulate(step=0.01) as simulation:
        simulation.advance(0.5)
        simulation.save(tmp_path / "c")
    system.set({"mass.parameters.stiffness": 7.0})
    for attempt in (system.run, system.simulate):
        with pytest.raises(CheckpointError, match=r"mass\.parameters\.stiffness: 1\.0 at the checkpoint, 7\.0 now"):
            attempt(step=0.01, stop=1.0, resume=tmp_path / "c")
    outcome = system.run(step=0.01, stop=1.0, resume=tmp_path / "c", force=True)
    assert outcome.result.resumed["t"] == 0.5
    assert len(outcome.result.warnings) == 1


def test_the_results_say_how_the_part_before_was_made(pair, tmp_path):
    """Another step or algorithm is not another system; console and report mention it."""
    assert status_of("run", pair, "-o", tmp_path / "one", "--stop", 0.5, "--no-report") == 0
    arguments = ("--resume", tmp_path / "one" / "run.checkpoint", "--step", 0.005, "--algorithm", "jacobi")
    done = dockfmu("run", pair, *arguments, "-o", tmp_path / "two")
    assert done.returncode == 0, done.stderr
    assert "continued from a checkpoint at 0.500 s" in done.stdout
    summary = json.loads((tmp_path / "two" / "summary.json").read_text())
    assert summary["resumed"] == {
        "t": 0.5,
        "system": "pair",
        "algorithm": "gauss_seidel",
        "step": 0.01,
        "differences": [],
    }
    page = (tmp_path / "two" / "report.html").read_text(encoding="utf-8")
    assert "a checkpoint of pair at 0.500 s, reached by gauss_seidel in steps of 0.01 s" in page


def test_a_checkpoint_among_the_results_that_are_replaced_stays_until_there_is_a_newer_one(tmp_path):
    for name in (*RUN_FILES, "notes.txt"):
        (tmp_path / name).write_text("old")
    with ResultsFolder(tmp_path) as folder:
        folder.clear(RUN_FILES, tmp_path / "sub" / ".." / "run.checkpoint")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "run.checkpoint"]


def test_elements_in_processes_give_the_same_results(pair, tmp_path):
    whole = run_system(tmp_path / "one", pair, "--no-report")
    apart = run_system(tmp_path / "two", pair, "--no-report", "--process", "first=30", "--process", "second")
    for name in whole.results.variables:
        assert np.array_equal(whole.results[name], apart.results[name]), name


def test_elements_on_threads_give_the_same_results(pair, tmp_path):
    one = run_system(tmp_path / "one", pair, "--no-report", "--algorithm", "jacobi")
    two = run_system(tmp_path / "two", pair, "--no-report", "--algorithm", "jacobi", "--threads", 2)
    for name in one.results.variables:
        assert np.array_equal(one.results[name], two.results[name]), name


def test_a_crash_in_a_process_leaves_the_results(lag, tmp_path):
    system = System("crashing")
    system.add("a", lag, {"fail.function": 1, "fail.status": 11, "fail.time": 0.5}, process=True)
    package = system.write(tmp_path / "crashing.ssp")
    done = dockfmu("run", package, "-o", tmp_path / "out", "--process", "a", "--step", 0.01, "--json", "--no-report")
    assert done.returncode == 1
    summary = json.loads(done.stdout)
    assert "a: fmi2DoStep did not return: its process was ended by SIGABRT at t = 0.5 s" in summary["message"]
    assert read_checkpoint(tmp_path / "out" / "run.checkpoint").time <= 0.5


def test_variants_from_python_branch_from_one_prefix(oscillator, tmp_path):
    system = System("alone")
    system.add("mass", oscillator)
    with system.simulate(step=0.01, record=["mass.position"]) as prefix:
        prefix["mass.force"] = 1.0
        prefix.advance(1.0)
        prefix.save(tmp_path / "c")
        ends = []
        for force in (1.0, -1.0):
            with prefix.branch({"mass.force": force}, stop=2.0) as variant:
                variant.advance()
            assert (variant.outcome.time[0], len(variant.outcome.time)) == (1.0, 101)
            ends.append(variant.outcome["mass.position"][-1])
        prefix.advance(2.0)
        assert prefix["mass.position"] == ends[0] != ends[1]
    outcome = system.run(step=0.01, stop=2.0, resume=tmp_path / "c")
    assert outcome["mass.position"][-1] == ends[0]
