"""Components that a user keeps in a folder: imported from where it is, under a name that no other module has."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from dockfmu.base.errors import DockfmuError

PREFIX = "dockfmu_component_"
"""Begin of the names under which modules of folders are imported. They do not depend on where the folder is."""


class FolderError(DockfmuError, ImportError):
    """A folder cannot be used as a component."""


def is_folder(name: str) -> bool:
    """Return whether a component is named by its folder: with a separator, such as ./hinge."""
    return "/" in name or os.sep in name or name in (".", "..")


def import_folder(folder: Path) -> ModuleType:
    """Import the package in `folder`, whose modules import each other relatively, and return it.

    Raises FolderError, which names the file at fault, if the folder is no package, cannot be imported, or has no
    factory `component`; and if another folder of this name is in use in this process.
    """
    folder = folder.resolve()
    file = folder / "__init__.py"
    if not file.is_file():
        what = "has no __init__.py" if folder.is_dir() else "does not exist" if not folder.exists() else "is no folder"
        raise FolderError(f"{folder} {what}: a component is a folder as `dockfmu new component` writes it")
    if not folder.name.isidentifier():
        raise FolderError(f"{folder}: {folder.name!r} is not a name of Python: rename the folder")
    name = f"{PREFIX}{folder.name}"
    module = sys.modules.get(name)
    if module is None:
        module = _imported(name, file)
    elif Path(module.__file__ or "") != file:
        raise FolderError(f"{folder}: {Path(module.__file__ or '').parent} has the same name: rename one of them")
    if not callable(getattr(module, "component", None)):
        raise FolderError(f"{file}: lacks the function `component`, which returns the component")
    return module


def _imported(name: str, file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=[str(file.parent)])
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        for part in [part for part in sys.modules if part == name or part.startswith(f"{name}.")]:
            del sys.modules[part]
        raise FolderError(f"{_place(error, file)}: {type(error).__name__}: {error}") from error
    return module


def _place(error: Exception, file: Path) -> str:
    """Return "FILE:LINE" of the innermost line below the folder of `file` that led to the error, or the file."""
    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    frames = traceback.extract_tb(error.__traceback__)
    inside = [frame for frame in frames if Path(frame.filename).is_relative_to(file.parent)]
    return f"{inside[-1].filename}:{inside[-1].lineno}" if inside else str(file)
