"""Checkpoints changed at random and sealed again, and runs that resume from them.

    python -m tests.fuzz.checkpoints FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a run or an error of dockfmu.
"""

from __future__ import annotations

import io
import json
import random
import shutil
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.cli import main
from dockfmu.master.checkpoint import _FIRST_LINE, read_checkpoint
from dockfmu.master.sealed_arrays import read_arrays, write_arrays
from tests.fuzz.recordings import place_of

VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 1, 2**63, 2**200, 1e308, -1e308, 0.5, float("nan"), float("inf"), "", "text", "\x1b[2J",
    "\udc80", [], [1], ["a"], [[]], {}, {"first": 1}, {"first": None, "second": []}, "x" * 5000, [1, 2],
    [0, 0], [-1, 1],
)  # fmt: skip


def _change_json(content: Any, rng: random.Random) -> Any:
    """Change one place of some JSON: another value, one less, or one more."""
    place = content
    while True:
        key = rng.choice(sorted(place) if isinstance(place, dict) else range(len(place)))
        if isinstance(place[key], dict | list) and place[key] and rng.random() < 0.6:
            place = place[key]
            continue
        action = rng.random()
        if action < 0.7:
            place[key] = rng.choice(VALUES)
        elif action < 0.85:
            del place[key]
        elif isinstance(place, dict):
            place[rng.choice(["more", "first", "states"])] = rng.choice(VALUES)
        else:
            place.append(rng.choice(VALUES))
        return content


def _change_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return another array in place of one."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        changed = rng.choice(
            [
                array[:-1] if array.ndim else array,
                np.zeros(3),
                np.zeros((2, 2)),
                np.float64(1.0),
                np.array(["a"]),
                np.array([b"\xff"]),
                np.zeros(0),
                np.append(array.ravel(), array.ravel()),
                np.zeros(array.shape, "c16"),
                np.full(array.shape, np.nan),
                np.full(array.shape, -1),
                np.full(array.shape, 2**31 - 1, np.int64),
                array.astype("f4") if array.dtype.kind == "f" else array,
            ]
        )
    return np.asarray(changed)


def craft(file: Path, seed: int) -> str:
    """Change a checkpoint in one or two places and seal it again; return what was changed."""
    rng = random.Random(seed)
    content = read_arrays(file, _FIRST_LINE)
    done = []
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(["head"] * 8 + sorted(content))
        action = rng.random()
        if name == "head" and name in content and action < 0.95:
            try:
                head = _change_json(json.loads(content[name].tobytes()), rng)
                content[name] = np.frombuffer(json.dumps(head).encode(), np.uint8)
            except (ValueError, IndexError, TypeError):
                continue
        elif action < 0.1:
            content.pop(name, None)
        elif name in content:
            content[name] = _change_array(content[name], rng)
        done.append(name)
    write_arrays(file, _FIRST_LINE, content)
    if rng.random() < 0.1:
        data = bytearray(file.read_bytes())
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        file.write_bytes(data)
        done.append("a bit")
    return ", ".join(done)


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str, int]:
    """Craft a checkpoint from that of a run in `sound`, and resume, also with --force.

    Returns the failures, what was changed, and the number of runs that completed.
    """
    folder.mkdir()
    file = folder / "run.checkpoint"
    shutil.copy(sound / "run.checkpoint", file)
    changed = craft(file, seed)
    failures = []
    try:
        read_checkpoint(file)
    except DockfmuError as error:
        if str(file) not in str(error):
            failures.append(f"read: an error that does not name the file: {error}")
    except Exception as error:
        failures.append(f"read: {type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    command = ["run", str(sound / "pair.ssp"), "--resume", str(file), "-o", str(folder / "out"), "--json"]
    completed = 0
    for force in ([], ["--force"]):
        try:
            with warnings.catch_warnings(), redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                warnings.simplefilter("ignore")
                completed += main([*command, *force]) == 0
        except SystemExit:
            pass
        except Exception as error:
            failures.append(f"resume: {type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, changed, completed


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    from tests.fuzz.sound import sound_run

    failed = completed = 0
    with tempfile.TemporaryDirectory() as scratch:
        sound = sound_run(Path(scratch) / "sound")
        for seed in range(first, first + count):
            failures, changed, ended = trial(sound, Path(scratch) / str(seed), seed)
            completed += ended
            failed += bool(failures)
            for failure in failures:
                print(f"seed {seed}: {changed}: {failure}")
    print(f"{failed} of {count} seeds failed; {completed} of {2 * count} runs completed")
    return failed


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
