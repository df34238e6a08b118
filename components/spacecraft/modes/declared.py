"""Modes by name: the beams declared in the TOML files of this folder."""

from __future__ import annotations

import tomllib
from pathlib import Path

from components.spacecraft.modes.beam import Beam
from components.spacecraft.modes.model import Modes

_FOLDER = Path(__file__).parent
_OF_BEAM = ("bending_y", "bending_z", "axial", "torsion")


def declared_modes(name: str) -> Modes:
    """The modes of the beam `name`, at its ports and nozzles. Raises ValueError for a name that is not declared."""
    file = _FOLDER / f"{name}.toml"
    if not file.is_file():
        known = ", ".join(sorted(entry.stem for entry in _FOLDER.glob("*.toml")))
        raise ValueError(f"there are no modes called {name!r}; there are {known}")
    given = {key: leaf["value"] for key, leaf in tomllib.loads(file.read_text("utf-8")).items() if "value" in leaf}
    frequencies = {key: given[key] for key in _OF_BEAM}
    beam = Beam.of_frequencies(given["length"], given["mass"], given["polar_inertia"], **frequencies)
    return beam.modes().select(given["ports"], given["thrusters"], limit=given["modes"])
