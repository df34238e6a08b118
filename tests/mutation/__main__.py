"""A mutation run: what share of small faults in the kernels and in the loop do the tests of their folders see?

`python -m tests.mutation --seed 1 --minutes 20` takes mutants (see `mutants.py`) in an order that the seed gives, so
that any number of them is a random sample, applies one at a time to a copy of the repository, and runs the tests of its
folder and those that import its module. Kernels run in the interpreter; `--rooms master/loop` compiles. A mutant is
killed when a test fails or takes ten times its time; the others survive: equivalent to the original, or a hole of the
tests. `--again` runs the survivors of an earlier run once more, when tests have been written.

Tests run once as they are before they are used. Those that pass within `--each` seconds of CPU are run for a mutant, up
to `--budget` seconds in all: first those of the files that import the mutated module, then those of the files that name
it; of a file the fast ones first.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

# imported once, before the processes that run tests are forked
import hypothesis  # noqa: F401
import lxml.etree  # noqa: F401
import numba
import numpy as np  # noqa: F401
import pytest
import scipy.linalg  # noqa: F401

from tests.mutation.mutants import Mutant, mutants

ROOT = Path(__file__).parents[2]
ROOMS = ("components", "master/loop")
GENERATED = ("generated", "codegen")
"""Folders whose functions are written by programs, and the program."""
TESTS_OF = {
    "components/physics/ring_on_legs": "components/ring_mechanism",
    "components/physics/contact/airlock_pair": "components/physics/contact/airlock_pair components/contact_airlock",
    "components/physics/contact/probe_cone": "components/physics/contact/probe_cone components/contact_probe_cone",
    "components/physics/contact/radiator_pair": "components/physics/contact/radiator_pair components/contact_radiator",
    "components/physics/contact/ring_pair": "components/physics/contact/ring_pair components/contact_ring",
}
"""Tests of folders that have none of their own, and of the units, which the components contact_* carry."""
COMPILED = ("master/loop",)
BROKEN = 70


class Watch:
    """A plugin of pytest: which tests pass, and the CPU seconds of each; deselects and orders when told what to run."""

    def __init__(self, chosen: list[str] | None = None) -> None:
        self.chosen = chosen
        self.seconds: dict[str, float] = {}
        self.failed: set[str] = set()
        self._began = 0.0

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if self.chosen is not None:
            rank = {name: k for k, name in enumerate(self.chosen)}
            items[:] = sorted((item for item in items if item.nodeid in rank), key=lambda item: rank[item.nodeid])

    def pytest_runtest_logstart(self) -> None:
        self._began = time.process_time()

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.seconds[report.nodeid] = time.process_time() - self._began
        if not report.passed:
            self.failed.add(report.nodeid)


def forked(
    folder: Path, compiled: bool, arguments: list[str], watch: Watch, limit: float, stop: bool = False
) -> tuple[int, Watch | None]:
    """Run pytest in a fork of this process, which has imported no module of dockfmu; (exit status, what was seen).

    After `limit` seconds of CPU it is killed, or with `stop` interrupted, so that it says what was seen by then.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + (60 if stop else 3)))
        if stop:
            signal.signal(signal.SIGXCPU, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        numba.config.DISABLE_JIT = 0 if compiled else 1
        os.environ["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"
        os.chdir(folder)
        sys.path[:] = [str(folder), *(path for path in sys.path if Path(path or ".").resolve() != ROOT)]
        # the copy's tests, not those of the folder in which this program was started
        for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
            del sys.modules[name]
        try:
            status = int(
                pytest.main(
                    [*arguments, "-q", "-W", "ignore", "-p", "no:cacheprovider", "-p", "no:xdist"], plugins=[watch]
                )
            )
            with os.fdopen(writing, "wb") as out:
                pickle.dump((watch.seconds, watch.failed), out)
        except BaseException:
            status = BROKEN
        os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        data = answer.read()
    _, ended = os.waitpid(child, 0)
    status = -os.WTERMSIG(ended) if os.WIFSIGNALED(ended) else os.WEXITSTATUS(ended)
    if status == BROKEN:
        raise RuntimeError(f"pytest {' '.join(arguments)}: it could not start")
    if data:
        watch.seconds, watch.failed = pickle.loads(data)
    return status, watch if data else None


class Copy:
    """A copy of the files under version control, in which one file at a time is changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in listed.decode().split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, folder / name)
        self._clock = time.time() - 1e6

    def write(self, file: Path, data: bytes) -> None:
        """Write a file with a time of its own: bytecode is taken for current by the second of its source."""
        self._clock += 10.0
        (self.folder / file).write_bytes(data)
        os.utime(self.folder / file, (self._clock, self._clock))


def room_of(file: Path) -> str:
    """Return the folder whose tests are run for a file: of a component, a unit of the contact, or a room."""
    parts = file.parent.parts
    return "/".join(parts[: 3 if parts[:2] == ("components", "contact") else 2])


def folders_of(room: str) -> list[str]:
    return [f"tests/{name}" for name in TESTS_OF.get(room, room).split() if (ROOT / "tests" / name).is_dir()]


class Tests:
    """The tests of each folder, and which of them are run for a mutant."""

    def __init__(self, copy: Copy, each: float, budget: float) -> None:
        self.copy, self.each, self.budget = copy, each, budget
        self.known: dict[str, dict[str, float]] = {}

    def passing(self, file: str, compiled: bool) -> dict[str, float]:
        """{test: CPU seconds} of those of a file that pass in time, without a mutant."""
        if file not in self.known:
            if compiled:  # the first time compiles
                forked(self.copy.folder, True, [file], Watch(), 900.0)
            limit = [f"--timeout={8.0 * self.each}", "--timeout-method=signal", "-m", "not slow"]
            seen = (
                forked(self.copy.folder, compiled, [file, *limit], Watch(), 5.0 * self.budget, stop=True)[1] or Watch()
            )
            self.known[file] = {
                name: took for name, took in seen.seconds.items() if name not in seen.failed and took <= self.each
            }
        return self.known[file]

    def chosen(self, mutant: Mutant) -> tuple[list[str], float]:
        """Return the tests for a mutant, in their order, and the CPU seconds that they take without it."""
        word = mutant.file.stem if mutant.file.stem != "kernel" else "component"
        imports = re.compile(rf"{mutant.file.parent.name}(\.| import [^\n]*\b){word}\b")
        own = {file for folder in folders_of(room_of(mutant.file)) for file in (ROOT / folder).rglob("test_*.py")}
        texts = {
            file: file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests/components").rglob("test_*.py"))
        }
        texts |= {file: file.read_text(encoding="utf-8") for file in own}
        files = [file for file, text in texts.items() if file in own or imports.search(text)]
        chosen, total = [], 0.0
        for file in sorted(files, key=lambda file: (not imports.search(texts[file]), word not in texts[file])):
            passing = self.passing(str(file.relative_to(ROOT)), room_of(mutant.file) in COMPILED)
            for name in sorted(passing, key=passing.__getitem__):
                if total + passing[name] <= self.budget:
                    chosen.append(name)
                    total += passing[name]
            if total > 0.8 * self.budget:
                break
        return chosen, total


def all_mutants(rooms: list[str]) -> list[Mutant]:
    found = []
    for room in rooms:
        for file in sorted((ROOT / room).rglob("*.py")):
            if not set(file.relative_to(ROOT).parts) & set(GENERATED):
                found += mutants(file.relative_to(ROOT), file.read_text(encoding="utf-8"))
    return found


def verdict(copy: Copy, tests: Tests, mutant: Mutant) -> str:
    """Return "killed", "killed by time", "survived", or "no tests"."""
    chosen, total = tests.chosen(mutant)
    if not chosen:
        return "no tests"
    source = (ROOT / mutant.file).read_bytes()
    copy.write(mutant.file, mutant.applied(source))
    compiled = room_of(mutant.file) in COMPILED
    files = sorted({name.partition("::")[0] for name in chosen})
    limit = 10.0 * total + (600.0 if compiled else 10.0)
    status, seen = forked(copy.folder, compiled, [*files, "-x", "--timeout=600"], Watch(chosen), limit)
    copy.write(mutant.file, source)
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return "killed by time"
    return "survived" if status == 0 and seen and not seen.failed else "killed"


def main() -> int:
    """Run the mutants and print what survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=300, help="mutants at most")
    parser.add_argument("--minutes", type=float, default=20.0, help="CPU minutes at most, those of first runs included")
    parser.add_argument("--rooms", nargs="+", default=list(ROOMS[:1]), help="folders whose kernels are changed")
    parser.add_argument("--each", type=float, default=1.0, help="CPU seconds that a test may take")
    parser.add_argument("--budget", type=float, default=4.0, help="CPU seconds of the tests for a mutant")
    parser.add_argument("--again", type=Path, help="take the survivors of this output of an earlier run")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "mutation.json")
    options = parser.parse_args()
    every = all_mutants(options.rooms)
    sample = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    if options.again:
        before = {
            row["mutant"] for row in json.loads(options.again.read_text())["mutants"] if row["result"] == "survived"
        }
        sample = [mutant for mutant in every if str(mutant) in before]
    counts: Counter[tuple[str, str]] = Counter()
    rows = []
    with tempfile.TemporaryDirectory(prefix="dockfmu-mutation-") as folder:
        copy = Copy(Path(folder))
        tests = Tests(copy, options.each, options.budget)
        for mutant in sample:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            if used.ru_utime + used.ru_stime > 60.0 * options.minutes:
                break
            result = verdict(copy, tests, mutant)
            counts[room_of(mutant.file), result] += 1
            rows.append({"mutant": str(mutant), "kind": mutant.kind, "result": result})
            print(f"{result:15}{mutant}", flush=True)
            options.output.parent.mkdir(parents=True, exist_ok=True)
            options.output.write_text(json.dumps({"seed": options.seed, "of": len(every), "mutants": rows}, indent=1))
    _report(options.seed, len(every), counts, rows)
    return 0


def _report(seed: int, of: int, counts: Counter[tuple[str, str]], rows: list[dict[str, str]]) -> None:
    for title, key in (("folder", lambda row: row["room"]), ("kind", lambda row: row["kind"])):
        if title == "folder":
            groups = {name: Counter({r: n for (room, r), n in counts.items() if room == name}) for name, _ in counts}
        else:
            groups = {}
            for row in rows:
                groups.setdefault(key(row), Counter())[row["result"]] += 1
        print(f"\n| {title} | mutants | killed | survived | no tests |\n|---|---|---|---|---|")
        for name, found in sorted(groups.items()):
            killed = found["killed"] + found["killed by time"]
            print(f"| {name} | {found.total()} | {killed} | {found['survived']} | {found['no tests']} |")
    killed = sum(n for (_, result), n in counts.items() if result.startswith("killed"))
    total = counts.total()
    print(f"\nseed {seed}: {total} mutants of {of}, {killed} killed ({100.0 * killed / max(total, 1):.0f} %)")


if __name__ == "__main__":
    sys.exit(main())
