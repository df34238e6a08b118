"""Nothing lost, nothing double: campaigns whose processes are killed, compared with values computed one by one."""

import logging
import os
import random
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import dask
import numpy as np
import psutil
import pytest
from distributed import Client
from distributed.security import Security

from dockfmu.base.locks import LockedError
from dockfmu.campaign.cluster import worker
from dockfmu.campaign.cluster.execution import SETTINGS, ClusterOptions, Execution, SchedulerLostError
from dockfmu.campaign.dataset import DAMAGED, DataSetError, read_runs
from dockfmu.campaign.runner import RunPoint, WorkerMismatchError
from tests.dockfmu.campaign import stand_in

ROOT = Path(__file__).parents[3]
RUNS = 300
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}

pytestmark = pytest.mark.slow


def rows_are_whole(folder, runs=RUNS, crashed=()):
    """Every run is there once, with the value of its index; those that crash are told."""
    table = read_runs(folder / "runs.parquet")
    assert table["index"].tolist() == list(range(runs))
    good = ~table["index"].isin(crashed)
    assert (table.loc[good, "outcome"] == "done").all()
    expected = np.array([stand_in.value(k) for k in range(runs)])
    assert np.array_equal(table.loc[good, "value"].to_numpy(), expected[good.to_numpy()])
    told = table.set_index("index").loc[list(crashed)]
    assert (told["outcome"] == "crashed").all()
    assert not list((folder / "runs.parquet").glob(".*.tmp"))
    return told


def client(folder, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "tests.dockfmu.campaign.stand_in", str(folder), *map(str, arguments)],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def finished(folder, *arguments, status=0, timeout=240):
    process = client(folder, *arguments)
    output, _ = process.communicate(timeout=timeout)
    assert process.returncode == status, output
    return output


def parts(folder):
    return len(list((folder / "runs.parquet").glob("*.parquet")))


def wait_for_parts(folder, count, process):
    until = time.monotonic() + 120
    while parts(folder) < count and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.01)


def test_killed_workers_hanging_runs_and_faults_are_told_by_index(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setitem(ENVIRONMENT, "TMPDIR", str(temporary))
    finished(tmp_path, "--workers", 2, "--faults", "kill", "raise", "hang", "stop")
    assert not list(temporary.rglob("campaign-*"))
    told = rows_are_whole(tmp_path, crashed=(stand_in.KILLER, stand_in.RAISER, stand_in.HANGER, stand_in.STOPPER))
    assert "crashed" in told.loc[stand_in.KILLER, "reason"]
    assert "ZeroDivisionError" in told.loc[stand_in.RAISER, "reason"]
    assert "time limit" in told.loc[stand_in.HANGER, "reason"]
    assert "stopped the process" in told.loc[stand_in.STOPPER, "reason"]


def test_a_run_that_takes_more_memory_than_a_worker_may_have_is_told(tmp_path):
    finished(tmp_path, "--workers", 2, "--runs", 60, "--faults", "eat")
    told = rows_are_whole(tmp_path, 60, crashed=(stand_in.EATER,))
    assert "more memory than a worker may have" in told.loc[stand_in.EATER, "reason"]
    # in each attempt the process was ended at 95 % of the limit, at most one piece after the last that was told
    taken = [max(map(int, file.read_text().split())) for file in tmp_path.glob("eaten-*")]
    assert min(taken) > 0.9 * stand_in.LIMIT
    assert max(taken) < 2 * stand_in.LIMIT


def test_a_client_that_is_killed_goes_on_where_it_was(tmp_path):
    choose = random.Random(1)
    for round_ in range(3):
        process = client(tmp_path, "--workers", 2)
        wait_for_parts(tmp_path, parts(tmp_path) + 2, process)
        time.sleep(choose.random() * 0.3)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert parts(tmp_path) >= round_
    before = parts(tmp_path)
    assert before > 0
    finished(tmp_path, "--workers", 2)
    rows_are_whole(tmp_path)


def test_workers_and_nannies_end_with_a_client_that_is_killed_alone(tmp_path):
    """The nannies of a cluster on this machine live in its client; none of its processes may stay."""
    process = client(tmp_path, "--workers", 2)
    wait_for_parts(tmp_path, 2, process)
    below = children(process)
    assert len([child for child in below if "spawn_main" in " ".join(child.cmdline())]) == 2
    process.kill()
    process.wait()
    _, alive = psutil.wait_procs(below, timeout=120)
    assert not alive
    stand_in.make_here(tmp_path, RUNS)
    rows_are_whole(tmp_path)


def test_a_nanny_that_ends_takes_its_worker_along_and_no_run(tmp_path):
    stand_in.make(tmp_path, RUNS, ClusterOptions(2, None, "1GiB"), lose_nanny=True, takes=0.02)
    rows_are_whole(tmp_path)


def test_ctrl_c_keeps_everything(tmp_path):
    process = client(tmp_path, "--workers", 2, "--takes", 0.1)
    wait_for_parts(tmp_path, 1, process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to workers too
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    last = [line for line in output.splitlines() if " runs; " in line][-1]
    # what was counted is written, and perhaps a row that was just being taken
    assert len(read_runs(tmp_path / "runs.parquet")) - int(last.split()[0]) in (0, 1)
    stand_in.make_here(tmp_path, RUNS)
    rows_are_whole(tmp_path)


def test_a_client_that_dies_between_writing_and_renaming(tmp_path):
    finished(tmp_path, "--workers", 2, "--die-before-rename", 2, status=-signal.SIGKILL)
    assert list((tmp_path / "runs.parquet").glob(".*.tmp"))
    assert parts(tmp_path) == 1
    stand_in.make_here(tmp_path, RUNS)
    rows_are_whole(tmp_path)


def test_a_full_disk_ends_the_campaign_and_keeps_what_is_written(tmp_path):
    stand_in.make_here(tmp_path, 40)
    output = finished(tmp_path, "--workers", 1, "--largest-file", 1000, status=1)
    assert "WriteError" in output
    assert "cannot be written" in output
    rows_are_whole(tmp_path, 40)
    stand_in.make_here(tmp_path, RUNS)
    rows_are_whole(tmp_path)


def test_parts_that_cannot_be_read_are_made_again(tmp_path):
    stand_in.make_here(tmp_path, 60)
    part = sorted((tmp_path / "runs.parquet").glob("*.parquet"))[0]
    part.write_bytes(part.read_bytes()[:-100])
    output = stand_in.make_here(tmp_path, 60)
    assert "cannot be read" in output
    rows_are_whole(tmp_path, 60)
    assert list((tmp_path / "runs.parquet").glob(f"{DAMAGED}*"))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="has no pipes in folders")
def test_a_pipe_in_place_of_a_part_is_not_waited_for(tmp_path):
    stand_in.make_here(tmp_path, 60)
    part = sorted((tmp_path / "runs.parquet").glob("*.parquet"))[0]
    part.unlink()
    os.mkfifo(part)
    with pytest.raises(DataSetError, match="is a pipe"):
        read_runs(tmp_path / "runs.parquet")
    stand_in.make_here(tmp_path, 60)
    rows_are_whole(tmp_path, 60)


def test_rows_that_somebody_has_doubled_count_once(tmp_path):
    """Indices count, not rows: a part that is there twice neither ends a campaign early nor doubles a run."""
    stand_in.make_here(tmp_path, 30)
    part = sorted((tmp_path / "runs.parquet").glob("*.parquet"))[0]
    shutil.copy(part, part.with_name("part-copied.parquet"))
    stand_in.make_here(tmp_path, 60)
    rows_are_whole(tmp_path, 60)


def test_two_clients_on_one_folder_are_refused(tmp_path):
    with stand_in.data_set(tmp_path):
        output = finished(tmp_path, "--workers", 1, status=2)
        assert "is being written by process" in output
    with stand_in.data_set(tmp_path), pytest.raises(LockedError), stand_in.data_set(tmp_path):
        pass


def test_rows_do_not_depend_on_workers_or_order(tmp_path):
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        stand_in.make(folder, 50, ClusterOptions(workers, None, "1GiB"))
        rows_are_whole(folder, 50)
    with pytest.raises(DataSetError, match="no runs"):
        read_runs(tmp_path)


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, as processes: (address, scheduler, workers); with "--nanny" these are nannies."""
    made = []

    def start(nanny="--no-nanny"):
        log = tmp_path / f"scheduler{len(made)}.log"
        with log.open("w") as file:
            scheduler = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_scheduler",
                    "--host",
                    "127.0.0.1",
                    "--port",
                    "0",
                    "--no-dashboard",
                ],
                cwd=ROOT,
                env=ENVIRONMENT,
                stderr=file,
            )
        made.append(scheduler)
        address = stand_in.address_in(log, scheduler)
        workers = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "distributed.cli.dask_worker",
                    address,
                    "--nthreads",
                    "1",
                    nanny,
                    "--no-dashboard",
                    "--memory-limit",
                    "1GiB",
                ],
                cwd=ROOT,
                env=ENVIRONMENT,
                stderr=subprocess.DEVNULL,
            )
            for _ in range(2)
        ]
        made.extend(workers)
        return address, scheduler, workers

    yield start
    for process in made:
        for child in children(process):
            kill(child)
        process.kill()
        process.wait()


def children(process):
    """Return the processes that descend from a process; none where it has ended."""
    try:
        return psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    except psutil.NoSuchProcess:
        return []


def kill(process):
    """Kill a process, which may have ended by itself."""
    with suppress(psutil.NoSuchProcess):
        process.kill()


def workers_of(nannies):
    """Return the processes in which nannies keep workers, as soon as there is one: killed ones are restarted."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        found = []
        for child in (child for nanny in nannies for child in children(nanny)):
            with suppress(psutil.NoSuchProcess):
                if "spawn_main" in " ".join(child.cmdline()):
                    found.append(child)
        if found:
            return found
        time.sleep(0.05)
    pytest.fail("no nanny has restarted its worker")


def test_at_a_scheduler_with_a_worker_killed_and_then_the_scheduler(tmp_path, cluster):
    address, scheduler, workers = cluster()
    process = client(tmp_path, "--scheduler", address, "--takes", 0.05)
    wait_for_parts(tmp_path, 1, process)
    workers[0].kill()
    wait_for_parts(tmp_path, parts(tmp_path) + 2, process)
    scheduler.kill()
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 1, output
    assert "SchedulerLostError" in output
    made = len(read_runs(tmp_path / "runs.parquet"))
    assert 0 < made < RUNS
    address, _, _ = cluster()
    output = finished(tmp_path, "--scheduler", address)
    assert f"of {RUNS} runs" in output
    rows_are_whole(tmp_path)


def break_off(address):
    """Connect to an address many times, begin a handshake of TLS, and reset the connection."""
    host, _, port = address.partition("://")[2].rpartition(":")
    for _ in range(100):
        with socket.create_connection((host, int(port)), timeout=60) as stranger:
            stranger.sendall(bytes.fromhex("16030100ff"))
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def test_a_neighbour_reaches_neither_scheduler_nor_workers_of_this_machine(tmp_path, monkeypatch, capfd):
    """They speak TLS with a certificate of the campaign, serve no pages, and keep their files in a private folder.

    Nobody hears of the neighbour: asyncio logged a traceback for each connection that breaks off before its handshake.
    """
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Execution(stand_in.study(4), {}, ClusterOptions(workers=1), stand_in.StandIn) as execution:
        scheduler = execution._cluster.scheduler
        workers = list(scheduler.workers)
        assert scheduler.address.startswith("tls://127.0.0.1:")
        assert all(worker.startswith("tls://127.0.0.1:") for worker in workers)
        for address in (scheduler.address, scheduler.address.replace("tls:", "tcp:"), *workers):
            with pytest.raises((OSError, TypeError, ValueError)):
                Client(address, timeout=2, security=Security.temporary() if address[:3] == "tls" else None)
        for port in (scheduler.http_server.port,):
            with pytest.raises(urllib.error.HTTPError, match="404"):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=60)
        modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in tmp_path.iterdir()}
        assert modes
        assert set(modes.values()) == {0o700}, modes
        for address in (scheduler.address, *workers):
            break_off(address)
        assert len(list(execution.run([RunPoint(k) for k in range(4)]))) == 4
    assert list(tmp_path.iterdir()) == []
    assert "Traceback" not in capfd.readouterr().err
    assert not logging.getLogger("asyncio").filters


def test_workers_and_a_nanny_killed_at_random_moments(tmp_path, cluster):
    address, _, nannies = cluster("--nanny")
    process = client(tmp_path, "--scheduler", address, "--takes", 0.03)
    choose = random.Random(2)
    for _ in range(3):
        wait_for_parts(tmp_path, parts(tmp_path) + 1, process)
        time.sleep(choose.random() * 0.5)
        kill(choose.choice(workers_of(nannies)))
    wait_for_parts(tmp_path, parts(tmp_path) + 1, process)
    below = children(nannies[0])
    nannies[0].kill()
    _, alive = psutil.wait_procs(below, timeout=120)
    assert not alive
    output, _ = process.communicate(timeout=240)
    assert process.returncode == 0, output
    rows_are_whole(tmp_path)


def test_no_scheduler_is_told(tmp_path):
    before = dask.config.get("distributed.comm.timeouts.connect")
    with pytest.raises(SchedulerLostError, match=r"tcp://127\.0\.0\.1:9"):
        stand_in.make(tmp_path, 5, ClusterOptions(None, "tcp://127.0.0.1:9"))
    assert (
        dask.config.get("distributed.comm.timeouts.connect") == before != SETTINGS["distributed.comm.timeouts.connect"]
    )


def test_workers_of_another_version_are_refused(tmp_path, monkeypatch):
    other = {"dockfmu": "0.0.1", "sources": "other"}
    monkeypatch.setattr("dockfmu.campaign.cluster.execution.fingerprint", lambda: other)
    with pytest.raises(WorkerMismatchError, match=r"dockfmu .* instead of 0\.0\.1"):
        stand_in.make(tmp_path, 5, ClusterOptions(1, None, "1GiB"))


def test_temporary_files_of_two_campaigns_on_one_worker(monkeypatch):
    """They stay where Dask clears up until both have left, and are then where they were before."""
    monkeypatch.setattr(tempfile, "tempdir", "before")
    parcel = Execution(stand_in.study(5), {}, ClusterOptions(1), stand_in.StandIn)._parcel
    first, second = (worker.StudyPlugin(replace(parcel, key=key)) for key in ("one", "other"))
    place = SimpleNamespace(local_directory="of the worker")
    first.setup(place)
    second.setup(place)
    first.teardown(place)
    assert tempfile.tempdir == "of the worker"
    second.teardown(place)
    assert tempfile.tempdir == "before"


def test_a_worker_compares_itself_too(monkeypatch, tmp_path):
    """One that joins later was not seen by the client."""
    execution = Execution(stand_in.study(5), {}, ClusterOptions(1), stand_in.StandIn)
    parcel = replace(execution._parcel, fingerprint={"dockfmu": "0.0.1"})
    monkeypatch.setitem(worker._parcels, parcel.key, parcel)
    with pytest.raises(WorkerMismatchError, match=r"dockfmu .* instead of 0\.0\.1"):
        worker.run_chunk(parcel.key, [RunPoint(0)])
