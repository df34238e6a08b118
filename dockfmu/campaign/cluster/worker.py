"""The worker side of a campaign: a study and its files arrive once, then chunks of runs by their indices.

This code runs in processes that Dask starts. Dask refers to its functions by name, so that each process keeps its
runner.
"""

from __future__ import annotations

import os
import platform
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from distributed import WorkerPlugin, get_worker

from dockfmu.base.given_files import check_plain
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.campaign.description import Study
from dockfmu.campaign.machine import MachineFaultError, fault_of
from dockfmu.campaign.runner import Runner, RunPoint, WorkerMismatchError
from dockfmu.campaign.sampling.distributions import Choice
from dockfmu.declare.packages import package_cache
from dockfmu.declare.toml.files import files_of

GRACE_S = 10.0
"""Time beyond its limit after which a run that does not end by itself has its process killed, s."""
COMPARED = ("dockfmu", "numpy", "scipy", "numba", "llvmlite", "pyarrow", "distributed")


@dataclass(frozen=True)
class Parcel:
    """A study as it is sent to workers: with the files that it needs, and what the workers must agree with.

    `runner` makes the object whose `run(point)` returns rows: `Runner`, or a test double.
    """

    key: str
    study: Study
    files: Mapping[str, bytes]
    digests: Mapping[tuple[str, ...], Mapping[str, str]]
    fingerprint: Mapping[str, str]
    runner: Any = Runner


class StudyPlugin(WorkerPlugin):  # type: ignore[misc]  # distributed is not read by mypy
    """Brings a parcel to every worker, including those started later."""

    def __init__(self, parcel: Parcel) -> None:
        self.name = f"dockfmu-{parcel.key}"
        self.parcel = parcel

    def setup(self, worker: Any) -> None:
        """Keep the parcel in the worker's process, and temporary files where Dask cleans up after a kill."""
        if not _parcels:
            # campaigns may share a worker: the last one to leave restores the folder from before the first
            _before[0] = tempfile.tempdir
        _parcels[self.parcel.key] = self.parcel
        tempfile.tempdir = worker.local_directory

    def teardown(self, worker: Any) -> None:
        """Free what the parcel has loaded."""
        _parcels.pop(self.parcel.key, None)
        runner = _runners.pop(self.parcel.key, None)
        if runner is not None:
            runner.close()
        folder = _folders.pop(self.parcel.key, None)
        if folder is not None:
            folder.remove()
        if not _parcels:
            tempfile.tempdir = _before[0]


_parcels: dict[str, Parcel] = {}
_runners: dict[str, Any] = {}
_folders: dict[str, TemporaryFolder] = {}
_before: list[str | None] = [None]
"""Folder for temporary files of this process when it has no campaign."""
_busy = threading.Lock()


@cache
def fingerprint() -> dict[str, str]:
    """Return what must be equal in client and workers: versions, platform, and a digest of the sources of dockfmu."""
    versions = {name: version(name) for name in COMPARED}
    return versions | {
        "python": platform.python_version(), "machine": platform.machine(), "system": sys.platform,
        "sources": package_cache.key("campaign"),
    }  # fmt: skip


def pack(study: Study) -> tuple[Study, dict[str, bytes]]:
    """Return a study that refers to its files in numbered folders, and the content of all these files by name.

    A declared system brings the files that it extends. Raises OSError for a file that cannot be read.
    """
    files: dict[str, bytes] = {}

    def take(name: str) -> str:
        file, mark, member = name.partition("#")
        place, first = len(files), study.path(file)
        needed = files_of(first) if first.suffix == ".toml" else [first]
        # a file may extend one in another folder: all keep their places relative to their common folder
        # (links are not followed: a file names what it extends relative to where it appears to be)
        paths = [Path(os.path.normpath(source.absolute())) for source in needed]
        root = os.path.commonpath([path.parent for path in paths])
        names = [f"{place}/{path.relative_to(root).as_posix()}" for path in paths]
        for name, source in zip(names, needed, strict=True):
            check_plain(source)
            files[name] = source.read_bytes()
        return f"{names[0]}{mark}{member}"

    def system(name: str) -> str:
        return take(name) if name.partition("#")[0].endswith((".ssp", ".toml")) else name

    laws = [
        law
        if not isinstance(law, Choice)
        else replace(
            law,
            options=tuple(
                replace(
                    option,
                    system=system(option.system),
                    parameters=tuple(map(take, option.parameters)),
                    swap={element: take(file) for element, file in option.swap.items()},
                )
                for option in law.options
            ),
        )
        for law in study.draws.laws
    ]
    packed = replace(
        study,
        system=system(study.system),
        parameters=tuple(map(take, study.parameters)),
        swap={element: take(file) for element, file in study.swap.items()},
        draws=replace(study.draws, laws=tuple(laws)),
    )
    return packed, files


def run_chunk(key: str, points: Sequence[RunPoint]) -> list[dict[str, Any]]:
    """Make a chunk of runs and return their rows. Raises WorkerMismatchError, MachineFaultError."""
    try:
        with _busy:
            runner = _runner(key)
            rows = []
            for point in points:
                limit = _parcels[key].study.time_limit / point.step_factor
                with _Watchdog(runner.attempts(point) * limit + GRACE_S):
                    rows.append(runner.run(point))
            return rows
    except MachineFaultError as error:
        raise MachineFaultError(error.machine, error.what, _address()) from error
    except (OSError, MemoryError) as error:
        if what := fault_of(error):
            raise MachineFaultError(platform.node(), what, _address()) from error
        raise


def _address() -> str:
    """Return the address of the worker of this process, empty if it has none."""
    try:
        return str(get_worker().address)
    except ValueError:
        return ""


def _runner(key: str) -> Any:
    if key not in _runners:
        parcel = _parcels[key]
        own = fingerprint()
        differences = [f"{n} {own.get(n)} instead of {v}" for n, v in parcel.fingerprint.items() if own.get(n) != v]
        if differences:
            where = f"the worker on {platform.node()}"
            raise WorkerMismatchError(f"{where} differs from the client: {', '.join(differences)}")
        _folders[key] = TemporaryFolder("campaign")
        folder = _folders[key].path
        for name, content in parcel.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        _runners[key] = parcel.runner(replace(parcel.study, folder=folder), parcel.digests)
    return _runners[key]


class _Watchdog:
    """Kills this process if the block takes longer than `limit` seconds: nothing else stops an FMU that hangs."""

    def __init__(self, limit: float) -> None:
        self._timer = threading.Timer(limit, _end_process)
        self._timer.daemon = True

    def __enter__(self) -> None:
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()


def _end_process() -> None:
    with suppress(OSError):
        print("dockfmu: a run hangs; its worker is killed", file=sys.stderr, flush=True)
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
