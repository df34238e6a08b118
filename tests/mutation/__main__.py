"""A mutation run: what share of small faults in the kernels and in the loop do the tests see?

`python -m tests.mutation --seed 1` takes mutants (see `mutants.py`) in an order that the seed gives, so that any number
of them is a random sample. All tests are collected once, in a process where kernels are plain Python functions. Each
test is run once to learn which statements of which kernels it runs, and in what time (`reach.py`); this is kept in
`build/mutation`. For a mutant, the process forks; in the fork the mutated functions get their new code, wherever they
are referred to (`functions.py`), and the tests that run the mutated statement are run, the fastest first, up to
`--budget` seconds of CPU. A mutant is killed when a test fails or takes ten times its time. The others survive:
equivalent to the original, or a hole of the tests. What no test of at most `--each` seconds runs is counted apart.

The loop, `--rooms master/loop`, calls FMUs by their addresses and runs compiled alone. There each mutant is written
into a copy of the repository, where it is compiled anew, and tests of the master are asked.

A run that was stopped continues where it was: give the same command again. `--again` runs the survivors of an earlier
run once more, when tests have been written.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.cache import digest_of_files
from tests.mutation.forks import Tests
from tests.mutation.functions import Functions, apply
from tests.mutation.mutants import Mutant, mutants
from tests.mutation.reach import Reach, Statements

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "build" / "mutation"
GENERATED = ("generated", "codegen")
"""Folders whose functions are written by programs, and the program."""
COMPILED = "master/loop"
"""The room whose functions do not run in the interpreter."""
TESTS = {False: ["tests/components"], True: ["tests/master/loop", "tests/master/algorithms", "tests/master/observers"]}
"""Folders of tests of interpreted and of compiled functions."""
FILE_BUDGET = 4.0
"""CPU seconds in which the tests of a file are tried in the interpreter."""
PATIENCE = 900.0
"""Seconds that the tests of a compiled mutant may take."""


def room_of(file: Path) -> str:
    """Return the folder by which a mutant is counted: a component's, a unit's of the contact, or a room."""
    parts = file.parent.parts
    return "/".join(parts[: 3 if parts[:2] == ("components", "physics") else 2])


def sources_of(rooms: list[str]) -> dict[Path, bytes]:
    """Return the content of all files in which kernels may be, by their path."""
    files = [file for room in rooms for file in sorted((ROOT / room).rglob("*.py"))]
    return {file: file.read_bytes() for file in files if not set(file.relative_to(ROOT).parts) & set(GENERATED)}


class Known:
    """Know what each test runs, and in what time: kept in a file, by the content of the test's file and the kernels."""

    def __init__(self, tests: Tests, statements: Statements, functions: Functions, sources: dict[Path, bytes]) -> None:
        self._tests, self._statements, self._functions = tests, statements, functions
        helpers = [file for file in sorted((ROOT / "tests").rglob("*.py")) if not file.name.startswith("test_")]
        helpers = [file for file in helpers if file.parent != Path(__file__).parent]
        self._surroundings = digest_of_files([*sources, *helpers])
        self._file = KEPT / "reach.pickle"
        self._kept: dict[str, tuple[str, dict[str, tuple[float, np.ndarray]]]] = {}
        self._of: dict[int, list[str]] = {}
        self.seconds: dict[str, float] = {}

    def learn(self, each: float) -> None:
        """Run the tests of all files that are not known, or no longer as they were."""
        if self._file.is_file():
            surroundings, kept = pickle.loads(self._file.read_bytes())
            self._kept = kept if surroundings == (self._surroundings, each) else {}
        by_file = defaultdict(list)
        for name in self._tests.items:
            by_file[name.partition("::")[0]].append(name)
        counting = self._statements.counting(self._functions)
        for file, names in by_file.items():
            content = digest_of_files([ROOT / file])
            if self._kept.get(file, ("",))[0] != content:
                plugin = Reach(self._statements.reached, each, FILE_BUDGET)
                status, found = self._tests.run(
                    names, plugin, lambda: apply(counting), 10.0 + 2.0 * FILE_BUDGET, 40.0 * FILE_BUDGET, stop=False
                )
                self._kept[file] = content, found or {}
                print(f"{file}: {len(found or {})} of {len(names)} tests, status {status}", flush=True)
                KEPT.mkdir(parents=True, exist_ok=True)
                self._file.write_bytes(pickle.dumps(((self._surroundings, each), self._kept)))
        of = defaultdict(list)
        for file in by_file:
            for name, (took, statements) in self._kept[file][1].items():
                if name in self._tests.items:
                    self.seconds[name] = took
                    for statement in statements:
                        of[int(statement)].append(name)
        self._of = of

    def running(self, mutant: Mutant) -> list[str]:
        """Return the tests that run the statement of a mutant, the fastest first."""
        statement = self._statements.number[ROOT / mutant.file, mutant.statement]
        return sorted(self._of.get(statement, []), key=self.seconds.__getitem__)


class Verdict:
    """A plugin of pytest: the first test that fails."""

    def __init__(self) -> None:
        self._failed = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def answer(self) -> str:
        return self._failed


class Judge:
    """Runs the tests of a mutant."""

    def __init__(
        self, tests: Tests, known: Known, functions: Functions, sources: dict[Path, bytes], budget: float
    ) -> None:
        self._tests, self._known, self._functions = tests, known, functions
        self._sources, self._budget = sources, budget

    def verdict(self, mutant: Mutant) -> dict[str, str | float]:
        """Return the row of a mutant: `result` is "killed", "killed by time", "survived" or "not reached"."""
        reaching = self._known.running(mutant)
        chosen, total = [], 0.0
        for name in reaching:
            if not chosen or total + self._known.seconds[name] <= self._budget:
                chosen.append(name)
                total += self._known.seconds[name]
        row = {"mutant": str(mutant), "kind": mutant.kind, "tests": f"{len(chosen)} of {len(reaching)}"}
        if not chosen:
            return row | {"result": "not reached"}
        file = ROOT / mutant.file
        source = self._sources[file]
        changes = self._functions.changes(file, source, mutant.applied(source))

        began = time.monotonic()
        status, failed = self._tests.run(
            chosen, Verdict(), lambda: apply(changes), 10.0 + 10.0 * total, 100.0 + 40.0 * total, stop=True
        )
        late = status in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM)
        result = "killed by time" if late else "killed" if status or failed else "survived"
        took = round(time.monotonic() - began, 2)
        return row | {"result": result, "by": failed or f"status {status}", "seconds": took}


class CompiledJudge:
    """Runs the tests of a mutant in a copy of the repository, whose machine code is in a cache of its own."""

    def __init__(self, tests: list[str]) -> None:
        self._tests = tests
        self._home = tempfile.TemporaryDirectory(prefix="mutation-")
        self._copy = Path(self._home.name)
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
        for name in filter(None, listed.decode().split("\0")):
            (self._copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, self._copy / name)
        if self._run() != 0:
            raise SystemExit(f"{' '.join(tests)}: these tests fail without a mutant")

    def verdict(self, mutant: Mutant) -> dict[str, str | float]:
        """Return the row of a mutant: `result` is "killed", "killed by time" or "survived"."""
        file = self._copy / mutant.file
        source = file.read_bytes()
        file.write_bytes(mutant.applied(source))
        began = time.monotonic()
        try:
            status = self._run()
            result, by = "killed" if status else "survived", f"status {status}"
        except subprocess.TimeoutExpired:
            result, by = "killed by time", ""
        finally:
            file.write_bytes(source)
        took = round(time.monotonic() - began, 2)
        return {"mutant": str(mutant), "kind": mutant.kind, "result": result, "by": by, "seconds": took}

    def _run(self) -> int:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "not slow", "-p", "no:cacheprovider", *self._tests]
        surroundings = {**os.environ, "DOCKFMU_CACHE": str(KEPT / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(command, cwd=self._copy, env=surroundings, capture_output=True, timeout=PATIENCE)
        return ended.returncode


def main() -> int:
    """Run the mutants and print what survives."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=300, help="number of mutants")
    parser.add_argument("--rooms", nargs="+", default=["components"], help="folders whose kernels are changed")
    parser.add_argument("--tests", nargs="+", help="folders or files of tests")
    parser.add_argument("--each", type=float, default=2.0, help="CPU seconds that a test may take")
    parser.add_argument("--budget", type=float, default=5.0, help="CPU seconds of the tests for a mutant")
    parser.add_argument("--again", type=Path, help="take the survivors of this output of an earlier run")
    parser.add_argument("-o", "--output", type=Path, default=KEPT / "mutants.json")
    options = parser.parse_args()
    compiled = options.rooms == [COMPILED]
    os.environ["NUMBA_DISABLE_JIT"] = "0" if compiled else "1"  # before numba is imported
    os.chdir(ROOT)
    chosen = options.tests or TESTS[compiled]
    sources = sources_of(options.rooms)
    every = [m for file, text in sources.items() for m in mutants(file.relative_to(ROOT), text.decode())]
    if compiled:
        run(CompiledJudge(chosen), every, options)
    else:
        tests = Tests()
        tests.hold(chosen, lambda: run(interpreting(tests, sources, options), every, options))
    return 0


def interpreting(tests: Tests, sources: dict[Path, bytes], options: argparse.Namespace) -> Judge:
    """Return the judge of a process that holds the tests, after it has learnt what they run."""
    functions = Functions()
    gc.freeze()  # forks share this memory
    known = Known(tests, Statements(sources), functions, sources)
    known.learn(options.each)
    return Judge(tests, known, functions, sources, options.budget)


def run(judge: Judge | CompiledJudge, every: list[Mutant], options: argparse.Namespace) -> None:
    """Judge the sample."""
    sample = random.Random(options.seed).sample(every, min(options.sample, len(every)))
    if options.again:
        before = json.loads(options.again.read_text())["mutants"]
        names = {row["mutant"] for row in before if row["result"] == "survived"}
        sample = [mutant for mutant in every if str(mutant) in names]
    rows: list[dict[str, Any]] = []
    if options.output.is_file():
        earlier = json.loads(options.output.read_text())
        rows = earlier["mutants"] if (earlier["seed"], earlier["of"]) == (options.seed, len(every)) else []
    done = {row["mutant"] for row in rows}
    for mutant in sample:
        if str(mutant) not in done:
            rows.append(judge.verdict(mutant))
            print("{result:15}{mutant}".format(**rows[-1]), flush=True)
            options.output.parent.mkdir(parents=True, exist_ok=True)
            options.output.write_text(json.dumps({"seed": options.seed, "of": len(every), "mutants": rows}, indent=1))
    report(options.seed, len(every), rows)


def report(seed: int, of: int, rows: list[dict[str, Any]]) -> None:
    """Print how many were killed, by folder and by kind."""
    for title in ("folder", "kind"):
        groups: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            name = row["kind"] if title == "kind" else room_of(Path(row["mutant"].partition(":")[0]))
            groups[name][row["result"]] += 1
        print(f"\n| {title} | mutants | killed | survived | not reached |\n|---|---|---|---|---|")
        for name, found in sorted(groups.items()):
            killed = found["killed"] + found["killed by time"]
            print(f"| {name} | {found.total()} | {killed} | {found['survived']} | {found['not reached']} |")
    reached = [row for row in rows if row["result"] != "not reached"]
    killed = sum(row["result"].startswith("killed") for row in rows)
    print(
        f"\nseed {seed}: {len(rows)} mutants of {of}, {len(reached)} reached, {killed} killed"
        f" ({100.0 * killed / max(len(reached), 1):.0f} % of those reached)"
    )


if __name__ == "__main__":
    sys.exit(main())
