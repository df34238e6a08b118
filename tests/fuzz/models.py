"""Finite-element models and elastic bodies changed at random, and `dockfmu reduce`.

    python -m tests.fuzz.models FIRST COUNT

tries the seeds from FIRST on and prints a line for each one that ends in anything but a result or an error of dockfmu.
"""

from __future__ import annotations

import copy
import io
import random
import shutil
import sys
import tempfile
import tomllib
import warnings
from contextlib import redirect_stderr, redirect_stdout
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.cli import main
from dockfmu.components.multibody import component
from dockfmu.components.multibody.declaration import read_model
from dockfmu.components.physics.elastic.body import ElasticBody
from tests.dockfmu.elastic.models import BEAM, HUB
from tests.fuzz.checkpoints import _change_array
from tests.fuzz.numbers import NUMBERS, _written, change
from tests.fuzz.recordings import place_of
from tests.fuzz.seeds import try_seeds

SWING = """
name = "swing"
[bodies.beam]
elastic = "body.npz"
reach = 20
[bodies.ball]
mass = 3
inertia = [0.1, 0.1, 0.1]
[joints.hinge]
kind = "revolute"
bodies = ["base", "beam"]
points = [[0, 0, 0], [-5, 0, 0]]
axis = [0, 1, 0]
[joints.tip]
kind = "spherical"
bodies = ["beam", "ball"]
points = [[5, 0, 0], [0, 0, 0.2]]
"""
"""A declared system with the body."""
OPTIONS = {
    "--interface": ["1,21", "1", "21,1", "1,1,21"],
    "--modes": ["0", "1", "4", "99999"],
    "--cut-off": ["1", "1e-300", "1e300", "5Hz", "3 rad/s"],
    "--frame": ["mean", "1", "21", "2"],
    "--units": ["m,kg", "mm,t", "1e-300m,kg", "1e150m,1e150kg", "m,1e-300kg", "m,s", ",", "m"],
    "--damping": ["0", "0.999"],
    "--rayleigh": ["0,0", "1,1", "1e300,1e300"],
    "--mass": ["bodies", "matrix"],
}  # fmt: skip
"""Values of options; strange numbers are tried besides."""


def sound_models(folder: Path) -> Path:
    """Write the same beam in each form that is read, and the body that it reduces to; return the folder."""
    from scipy import sparse
    from scipy.io import mmwrite

    from dockfmu.elastic.frame import read_frame

    folder.mkdir(parents=True)
    text = BEAM.replace("elements = 20", "elements = 3") + HUB
    (folder / "frame.toml").write_text(text, encoding="utf-8")
    full = read_frame(folder / "frame.toml")[1]
    stiffness, mass = sparse.coo_array(full.stiffness), sparse.coo_array(full.mass)
    places = {"nodes": full.nodes, "x": full.position}
    lines = np.array([[1, 22], [22, 23], [23, 21]])
    np.savez(folder / "dense.npz", K=full.stiffness, M=full.mass, dof=full.freedom, lines=lines, **places)
    sparse_parts = {
        f"{name}_{part}": values
        for name, matrix in (("K", stiffness), ("M", mass))
        for part, values in (("data", matrix.data), ("row", matrix.coords[0]), ("col", matrix.coords[1]))
    }
    np.savez(folder / "sparse.npz", **sparse_parts, **places)
    mmwrite(folder / "k.mtx", stiffness)
    mmwrite(folder / "m.mtx", mass)
    rows = [f"{node},{x!r},{y!r},{z!r}" for node, (x, y, z) in zip(full.nodes, full.position.tolist(), strict=True)]
    (folder / "n.csv").write_text("\n".join(rows), encoding="utf-8")
    if find_spec("pyyeti") is not None:
        from pyyeti.nastran import bulk, op4

        op4.write(str(folder / "b.op4"), {"kaa": full.stiffness, "maa": full.mass})
        op4.write(str(folder / "t.op4"), {"kaa": full.stiffness, "maa": full.mass}, binary=False)
        grids = np.column_stack([full.nodes, 0.0 * full.nodes, full.position, 0.0 * full.nodes])
        with (folder / "n.bdf").open("w") as stream:
            bulk.wtgrids(stream, grids[:, 0].astype(int), xyz=full.position)
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        command = ["reduce", str(folder / "frame.toml"), "--interface", "1,21", "--modes", "2"]
        assert main([*command, "-o", str(folder / "body.npz")]) == 0
    return folder


def _change_arrays(file: Path, rng: random.Random) -> str:
    with np.load(file) as content:
        arrays = {name: content[name] for name in content.files}
    name = rng.choice(sorted(arrays))
    action = rng.random()
    if action < 0.1:
        del arrays[name]
    elif action < 0.2:
        arrays[rng.choice(["K", "M", "nodes", "x", "dof", "lines", "K_data", "about", "shape"])] = arrays[name]
    elif action < 0.55 and arrays[name].size and arrays[name].dtype.kind in "fiub":
        values = arrays[name].copy()
        one: float = rng.choice([0, -1, 1, 2, 7, 1e-300, 1e300, 2**31, 2**62, float("nan"), float("inf")])
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                values.flat[rng.randrange(values.size)] = one
            except (ValueError, OverflowError):
                values.flat[rng.randrange(values.size)] = 0
        arrays[name] = values
    else:
        with np.errstate(all="ignore"):
            arrays[name] = _other_array(arrays[name], rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.savez(file, **arrays)
    return name


def _other_array(array: np.ndarray, rng: random.Random) -> np.ndarray:
    """Return another array in place of one."""
    if array.dtype.kind not in "fiub":
        texts = ["{}", '{"format": 1}', "[" * 5000, "5", '{"format": "dockfmu elastic body 1", "checks": 1}']
        return rng.choice([np.zeros(2), np.array(5), *map(np.array, texts)])
    return rng.choice(
        [
            _change_array(array, rng),
            array.astype(rng.choice(["f2", "f4", "c16", "U5", "u1", "i8", "g", "b1"])),
            array[::-1] if array.ndim else np.zeros(2),
            np.zeros((0, 0)),
            array * 1e200 if array.dtype.kind == "f" else np.zeros((1, 1, 1)),
            array * 0,
            np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]),
        ]
    )


def _change_text(file: Path, rng: random.Random) -> str:
    """Change words or lines of a text, or bytes of another file."""
    data = file.read_bytes() or b"\0"
    action = rng.random()
    if b"\0" in data or action < 0.2:
        changed = bytearray(data)
        for _ in range(rng.choice([1, 5])):
            changed[rng.randrange(len(changed))] = rng.choice([0, 255, 45, 57, rng.randrange(256)])
        file.write_bytes(changed[: rng.choice([len(changed)] * 3 + [len(changed) // 2, 0])])
        return "bytes"
    lines = data.decode(errors="replace").split("\n")
    k = rng.randrange(min(len(lines), rng.choice([4, len(lines)])))
    if action < 0.3:
        del lines[k]
    elif action < 0.4:
        lines.insert(k, lines[rng.randrange(len(lines))])
    else:
        words = lines[k].replace(",", " , ").split(" ")
        words[rng.randrange(len(words))] = rng.choice([*NUMBERS, "general", "symmetric", "complex", "pattern", "array"])
        lines[k] = " ".join(words)
    file.write_text("\n".join(lines), encoding="utf-8")
    return f"line {k}"


def craft(folder: Path, rng: random.Random) -> tuple[list[str], str]:
    """Change one file in one or two places; return the command that reads it, and what was changed."""
    kinds = ["frame.toml", "frame.toml", "dense.npz", "dense.npz", "sparse.npz", "k.mtx", "m.mtx", "n.csv", "options"]
    if (folder / "b.op4").is_file():
        kinds += ["b.op4", "t.op4", "n.bdf"]
    kind = rng.choice(kinds)
    done = []
    for _ in range(rng.choice([1, 1, 2])):
        if kind == "frame.toml":
            try:
                content = tomllib.loads((folder / kind).read_text(encoding="utf-8"))
            except ValueError:
                break
            backup = copy.deepcopy(content)
            try:
                done.append(change(content, rng))
            except (ValueError, IndexError, TypeError):
                content = backup
            _written(content, folder / kind)
        elif kind.endswith(".npz"):
            if rng.random() < 0.1:
                done.append(_change_text(folder / kind, rng))
                break
            done.append(_change_arrays(folder / kind, rng))
        elif kind != "options":
            done.append(_change_text(folder / kind, rng))
            if not (folder / kind).stat().st_size:
                break
    model = {"m.mtx": "k.mtx", "n.csv": "k.mtx", "n.bdf": "b.op4", "options": "dense.npz"}.get(kind, kind)
    chosen = {"--interface": "1,21", "--modes": "2", "--units": "m,kg"}
    if rng.random() < 0.5 or kind == "options":
        option = rng.choice(sorted(OPTIONS))
        chosen[option] = rng.choice(OPTIONS[option]) if rng.random() < 0.6 else rng.choice(NUMBERS)
        done.append(f"{option} {chosen[option][:20]}")
    if model == "k.mtx":
        chosen |= {"--mass-file": str(folder / "m.mtx"), "--nodes": str(folder / "n.csv")}
    elif model.endswith(".op4"):
        chosen["--nodes"] = str(folder / "n.bdf")
    if model == "frame.toml":
        del chosen["--units"]
    words = [f"{name}={value}" for name, value in chosen.items()]
    return ["reduce", str(folder / model), "-o", str(folder / "out.npz"), *words], f"{kind}: {', '.join(done)}"


def _changed(text: str, file: Path, rng: random.Random) -> str:
    """Return the text of a declaration, which has the elastic body in it, with a change."""
    file.write_text(text, encoding="utf-8")
    _change_text(file, rng)
    return file.read_text(encoding="utf-8", errors="replace")


def trial(sound: Path, folder: Path, seed: int) -> tuple[list[str], str]:
    """Craft a model from those in `sound` and reduce it, or craft a body, declare a system with it and load it.

    Return the failures, and what was changed.
    """
    rng = random.Random(seed)
    shutil.copytree(sound, folder)
    if seed % 4:
        command, changed = craft(folder, rng)
    else:
        # every other time the body is sound, and the text that it is written into is not
        changes = _change_arrays(folder / "body.npz", rng) if seed % 8 else "its text"
        command, changed = [], f"body: {changes}"
    failures: list[str] = []
    try:
        with warnings.catch_warnings(), redirect_stdout(io.StringIO()) as said, redirect_stderr(io.StringIO()) as more:
            warnings.simplefilter("ignore")
            if not command:
                (folder / "swing.toml").write_text(SWING, encoding="utf-8")
                declared = read_model(folder / "swing.toml")
                component(declared.text if seed % 8 else _changed(declared.text, folder / "whole.toml", rng))
                list(ElasticBody.load(folder / "body.npz").table())
            elif main(command) == 0:
                list(ElasticBody.load(folder / "out.npz").table())
        text = said.getvalue() + more.getvalue()
        if "Traceback" in text or "\x1b" in text:
            failures.append("a traceback or a command of the terminal")
        if len(text) > 20000:
            failures.append(f"a message of {len(text)} characters")
    except DockfmuError as error:
        if not str(error) or len(str(error)) > 4000:
            failures.append(f"an error of {len(str(error))} characters")
        if command:
            failures.append(f"what was written is not read: {str(error)[:90]}")
    except SystemExit:
        pass
    except Exception as error:
        failures.append(f"{type(error).__name__}: {str(error)[:90]} ({place_of(error)})")
    return failures, changed


def run(first: int, count: int) -> int:
    """Try seeds; print what fails and a summary; return the number of seeds that failed."""
    with tempfile.TemporaryDirectory() as scratch:
        sound = sound_models(Path(scratch) / "sound")
        return try_seeds(first, count, scratch, lambda folder, seed: trial(sound, folder, seed))


if __name__ == "__main__":
    sys.exit(bool(run(int(sys.argv[1]), int(sys.argv[2]))))
