"""Campaigns over a network: scheduler, workers and client on machines that reach each other through a switch alone."""

import subprocess
import time

import pytest

from dockfmu.campaign.dataset import read_runs
from tests.dockfmu.campaign.machines import ROOT, Machines
from tests.dockfmu.campaign.test_execution import RUNS, rows_are_whole, wait_for_parts

pytestmark = pytest.mark.slow

SETTINGS = {
    "PYTHONPATH": str(ROOT),
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "12s",
}
"""With a time of Dask's after which a machine that is silent counts as lost, 30 s by default."""
SCHEDULER, FIRST_WORKER = 0, 1
"""Machines, as they are started."""


@pytest.fixture
def machines(tmp_path, network):
    if network is None:
        pytest.skip("network namespaces need iproute2 and the rights of an administrator")
    with Machines(tmp_path, network) as made:
        yield made


def client(machines, folder, *arguments):
    """Start a campaign of runs of known values on a machine."""
    return machines.start(
        "tests.dockfmu.campaign.stand_in",
        str(folder),
        *map(str, arguments),
        settings=SETTINGS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def cluster(machines):
    """Start a scheduler and two workers; return its address and the workers."""
    address = machines.scheduler(SETTINGS)
    return address, [machines.worker(address, settings=SETTINGS) for _ in range(2)]


def ended(process, status=0, timeout=120):
    output, _ = process.communicate(timeout=timeout)
    assert process.returncode == status, output
    return output


def test_cables_of_workers_pulled_out_and_put_back_lose_no_run(machines, tmp_path):
    address, _ = cluster(machines)
    process = client(machines, tmp_path, "--scheduler", address, "--takes", 0.05)
    wait_for_parts(tmp_path, 1, process)
    # shorter than the time after which a machine counts as lost, and longer
    for worker, seconds in ((FIRST_WORKER, 2.0), (FIRST_WORKER + 1, 20.0)):
        machines.network.unplug(worker)
        time.sleep(seconds)
        machines.network.plug(worker)
        wait_for_parts(tmp_path, len(list((tmp_path / "runs.parquet").glob("*.parquet"))) + 1, process)
    ended(process)
    rows_are_whole(tmp_path)


def test_a_scheduler_out_of_reach_ends_the_client_and_the_campaign_goes_on_later(machines, tmp_path):
    address, workers = cluster(machines)
    process = client(machines, tmp_path, "--scheduler", address, "--takes", 0.05)
    wait_for_parts(tmp_path, 1, process)
    machines.network.unplug(SCHEDULER)
    assert "SchedulerLostError" in ended(process, status=1)
    assert 0 < len(read_runs(tmp_path / "runs.parquet")) < RUNS
    assert "no scheduler" in ended(client(machines, tmp_path, "--scheduler", address), status=1)
    machines.network.plug(SCHEDULER)
    # the workers have ended without their scheduler, as Dask's do
    for worker in workers:
        worker.wait(timeout=60)
    machines.worker(address, settings=SETTINGS)
    ended(client(machines, tmp_path, "--scheduler", address))
    rows_are_whole(tmp_path)
