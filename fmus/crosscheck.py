"""Write the files of the FMI cross-check: `python -m dockfmu.fmus.crosscheck [NAME ...] [-o DIR]`.

Other tools run `NAME.fmu` with the inputs of `NAME_in.csv` and the options of `NAME_ref.opt`, and compare with
`NAME_ref.csv`. These reference results do not come from the FMU: the kernels compute them in this process. Folders and
formats are those of the FMI cross-check rules, version 4.1.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from dockfmu.components.core.component import Component, Instance
from dockfmu.fmus import catalogue
from dockfmu.fmus.check.importer.experiment import Experiment, experiment_for
from dockfmu.fmus.description import package_version
from dockfmu.fmus.package import build
from dockfmu.master.fmi.description import Description, read_description

PLATFORMS = ("linux64", "win64", "darwin64")
"""Platforms that both the exporter and the cross-check know."""

FEW = 10
"""Largest number of variables that the rules recommend for the reference results."""


def reference(component: Component, experiment: Experiment, lengths: Sequence[float] = ()) -> np.ndarray:
    """Return outputs, shape (steps + 1, number of outputs), computed by the kernels alone. Raises ComponentError.

    `lengths` are those of the steps, s, where an importer rounds `experiment.step`.
    """
    index = component.record.index
    places = [index[name] for name in experiment.inputs]
    slots = [index[name] for name in experiment.outputs]
    rows = np.array(list(experiment.inputs.values())).T.reshape(experiment.steps, len(places))
    instance = Instance(component, **dict(zip(experiment.inputs, rows[0], strict=True)))
    outputs = [instance.block[slots].copy()]
    for k, row in enumerate(rows):
        instance.block[places] = row
        instance.step(experiment.start + k * experiment.step, lengths[k] if len(lengths) else experiment.step)
        outputs.append(instance.block[slots].copy())
    return np.array(outputs)


def _csv(times: Iterable[float], columns: Mapping[str, Iterable[float]]) -> str:
    header = ",".join(f'"{name}"' for name in ("time", *columns))
    rows = [",".join(repr(float(value)) for value in row) for row in zip(times, *columns.values(), strict=True)]
    return "\n".join([header, *rows]) + "\n"


def _options(experiment: Experiment) -> str:
    values = {
        "StartTime": experiment.start,
        "StopTime": experiment.stop,
        "StepSize": experiment.step,
        "RelTol": 1e-6,
        "SolverType": "FixedStep",
        "OutputIntervalLength": experiment.step,
    }
    return "".join(f"{name}, {value}\n" for name, value in values.items())


def _most_changing(description: Description, names: Sequence[str], values: np.ndarray) -> list[int]:
    """Return the indices of the `FEW` outputs that change most relative to their nominal values."""
    nominal = np.array([description.variables[name].nominal or 1.0 for name in names])
    moved = np.ptp(values, axis=0) / nominal
    return sorted(np.argsort(-moved, kind="stable")[:FEW].tolist())


def write(component: Component, folder: Path, platforms: Sequence[str] = PLATFORMS) -> list[Path]:
    """Build the FMU of `component`, write its cross-check files, and return the folder of each platform."""
    fmu = build(component, folder / "fmus", platforms=platforms)
    description = read_description(fmu)
    experiment = experiment_for(description)
    values = reference(component, experiment)
    chosen = _most_changing(description, experiment.outputs, values)
    last = {name: [*column, column[-1]] for name, column in experiment.inputs.items()}
    files = {
        "_ref.csv": _csv(experiment.times, {experiment.outputs[i]: values[:, i] for i in chosen}),
        "_ref.opt": _options(experiment),
    }
    if last:
        files["_in.csv"] = _csv(experiment.times, last)
    made = []
    for platform in platforms:
        place = folder / "fmus" / "2.0" / "cs" / platform / "dockfmu" / package_version() / component.name
        place.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(fmu, place / fmu.name)
        for ending, text in files.items():
            (place / f"{component.name}{ending}").write_text(text, encoding="utf-8")
        made.append(place)
    fmu.unlink()
    return made


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command with `arguments`, by default those of the process."""
    parser = argparse.ArgumentParser(
        prog="python -m dockfmu.fmus.crosscheck", description="Write FMI cross-check files."
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="components; all of them by default")
    parser.add_argument("-o", "--output", type=Path, default=Path("build/crosscheck"), metavar="DIR")
    parser.add_argument("--platform", default=",".join(PLATFORMS), metavar="NAMES", help="default: %(default)s")
    chosen = parser.parse_args(arguments)
    for name in chosen.names or catalogue.names():
        for place in write(catalogue.component(name), chosen.output, chosen.platform.split(",")):
            print(place)


if __name__ == "__main__":
    main()
