"""A campaign of known values whose runs take milliseconds: `python -m tests.dockfmu.campaign.stand_in FOLDER`.

Runs `KILLER`, `EATER`, `RAISER`, `HANGER` and `STOPPER` end their worker, take all memory, raise, hang, and stop their
worker by a signal. With the fault `full` the worker that first makes a run beyond FULL has no room for files from then
on, with `all_full` each of them. The value of a run depends on its index alone.
"""

import argparse
import errno
import os
import resource
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from dockfmu.base.errors import DockfmuError
from dockfmu.campaign import campaign, dataset
from dockfmu.campaign.cluster import stopped
from dockfmu.campaign.cluster.execution import ClusterOptions, Execution
from dockfmu.campaign.cluster.worker import GRACE_S
from dockfmu.campaign.dataset import DataSet
from dockfmu.campaign.description import Kept, Study
from dockfmu.campaign.machine import check_machine
from dockfmu.campaign.sampling.distributions import Uniform
from dockfmu.campaign.sampling.draws import Draws, uniform_numbers
from dockfmu.master.errors import ArchiveError
from dockfmu.options import RunOptions

KILLER, EATER, RAISER, HANGER, STOPPER = 37, 47, 61, 83, 91
FULL = 25
LIMIT = 1 << 30
"""Memory of a worker, bytes."""
PART_ROWS = 20
LOST_AFTER = 20
"""Rows after which a nanny is lost."""
COLUMNS = {"index": "whole", "status": "text", "outcome": "text", "reason": "text", "value": "number", "step": "number"}


def value(index):
    return float(uniform_numbers(11, index, 1)[0])


class StandIn:
    """Stands in for a Runner."""

    def __init__(self, study, expected=None):
        self.study = study

    def attempts(self, point):
        return 1

    def run(self, point):
        faults = self.study.settings
        if faults.get("kill") and point.index == KILLER:
            os.kill(os.getpid(), signal.SIGKILL)
        if faults.get("eat") and point.index == EATER:
            eaten, taken = [], 0
            # a worker that is not ended at its limit gives a row
            while taken < 2 * LIMIT:
                # written, so that it counts; slowly, so that the nanny sees it in time
                eaten.append(bytearray(b"1") * (20 << 20))
                taken = psutil.Process().memory_info().rss
                with Path(faults["folder"], f"eaten-{os.getpid()}").open("a") as file:
                    file.write(f"{taken}\n")
                time.sleep(0.02)
        if faults.get("raise") and point.index == RAISER:
            raise ZeroDivisionError("a fault of the program")
        if faults.get("hang") and point.index == HANGER:
            time.sleep(1000.0)
        if faults.get("stop") and point.index == STOPPER:
            os.kill(os.getpid(), signal.SIGSTOP)
        if (faults.get("full") and point.index > FULL and self._is_first()) or (
            faults.get("all_full") and point.index > FULL
        ):
            # as an archive that cannot be unpacked says it
            failure = ArchiveError("a.fmu: cannot be unpacked")
            failure.__cause__ = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/tmp/a.fmu")
            check_machine(failure)
        time.sleep(faults.get("takes", 0.005))
        drawn = self.study.draws.values(point.index)["x"]
        return {"index": point.index, "status": "completed", "outcome": "done", "value": drawn, "wall_s": 0.02}

    def _is_first(self):
        """Return whether this process is the first that has asked."""
        file = Path(self.study.settings["folder"], "first")
        with suppress(FileExistsError), file.open("x") as made:
            made.write(str(os.getpid()))
        while not (owner := file.read_text()):
            time.sleep(0.001)
        return owner == str(os.getpid())

    def close(self):
        pass


def study(runs, **faults):
    # a hanging run is ended GRACE_S after its time limit; one that eats must not be ended by that
    limit = 120.0 if faults.get("eat") else 2.0
    return Study(
        content={},
        folder=Path(),
        name="stand-in",
        description="",
        system="none",
        settings=faults,
        parameters=(),
        swap={},
        draws=Draws((Uniform(("x",), (0.0,), (1.0,)),), seed=11, runs=runs),
        options=RunOptions(),
        endings=(),
        measures=(),
        kept=Kept(peaks=False),
        time_limit=limit - GRACE_S,
        answers={},
    )


def address_in(log, process):
    """Return the address that a scheduler writes to its log, which is a file: a pipe that nobody reads fills up."""
    until = time.monotonic() + 60
    while time.monotonic() < until and process.poll() is None:
        for line in log.read_text().splitlines(keepends=True):
            if "Scheduler at:" in line and line.endswith("\n"):
                return line.split()[-1]
        time.sleep(0.05)
    raise AssertionError(f"no scheduler: {log.read_text()}")


def data_set(folder):
    return DataSet(Path(folder) / "runs.parquet", COLUMNS)


def make(folder, runs, options, say=lambda text: None, lose_nanny=False, **faults):
    """Make runs; with `lose_nanny` the first nanny of the cluster, and its worker, close while they go on."""
    faults["folder"] = str(folder)
    with data_set(folder) as data, Execution(study(runs, **faults), {}, options, StandIn) as cluster:
        campaign.make_runs(data, Losing(cluster) if lose_nanny else cluster, runs, say)
        if lose_nanny:
            assert cluster.threads == 1


def make_here(folder, runs):
    """Make runs in this process, without a cluster, in parts as small as those of the program; return what is said."""
    said, alone = [], StandIn(study(runs))
    cluster = SimpleNamespace(run=lambda points, **_: map(alone.run, points))
    with pytest.MonkeyPatch.context() as patch, data_set(folder) as data:
        patch.setattr(dataset, "PART_ROWS", PART_ROWS)
        campaign.make_runs(data, cluster, runs, said.append)
    return "\n".join(said)


class Losing:
    """A cluster that closes its first nanny after some rows, while the workers have more runs under way."""

    def __init__(self, cluster):
        self.cluster = cluster

    def run(self, points, **options):
        for count, row in enumerate(self.cluster.run(points, **options), 1):
            if count == LOST_AFTER:
                local = self.cluster._cluster
                local.sync(local.workers[0].close)
            yield row


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--scheduler")
    parser.add_argument("--faults", nargs="*", default=[])
    parser.add_argument("--takes", type=float, default=0.005)
    parser.add_argument("--die-before-rename", type=int, default=0, help="in which part")
    parser.add_argument("--largest-file", type=int, default=0, help="bytes, as on a full disk")
    arguments = parser.parse_args()
    dataset.PART_ROWS, dataset.PART_S = PART_ROWS, 0.5
    stopped.LOOK_S = 0.2
    if arguments.die_before_rename:
        rename, left = Path.rename, [arguments.die_before_rename]

        def die_before(file, target):
            left[0] -= Path(target).suffix == ".parquet"
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return rename(file, target)

        Path.rename = die_before
    if arguments.largest_file:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        write = dataset.DataSet.write

        def write_to_full_disk(data, rows):
            # from the first part on: the cluster has begun, with the files of its certificate
            resource.setrlimit(resource.RLIMIT_FSIZE, (arguments.largest_file, arguments.largest_file))
            write(data, rows)

        dataset.DataSet.write = write_to_full_disk
    options = ClusterOptions(arguments.workers, arguments.scheduler, str(LIMIT))
    try:
        make(
            arguments.folder,
            arguments.runs,
            options,
            lambda text: print(text, flush=True),
            takes=arguments.takes,
            **dict.fromkeys(arguments.faults, True),
        )
    except DockfmuError as error:
        print(f"{type(error).__name__}: {error}", flush=True)
        sys.exit(error.exit_status)


if __name__ == "__main__":
    main()
