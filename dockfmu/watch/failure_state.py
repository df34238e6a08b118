"""The relative position of the craft when a run failed, from the `docking.*` outputs of elements that have them."""

from __future__ import annotations

from math import degrees

from dockfmu.base.names import vector
from dockfmu.master.observers.observer import Observer
from dockfmu.master.observers.peaks import Peaks
from dockfmu.master.result import Result
from dockfmu.master.system import Structure

_REQUIRED = (*vector("docking.position"), *vector("docking.angles"), "docking.plane_gap", "docking.velocity[1]")


class Standing(Observer):
    """Observer that adds the relative position of the craft in the last valid step to the message of a failed run.

    The values are the latest ones of `peaks`, which must watch the outputs of type Real.
    """

    def __init__(self, peaks: Peaks) -> None:
        self.peaks = peaks

    def triggers(self, system: Structure) -> tuple[()]:
        """Return no triggers; find the elements that have the required outputs."""
        self.elements = [
            name for name in system.elements if all(n in system.description(name).variables for n in _REQUIRED)
        ]
        return ()

    def end(self, result: Result) -> None:
        """Add the position of the craft to the result of a failed run."""
        latest = self.peaks.latest
        if result.status != "failed" or latest is None:
            return
        time, values = latest
        for element in self.elements:
            if any(f"{element}.{name}" not in values for name in _REQUIRED):
                continue
            text = _standing(time, {name: values[f"{element}.{name}"] for name in _REQUIRED})
            result.message += f"; {text}"
            result.failure["craft"] = text
            if result.error is not None:
                result.error.add_note(text)
            return


def _standing(time: float, at: dict[str, float]) -> str:
    _, y, z = (at[name] for name in vector("docking.position"))
    yaw, pitch, roll = (degrees(at[name]) for name in vector("docking.angles"))
    gap, closing = at["docking.plane_gap"], at["docking.velocity[1]"]
    return (
        f"the craft at t = {time:.9g} s: docking planes {gap:.4g} m apart, closing at {closing:.3g} m/s; the mechanism "
        f"off the axis by y = {y:.4g} m, z = {z:.4g} m; yaw {yaw:.3g}, pitch {pitch:.3g}, roll {roll:.3g} deg"
    )
