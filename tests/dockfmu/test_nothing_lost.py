"""No results are lost by a full disk, concurrent runs, signals, unusual names or a closed pipe."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest

from dockfmu.declare import declaration
from dockfmu.declare.declaration import DeclarationError
from dockfmu.declare.packages import bundle
from dockfmu.fmus import build, catalogue
from dockfmu.library import load
from dockfmu.master.observers.recording.results import DamagedRecording, read_results, recover
from dockfmu.report.files import RUN_FILES
from tests.dockfmu.command_line import dockfmu, status_of
from tests.dockfmu.small_systems import PLAN, TOML, pair_system, write_pair

pytestmark = pytest.mark.slow

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="as Linux does it")


@pytest.fixture(scope="module")
def long_pair(oscillator, tmp_path_factory):
    """Return a system whose run takes a minute or more."""
    folder = tmp_path_factory.mktemp("long")
    return write_pair(oscillator, folder, replace(PLAN, step=1e-4, stop=1e4))


def has_rows(file):
    """Return whether a run has written rows, to its journal or to its recording."""
    beside = file.with_name(f"{file.name}.journal")
    if beside.exists() and beside.stat().st_size > 10_000:
        return True
    try:
        with h5py.File(file, swmr=True) as recording:
            return len(recording["time"]) > 0
    except (OSError, KeyError):
        return False


def started(*arguments, cwd=None, **options):
    """Start a run in a separate process; return it when it has recorded something."""
    folder = Path(arguments[arguments.index("-o") + 1])
    process = subprocess.Popen(
        [sys.executable, "-m", "dockfmu", "run", *map(str, arguments)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )
    limit = time.monotonic() + 60.0
    while not has_rows(folder / "results.h5"):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.02)
    return process


def complete(folder):
    """Return the summary and the rows of a run that ended in order."""
    summary = json.loads((folder / "summary.json").read_text())
    assert json.loads((folder / "events.json").read_text()) == summary["events"]
    with read_results(folder / "results.h5") as results:
        assert results.damage == ""
        assert results.attributes["status"] == summary["status"]
        assert results.attributes["message"] == summary["message"]
        return summary, results.time


# --- a full disk ---


@pytest.fixture
def small_disk(tmp_path):
    """Return a function that mounts a file system of a given size."""
    mounted = []

    def make(size):
        place = tmp_path / f"disk{size}"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=False, capture_output=True
        )
        if done.returncode:
            pytest.skip("only root mounts a small file system")
        mounted.append(place)
        return place

    yield make
    for place in mounted:
        subprocess.run(["umount", "-l", str(place)], check=False)


@LINUX
@pytest.mark.parametrize("kilobytes", [600, 1000, 3000])
def test_a_full_disk_leaves_a_whole_summary_and_all_rows_for_which_there_was_room(small_disk, long_pair, kilobytes):
    """Regression: the summary was empty and the recording did not open."""
    out = small_disk(1024 * kilobytes) / "out"
    done = dockfmu("run", long_pair, "-o", out)
    assert done.returncode == 1
    assert f"{out / 'results.h5'}: cannot be written ([Errno 28] No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda text, *_, **__: pytest.fail(str(text)))
        summary, times = complete(out)
    assert summary["status"] == "failed"
    assert np.allclose(times, 1e-4 * np.arange(len(times)), rtol=0.0, atol=1e-9)
    # 25 numbers of 8 bytes a row, and at most two blocks beside what is compressed
    assert 200 * len(times) > 0.3 * 1024 * (kilobytes - 520)
    lost = [note for note in summary["warnings"] if "rows are lost: they could not be written" in note]
    assert (len(lost) == 1) == (times[-1] < summary["t_end"] - 1e-9)
    assert not {path.name for path in out.iterdir()} & {"run.lock", "run.reserve", "results.h5.lock", "report.html"}
    # with room again the recording becomes a plain one
    moved = out.parent.parent / "moved"
    moved.mkdir()
    for name in ("results.h5", "results.h5.journal"):
        (moved / name).write_bytes((out / name).read_bytes())
    recover(moved / "results.h5")
    with read_results(moved / "results.h5") as results:
        assert np.array_equal(results.time, times)


@LINUX
@pytest.mark.parametrize("kilobytes", [16, 400])
def test_a_disk_that_is_full_from_the_start_is_named(small_disk, long_pair, kilobytes):
    place = small_disk(1024 * kilobytes)
    done = dockfmu("run", long_pair, "-o", place / "out")
    assert done.returncode in (1, 2)
    assert f"{place / 'out'}" in done.stderr
    assert "o space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert (place / "out" / "summary.json").is_file() == (done.returncode == 1)


@LINUX
def test_products_of_a_full_disk_are_whole_or_not_there(small_disk, pair, tmp_path):
    assert status_of("run", pair, "-o", tmp_path / "r", "--no-report") == 0
    place = small_disk(4 * 1024)
    for arguments in (
        ("export", tmp_path / "r", "--csv", "-o", place / "out.csv"),
        ("export", tmp_path / "r", "--mat", "-o", place / "out.mat"),
        ("diagram", pair, "-o", place / "out.png"),
    ):
        done = dockfmu(*arguments)
        assert done.returncode == 1
        assert f"{arguments[-1]}: cannot be written (No space left on device)" in done.stderr
    assert list(place.iterdir()) == []


# --- another run ---


@LINUX
def test_a_folder_in_which_another_run_writes_is_refused_by_the_name_of_its_process(long_pair, pair, tmp_path):
    """Regression: both were "completed", and the results of one were lost."""
    out = tmp_path / "out"
    first = started(long_pair, "-o", out)
    done = dockfmu("run", pair, "-o", out)
    assert done.returncode == 2
    assert f"{out} is being written by process {first.pid}, since 20" in done.stderr
    assert "dockfmu" in done.stderr
    # a run that is killed lets go of its folder
    first.kill()
    first.communicate()
    assert (out / "run.lock").exists()
    # as a kill leaves it while the journal is renewed
    (out / "results.h5.journal.new").touch()
    assert dockfmu("run", pair, "-o", out, "--no-report").returncode == 0
    summary, times = complete(out)
    assert summary["status"] == "completed"
    assert times[-1] == pytest.approx(2.0)
    assert sorted(path.name for path in out.iterdir()) == [
        "events.json",
        "results.h5",
        "run.checkpoint",
        "summary.json",
    ]


@LINUX
def test_a_run_that_is_refused_leaves_the_folder_as_it_was(pair, tmp_path):
    assert status_of("run", pair, "-o", tmp_path / "new" / "out", "--adaptive") == 2
    assert list(tmp_path.iterdir()) == []


def test_runs_of_one_system_with_other_settings_side_by_side_have_each_its_own(tmp_path):
    """Regression: they shared one .ssp in build/ssp, and one could run with the settings of the other."""
    (tmp_path / "alone.toml").write_text(TOML, encoding="utf-8")
    runs = [
        subprocess.Popen(
            [
                sys.executable,
                "-m",
                "dockfmu",
                "run",
                "alone.toml",
                "--no-report",
                "-o",
                f"out{k}",
                "--json",
                "--set",
                f"mass.parameters.initial_position={0.1 * k}",
                "--stop",
                "0.1",
            ],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for k in range(3)
    ]
    for run in runs:
        said = run.communicate()
        assert run.returncode == 0, said
    for k in range(3):
        with read_results(tmp_path / f"out{k}" / "results.h5") as results:
            assert results.parameters("mass")["parameters.initial_position"] == 0.1 * k


def test_systems_of_one_name_in_one_process_keep_their_fmus(tmp_path):
    """Regression: both had build/fmus/Spacecraft.fmu, which the second one overwrote."""
    text = 'name = "craft"\n[elements.craft]\ncomponent = "spacecraft"\noptions = {{ ports = {} }}\n[run]\nstop = 1.0\n'
    systems = []
    for ports in (1, 2):
        (tmp_path / "craft.toml").write_text(text.format(ports))
        systems.append(load(tmp_path / "craft.toml", folder=tmp_path / "build"))
    found = [{v.name for v in s.structure.description("craft").variables.values()} for s in systems]
    assert ["port[2].position[1]" in names for names in found] == [False, True]
    files = [s.structure.elements["craft"].file for s in systems]
    assert files[0].read_bytes() != files[1].read_bytes()
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.fmu")] == [
        "build/fmus/craft/Spacecraft.fmu"
    ]


def test_builds_into_one_folder_side_by_side_leave_whole_files(tmp_path):
    component = catalogue.component("Oscillator")
    failed = []

    def build_again():
        try:
            for _ in range(30):
                with zipfile.ZipFile(build(component, tmp_path)) as archive:
                    assert archive.testzip() is None
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=build_again) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [path.name for path in tmp_path.iterdir()] == ["Oscillator.fmu"]


# --- names ---


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../out", "file names cannot have"),
        ("/etc/passwd", "file names cannot have"),
        ("a\\\\b", "file names cannot have"),
        ("a\\u0000b", "file names cannot have"),
        ("..", "dot"),
        ("", "empty"),
        ("CON", "device"),
        ("nul.x", "device"),
        ("C:x", "file names cannot have"),
        ("a" * 101, "longer than 100 bytes"),
        ("mine-changed", "ends like"),
        ("Oscillator.FMU", "ends like"),
        ("atv_probe_cone", "is a system of dockfmu"),
        ("ATV_Probe_Cone", "is a system of dockfmu"),
    ],
)
@pytest.mark.parametrize("what", ["name", "element"])
def test_names_in_a_declaration_stay_in_their_folder(tmp_path, name, words, what):
    if what == "name":
        text = TOML.replace('"alone"', f'"{name}"')
    else:
        text = TOML.replace("elements.mass", f'elements."{name}"')
        if "system of dockfmu" in words:
            words = ""
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    if not words:
        declaration.read(str(tmp_path / "mine.toml"))
        return
    with pytest.raises(DeclarationError, match=words):
        declaration.read(str(tmp_path / "mine.toml"))


def test_elements_that_differ_in_capital_letters_only_are_refused(tmp_path):
    (tmp_path / "mine.toml").write_text(TOML + '\n[elements.Mass]\ncomponent = "oscillator"\n', encoding="utf-8")
    with pytest.raises(DeclarationError, match="mass and Mass differ only in case"):
        declaration.read(str(tmp_path / "mine.toml"))


def test_a_system_that_extends_another_has_a_name_of_its_own(tmp_path):
    (tmp_path / "mine.toml").write_text('extends = "atv_probe_cone"\n', encoding="utf-8")
    with pytest.raises(DeclarationError, match="atv_probe_cone is a system of dockfmu; give yours another name"):
        declaration.read(str(tmp_path / "mine.toml"))


@pytest.mark.parametrize("name", ["../../out", "a/b", "..", "two words: and more", "x" * 300])
def test_results_of_a_package_stay_in_build_whatever_its_name_is(oscillator, tmp_path, monkeypatch, name):
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    system = pair_system(oscillator)
    system.name = name
    bundle.write_bundle(system, replace(PLAN, stop=0.1), "", tmp_path / "work" / "p.ssp")
    assert status_of("run", "p.ssp", "--no-report") == 0
    assert [path.name for path in tmp_path.iterdir()] == ["work"]
    assert len(list((tmp_path / "work" / "build" / "results").glob("*/results.h5"))) == 1


# --- folders ---


@LINUX
@pytest.mark.parametrize("arguments", [(), ("--set", "mass.parameters.initial_position=0.25")])
def test_a_working_directory_that_cannot_be_written_is_enough_with_o(small_disk, tmp_path, arguments):
    work = small_disk(1024 * 1024)
    (work / "alone.toml").write_text(TOML, encoding="utf-8")
    subprocess.run(["mount", "-o", "remount,ro", str(work)], check=True)
    done = dockfmu("run", "alone.toml", *arguments, "-o", tmp_path / "out", cwd=work)
    assert done.returncode == 0, done.stderr
    assert complete(tmp_path / "out")[0]["status"] == "completed"
    done = dockfmu("run", "alone.toml", *arguments, cwd=work)
    assert done.returncode == 2
    assert "build/results/alone: cannot be written (Read-only file system)" in done.stderr


def test_build_names_the_folder_of_all_products(tmp_path, monkeypatch):
    (tmp_path / "alone.toml").write_text(TOML, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert status_of("run", "alone.toml", "--no-report", "--build", "there") == 0
    assert status_of("build", "Oscillator", "--build", "there") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone.toml", "there"]
    assert {path.relative_to(tmp_path / "there").as_posix() for path in tmp_path.rglob("there/*/**/*.*")} - {
        f"results/alone/{name}" for name in RUN_FILES
    } == {"ssp/alone.ssp", "fmus/alone/Oscillator.fmu", "fmus/alone/declared-in.txt", "fmus/Oscillator.fmu"}


@LINUX
def test_a_folder_that_vanishes_during_a_run_fails_it_by_name(long_pair, tmp_path):
    out = tmp_path / "out"
    process = started(long_pair, "-o", out)
    # the folder itself may stay: the run goes on making files in it
    subprocess.run(["rm", "-rf", str(out)], check=False)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"{out / 'results.h5'}: cannot be written" in said
    assert "Traceback" not in said
    assert json.loads((out / "summary.json").read_text())["status"] == "failed"


# --- signals ---


@LINUX
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_run_in_order_and_with_its_exit_status(long_pair, tmp_path, number):
    out = tmp_path / "out"
    process = started(long_pair, "-o", out)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    summary, times = complete(out)
    assert (summary["status"], summary["signal"]) == ("stopped", number.name)
    assert summary["message"] in said
    assert times[-1] == pytest.approx(summary["t_end"], abs=1e-9)
    assert times[-1] > 0.0
    assert (out / "report.html").exists()


@LINUX
def test_what_the_process_is_told_to_ignore_it_ignores(long_pair, tmp_path):
    """Ignore SIGHUP as nohup does."""
    process = started(
        long_pair, "-o", tmp_path / "out", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert process.poll() is None
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143


@pytest.mark.parametrize("where", ["_load", "terminate"])
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_outside_the_steps_ends_a_run_in_order(pair, tmp_path, monkeypatch, where, number, status):
    """Signals come while FMUs are loaded, before the first step, and after the last one."""
    from dockfmu.master.run.instances import Instances
    from dockfmu.master.run.simulation import Running

    owner = Running if where == "_load" else Instances
    original = getattr(owner, where)

    def interrupted(self, *arguments):
        original(self, *arguments)
        os.kill(os.getpid(), number)
        time.sleep(0.1)

    monkeypatch.setattr(owner, where, interrupted)
    before = signal.getsignal(signal.SIGTERM)
    if number == signal.SIGINT:
        monkeypatch.setattr(signal, "default_int_handler", signal.default_int_handler)
    assert status_of("run", pair, "-o", tmp_path / "out", "--no-report") == status
    assert signal.getsignal(signal.SIGTERM) == before
    summary, _ = complete(tmp_path / "out")
    assert (summary["status"], summary["signal"]) == ("stopped", number.name)


def test_a_fault_of_this_program_leaves_the_summary_too(pair, tmp_path, monkeypatch):
    from dockfmu.master.run.session import Session

    def broken(self):
        raise ZeroDivisionError("a fault of this program")

    monkeypatch.setattr(Session, "end", broken)
    with pytest.raises(ZeroDivisionError):
        status_of("run", pair, "-o", tmp_path / "out", "--no-report")
    summary, times = complete(tmp_path / "out")
    assert (summary["status"], summary["message"]) == ("failed", "a fault of this program")
    assert len(times) > 100


# --- kills ---


@LINUX
@pytest.mark.parametrize("delay", [0.0, 0.33])
def test_a_kill_at_any_moment_leaves_a_folder_that_opens_and_resumes(oscillator, tmp_path, delay):
    """The half-second checkpoint is complete, and the report uses what was recorded."""
    package = write_pair(oscillator, tmp_path, replace(PLAN, step=1e-4, stop=1e4))
    out = tmp_path / "out"
    process = started(package, "-o", out)
    time.sleep(delay)
    process.kill()
    process.communicate()
    with read_results(out / "results.h5") as results:
        n = np.arange(len(results.time))
        assert np.allclose(results.time, 1e-4 * n, rtol=0.0, atol=1e-9)
        assert results.damage == ""
    done = dockfmu("report", out)
    assert done.returncode == 0, done.stderr
    assert "killed" in (out / "report.html").read_text(encoding="utf-8")
    assert dockfmu("export", out, "--csv").returncode == 0


# --- damage ---


@pytest.mark.filterwarnings("always::dockfmu.master.observers.recording.results.DamagedRecording")
def test_a_recording_that_was_cut_off_is_reported_and_exported_as_far_as_it_goes(pair, tmp_path, capfd):
    out = tmp_path / "out"
    assert status_of("run", pair, "-o", out, "--no-report", "--step", 1e-4) == 0
    file = out / "results.h5"
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 3 // 4])
    for arguments in (("report", out), ("export", out, "--csv")):
        capfd.readouterr()
        assert status_of(*arguments) == 0
        said = capfd.readouterr().err
        assert f"warning: {file}: damaged" in said
        assert "rows could be read" in said
    rows = len((out / "results.csv").read_text(encoding="utf-8").splitlines()) - 1
    assert 1000 < rows < 20_001
    with pytest.warns(DamagedRecording):
        recover(file)
    assert (out / "results.h5.damaged").exists()
    with read_results(file) as results:
        assert (results.damage, len(results.time)) == ("", rows)


@pytest.mark.parametrize("name", ["summary.json", "events.json"])
@pytest.mark.parametrize("content", ["", "[" * 5000, "5", '{"a": 1}', '[{"t": 1}]', "null"])
def test_damaged_json_beside_a_recording_is_named(pair, tmp_path, capfd, name, content):
    out = tmp_path / "out"
    assert status_of("run", pair, "-o", out, "--no-report") == 0
    (out / name).write_text(content)
    assert status_of("report", out) == 2
    assert name in capfd.readouterr().err


# --- readers that have gone, and locales ---


@LINUX
def test_a_reader_of_standard_error_who_leaves_does_not_end_a_run(pair, tmp_path):
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "dockfmu", "run", str(pair), "-o", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=writing,
    )
    os.close(reading)
    os.close(writing)
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert complete(tmp_path / "out")[0]["status"] == "completed"


@LINUX
def test_a_reader_of_standard_output_who_leaves_costs_nothing(pair, tmp_path):
    """Close the pipe as `| head -1` does."""
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "dockfmu", "run", str(pair), "-o", str(tmp_path / "out"), "--json"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(reading)
    os.close(writing)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in said
    assert "Exception" not in said
    assert complete(tmp_path / "out")[0]["status"] == "completed"


@LINUX
@pytest.mark.parametrize("closed", ["1>&-", "0<&- 1>&- 2>&-"])
def test_closed_standard_streams_cost_nothing(pair, tmp_path, closed):
    """Regression: the recording got the descriptor of standard output, and output of FMUs was written into it."""
    out = tmp_path / "out"
    done = subprocess.run(
        f"exec {sys.executable} -m dockfmu run {pair} -o {out} --json {closed}", shell=True, check=False, timeout=60
    )
    assert done.returncode == 0
    assert complete(out)[0]["status"] == "completed"


@LINUX
@pytest.mark.parametrize("environment", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
                                         {"PYTHONIOENCODING": "ascii"}])  # fmt: skip
def test_names_that_the_locale_cannot_say(oscillator, tmp_path, environment):
    system = pair_system(oscillator)
    system.name = "Größe-対接"
    bundle.write_bundle(system, replace(PLAN, stop=0.1), "Kopplung: 対接", tmp_path / "p.ssp")
    done = subprocess.run(
        [sys.executable, "-m", "dockfmu", "run", "p.ssp"],
        cwd=tmp_path,
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (summary,) = (tmp_path / "build" / "results").glob("*/summary.json")
    assert json.loads(summary.read_text(encoding="utf-8"))["system"] == "Größe-対接"


def test_a_full_folder_for_temporary_files_is_named_and_no_fault_of_an_fmu(
    small_disk, oscillator, long_pair, monkeypatch
):
    """Regression: "[Errno 28] No space left on device", without a place; a sound FMU was told to be not valid."""
    place = small_disk(1 << 18)
    (place / "rest").write_bytes(bytes((1 << 18) - (16 << 10)))
    monkeypatch.setenv("TMPDIR", str(place))
    for words in (("validate", oscillator), ("linearise", oscillator), ("run", long_pair)):
        done = dockfmu(*words)
        assert done.returncode == 1, done.stdout
        assert f"No space left on device): {place}, for temporary files, has" in done.stderr
        assert "name another folder as TMPDIR" in done.stderr
        assert "valid" not in done.stdout
