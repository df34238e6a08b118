"""Execution of runs on Dask `distributed`: on a cluster of this machine, or on that of a given scheduler.

The client keeps a few chunks of runs under way for each thread, collects their rows and holds nothing else. A chunk
whose worker dies is computed again; a chunk whose workers die each time is split into single runs. Dask blames every
task that a dead worker held. A blamed run is therefore repeated alone at the end, before it gets a row with the outcome
"crashed".

A machine that cannot make runs is no reason for a row: its chunk is computed by other workers, and the campaign ends if
there are none without a fault.
"""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import platform
import re
import sys
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from types import TracebackType
from typing import Any

import dask
from dask.utils import parse_bytes
from distributed import Client, LocalCluster, as_completed
from distributed.comm.addressing import parse_address, parse_host_port
from distributed.comm.registry import get_backend

from dockfmu.base.errors import FAILED, DockfmuError
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.campaign.cluster.certificate import campaign_security
from dockfmu.campaign.cluster.stopped import StoppedWorkers
from dockfmu.campaign.cluster.strangers import MODULE, strangers_unheard
from dockfmu.campaign.cluster.worker import Parcel, StudyPlugin, fingerprint, pack, run_chunk
from dockfmu.campaign.description import Study
from dockfmu.campaign.machine import MachineFaultError, fault_here, fault_of, killed_for_memory
from dockfmu.campaign.runner import Runner, RunPoint, WorkerMismatchError
from dockfmu.errors import OptionError

WINDOW = 4
"""Chunks under way for each thread of the cluster."""
CHUNK_S = 3.0
"""Target duration of a chunk, s; the scheduler spends some milliseconds on each."""
LARGEST_CHUNK = 50
POLL_S, CHECK_S = 0.05, 1.0
"""Intervals at which finished chunks and workers are polled, s."""
WAIT_S = 30.0
"""Longest wait for the workers of a scheduler, s."""
CLOSE_S = 20.0
WORKERLESS_S = 120.0
"""Time without any worker after which a campaign ends, s."""
DEATHS = 1
"""Workers that may die with a chunk before it is given up."""
SETTINGS = {
    # a nanny on a busy machine takes long to restart its worker, and must not be given up
    "distributed.deploy.lost-worker-timeout": "1h",
    "distributed.scheduler.allowed-failures": DEATHS,
    "distributed.comm.timeouts.connect": "10s",
    "distributed.comm.retry.count": 0,
    # only the worker's own thread is to use the processor: no profiling, no frequent ticks of event loops
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.tick.limit": "1h",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.admin.system-monitor.gil.enabled": False,
    # whoever reaches a scheduler or a worker can run code as its user: on this machine they speak TLS with a
    # certificate made for the campaign, and their HTTP servers have no pages
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.pause": False,
}
"""Settings of Dask while a cluster is open."""


class SchedulerLostError(DockfmuError):
    """The scheduler of the cluster has ended or cannot be reached."""

    exit_status = FAILED


@dataclass(frozen=True)
class ClusterOptions:
    """Cluster on which runs are made.

    Attributes
    ----------
    workers : int, optional
        Processes of a cluster on this machine; by default one for each core available to this process.
    scheduler : str, optional
        Address of a running scheduler, such as tcp://host:8786, whose workers are used instead.
    memory_limit : str
        Memory limit of each worker on this machine; a worker that exceeds it is killed, and its run has "crashed".
    """

    workers: int | None = None
    scheduler: str | None = None
    memory_limit: str = "2GiB"


class Execution:
    """A cluster that makes runs of one study; a context manager.

    Entering raises SchedulerLostError if no scheduler or worker is found, WorkerMismatchError if a worker has other
    versions, and MachineFaultError if this machine cannot start a cluster.
    """

    def __init__(
        self,
        study: Study,
        digests: Mapping[tuple[str, ...], Mapping[str, str]],
        options: ClusterOptions,
        runner: Any = Runner,
    ) -> None:
        self.options = options
        packed, files = pack(study)
        self._parcel = Parcel(uuid.uuid4().hex[:12], packed, files, digests, fingerprint(), runner)
        self._plugin = StudyPlugin(self._parcel)
        self._mean_s = math.nan
        self._faults: dict[str, MachineFaultError] = {}
        """Faults of machines, by the addresses of their workers."""
        self._killed: dict[str, int] = {}
        """Processes that machines have ended for lack of memory before, by the addresses of their workers."""
        self._numbers = count()

    def __enter__(self) -> Execution:
        logging.getLogger("distributed").setLevel(logging.CRITICAL)
        self._cluster: LocalCluster | None = None
        self._client: Client | None = None
        try:
            self._open()
        except (OSError, MemoryError, RuntimeError) as error:
            if isinstance(error, DockfmuError):
                raise
            what = fault_of(error) or fault_here()
            if self.options.scheduler is not None and not what:
                raise SchedulerLostError(
                    f"the cluster at {self.options.scheduler} does not answer ({error}); start again"
                ) from error
            raise MachineFaultError(
                platform.node(), what or f"its cluster has not started: a worker has ended, or did not answer ({error})"
            ) from error
        return self

    def _open(self) -> None:
        with ExitStack() as opened:
            opened.enter_context(dask.config.set(SETTINGS))
            # of this user alone, with a name that nobody can foresee; removed after the cluster has ended
            folder = str(opened.enter_context(TemporaryFolder("campaign")))
            preload = [*dask.config.get("distributed.worker.preload"), MODULE]
            opened.enter_context(
                dask.config.set({"temporary-directory": folder, "distributed.worker.preload": preload})
            )
            opened.enter_context(strangers_unheard())
            opened.callback(self._leave)
            if self.options.scheduler is None:
                workers = self.options.workers or len(os.sched_getaffinity(0))
                self._cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    processes=True,
                    memory_limit=self.options.memory_limit,
                    host="127.0.0.1",
                    security=campaign_security(),
                    local_directory=folder,
                    dashboard_address=None,
                    scheduler_kwargs={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
                    silence_logs=logging.CRITICAL,
                )
                opened.enter_context(StoppedWorkers(self._processes))
            self._connect()
            self._opened = opened.pop_all()

    def _connect(self) -> None:
        address = self.options.scheduler if self._cluster is None else self._cluster
        try:
            self._client = Client(address, timeout=10, name="dockfmu-campaign")
            if self._cluster is None:
                self._client.wait_for_workers(1, timeout=WAIT_S)
        except (OSError, TimeoutError) as error:
            where = self.options.scheduler or "this machine"
            raise SchedulerLostError(f"no scheduler with workers answers at {where} ({error})") from error
        for address, versions in self._client.run(fingerprint).items():
            expected = self._parcel.fingerprint
            differences = [
                f"{name} {versions.get(name)} instead of {value}"
                for name, value in expected.items()
                if versions.get(name) != value
            ]
            if differences:
                raise WorkerMismatchError(f"the worker {address} differs from this client: {', '.join(differences)}")
        self._client.register_plugin(self._plugin)
        self._killed = self._client.run(killed_for_memory)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.close()

    def _leave(self) -> None:
        """Leave the cluster, and end it if it is on this machine."""
        try:
            if self._client is not None:
                if self._cluster is None:
                    # the workers stay: make them free what they have loaded
                    with suppress(OSError, TimeoutError, ValueError, RuntimeError):
                        self._client.unregister_worker_plugin(self._plugin.name)
                self._client.close(timeout=2)
        finally:
            if self._cluster is not None:
                # processes that do not end in time will end with this one
                with suppress(TimeoutError):
                    self._cluster.close(timeout=CLOSE_S)

    def _processes(self) -> list[int | None]:
        """Return the numbers of the processes of the workers on this machine."""
        assert self._cluster is not None
        return [nanny.pid for nanny in list(self._cluster.workers.values())]

    @property
    def threads(self) -> int:
        """Number of threads that the cluster has at present."""
        assert self._client is not None
        return sum(map(int, self._client.nthreads().values()))

    def run(
        self,
        points: Collection[RunPoint],
        *,
        tick: Callable[[], None] = lambda: None,
        note: Callable[[str], None] = lambda text: None,
    ) -> Iterator[dict[str, Any]]:
        """Yield the row of each run as it arrives.

        `tick` is called many times a second, `note` with sentences on machines that cannot make runs. Raises
        SchedulerLostError, WorkerMismatchError, and MachineFaultError if no worker is without a fault.
        """
        assert self._client is not None
        left, number, submitted = iter(points), len(points), 0
        chunks: dict[tuple[str, int], list[RunPoint]] = {}
        done = as_completed(raise_errors=False)
        threads = self.threads

        def submit(chunk: list[RunPoint]) -> None:
            # tasks whose keys form one group wait at the scheduler until any worker is free
            future = self._client.submit(  # type: ignore[union-attr]
                run_chunk,
                self._parcel.key,
                chunk,
                key=(f"runs-{self._parcel.key}", next(self._numbers)),
                retries=0,
                **self._elsewhere(),
            )
            chunks[future.key] = chunk
            done.add(future)

        def fill() -> None:
            nonlocal submitted
            window = WINDOW * max(1, threads)
            while submitted < number and len(chunks) < window:
                # the last chunks are small, so that no worker waits long for another
                size = min(self._chunk_size(), -(-(number - submitted) // window))
                submit(list(islice(left, size)))
                submitted += size

        suspects: list[RunPoint] = []
        alone: set[int] = set()
        last_worker = last_check = time.monotonic()
        try:
            fill()
            while chunks or suspects:
                if not chunks:
                    alone.add(suspects[0].index)
                    submit([suspects.pop(0)])
                tick()
                now = time.monotonic()
                if now - last_check > CHECK_S:
                    last_check, threads = now, self.threads
                    last_worker = now if threads else last_worker
                if now - last_worker > WORKERLESS_S:
                    raise SchedulerLostError("no worker is left; start again, and the campaign continues")
                if not done.has_ready():
                    self._check_scheduler()
                    time.sleep(POLL_S)
                    continue
                for future in done.next_batch(block=True):
                    chunk = chunks.pop(future.key)
                    if future.status in ("lost", "pending"):
                        # its worker died after it had finished: it is computed again
                        chunks[future.key] = chunk
                        done.add(future)
                        continue
                    if _was_killed(future) and len(chunk) == 1 and chunk[0].index not in alone:
                        suspects += chunk
                    else:
                        yield from self._take(future, chunk, submit, note)
                    future.release()
                fill()
        except (OSError, TimeoutError, CancelledError) as error:
            if isinstance(error, DockfmuError):
                raise
            raise SchedulerLostError(
                f"the cluster no longer answers ({error}); start again, and the campaign continues"
            ) from error
        finally:
            for future in list(done.futures):
                future.release()

    def _take(
        self,
        future: Any,
        chunk: list[RunPoint],
        submit: Callable[[list[RunPoint]], None],
        note: Callable[[str], None],
    ) -> Iterator[dict[str, Any]]:
        """Yield the rows of a chunk that has ended; split a failed chunk of several runs into single runs."""
        if future.status == "finished":
            rows = future.result()
            self._note(rows)
            yield from rows
        elif future.status == "cancelled":
            raise SchedulerLostError("the scheduler has ended; start again, and the campaign continues")
        elif isinstance(error := future.exception(), WorkerMismatchError):
            raise error
        elif isinstance(error, MachineFaultError):
            if error.worker not in self._faults:
                note(f"{error.machine}: {error.what}; its runs are made elsewhere")
            self._faults[error.worker] = error
            if not self._sound():
                raise error
            submit(chunk)
        elif len(chunk) > 1:
            for point in chunk:
                submit([point])
        else:
            if _was_killed(future):
                self._check_memory()
            yield crashed(chunk[0], error)

    def _sound(self) -> list[str]:
        """Return the addresses of the workers whose machines have shown no fault."""
        assert self._client is not None
        return [worker for worker in self._client.nthreads() if worker not in self._faults]

    def _elsewhere(self) -> dict[str, Any]:
        """Return the options of tasks that keep them from machines with a fault, while there are others."""
        return {"workers": self._sound(), "allow_other_workers": True} if self._faults else {}

    def _check_memory(self) -> None:
        """Raise MachineFaultError if a machine has ended processes for lack of memory: perhaps also a worker."""
        assert self._client is not None
        before = max(self._killed.values(), default=0)
        for worker, killed in self._client.run(killed_for_memory).items():
            if killed > self._killed.get(worker, before):
                raise MachineFaultError(
                    parse_host_port(parse_address(worker)[1])[0],
                    f"it has ended {killed - self._killed.get(worker, before)} processes for lack of memory; use fewer "
                    "--workers, or a lower --memory",
                    worker,
                )

    def _check_scheduler(self) -> None:
        if self._client is not None and self._client.status != "running":
            raise SchedulerLostError("the scheduler has ended; start again, and the campaign continues")

    def _chunk_size(self) -> int:
        if math.isnan(self._mean_s):
            return 1
        return max(1, min(LARGEST_CHUNK, int(CHUNK_S / max(self._mean_s, 1e-6))))

    def _note(self, rows: list[dict[str, Any]]) -> None:
        """Update the mean duration of a run, which determines the size of chunks."""
        for row in rows:
            taken = row.get("wall_s") or 1e-3
            self._mean_s = taken if math.isnan(self._mean_s) else 0.9 * self._mean_s + 0.1 * taken


def _was_killed(future: Any) -> bool:
    return future.status == "error" and type(future.exception()).__name__ == "KilledWorker"


def crashed(point: RunPoint, error: BaseException | None) -> dict[str, Any]:
    """Return the row of a run that ended its worker or raised an unexpected error."""
    if type(error).__name__ == "KilledWorker":
        reason = (
            f"its worker ended {DEATHS + 1} times during this run: its FMU crashed or stopped the process, did not "
            "return within the time limit, or took more memory than a worker may have"
        )
    else:
        reason = f"{type(error).__name__}: {error}"
    return {
        "index": point.index,
        "status": "crashed",
        "outcome": "crashed",
        "reason": reason,
        "step_factor": point.step_factor,
    }


def _unguarded() -> Iterator[str]:
    """Yield a sentence if the workers of this machine, which import the script that starts them, would start it again.

    Such a script has no word of a guard, or this process is itself a worker that is importing it.
    """
    file = getattr(sys.modules["__main__"], "__file__", None)
    imported = getattr(multiprocessing.current_process(), "_inheriting", False)
    with suppress(OSError, ValueError):
        # with `python -i` the campaign can be started by hand, after the script
        guard = rb"__main__|parent_process"
        unguarded = file and not sys.flags.interactive and not re.search(guard, Path(file).read_bytes())
        imported = imported or unguarded
    if imported:
        yield (
            f"{file or sys.argv[0]}: each worker imports this script, and would start the campaign again: put what the "
            'script does into a function, and call it below `if __name__ == "__main__":`'
        )


def check_workers(options: ClusterOptions) -> None:
    """Raise OptionError for options that are invalid or exclude each other, and for a script without a guard."""
    problems = list(_unguarded()) if options.scheduler is None else []
    if options.scheduler is not None and options.workers is not None:
        problems.append("--workers is for a cluster on this machine; --scheduler uses the workers of the scheduler")
    if options.scheduler is not None:
        try:
            scheme, location = parse_address(options.scheduler)
            get_backend(scheme)
            parse_host_port(location)
        except (ImportError, TypeError, ValueError) as error:
            address = f"--scheduler {options.scheduler}: is not the address of a scheduler, such as tcp://host:8786"
            problems.append(f"{address} ({error})")
    try:
        memory = parse_bytes(options.memory_limit)
    except (AttributeError, TypeError, ValueError):
        memory = 0
    if options.memory_limit != "auto" and (not options.memory_limit or memory <= 0):
        problems.append(f"--memory {options.memory_limit}: must be a size, such as 2GiB or 500MB")
    if problems:
        raise OptionError(problems)
