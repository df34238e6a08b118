"""Faults of the machine are no results: a run fails only where its machine is sound."""

import errno
import os
import pickle
import shutil
import subprocess
import tempfile
from contextlib import suppress
from itertools import pairwise

import dask
import pytest

from dockfmu.campaign import machine
from dockfmu.campaign.cluster.execution import ClusterOptions, Execution
from dockfmu.campaign.dataset import read_runs
from dockfmu.campaign.description import read_study
from dockfmu.campaign.machine import MachineFaultError, check_machine, fault_here, fault_of
from dockfmu.campaign.runner import Runner, RunPoint
from dockfmu.master.errors import ArchiveError, FmuError
from tests.dockfmu.campaign import stand_in
from tests.dockfmu.campaign.test_execution import finished, rows_are_whole
from tests.dockfmu.small_systems import write_pair


def chained(*errors):
    """Return the last of these errors, each raised from the one before."""
    for cause, error in pairwise(errors):
        error.__cause__ = cause
    return errors[-1]


FULL = OSError(errno.ENOSPC, "No space left on device", "/tmp/x")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (FULL, "'No space left on device' for /tmp/x"),
        (chained(FULL, ArchiveError("a.fmu: cannot be unpacked")), "No space left"),
        (chained(OSError(errno.ENOENT, "No such file or directory"), ArchiveError("a"), FmuError("b", "c")), "No such"),
        (chained(MemoryError(), RuntimeError("x")), "no memory left"),
        # what an FMU or a file may cause
        (None, ""),
        (FmuError("a", "fmi2DoStep gave fmi2Error: No space left on device"), ""),
        (chained(OSError(errno.EINVAL, "Invalid argument"), ArchiveError("not a zip")), ""),
        (ConnectionResetError(errno.ECONNRESET, "reset"), ""),
        (OSError("cannot be loaded: undefined symbol"), ""),
    ],
)
def test_faults_of_the_machine_are_told_by_codes(error, what):
    assert what in fault_of(error)
    assert bool(what) == bool(fault_of(error))


def test_the_error_says_where_what_and_how_to_go_on_also_from_another_process():
    error = pickle.loads(pickle.dumps(MachineFaultError("hal", "it has no memory left", "tls://1.2.3.4:5")))
    assert (error.machine, error.worker, error.exit_status) == ("hal", "tls://1.2.3.4:5", 1)
    assert str(error).startswith("hal: it has no memory left. This is no result")
    assert "the campaign continues" in str(error)


def test_a_missing_folder_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    assert fault_here() == (
        f"its folder for temporary files, {tmp_path / 'gone'}, cannot be written (No such file or directory)"
    )


def test_no_memory_is_found(monkeypatch):
    # more than any machine has
    monkeypatch.setattr(machine, "MEMORY_BYTES", 1 << 60)
    assert fault_here() == "it has no memory left"


@pytest.fixture
def small_disk(tmp_path):
    """Mount a file system of 512 KiB where this user may."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if shutil.which("mount") is None or os.geteuid() != 0:
        pytest.skip("this user cannot mount a file system")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", folder], check=False).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_folder_is_found(small_disk, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(small_disk))
    assert "cannot be written (No space left on device)" in fault_here()


@pytest.fixture(scope="module")
def study(oscillator, tmp_path_factory):
    """Return a study of two oscillators."""
    folder = tmp_path_factory.mktemp("study")
    write_pair(oscillator, folder)
    vary = [{"name": "first.parameters.mass", "law": "uniform", "low": 1.0, "high": 2.0}]
    content = {"system": "pair.ssp", "runs": 3, "run": {"stop": "0.1 s"}, "vary": vary}
    return read_study(content, folder, "here")[0]


@pytest.mark.parametrize("fault", ["missing", "full"])
def test_a_machine_that_cannot_unpack_fmus_gives_no_row(study, tmp_path, monkeypatch, fault, request):
    """Regression: such runs had the status `failed` or `crashed` for ever."""
    place = tmp_path / "gone" if fault == "missing" else request.getfixturevalue("small_disk")
    if fault == "full":
        (place / "rest").write_bytes(bytes(500 << 10))
    runner = Runner(study)
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with pytest.raises(MachineFaultError, match=r"No such file|No space left"):
        runner.run(RunPoint(0))
    # once it is sound, the same runner makes the run
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert runner.run(RunPoint(0))["status"] == "completed"
    runner.close()


def test_a_failed_run_is_believed_where_the_machine_is_sound(study, monkeypatch):
    runner = Runner(study)
    wrong = RunPoint(0, {"first.parameters.mass": -1.0})
    assert runner.run(wrong)["outcome"] == "invalid"
    monkeypatch.setattr(machine, "fault_here", lambda: "its disk is on fire")
    with pytest.raises(MachineFaultError, match="its disk is on fire"):
        runner.run(wrong)
    # a run that succeeds needs no proof
    assert runner.run(RunPoint(0))["status"] == "completed"
    runner.close()


def test_check_machine_passes_what_the_machine_is_not_to_blame_for():
    check_machine(FmuError("a", "fmi2DoStep gave fmi2Error"))


@pytest.mark.slow
def test_runs_of_a_worker_without_room_are_made_by_another(tmp_path):
    output = finished(tmp_path, "--workers", 2, "--runs", 60, "--faults", "full")
    rows_are_whole(tmp_path, 60)
    assert output.count("its operating system says 'No space left on device' for /tmp/a.fmu") == 1
    assert "its runs are made elsewhere" in output


@pytest.mark.slow
def test_a_campaign_ends_if_no_machine_is_sound_and_goes_on_later(tmp_path):
    output = finished(tmp_path, "--workers", 2, "--runs", 60, "--faults", "all_full", status=1)
    assert "MachineFaultError" in output
    assert "No space left on device" in output
    assert "the campaign continues" in output
    table = read_runs(tmp_path / "runs.parquet")
    assert set(table["outcome"]) == {"done"}
    finished(tmp_path, "--workers", 2, "--runs", 60)
    rows_are_whole(tmp_path, 60)


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["missing", "full"])
def test_a_cluster_without_a_folder_for_its_files_says_so(tmp_path, monkeypatch, folder, request):
    """Regression: a traceback."""
    place = tmp_path / "gone" if folder == "missing" else request.getfixturevalue("small_disk")
    if folder == "full":
        with (place / "rest").open("wb", buffering=0) as file, suppress(OSError):
            while True:
                file.write(bytes(4096))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    with pytest.raises(MachineFaultError, match=r"No such file|No space left"):
        stand_in.make(tmp_path, 5, ClusterOptions(1, None, "1GiB"))


@pytest.mark.slow
def test_a_worker_that_is_killed_while_it_starts_is_no_traceback(tmp_path):
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    preload = {"distributed.worker.preload": [kill], "distributed.nanny.environ.x": "1"}
    with dask.config.set(preload), pytest.raises(MachineFaultError, match="worker has ended"):
        stand_in.make(tmp_path, 5, ClusterOptions(1, None, "1GiB"))
    assert list(tmp_path.glob("runs.parquet/*")) == []


@pytest.mark.slow
def test_a_worker_that_the_kernel_has_ended_for_lack_of_memory_is_no_row():
    with Execution(stand_in.study(5), {}, ClusterOptions(1), stand_in.StandIn) as cluster:
        cluster._check_memory()
        cluster._killed = {worker: count - 2 for worker, count in cluster._killed.items()}
        with pytest.raises(MachineFaultError, match="has ended 2 processes for lack of memory; use fewer --workers"):
            cluster._check_memory()
