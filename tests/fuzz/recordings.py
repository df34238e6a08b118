"""Recordings changed by the rules of HDF5, so that no checksum reveals it, and everything that reads recordings.

    python -m tests.fuzz.recordings FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a result or an error of dockfmu.
"""

from __future__ import annotations

import io
import os
import random
import shutil
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from unittest.mock import patch

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t

from dockfmu.base.errors import DockfmuError
from dockfmu.cli import main
from dockfmu.master.observers.recording import checksum, results
from dockfmu.master.observers.recording.layout import check_layout, check_safety
from dockfmu.master.observers.recording.salvage import _read_all
from dockfmu.report.export import write_csv, write_mat
from dockfmu.report.page import write_report
from dockfmu.view.recording import Replay

SECRET = "a secret of this machine"


def objects(file: h5py.File) -> list[str]:
    """Return the paths of all groups and datasets."""
    found: list[str] = []
    file.visit(found.append)
    return found


def values(rng: random.Random) -> object:
    """Return a value of any kind for an attribute or a dataset."""
    return rng.choice(
        [
            0,
            -1,
            2**63 - 1,
            1.5,
            float("nan"),
            float("inf"),
            "",
            "text",
            "\x1b]0;title\x07",
            "<script>",
            "\udc80" * 0,
            np.zeros(3),
            np.zeros((2, 2)),
            np.array([b"a", b"\xff"]),
            np.bool_(True),
            "{",
            "[]",
            "null",
            "1",
            "[" * 100_000,
            '{"a": 1}',
            np.array(["1=a", "2"], object),
            np.array([], float),
            np.complex128(1j),
            np.zeros(2, [("a", "f8")]),
            b"\xff\xfe",
            np.uint64(2**64 - 1),
            np.float32(1),
            "x" * 10_000,
        ]
    )


def _replace_by_dataset(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    value = values(rng)
    kind = h5py.string_dtype() if isinstance(value, np.ndarray) and value.dtype == object else None
    file.create_dataset(path, data=value, dtype=kind)


def _replace_by_link(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    others = [o for o in objects(file) if o != path] or ["nothing"]
    file[path] = rng.choice(
        [
            h5py.ExternalLink(os.environ.get("FUZZ_OTHER", "other.h5"), "time"),
            h5py.ExternalLink("missing.h5", "x"),
            h5py.SoftLink("/nowhere"),
            h5py.SoftLink("/" + rng.choice(others)),
            h5py.SoftLink(path),
        ]
    )


def _replace_by_external_storage(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    creation = h5p.create(h5p.DATASET_CREATE)
    creation.set_external(os.environ.get("FUZZ_SECRET", "secret.txt").encode(), 0, 8 * 3)
    h5d.create(file.id, path.encode(), h5t.NATIVE_DOUBLE, h5s.create_simple((3,)), creation)


def _replace_by_virtual(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    layout = h5py.VirtualLayout((4,), "f8")
    layout[:] = h5py.VirtualSource(os.environ.get("FUZZ_OTHER", "other.h5"), "time", (4,))
    file.create_virtual_dataset(path, layout)


def _replace_by_huge(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    file.create_dataset(path, (rng.choice([10**9, 10**12, 10**15]),), rng.choice(["f8", "S256"]), chunks=(1024,))


def _replace_by_group(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    file.create_group(path).create_group("inner").create_group("inner")


def _replace_by_type(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]
    file[path] = np.dtype("f8")


def _remove(file: h5py.File, path: str, rng: random.Random) -> None:
    del file[path]


def _rename(file: h5py.File, path: str, rng: random.Random) -> None:
    name = rng.choice(["a/b|c", "~", "|", "\x1b[2J", "<b>", "time", "x" * 3000, "a.b[1]", " ", "time/y"])
    file.move(path, name if name not in file else "moved")


def _change_values(file: h5py.File, path: str, rng: random.Random) -> None:
    found = file[path]
    if isinstance(found, h5py.Dataset) and found.dtype.kind in "fiu" and found.size:
        number = rng.choice([np.nan, np.inf, -np.inf, -1.0, 1e300, 0.0]) if found.dtype.kind == "f" else -1
        with np.errstate(all="ignore"):
            found[rng.randrange(found.size) if found.ndim == 1 else ...] = np.array(number).astype(found.dtype)


def _resize(file: h5py.File, path: str, rng: random.Random) -> None:
    found = file[path]
    if isinstance(found, h5py.Dataset) and found.maxshape == (None,):
        found.resize((rng.choice([0, 1, found.shape[0] // 2, found.shape[0] + 1, 10**7]),))


def _change_attribute(file: h5py.File, path: str, rng: random.Random) -> None:
    about = rng.choice([file, file[path]]).attrs
    name = rng.choice([*about, "items", "name", "display_unit", "plan", "scenes", "changed", "status", "t_end"])
    value = values(rng)
    if isinstance(value, np.ndarray) and value.dtype == object:
        about.create(name, value, dtype=h5py.string_dtype())
    else:
        about[name] = value


def _remove_attribute(file: h5py.File, path: str, rng: random.Random) -> None:
    about = rng.choice([file, file[path]]).attrs
    if len(about):
        del about[rng.choice(list(about))]


MUTATORS = (
    _replace_by_dataset, _replace_by_link, _replace_by_external_storage, _replace_by_virtual, _replace_by_huge,
    _replace_by_group, _replace_by_type, _remove, _rename, _change_values, _resize, _change_attribute,
    _change_attribute, _change_attribute, _remove_attribute,
)  # fmt: skip


def craft(file: Path, seed: int) -> str:
    """Change a recording in one or two places and seal it again; return what was changed."""
    rng = random.Random(seed)
    done = []
    with h5py.File(file, "r+") as opened:
        for _ in range(rng.choice([1, 1, 2])):
            mutate, path = rng.choice(MUTATORS), rng.choice(objects(opened))
            done.append(f"{mutate.__name__[1:]} {path[:40]!r}")
            try:
                mutate(opened, path, rng)
            except (OSError, ValueError, KeyError, TypeError, RuntimeError, UnicodeError, AttributeError) as error:
                done[-1] += f" (not possible: {type(error).__name__})"
    with patch.object(checksum, "private_key", lambda: bytes(range(32))):
        checksum.append(file)
    return ", ".join(done)


def check_here(file: Path) -> None:
    """Check the layout and read everything, as `probe` does, but in this process: mutated files crash nothing.

    All readers of a trial ask this of the same file: it is answered once.
    """
    about = file.stat()
    if fault := _fault_of(file, about.st_mtime_ns, about.st_size):
        raise fault


@cache
def _fault_of(file: Path, changed: int, size: int) -> Exception | None:
    """Return what the checks of a file raise; `changed` tells it from what lay there before."""
    try:
        with h5py.File(file, "r") as opened:
            check_safety(opened, size)
            check_layout(opened)
            _read_all(opened, len(opened["time"]))
    except Exception as error:
        return error
    return None


def readers(folder: Path, sound: Path) -> dict[str, object]:
    """Return functions that read `folder`/results.h5 in all ways; `sound` is the folder of a sound run."""
    file = folder / "results.h5"

    def numbers() -> None:
        with results.read_results(file) as found:
            for name in found.variables:
                found[name]
                found.unit(name), found.display_unit(name), found.variability(name)
                if found.has_envelope(name):
                    found.envelope(name)
            for element in ("first", "second"):
                found.parameters(element), found.parameter_units(element)

    def view() -> None:
        with results.read_results(file) as found:
            replay = Replay(found, folder)
            replay.description()
            replay.read_ahead()

    def recover() -> None:
        copy = folder / "copy.h5"
        shutil.copy(file, copy)
        results.recover(copy)

    return {
        "numbers": numbers,
        "csv": lambda: write_csv(file, folder / "out.csv", ["*"], 1),
        "mat": lambda: write_mat(file, folder / "out.mat", ["*"], 1),
        "report": lambda: write_report(folder),
        "view": view,
        "recover": recover,
        "compare": lambda: main(["compare", str(folder), str(sound), "-o", str(folder / "compare.html")]),
        "gltf": lambda: main(["export", "--gltf", str(file), "-o", str(folder / "out.glb")]),
    }


def place_of(error: Exception) -> str:
    """Return the last line of this repository that an exception passed."""
    lines = traceback.extract_tb(error.__traceback__)
    last = next((line for line in reversed(lines) if "site-packages" not in line.filename), lines[-1])
    return f"{Path(last.filename).name}:{last.lineno}"


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str]:
    """Craft a recording from that of the run in `sound`, and read it. Return the failures, and what was changed."""
    shutil.copytree(sound, folder)
    other, secret = folder / "other.h5", folder / "secret.txt"
    shutil.copy(sound / "results.h5", other)
    secret.write_text(SECRET)
    os.environ["FUZZ_OTHER"], os.environ["FUZZ_SECRET"] = str(other), str(secret)
    changed = craft(folder / "results.h5", seed)
    failures = []
    for name, read in readers(folder, sound).items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                    read()
        except DockfmuError as error:
            if not str(error):
                failures.append(f"{name}: an error without words")
        except SystemExit:
            pass
        except Exception as error:
            failures.append(f"{name}: {type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
        csv = folder / "out.csv"
        words = np.frombuffer(SECRET.encode()[:24], "f8")
        if csv.is_file() and any(repr(float(word)) in csv.read_text(encoding="utf-8") for word in words):
            failures.append(f"{name}: a local file leaked")
    return failures, changed


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    from tests.fuzz.sound import sound_run

    results.probe = check_here  # type: ignore[assignment]
    failed, classes = 0, Counter()
    with tempfile.TemporaryDirectory() as scratch:
        sound = sound_run(Path(scratch) / "sound")
        for seed in range(first, first + count):
            failures, changed = trial(sound, Path(scratch) / str(seed), seed)
            shutil.rmtree(Path(scratch) / str(seed))
            failed += bool(failures)
            for failure in failures:
                classes[failure.partition(": ")[2]] += 1
                print(f"seed {seed}: {changed}: {failure}")
    for text, times in classes.most_common():
        print(f"{times:5} {text}")
    print(f"{failed} of {count} seeds failed")
    return failed


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
