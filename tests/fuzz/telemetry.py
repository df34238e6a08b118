"""Telemetry of strangers: columns in CSV, Parquet and HDF5, and the declarations that read them, changed at random.

    python -m tests.fuzz.telemetry FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but readings or an error of dockfmu.
"""

from __future__ import annotations

import copy
import csv
import random
import sys
import tempfile
import tomllib
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest.mock import patch

import h5py
import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.master.observers.recording.salvage import check_columns
from dockfmu.reconstruct import columns
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.reconstruct.settings import direct_settings
from tests.fuzz.models import _change_text
from tests.fuzz.numbers import NUMBERS, _written, change
from tests.fuzz.recordings import SECRET, place_of, values
from tests.fuzz.seeds import try_seeds

DECLARATION = """
system = "atv_probe_cone"
folder = "told"
events = "events.csv"
window = [0.0, 4.0]
[values]
"chaser.parameters.mass" = "20 t"
[direct]
samples = 10
mass_error = 0.01
[[direct.known]]
input = "chaser.command.push"
times = [0.0, 1.0]
values = [1.0, 0.0]
[[frame]]
name = "gyros"
rate = "20 Hz"
delay = "10 ms"
time = "time"
[[frame.signal]]
column = "yaw"
variable = "chaser.body.angular_velocity[3]"
unit = "deg/s"
noise = "0.01 deg/s"
quantum = "0.001 deg/s"
range = ["-5 deg/s", "5 deg/s"]
[[frame.signal]]
column = "on"
variable = "chaser.command.push"
[[frame.signal]]
column = "axial"
port = "chaser.port[1]"
offset = ["-4 m", 0.0, "1 m"]
axis = [1.0, 0.0, 0.0]
measures = "acceleration"
unit = "mm/s2"
[[frame.event]]
name = "capture"
"""
FORMS = ("csv", "csv", "parquet", "h5", "h5", "toml")
CELLS = (*NUMBERS, "2026-11-27T10:00:00Z", "2026-11-27", "0001-01-01", "9999-12-31T23:59:59.999999-23:59", "TRUE",
         "\x00", '"', "a\nb", "x" * 200_000, "=1+1", "None", "\ufeff")  # fmt: skip


def _content(rng: random.Random) -> dict[str, list[Any]]:
    """Return columns of sound telemetry."""
    times = [round(0.05 * k, 6) for k in range(60)]
    return {
        "time": [f"2026-11-27T10:00:{t:09.6f}Z" for t in times] if rng.random() < 0.3 else times,
        "yaw [deg/s]": [0.01 * k for k in range(60)],
        "on": [k < 20 for k in range(60)],
        "axial [mm/s2]": [3.0] * 60,
    }


def _write_csv(file: Path, content: dict[str, list[Any]], rng: random.Random) -> str:
    rows = [list(content), *map(list, zip(*content.values(), strict=True))]
    done = []
    for _ in range(rng.choice([0, 1, 1, 3])):
        k = rng.choice([0, rng.randrange(len(rows))])
        rows[k][rng.randrange(len(rows[k]))] = rng.choice(CELLS)
        done.append(f"cell of row {k}")
    with file.open("w", newline="", encoding="utf-8", errors="surrogatepass") as stream:
        csv.writer(stream).writerows(rows)
    if rng.random() < 0.3:
        done.append(_change_text(file, rng))
    return ", ".join(done)


def _write_parquet(file: Path, content: dict[str, list[Any]], rng: random.Random) -> str:
    import pyarrow as pa
    import pyarrow.parquet as pq

    found = {name: pa.array(column) for name, column in content.items()}
    name = rng.choice(list(found))
    others = [
        lambda: pa.array([None] * 60), lambda: pa.array([[1.0]] * 60), lambda: pa.array([{"a": 1}] * 60),
        lambda: pa.array([b"\xff"] * 60), lambda: pa.array(["1_0"] * 60), lambda: pa.array([True, None] * 30),
        lambda: pa.array(range(60), pa.timestamp("ns", tz="UTC")), lambda: pa.array([2**62] * 60, pa.timestamp("s")),
        lambda: pa.array([None, 1] * 30, pa.timestamp("us")), lambda: pa.array(range(60), pa.date32()),
        lambda: pa.array(range(60), pa.duration("ms")), lambda: pa.array(range(60), pa.time64("ns")),
        lambda: pa.array([Decimal(k) for k in range(60)]),
        lambda: pa.array([1.5, float("nan")] * 30, pa.float32()),
        lambda: pa.array([2**64 - 1] * 60, pa.uint64()), lambda: pa.array(["a", "b"] * 30).dictionary_encode(),
        lambda: pa.nulls(60), lambda: pa.array([0, None] * 30),
    ]  # fmt: skip
    done = ""
    if rng.random() < 0.7:
        k = rng.randrange(len(others))
        found[name], done = others[k](), f"{name} of kind {k}"
    fields = [
        pa.field(
            name,
            column.type,
            metadata={"unit": rng.choice(["deg/s", "s", "", "x", b"\xff", "°"])} if rng.random() < 0.2 else None,
        )
        for name, column in found.items()
    ]
    names = [rng.choice([*found, "x"]) if rng.random() < 0.05 else name for name in found]
    table = pa.table(list(found.values()), pa.schema(fields)).rename_columns(names)
    if rng.random() < 0.1:
        # a table of many rows that takes no room
        table, done = pa.table({name: pa.nulls(10**7 * 3) for name in "abcd"}), "3e7 rows of nothing"
    pq.write_table(table, file)
    if rng.random() < 0.2:
        done += _change_text(file, rng)
    return done


def _write_hdf5(file: Path, content: dict[str, list[Any]], rng: random.Random, secret: Path) -> str:
    done = []
    with h5py.File(file, "w") as opened:
        for name, column in content.items():
            text = isinstance(column[0], str)
            opened.create_dataset(
                name, data=column, dtype=h5py.string_dtype() if text else None, **({} if text else {"chunks": (16,)})
            )
        for _ in range(rng.choice([0, 1, 1, 2])):
            name = rng.choice(list(content))
            attack = rng.choice(
                ["external", "virtual", "link", "huge", "value", "unit", "group", "type", "twice", "resize", "deep"]
            )
            done.append(f"{attack} {name}")
            if attack == "unit":
                opened[name].attrs["unit"] = values(rng)
                continue
            del opened[name]
            if attack == "external":
                opened.create_dataset(name, (3,), "f8", external=[(str(secret), 0, 24)])
            elif attack == "virtual":
                layout = h5py.VirtualLayout((4,), "f8")
                layout[:] = h5py.VirtualSource(str(secret), "time", (4,))
                opened.create_virtual_dataset(name, layout)
            elif attack == "link":
                opened[name] = rng.choice(
                    [h5py.ExternalLink(str(secret), "x"), h5py.SoftLink("/time"), h5py.SoftLink("/no")]
                )
            elif attack == "huge":
                opened.create_dataset(name, (rng.choice([10**9, 10**12, 10**15]),), "f8", chunks=(1024,))
            elif attack == "resize":
                opened.create_dataset(name, data=column[:30], maxshape=(None,))
            elif attack == "group":
                opened.create_group(name)
            elif attack == "type":
                opened[name] = np.dtype("f8")
            elif attack == "twice":
                opened[f"{name.partition(' ')[0]} [m]"], opened[name] = column, column
            elif attack == "deep":
                opened["/".join("abcdefghijklm"[: rng.choice([3, 13])]) + f"/{name}"] = column
            else:
                found = values(rng)
                kind = h5py.string_dtype() if isinstance(found, np.ndarray) and found.dtype == object else None
                opened.create_dataset(name, data=found, dtype=kind)
            if name not in opened and attack != "deep":
                break
            content = {k: v for k, v in content.items() if k != name} or content
            if name not in opened:
                continue
    if rng.random() < 0.2:
        done.append(_change_text(file, rng))
    return ", ".join(done)


def craft(folder: Path, rng: random.Random) -> tuple[Path, str]:
    """Write telemetry and its declaration, with a change or two; return the file, and what was changed."""
    form, told = rng.choice(FORMS), folder / "told"
    told.mkdir(parents=True)
    secret = folder / "secret.txt"
    secret.write_text(SECRET)
    declaration, content = tomllib.loads(DECLARATION), _content(rng)
    changed = ""
    if form == "toml":
        changed = ", ".join(change(declaration, rng) for _ in range(rng.choice([1, 1, 2])))
    kind = rng.choice(["csv", "parquet", "h5"]) if form == "toml" else form
    file = told / f"gyros.{kind}"
    quiet = random.Random(1) if form == "toml" else rng
    try:
        if kind == "csv":
            changed += _write_csv(file, content, quiet)
        elif kind == "parquet":
            changed += _write_parquet(file, content, quiet)
        else:
            changed += _write_hdf5(file, content, quiet, secret)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError, UnicodeError) as error:
        changed += f" (not possible: {type(error).__name__})"
    events = [["name", "after [s]", "by [s]"], ["capture", "1.0", "1.05"]]
    if rng.random() < 0.2:
        events[rng.randrange(2)][rng.randrange(3)] = rng.choice(CELLS)
        changed += ", events"
    with (told / "events.csv").open("w", newline="", encoding="utf-8", errors="surrogatepass") as stream:
        csv.writer(stream).writerows(events)
    _written(copy.deepcopy(declaration), folder / "file.toml")
    return folder / "file.toml", f"{kind}: {changed}"


def _check_here(file: Path) -> None:
    """Check a file as `probe_columns` does, but in this process: what is crafted with h5py crashes nothing."""
    with h5py.File(file) as opened:
        check_columns(opened, file.stat().st_size)


def trial(folder: Path, seed: int, *, apart: bool = False) -> tuple[list[str], str]:
    """Craft telemetry and read it; return the failures, and what was changed.

    With `apart`, HDF5 files are checked in a process of their own, as the product does, which takes half a second.
    """
    rng = random.Random(seed)
    folder.mkdir(parents=True)
    file, changed = craft(folder, rng)
    failures: list[str] = []
    if not file.is_file():
        return failures, changed
    try:
        with (
            warnings.catch_warnings(),
            patch.object(columns, "probe_columns", columns.probe_columns if apart else _check_here),
        ):
            warnings.simplefilter("error", RuntimeWarning)
            telemetry = read_telemetry(file)
            direct_settings(telemetry.table)
            words = np.frombuffer(SECRET.encode()[:24], "f8")
            if np.isin(telemetry.values, words).any():
                failures.append("a local file leaked")
            if not np.isfinite(telemetry.values[telemetry.mask]).all():
                failures.append("a reading that counts is not finite")
    except DockfmuError as error:
        if not 0 < len(str(error)) < 4000:
            failures.append(f"an error of {len(str(error))} characters")
    except Exception as error:
        failures.append(f"{type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, changed


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        return try_seeds(first, count, scratch, lambda folder, seed: trial(folder, seed, apart=seed % 20 == 0))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
