"""V1, V2 and V3 from many starts: limiter, swing, and how random starts end.

Limiter and swing are items 24 and 25 of central-docking 9.6.

    python -m benchmarks.validation.starts [SEEDS]
    python -m benchmarks.validation.starts random [DRAWS [FIRST [SYSTEM,...]]]

The first runs the starts of the ATV and of the Soyuz, that of `soyuz_near_maxima`, and SEEDS (default: 8) draws of all
eleven initial conditions for either craft. The second runs DRAWS (default: 100) draws for each craft and variant up to
the start of the retraction and counts how they end: ruling R46 allows no roller and no docking plane to touch before.
Both print tables of docs/validation/published.md.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import dockfmu
from benchmarks.validation.docking import Docking
from dockfmu.components.physics.mechanics.rotation import from_angles
from dockfmu.declare.declaration import read

VARIANTS = ("", "_v2", "_v3")
STOP = 60.0
"""Time up to which pulses and swing are evaluated, s: before the drive has acted."""
HARD = 1000.0
"""Force above which a pulse counts as hard, N."""
CONDITIONS = ("miss", "angles", "velocity", "angular_velocity")
DEEP = "mechanism.probe_cone.parameters.law_limiter.penetration_limit"


@dataclass(frozen=True)
class Limited:
    """Work of the limiter from one start.

    Largest force, N; number of hard pulses; largest angle between the docking axes after the capture, rad; first
    contact after the capture, s, negative before it, NaN for none.
    """

    force: float
    hard: int
    tilt: float
    contact: float


def starts(seeds: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield (title, system of V1, settings) of each start."""
    yield "`atv_probe_cone`", "atv_probe_cone", {}
    yield "`soyuz_probe_cone`", "soyuz_probe_cone", {}
    given = read("soyuz_near_maxima").initial_conditions
    near = {f"initial_conditions.{name}": [float(x) for x in getattr(given, name)] for name in CONDITIONS}
    yield "`soyuz_near_maxima`", "soyuz_probe_cone", {**near, DEEP: 0.010}
    for craft in ("atv", "soyuz"):
        for seed in range(1, seeds + 1):
            yield f"{craft}, seed {seed}", f"{craft}_probe_cone", {"initial_conditions.seed": seed}


def limited(system: str, settings: dict[str, Any], stop: float = STOP) -> Limited | None:
    """Run a docking to `stop`, s. Return None if the head is not captured. Raises DockfmuError if the run fails."""
    done = Docking(system, settings, stop, check=True)
    if "capture" not in done.events:
        return None
    capture = done.events["capture"]
    touching = done.time[done["mechanism.flag.limiter_contact"] > 0.0]
    return Limited(
        float(done.limiter.max()),
        len(done.pulses(stop, HARD)),
        float(done.tilt[done.time >= capture].max()),
        float(touching[0] - capture) if len(touching) else np.nan,
    )


def row(title: str, system: str, settings: dict[str, Any]) -> str:
    """Return the row of the table for a start."""
    cells = []
    for variant in VARIANTS:
        try:
            found = limited(system + variant, settings)
        except dockfmu.DockfmuError:
            cells.append("beyond the limits of the model")
            continue
        if found is None:
            cells.append("not captured")
            continue
        contact = "no contact" if np.isnan(found.contact) else f"{found.contact:.2f} s"
        cells.append(f"{1e-3 * found.force:.1f} kN, {found.hard}, {np.degrees(found.tilt):.1f}°, {contact}")
    return f"| {title} | {' | '.join(cells)} |"


BEFORE_RETRACTION = 35.0
"""Time up to which random starts run, s: the drive starts 35 s after the head is at the bottom."""
ENDS = (
    "captured", "captured, outside the domain of a formula", "came off again", "not captured",
    "beyond a limit of the model", "rollers before the retraction", "docking planes met",
)  # fmt: skip
HELD, LEFT, CAME_OFF, MISSED, LIMIT, ROLLERS, PLANES = ENDS
DOMAIN = ("latch_tilt", "wide_slot", "lever_arm", "three_rollers")
COUNTS = (*DOMAIN, "early_plane_contact")


CONE = "mechanism.probe_cone.parameters.cone"
DEPTH = [
    "mechanism.docking.position", "mechanism.docking.angles", "mechanism.link[1].position", f"{CONE}.x",
    f"{CONE}.vertices",
]  # fmt: skip
"""Frame 0 in the passive unit, the centre of the head in frame 0, the profile of the cone."""


def head_in_socket(done: dockfmu.Outcome) -> bool:
    """Return whether the centre of the head is behind the edge of the socket at the end of a run."""
    position, angles, head, x, vertices = (done[name][-1] for name in DEPTH)
    depth = position[0] + (np.array(from_angles(*map(float, angles))).T @ head)[0]
    # the last three points of the profile are the socket: its edge, and its bottom from the wall to the axis
    return bool(depth > x[int(vertices) - 3])


@dataclass(frozen=True)
class End:
    """Hold how a random start ended: which of `ENDS`, what a log says of it, and largest push and pull, N."""

    kind: str
    told: str
    push: float = np.nan
    pull: float = np.nan


def end_of(system: dockfmu.System, seed: int) -> End:
    """Run a random start up to the retraction. Of several ends the worst counts.

    The signal of the capture stays once it has come: a head that is not in the socket at the end has come off again.
    """
    counts = [f"mechanism.validity.{name}" for name in COUNTS]
    loads = ["mechanism.load.compression", "mechanism.load.tension"]
    start = system.with_values({"initial_conditions.seed": seed})
    try:
        done = start.run(stop=BEFORE_RETRACTION, record=[*counts, *loads, *DEPTH], every=1)
    except dockfmu.DockfmuError as error:
        return End(LIMIT, str(error).splitlines()[0])
    left = [name for name, count in zip(COUNTS, counts, strict=True) if done[count][-1] > 0.0]
    told = f"{done.outcome}, {', '.join(left) or 'within the domain'}"
    kind = LEFT if left else HELD
    if "early_plane_contact" in left:
        kind = PLANES
    elif any(name.startswith("roller_contact") for name in done.events):
        kind = ROLLERS
    elif "capture" not in done.events:
        kind = MISSED
    elif not head_in_socket(done):
        kind = CAME_OFF
    return End(kind, told, *(float(done[name].max()) for name in loads))


def count_ends(draws: int, first: int = 1, systems: str = "") -> None:
    """Run the random starts of both craft and print how many ended how, each with its words on stderr."""
    print(f"| start | runs | {' | '.join(ENDS)} | push, median to largest |\n|---|{'---|' * (len(ENDS) + 2)}")
    chosen = systems.split(",") if systems else [f"{c}_probe_cone{v}" for c in ("atv", "soyuz") for v in VARIANTS]
    for name in chosen:
        system, ends = dockfmu.load(name), []
        for seed in range(first, first + draws):
            ends.append(end_of(system, seed))
            print(f"{name}, seed {seed}: {ends[-1]}", file=sys.stderr, flush=True)
        kinds, push = [end.kind for end in ends], 1e-3 * np.array([end.push for end in ends])
        cells = " | ".join(str(kinds.count(kind)) for kind in ENDS)
        loads = f"{np.nanmedian(push):.1f} to {np.nanmax(push):.1f} kN"
        print(f"| `{name}` | {len(ends)} | {cells} | {loads} |", flush=True)


def main(seeds: int = 8) -> None:
    """Run all starts and print the table."""
    print("| start | V1 | V2 | V3 |\n|---|---|---|---|")
    for title, system, settings in starts(seeds):
        print(row(title, system, settings), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["random"]:
        numbers = [int(argument) for argument in sys.argv[2:4]]
        count_ends(*(numbers or [100]), **({"systems": sys.argv[4]} if sys.argv[4:] else {}))
    else:
        main(*(int(argument) for argument in sys.argv[1:]))
