"""A run is bitwise reproducible in any environment."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import pytest

from dockfmu.base.cache import ROOT

pytestmark = pytest.mark.slow

STOP = 2.0
"""s: first contact, capture and the bottom of the socket, where a difference of one bit grows fast"""

OTHER_PYTHONS = sorted(ROOT.glob("build/pythons/*/bin/python")) or [
    pytest.param(None, marks=pytest.mark.skip("no interpreters of other versions: make pythons"))
]

# what a run must not depend on, several things in one run
SURROUNDINGS = {
    "one thread of BLAS, another order of hashes, another locale": {
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "PYTHONHASHSEED": "12345",
        "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "TZ": "Asia/Tokyo",
    },
    "two threads of BLAS, another home": {
        "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "2",
        "HOME": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent",
    },
}  # fmt: skip
OPTIONS = {
    "elements on two threads": ["--threads", "2"],
    "an element in a process of its own": ["--process", "station"],
}


def digest(folder: Path, arguments=(), environment=(), cwd=ROOT, python=sys.executable) -> str:
    """Run the docking; return a digest of all that was recorded, of the events and of the peaks."""
    command = [python, "-m", "dockfmu", "run", "atv_probe_cone", "--stop", str(STOP), "-o", str(folder), *arguments]
    surroundings = os.environ | {"PYTHONPATH": str(ROOT)} | dict(environment)
    done = subprocess.run(command, cwd=cwd, env=surroundings, capture_output=True, text=True, check=False)
    assert (folder / "summary.json").is_file(), done.stderr
    total, kinds = hashlib.sha256(), set()

    def take(name, node):
        if isinstance(node, h5py.Dataset) and not name.startswith("fmus"):
            kinds.add(node.dtype.kind)
            # tables of parameters have texts beside numbers, by address
            content = repr(node[()].tolist()).encode() if node.dtype.kind in "OV" else node[()].tobytes()
            total.update(name.encode() + content)

    with h5py.File(folder / "results.h5") as file:
        assert file["time"][-1] == pytest.approx(STOP)
        file.visititems(take)
    # numbers, discrete values, parameters, and the extremes of the intervals between rows
    assert {"f", "i", "b", "u", "V"} <= kinds
    summary = json.loads((folder / "summary.json").read_text())
    total.update(json.dumps([summary["events"], summary["peaks"], summary["audit"]]).encode())
    return total.hexdigest()


@pytest.fixture(scope="module")
def expected(tmp_path_factory) -> str:
    return digest(tmp_path_factory.mktemp("reference"))


@pytest.mark.parametrize("name", SURROUNDINGS)
def test_surroundings_change_no_bit(tmp_path, expected, name):
    assert digest(tmp_path / "run", environment=SURROUNDINGS[name]) == expected


@pytest.mark.parametrize("name", OPTIONS)
def test_threads_and_processes_change_no_bit(tmp_path, expected, name):
    assert digest(tmp_path / "run", OPTIONS[name]) == expected


def test_another_working_directory_changes_no_bit(tmp_path, expected):
    assert digest(tmp_path / "run", ["--build", str(tmp_path / "build")], cwd=tmp_path) == expected


def test_code_of_the_loop_from_an_empty_cache_changes_no_bit(tmp_path, expected):
    """FMUs come from the cache of this checkout; code compiled in the process starts from an empty cache."""
    from dockfmu.base.cache import cache_root

    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("fmus", "zig"):
        (cache / name).symlink_to(cache_root() / name, target_is_directory=True)
    assert digest(tmp_path / "run", environment={"DOCKFMU_CACHE": str(cache)}) == expected


@pytest.mark.parametrize("python", OTHER_PYTHONS, ids=lambda python: python and python.parents[1].name)
def test_other_versions_of_python_change_no_bit(tmp_path, expected, python):
    assert digest(tmp_path / "run", python=python) == expected


def test_the_digest_notices_a_change(tmp_path, expected):
    assert digest(tmp_path / "run", ["--set", "chaser.parameters.mass=19957.000001"]) != expected
