"""The modules that build FMUs as others might write them, from C sources in tests/master/fmus."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def builder(name: str) -> ModuleType:
    """The module `name` there, under a name of its own: theirs are too common for an import path."""
    full = f"fmus_of_others_{name}"
    if full not in sys.modules:
        spec = importlib.util.spec_from_file_location(full, Path(__file__).parent / "master" / "fmus" / f"{name}.py")
        sys.modules[full] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[full]
