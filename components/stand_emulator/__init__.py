"""The virtual 6-DOF stand as two FMUs: the platform that moves a unit, and the balance that measures. See README.md."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from dockfmu.components.core.component import Component
from dockfmu.components.core.parameters import read_parameter_sets
from dockfmu.components.stand_emulator import balance, platform, ports

_FOLDER = Path(__file__).parent


def component(part: Literal["platform", "balance"] = "platform") -> Component:
    """Return the `platform` or the `balance` of the stand. Raises ValueError for another part."""
    if part not in ("platform", "balance"):
        raise ValueError(f"part must be 'platform' or 'balance', not {part!r}")
    kernels = platform if part == "platform" else balance
    sets = read_parameter_sets(_FOLDER / "parameters")
    return Component(
        name="StandPlatform" if part == "platform" else "StandBalance",
        description=(
            "platform of a 6-DOF stand: delay, lag, rate limits, emergency stop"
            if part == "platform"
            else "balance of a 6-DOF stand: six gauges with lag, bias, noise and full scale"
        ),
        record=ports.platform() if part == "platform" else ports.balance(),
        initialize=kernels.initialize,
        step=kernels.step,
        messages=kernels.MESSAGES,
        module=Path(__file__),
        parameter_sets=tuple(entry for entry in sets if entry.name.startswith("SP" if part == "platform" else "SB")),
    )
