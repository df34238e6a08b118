"""Modes declared in a TOML file: a synthetic beam, the modal model of a NASTRAN or neutral file, or appendages.

A beam has `length`, `mass`, `polar_inertia` and its lowest frequencies `bending_y`, `bending_z`, `axial`, `torsion`.
A model has `file`, relative to the TOML file, and for NASTRAN (`.f06`, `.op2`) its units `length_unit` (m) and
`mass_unit` (kg); it may be the structure of the whole craft in mean axes by `dockfmu reduce`. `appendages` are such
files with their frame at the node that the craft holds: a list of tables of `file`, `place` (m, from the centre of mass
of the whole craft, axes S) and `angles` (yaw, pitch, roll of the frame E in S, rad); mass and inertia of the craft
contain theirs.

All give their `ports` and `thrusters` by positions in S, the first two also by numbers of grid points; these may limit
the modes by `above` and `below` (Hz) and `modes` (number of modes), and set `bands` of damping (from Hz, up to Hz,
decrement). `initial_coordinate` and `initial_rate` are the state of the lowest modes at the start, as many as are
given: vibration left by plumes or by a manoeuvre before the docking (spacecraft section 8). Each value is a table with
`value`, `unit` and `source`, as in parameter sets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.given_files import read_toml
from dockfmu.components.physics.elastic.body import ElasticBody
from dockfmu.components.spacecraft.modes.beam import Beam
from dockfmu.components.spacecraft.modes.f06 import read_f06
from dockfmu.components.spacecraft.modes.model import ASSUMED_BANDS, Bands, ModalModel, Modes
from dockfmu.components.spacecraft.modes.op2 import read_op2
from dockfmu.components.spacecraft.modes.reduced import appendage_modes, is_elastic_body, whole_model

_FOLDER = Path(__file__).parent
_BEAM = ("length", "mass", "polar_inertia")
_FREQUENCIES = ("bending_y", "bending_z", "axial", "torsion")
_APPENDAGES = ("appendages", "ports", "thrusters")
_MODEL = ("file", "length_unit", "mass_unit")
_STATE = ("initial_coordinate", "initial_rate")
_CHOICE = ("ports", "thrusters", "above", "below", "modes", "bands", *_STATE)


def declared_modes(name: str) -> Modes:
    """Return the modes declared in a TOML file: one in this folder by its name, any other by its path.

    Raises ValueError, naming the file, if it does not exist or its declaration is not valid.
    """
    file = Path(name) if name.endswith(".toml") else _FOLDER / f"{name}.toml"
    try:
        content = read_toml(file)
    except FileNotFoundError:
        known = ", ".join(sorted(entry.stem for entry in _FOLDER.glob("*.toml")))
        raise ValueError(f"no modes named {name!r}: use {known}, or the path of a .toml file") from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{file}: {error}") from error
    given = {key: leaf["value"] for key, leaf in content.items() if isinstance(leaf, dict) and "value" in leaf}
    appendages = "appendages" in given
    known_keys = (
        (*_APPENDAGES, *_STATE) if appendages else (_MODEL if "file" in given else _BEAM + _FREQUENCIES) + _CHOICE
    )
    if unknown := sorted(content.keys() - {"name", "description", *known_keys}):
        raise ValueError(f"{file}: unknown key {', '.join(unknown)}; known are {', '.join(known_keys)}")
    try:
        state = {key: given[key] for key in _STATE if key in given}
        if appendages:
            return _with_state(_appendages(file.parent, given), state)
        model, bands = _model(file.parent, given) if "file" in given else (_beam(given), ASSUMED_BANDS)
        modes = model.select(
            [_point(point) for point in given["ports"]],
            [_point(point) for point in given["thrusters"]],
            bands=given.get("bands", bands),
            above=given.get("above", 1e-2),
            below=given.get("below", float("inf")),
            limit=given.get("modes"),
        )
        return _with_state(modes, state)
    except KeyError as error:
        raise ValueError(f"{file}: {error.args[0]} = {{ value, unit, source }} is missing") from error
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error


def _with_state(modes: Modes, state: Mapping[str, Any]) -> Modes:
    """Return `modes` with the given initial state of the lowest ones.

    The others are at rest. Raises ValueError for more values than modes.
    """
    n = len(modes.frequency)
    whole: dict[str, Any] = {}
    for name, values in state.items():
        if len(values) > n:
            raise ValueError(f"{name} has {len(values)} values for {n} modes")
        whole[name] = np.concatenate([np.asarray(values, float), np.zeros(n - len(values))])
    return replace(modes, **whole)


def _point(point: Any) -> int | list[float]:
    """Return `point` if it is the number of a grid point or a position in S; raise ValueError otherwise."""
    if isinstance(point, int) or (isinstance(point, list) and len(point) == 3):
        return point
    raise ValueError(f"{point!r} is neither the number of a grid point nor a position (x, y, z)")


def _appendages(folder: Path, given: Mapping[str, Any]) -> Modes:
    """Return the modes of appendages."""
    found = []
    for number, one in enumerate(given["appendages"], start=1):
        if not isinstance(one, dict) or "file" not in one or (extra := one.keys() - {"file", "place", "angles"}):
            wrong = f"unknown key {', '.join(sorted(extra))}" if isinstance(one, dict) and "file" in one else "no file"
            raise ValueError(f"appendages, {number}: {wrong}; each is a table of file, place and angles")
        vectors = [one.get(name, [0.0, 0.0, 0.0]) for name in ("place", "angles")]
        for name, vector in zip(("place", "angles"), vectors, strict=True):
            if not (isinstance(vector, list) and len(vector) == 3 and all(isinstance(x, int | float) for x in vector)):
                raise ValueError(f"appendages, {number}: {name} = {vector!r} must be three numbers")
        found.append((ElasticBody.load(folder / one["file"]), *vectors))
    if not found:
        raise ValueError("appendages: there are none; give at least one table of file, place and angles")
    points = [[_place(point) for point in given[name]] for name in ("ports", "thrusters")]
    return appendage_modes(found, *points)


def _place(point: Any) -> list[float]:
    """Return a position in S; raise ValueError for anything else."""
    if isinstance(point, list) and len(point) == 3:
        return point
    raise ValueError(f"{point!r} is no position (x, y, z)")


def _beam(given: Mapping[str, Any]) -> ModalModel:
    return Beam.of_frequencies(*(given[key] for key in _BEAM), **{key: given[key] for key in _FREQUENCIES}).modes()


def _model(folder: Path, given: Mapping[str, Any]) -> tuple[ModalModel, Bands]:
    file = folder / given["file"]
    if is_elastic_body(file):
        return whole_model(ElasticBody.load(file)), ASSUMED_BANDS
    if file.suffix == ".npz":
        return ModalModel.read(file)
    read = read_op2 if file.suffix.lower() == ".op2" else read_f06
    return read(file, length=given.get("length_unit", 1.0), mass=given.get("mass_unit", 1.0)), ASSUMED_BANDS
