"""Machine code has its name and its place in the cache from its content, whatever a process did before."""

import gc
import json
import os
import random
import re
import subprocess
import sys
import threading
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.core import config

from dockfmu.base.cache import ROOT, cache_root
from dockfmu.base.compiler import Pipeline, jit, settings, target
from dockfmu.base.content import digest_of, name_of
from dockfmu.base.platforms import BASELINE
from dockfmu.components.core.kernel import kernel, variant
from dockfmu.components.core.machine_code import compile_component
from dockfmu.fmus.catalogue import component
from tests.base import kernels_of_one_name as names

PROGRAM = Path(names.__file__)
NUMBERS = range(len(names.VARIANTS))


def start(order, cache: Path, **environment: str) -> subprocess.Popen:
    """Run variants in this order in a process of its own."""
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), *map(str, order)],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"DOCKFMU_CACHE": str(cache), "PYTHONPATH": str(ROOT)} | environment,
    )


def collect(process: subprocess.Popen) -> dict[int, dict]:
    """Return the results of a process by the number of their variant."""
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return {entry["number"]: entry for entry in map(json.loads, output.splitlines())}


def interpreted(number: int) -> list[str]:
    """Return what the interpreter computes."""
    function, record = names.VARIANTS[number]
    memory = record.start.copy()
    for _ in range(3):
        function.py_func(record.view(memory))
    return [float(x).hex() for x in memory]


def shuffled(seed: int) -> list[int]:
    order = list(NUMBERS)
    random.Random(seed).shuffle(order)
    return order


@pytest.mark.slow
def test_any_order_of_processes_side_by_side_gives_one_result(tmp_path):
    """Pairs of processes on one cache that meet the records in other orders, then one from an empty cache."""
    runs = []
    for pair in range(2):
        running = [
            start(shuffled(2 * pair + k), tmp_path / "shared", PYTHONHASHSEED=str(17 * pair + k)) for k in range(2)
        ]
        runs += [collect(process) for process in running]
    runs.append(collect(start(shuffled(99), tmp_path / "empty")))
    for number in NUMBERS:
        values = {tuple(run[number]["values"]) for run in runs}
        assert values == {tuple(interpreted(number))}, number
        assert len({run[number]["code"] for run in runs}) == 1, number
    assert len({runs[0][number]["code"] for number in NUMBERS}) == len(NUMBERS)


def test_twins_of_a_factory_are_told_apart_by_what_they_closed_over():
    digests = {digest_of(names.scaled(factor, power)) for factor in (2.0, 3.0) for power in (1, 1.0, 2)}
    assert len(digests) == 6
    assert digest_of(names.scaled(2.0, 1)) == digest_of(names.scaled(2.0, 1))


def test_a_digest_follows_what_is_called_and_referred_to(monkeypatch):
    before = digest_of(names.advance)
    made = {"np": np, "FACTOR": 2.0, "kernel": kernel}
    source = "@kernel\ndef inner(x):\n    return FACTOR * x\n@kernel\ndef outer(x):\n    return np.sqrt(inner(x))\n"
    found = set()
    for factor, code in ((2.0, source), (3.0, source), (2.0, source.replace("*", "+"))):
        space = {**made, "FACTOR": factor, "__name__": "made"}
        exec(compile(code, str(PROGRAM), "exec"), space)
        found.add(digest_of(space["outer"]))
    assert len(found) == 3
    assert digest_of(names.advance) == before


@pytest.mark.parametrize("value", [object(), {"a": 1.0}, threading.Lock(), lambda: None])
def test_what_has_no_content_is_refused(value):
    def function():
        return value

    if callable(value):
        assert digest_of(function)
    else:
        with pytest.raises(TypeError, match="cannot be named by its content"):
            digest_of(function)


def test_an_address_is_no_name_of_a_type():
    with pytest.raises(TypeError, match="cannot be named by its content"):
        name_of(numba.typeof(numba.njit(lambda x: x)))


def test_no_counter_is_in_any_symbol():
    """Names of functions and of their environments: `v` and digits is how numba writes its counter."""
    symbols = re.findall(r"@\"?(_ZN[A-Za-z0-9_]+)", compile_component(component("ProbeCyclogram")))
    assert symbols
    for symbol in symbols:
        assert re.search(r"B25v[0-9a-f]{24}", symbol), symbol
        assert not re.search(r"B\dv\d+B", symbol), symbol


def test_a_function_named_by_a_counter_is_refused():
    with pytest.raises(RuntimeError, match="by a counter of the process"):
        target.target_context.mangler("some.function", (numba.float64,), uid=7)


def _twice(x):
    return 2.0 * x


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "another", "link"])
def test_a_damaged_entry_is_compiled_again(tmp_path, monkeypatch, damage):
    """The entry cut, changed, emptied, exchanged for another function's, or a link to nothing."""
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    assert jit(_twice)(1.5) == 3.0
    (file,) = (tmp_path / "machine_code").iterdir()
    content = file.read_bytes()
    if damage == "cut":
        file.write_bytes(content[: len(content) // 2])
    elif damage == "flip":
        file.write_bytes(content[:-100] + bytes([content[-100] ^ 1]) + content[-99:])
    elif damage == "empty":
        file.write_bytes(b"")
    elif damage == "another":
        jit(names.scaled(1.0, 1).py_func)
        other = jit(lambda x: 5.0 * x)
        assert other(1.0) == 5.0
        (written,) = (f for f in (tmp_path / "machine_code").iterdir() if f != file)
        file.write_bytes(written.read_bytes())
    else:
        file.unlink()
        file.symlink_to(tmp_path / "nowhere")
    again = jit(_twice)
    assert again(1.5) == 3.0
    assert sum(again.stats.cache_misses.values()) == 1
    third = jit(_twice)
    assert third(1.5) == 3.0
    assert sum(third.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("read", [False, True], ids=["compiled", "read from the cache"])
def test_what_only_kernels_call_is_linked_and_has_no_machine_code(tmp_path, monkeypatch, read):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))

    def third_and_caller(added):
        @kernel
        def thirded(x):
            return x / 3.0

        @kernel
        def caller(x):
            return thirded(x) + added

        return thirded, caller

    if read:
        assert third_and_caller(7.0)[1](6.0) == 9.0
    thirded, caller = third_and_caller(1.0)
    assert caller(6.0) == 3.0
    inner = thirded._for_kernels
    assert sum(inner.stats.cache_hits.values()) == read
    (overload,) = inner.overloads.values()
    assert overload.library.linked_only
    with pytest.raises(KeyError, match="compiled for other functions only"):
        inner(6.0)
    assert thirded(6.0) == 2.0


def test_code_is_for_the_baseline_processor():
    _, name, features = target.target_context.codegen().magic_tuple()
    assert (name, features) == (BASELINE, "")


def test_numba_stays_as_the_importing_program_set_it(tmp_path):
    """Settings, processor and cache of the program's own functions, with a kernel compiled before and after."""
    code = """
import numba
from numba.core import config
from numba.core.registry import cpu_target
before = (config.CPU_NAME, config.CPU_FEATURES, config.CACHE_DIR)
from dockfmu.components.physics.mechanics.vector import norm
import dockfmu, dockfmu.master.loop, dockfmu.components.core.machine_code
norm((3.0, 4.0, 0.0))
assert (config.CPU_NAME, config.CPU_FEATURES, config.CACHE_DIR) == before
import llvmlite.binding as llvm
assert cpu_target.target_context.codegen().magic_tuple()[1] == llvm.get_host_cpu_name()
@numba.njit
def mine(a):
    return min(a, 2.0) + max(1.0, 0.5)
assert mine(5.0) == 3.0
assert norm((3.0, 0.0, 4.0)) == 5.0
"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_scipy_is_imported_by_numba_when_it_is_needed_and_no_sooner():
    program = """
import sys
import dockfmu.base.compiler
from numba.np import arraymath, linalg
assert arraymath._HAVE_BLAS and "scipy.linalg" not in sys.modules
linalg.ensure_blas()
assert "scipy.linalg.cython_blas" in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})


def test_garbage_is_looked_for_rarely_while_code_is_compiled_and_as_before_after_it(tmp_path, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(tmp_path))
    before, within = gc.get_threshold(), []
    monkeypatch.setattr(Pipeline, "_compile_bytecode", lambda self: within.append(gc.get_threshold()) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        jit(_twice)(1.5)
    assert within[0][0] > before[0]
    assert gc.get_threshold() == before


def test_compiling_leaves_settings_of_this_process_alone():
    before = (config.CPU_NAME, config.CPU_FEATURES, config.CACHE_DIR)
    assert jit(_twice)(2.0) == 4.0
    assert before == (config.CPU_NAME, config.CPU_FEATURES, config.CACHE_DIR)
    assert (cache_root() / "machine_code").is_dir()


class _Pair(NamedTuple):
    x: float
    y: float


class _Riap(NamedTuple):
    y: float
    x: float


class _Phase(IntEnum):
    A = 1


class _Esahp(IntEnum):
    A = 7


def referring(value):
    """A function that refers to a global called THING."""
    space = {"THING": value, "__name__": "referring"}
    exec(compile("def function():\n    return THING\n", "referring.py", "exec"), space)
    return space["function"]


def test_what_changes_code_changes_the_digest():
    """Fields of a tuple and of the class of one, members of an enumeration, options of a function that is called."""
    fast, exact = (jit(_twice, fastmath=way) for way in (True, False))
    for one, other in ((_Pair(1.0, 2.0), _Riap(1.0, 2.0)), (_Pair, _Riap), (_Phase, _Esahp), (fast, exact)):
        assert digest_of(referring(one)) != digest_of(referring(other))


def test_a_class_of_unknown_content_is_refused():
    with pytest.raises(TypeError, match="cannot be named by its content"):
        digest_of(referring(threading.Thread))


@pytest.mark.parametrize(("name", "value"), [("BOUNDSCHECK", 1), ("OPT", 1), ("DEBUGINFO_DEFAULT", 1)])
def test_settings_of_numba_that_change_code_are_part_of_the_key(monkeypatch, name, value):
    before = settings()
    monkeypatch.setattr(config, name, value)
    assert settings() != before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["short first", "long first"])
def test_a_record_does_not_stand_for_one_that_begins_like_it(order):
    """numba calls a record a subtype of any other with whose fields it begins; no conversion is considered here."""

    @kernel
    def damped(m, factor):
        m.total = m.stiffness + factor * m.damping

    @kernel
    def undamped(m, factor):
        m.total = m.stiffness

    chosen = variant("damping", damped, undamped)

    @kernel
    def through(m, factor):
        chosen(m, factor)

    @kernel
    def step(m):
        through(m, 2)

    short = np.dtype([("total", float), ("stiffness", float)])
    records = np.zeros(1, short), np.zeros(1, np.dtype([*short.descr, ("damping", float)]))
    records[1]["damping"] = 3.0
    for k in order:
        step(records[k][0])
    assert [float(memory["total"][0]) for memory in records] == [0.0, 6.0]


BY_PATH = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("loaded_by_its_path", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.twice(3.0))
"""


def test_a_kernel_of_a_file_that_was_loaded_by_its_path_runs_from_the_cache(tmp_path):
    """Regression: the second process raised ModuleNotFoundError: No module named '<dynamic>'."""
    file = tmp_path / "laws.py"
    file.write_text("from dockfmu.components.core.kernel import kernel\n\n\n@kernel\ndef twice(x):\n    return x + x\n")
    program = [sys.executable, "-c", BY_PATH, str(file)]
    environment = os.environ | {"DOCKFMU_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    for _ in range(2):
        done = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
        assert done.stdout == "6.0\n", done.stderr
