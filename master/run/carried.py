"""What the loop carries from step to step beside the states of the FMUs: the part of a checkpoint that is its own."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from master.errors import MasterError
from master.tables.coupling import Coupling


def _of_outputs(coupling: Coupling) -> dict[str, np.ndarray]:
    """Arrays with a place for each Real output that is read, which are not the same ones under other observers."""
    prediction = coupling.tables.prediction
    return {"y_real": coupling.layout.outputs.y_real, "start": prediction.start, "slope": prediction.slope}


def _others(coupling: Coupling) -> dict[str, np.ndarray]:
    pace, iteration, control = coupling.tables.pace, coupling.tables.iteration, coupling.tables.control
    return {
        "waited": pace.waited, "begun": pace.begun, "u_sum": pace.u_sum,
        "iteration.scale": iteration.scale, "residual": iteration.residual, "inverse": iteration.inverse,
        "tally": iteration.tally, "control.scale": control.scale, "clock": control.clock,
    }  # fmt: skip


def memory(coupling: Coupling) -> dict[str, np.ndarray]:
    """Copies of all arrays that are needed to go on."""
    found = {name: array.copy() for name, array in (_of_outputs(coupling) | _others(coupling)).items()}
    places = _whole_places(coupling)
    found["outputs"] = np.array(coupling.layout.outputs.real_names, np.str_)
    found["whole_outputs"] = np.array(list(places), np.str_)
    found["y_whole"] = coupling.layout.outputs.y_whole[list(places.values())]
    return found


def recall(coupling: Coupling, saved: Mapping[str, np.ndarray]) -> None:
    """Put saved arrays back, after the outputs have been read. Raises MasterError where they do not fit."""
    place = {full: k for k, full in enumerate(coupling.layout.outputs.real_names)}
    for name, array in _of_outputs(coupling).items():
        if array.size:
            _copy(array, place, saved["outputs"], saved[name])
    _copy(coupling.layout.outputs.y_whole, _whole_places(coupling), saved["whole_outputs"], saved["y_whole"])
    for name, array in _others(coupling).items():
        if name not in saved or saved[name].shape != array.shape:
            raise MasterError(f"the checkpoint was taken with other connections or settings: {name!r} does not fit")
        array[...] = saved[name]


def _copy(into: np.ndarray, places: Mapping[str, int], names: np.ndarray, values: np.ndarray) -> None:
    """By name, as far as both have it."""
    for name, value in zip(names.tolist(), values, strict=True):
        if name in places:
            into[places[name]] = value


def _whole_places(coupling: Coupling) -> dict[str, int]:
    """Places of the whole outputs but strings, whose numbers mean nothing in another process."""
    return {
        name: k
        for k, name in enumerate(coupling.layout.outputs.whole_names)
        if coupling.layout.system.resolve(name)[1].type != "String"
    }  # fmt: skip
