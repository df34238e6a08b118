"""Reconstruct what a docking did to the structure: from a file of telemetry to loads, their files and the report."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np

from dockfmu.base.extras import MissingPackageError
from dockfmu.base.files import WriteError, atomic_file, write_file
from dockfmu.base.numbers import finite
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.system import Structure
from dockfmu.reconstruct.checks import residual_tests
from dockfmu.reconstruct.classical import reconstruct_classically
from dockfmu.reconstruct.direct import DirectLoads, reconstruct_directly
from dockfmu.reconstruct.page import write_page
from dockfmu.reconstruct.peaks import peak_loads
from dockfmu.reconstruct.reading import read_telemetry
from dockfmu.reconstruct.result import Reconstruction, described
from dockfmu.reconstruct.spent import RestoredLife, restored_life, sections_of
from dockfmu.reconstruct.telemetry import Telemetry
from dockfmu.report.export import write_columns
from dockfmu.system import System

LOADS_H5, LOADS_PARQUET, RECONSTRUCTION = "loads.h5", "loads.parquet", "reconstruction.json"


def reconstruct_loads(
    file: Path | str, folder: Path | str | None = None, progress: Callable[[str], None] = lambda _: None
) -> Reconstruction:
    """Restore the loads of a docking from telemetry, and write them if a folder is given.

    Parameters
    ----------
    file : path
        The TOML file that names system, telemetry and methods.
    folder : path, optional
        Receives `loads.h5`, `loads.parquet` where pyarrow is installed, `reconstruction.json` and `report.html`.
    progress : callable
        Receives a sentence on each stage.

    Raises
    ------
    DeclarationError
        for a file or telemetry that is wrong
    UnobservableError
        for sensors that cannot tell what is asked
    WriteError
        for a folder that cannot be written
    """
    telemetry = read_telemetry(file)
    if not telemetry.system:
        raise DeclarationError(f"{file}: names no `system`, whose craft and mechanism were read")
    system = System.load(telemetry.system, telemetry.settings, progress=progress)
    structure = system.structure
    table = telemetry.table
    conditions = reconstruct_classically(telemetry, system, progress) if "classical" in table.content else None
    loads = None
    if "direct" in table.content or conditions is None:
        loads = reconstruct_directly(telemetry, structure, progress=progress)
    life = _life(telemetry, loads, structure)
    result = Reconstruction(
        telemetry,
        loads,
        [] if loads is None else peak_loads(loads),
        [] if loads is None else residual_tests(loads.residuals),
        life,
        conditions,
        [*telemetry.notes, *(() if loads is None else loads.notes), *(() if conditions is None else conditions.notes)],
    )
    if folder is not None:
        write_reconstruction(result, structure, Path(folder), Path(file))
    return result


def _life(telemetry: Telemetry, loads: DirectLoads | None, structure: Structure) -> list[RestoredLife]:
    sections = sections_of(telemetry)
    return restored_life(loads, structure, sections) if sections and loads is not None else []


def write_reconstruction(result: Reconstruction, structure: Structure, folder: Path, file: Path) -> list[Path]:
    """Write a reconstruction to a folder; return the files. Raises WriteError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WriteError(f"{folder}: cannot be written ({error.strerror})") from error
    written = []
    if result.loads is not None:
        written.append(_write_hdf5(result.loads, folder / LOADS_H5))
        try:
            written.append(write_columns(folder / LOADS_PARQUET, _columns(result.loads)))
        except MissingPackageError as error:
            result.notes.append(str(error))
    about = json.dumps(finite(described(result)), indent=1) + "\n"
    written.append(write_file(folder / RECONSTRUCTION, about.encode()))
    written.append(write_page(result, folder, file))
    return written


def _columns(loads: DirectLoads) -> list[tuple[str, str, str, np.ndarray]]:
    """Return name, unit, description and values of each column."""
    columns, sigma, (low, high) = [("time", "s", "true time", loads.time)], loads.sigma, loads.band
    for k, name in enumerate(loads.names):
        unit = "N.m" if ".torque" in name else "N"
        columns += [
            (name, unit, "mean, on the craft, in the axes of its port", loads.mean[:, k]),
            (f"{name}.sigma", unit, "standard deviation", sigma[:, k]),
            (f"{name}.low", unit, "lower end of the 90 % band", low[:, k]),
            (f"{name}.high", unit, "upper end of the 90 % band", high[:, k]),
        ]
    return columns


def _write_hdf5(loads: DirectLoads, file: Path) -> Path:
    with atomic_file(file) as unfinished, h5py.File(unfinished, "w") as out:
        for name, unit, description, values in _columns(loads):
            dataset = out.create_dataset(name, data=values, compression="gzip", shuffle=True)
            dataset.attrs["unit"], dataset.attrs["description"] = unit, description
        packed = out.create_dataset("covariance", data=loads.covariance, compression="gzip", shuffle=True)
        packed.attrs["description"] = "of the components in the order of `names`, SI units"
        packed.attrs["names"] = loads.names
    return file
