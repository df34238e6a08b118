"""Compiled functions that Python calls by their address."""

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from numba.core.codegen import AOTCodeLibrary

from dockfmu.base import entry_points
from dockfmu.base.cache import COMPILERS, ROOT
from dockfmu.base.compiler import jit
from dockfmu.base.entry_points import EntryPoint

HERE = Path(__file__)
ITEM = np.dtype([("count", np.uint32), ("value", np.float64)])


@jit
def add_up(values, weight, last, items):
    """Weighted sum of the rows of a table and of items, whose values are doubled."""
    total = 0.0
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            total += weight * values[i, k]
    for i in range(last):
        total += items[i].count * items[i].value
        items[i].value *= 2.0
    return total


@jit
def is_large(x):
    return x > 100.0


@jit
def both(x):
    return x, 2.0 * x


@jit
def forget(values):
    values[0] = 0.0


@jit
def allocate(n):
    return np.zeros(n)[0]


def entry(name: str) -> EntryPoint:
    return EntryPoint(__name__, name, [HERE])


@pytest.fixture
def items():
    found = np.zeros(3, ITEM).view(np.recarray)
    found["count"], found["value"] = (1, 2, 3), (0.5, 0.25, 0.125)
    return found.view(np.ndarray)


def test_arrays_records_and_numbers_are_those_of_python(items):
    values = np.arange(6.0).reshape(2, 3)
    assert entry("add_up")(values, 2.0, 2, items) == 30.0 + 0.5 + 0.5
    assert items["value"].tolist() == [1.0, 0.5, 0.125]
    assert entry("add_up")(np.zeros((0, 3)), np.float64(2.0), np.int64(0), items) == 0.0


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [("is_large", 101.0, True), ("is_large", 99.0, False), ("both", 0.1, (0.1, 0.2)), ("forget", np.ones(2), None)],
)
def test_results_are_those_of_python(name, argument, expected):
    found = entry(name)(argument)
    assert found == expected
    assert type(found) is type(expected)


def test_arguments_of_another_kind_get_code_of_their_own():
    called = entry("is_large")
    assert [called(101.0), called(101), called(np.float64(99.0)), called(99)] == [True, True, False, False]
    assert len(called.loaded) == 2


@pytest.mark.parametrize(
    ("argument", "accepted"),
    [
        (np.ones((3, 3))[:, 1], "aligned arrays in C order"),
        (np.asfortranarray(np.ones((2, 3))), "aligned arrays in C order"),
        ("text", "arrays, numbers and tables, not str"),
        (None, "arrays, numbers and tables, not NoneType"),
    ],
)
def test_what_cannot_be_passed_is_refused(argument, accepted):
    with pytest.raises(TypeError, match=f"compiled functions take {accepted}"):
        entry("forget")(argument)


def test_a_function_that_allocates_is_refused_before_anything_is_linked():
    with pytest.raises(Exception, match=r"NRT|may not allocate"):
        entry("allocate")(3)


def test_without_the_compiler_functions_run_in_the_interpreter(monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    called = entry("both")
    assert called(0.1) == (0.1, 0.2)
    assert list(called.loaded.values()) == [both.py_func]


PROGRAM = """
import json, sys
from pathlib import Path
from dockfmu.base.entry_points import EntryPoint
found = EntryPoint("tests.base.test_entry_points", "both", [Path(sys.argv[1])])(0.1)
print(json.dumps([found, "numba" in sys.modules]))
"""


def in_a_process(cache: Path, **environment: str) -> list:
    """The result of `both` in a process of its own, and whether it has imported numba."""
    variables = {"PATH": "", "DOCKFMU_CACHE": str(cache), "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(HERE)], capture_output=True, text=True, check=False, env=variables
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
def test_the_compiler_is_needed_only_where_the_cache_has_no_sound_code(tmp_path):
    compiled, kept = [[0.1, 0.2], True], [[0.1, 0.2], False]
    assert [in_a_process(tmp_path) for _ in range(2)] == [compiled, kept]
    (file,) = (tmp_path / "machine_code").glob("*.both-*.o")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert [in_a_process(tmp_path) for _ in range(2)] == [compiled, kept]
    assert in_a_process(tmp_path, NUMBA_OPT="1") == compiled


def test_a_change_of_a_source_or_of_a_version_gives_other_code(tmp_path, monkeypatch):
    """The cache key covers sources and versions; computing it imports none of the packages."""
    source = tmp_path / "kernels.py"
    source.write_text("a = 1\n")
    digests = [entry_points._digest.__wrapped__(place) for place in (source, tmp_path)]
    source.write_text("a = 2\n")
    assert all(entry_points._digest.__wrapped__(p) != d for p, d in zip((source, tmp_path), digests, strict=True))
    before = entry_points._surroundings.__wrapped__()
    for changed in COMPILERS:
        monkeypatch.setattr(
            "dockfmu.base.cache.version", lambda name, new=changed: "tomorrow" if name == new else version(name)
        )
        assert entry_points._surroundings.__wrapped__() != before
    monkeypatch.setattr("dockfmu.base.cache.version", version)
    assert entry_points._surroundings.__wrapped__() == before


def test_part_of_numba_that_emits_object_files():
    assert callable(AOTCodeLibrary.emit_native_object), "emit_native_object is gone: base/object_code.py calls it"
