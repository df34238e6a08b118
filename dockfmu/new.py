"""A new component in a folder of its own: the oscillator of dockfmu under another name, with a test."""

from __future__ import annotations

import re
from pathlib import Path

from dockfmu.base.cache import ROOT
from dockfmu.base.files import write_file
from dockfmu.errors import OptionError

TEMPLATE = ROOT / "components" / "oscillator"

_TEST = '''"""What every component must show. Add what yours must: closed forms, balances, failures."""

from pathlib import Path

import fmpy
import numpy as np

import dockfmu
from dockfmu.components.core.component import Instance
from dockfmu.fmus.check import validate

STEP, STEPS = 0.01, 100


def test_the_fmu_is_valid_and_gives_the_results_of_the_kernels(tmp_path):
    """One run in this process, one of the FMU by an importer that shares nothing with dockfmu."""
    component = dockfmu.load_component(Path(__file__).parent)
    instance = Instance(component, *component.parameter_sets[:1])
    start = {slot.name: slot.start for slot in component.record.variables if slot.field.causality == "parameter"}
    start |= {name: value for entry in component.parameter_sets[:1] for name, value in entry.values.items()}
    for k in range(STEPS):
        instance.step(k * STEP, STEP)
    file = dockfmu.build(component, tmp_path)
    assert [str(finding) for finding in validate(file)] == []
    outputs = [slot.name for slot in component.record.variables if slot.field.causality == "output"]
    rows = fmpy.simulate_fmu(
        str(file), stop_time=STEP * STEPS, step_size=STEP, output_interval=STEP, start_values=start, output=outputs
    )
    found = dict(zip(rows.dtype.names, rows[-1], strict=True))
    ours = {slot.name: instance.block[slot.index] for slot in component.record.variables if slot.name in outputs}
    # importers form the length of a step in other ways, which rounds differently
    for name in outputs:
        assert np.isclose(found[name], ours[name], rtol=1e-9, atol=1e-12), name
'''


def new_component(name: str, folder: Path) -> list[Path]:
    """Write the component `name` to the new folder `folder`/NAME and return its files, the factory first.

    Raises OptionError for a name that is not one of Python in lower case, and for a folder that exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise OptionError(
            [f"{name!r} must be a name of Python in lower case, such as hinge: folder and module bear it"]
        )
    home = folder / name
    if home.exists():
        raise OptionError([f"{home} exists: choose another name, or another folder with -o"])
    title = "".join(part.title() for part in name.split("_"))
    written = []
    for file in sorted(TEMPLATE.rglob("*")):
        if file.is_file() and file.suffix in (".py", ".toml", ".md"):
            text = file.read_text(encoding="utf-8").replace("Oscillator", title).replace("oscillator", name)
            written.append(write_file(home / file.relative_to(TEMPLATE), text.encode()))
    written.append(write_file(home / f"test_{name}.py", _TEST.encode()))
    return sorted(written, key=lambda file: (file.name != "__init__.py", file))
