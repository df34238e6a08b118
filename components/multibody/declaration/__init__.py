"""Read a multibody system from a TOML file; all mistakes in it are reported at once."""

from dockfmu.components.multibody.declaration.origins import origin
from dockfmu.components.multibody.declaration.problems import ModelError
from dockfmu.components.multibody.declaration.read import Declared, read_model, read_text

__all__ = ["Declared", "ModelError", "origin", "read_model", "read_text"]
