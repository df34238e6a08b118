"""What telemetry says of a docking: loads, peaks, life, conditions, and what to know of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dockfmu.reconstruct.checks import ResidualTest
from dockfmu.reconstruct.classical import ClassicalConditions
from dockfmu.reconstruct.direct import DirectLoads
from dockfmu.reconstruct.peaks import PeakLoad
from dockfmu.reconstruct.spent import RestoredLife
from dockfmu.reconstruct.telemetry import Telemetry


@dataclass(frozen=True)
class Reconstruction:
    """Hold what telemetry says of a docking.

    Attributes
    ----------
    telemetry : Telemetry
        What was read.
    loads : DirectLoads or None
        Wrenches by the direct method; None if the file asks only for another one.
    peaks : list of PeakLoad
        Their peaks with 90 % bands.
    residuals : list of ResidualTest
        Tests of the innovations by signal.
    life : list of RestoredLife
        Life spent of the sections that the file names.
    conditions : ClassicalConditions or None
        Conditions of the first contact by the classical method, if the file has a table for it.
    notes : list of str
        What to know of all this.
    """

    telemetry: Telemetry
    loads: DirectLoads | None
    peaks: list[PeakLoad]
    residuals: list[ResidualTest]
    life: list[RestoredLife]
    conditions: ClassicalConditions | None
    notes: list[str]


def described(result: Reconstruction) -> dict[str, Any]:
    """Return a reconstruction as plain data, without its series."""
    loads, telemetry = result.loads, result.telemetry
    return {
        "system": telemetry.system,
        "signals": telemetry.names,
        "readings": int(telemetry.mask.sum()),
        "events": [asdict(event) for event in telemetry.events],
        "peaks": [asdict(peak) for peak in result.peaks],
        "residuals": [{**asdict(test), "verdict": test.verdict} for test in result.residuals],
        "life": [life.described() for life in result.life],
        "conditions": None if result.conditions is None else asdict(result.conditions),
        "log_likelihood": None if loads is None else loads.log_likelihood,
        "notes": result.notes,
    }
