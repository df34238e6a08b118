"""Write the content of a pythonfmu FMU: a few lines of Python that refer to the installed component.

In one process, two FMUs with scripts of the same name would both run the model of the first one; the name of a script
therefore contains a digest.
"""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dockfmu.base.fmi import DESCRIPTION_FILE
from dockfmu.components.core.component import Component
from dockfmu.components.core.record import ParameterError
from dockfmu.fmus.description import PYTHON_CAPABILITIES, describe
from dockfmu.fmus.folders import PREFIX
from dockfmu.fmus.identity import fingerprint, guid_of
from dockfmu.fmus.native.tables import write_tables

_SCRIPT = '''"""{name}, run by the Python of the importer; needs dockfmu installed."""

import ctypes

from dockfmu.fmus.python.slave import ComponentSlave

# pythonfmu evaluates this file for each instance and then releases its dictionary, which it does not own
ctypes.pythonapi.Py_IncRef(ctypes.py_object(globals()))


class {class_name}(ComponentSlave):
    pass
'''


def build_python(component: Component, key: str) -> dict[str, bytes]:
    """Return the files of the FMU by their path; `key` is a digest of what it is built from.

    Raises ParameterError for build options that JSON cannot hold.
    """
    try:
        options = {"options": dict(component.options), "fingerprint": fingerprint(component)}
        reference = json.dumps(_place(component.module) | options, indent=1)
    except TypeError as error:
        raise ParameterError(f"{component.name}: the options of a Python FMU must be JSON: {error}") from error
    guid = guid_of(component, PYTHON_CAPABILITIES, Path(__file__).parent, write_tables(component, ""))
    script = f"{component.name.lower()}_{key[:12]}"
    content = {
        DESCRIPTION_FILE: describe(component, guid, PYTHON_CAPABILITIES),
        "resources/slavemodule.txt": script.encode(),
        f"resources/{script}.py": _SCRIPT.format(name=component.name, class_name=script.title()).encode(),
        "resources/component.json": reference.encode(),
    }
    spec = find_spec("pythonfmu")
    assert spec is not None
    assert spec.origin is not None
    binaries = Path(spec.origin).parent / "resources" / "binaries"
    for folder, file, extension in (
        ("linux64", "libpythonfmu-export.so", ".so"),
        ("win64", "pythonfmu-export.dll", ".dll"),
    ):
        content[f"binaries/{folder}/{component.name}{extension}"] = (binaries / folder / file).read_bytes()
    return content


def _place(file: Path) -> dict[str, Any]:
    """Return where Python finds the component in `file` again: its module, or the folder of one not installed."""
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(file) and not name.startswith(PREFIX):
            return {"module": name}
    return {"folder": str(file.parent)}
