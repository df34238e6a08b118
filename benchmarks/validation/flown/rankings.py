"""Capture ability against the analyses of 1966 (probe and drogue) and 1972 (rings): signs and ranks."""

from __future__ import annotations

from typing import Any

from benchmarks.validation.flown.capture import least_speed

THRUST = "chaser.parameters.push_thrust"
PROBE_STOP, APOLLO_STOP = 12.0, 45.0
"""Ends of the searches, s. The Soyuz gives up 10 s after first contact; the probe of Apollo bounces in its drogue for
35 s at its least speeds, so that what has not captured after 8 s may only be late."""
PROBE = {"initial_conditions.miss": [0.15, 0.0], THRUST: 0.0}
PROBES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("no thrust, no control", "soyuz_1967", {}),
    ("thrust of 500 N", "soyuz_1967", {THRUST: 500.0}),
    (
        "attitude held",
        "soyuz_1967",
        {"cyclogram.parameters.attitude_control": [1.0, 1.0], "chaser.parameters.hold_frequency": 0.5},
    ),
    (
        "half the inertia",
        "soyuz_1967",
        {"chaser.parameters.inertia": [[3.2e3, 0.0, 0.0], [0.0, 1.6e4, 0.0], [0.0, 0.0, 1.6e4]]},
    ),
    (
        "twice the inertia",
        "soyuz_1967",
        {"chaser.parameters.inertia": [[1.28e4, 0.0, 0.0], [0.0, 6.4e4, 0.0], [0.0, 0.0, 6.4e4]]},
    ),
    ("axial spring that gives nothing back", "soyuz_1967", {"mechanism.parameters.axial.spring_return": 0.0}),
    ("lateral springs and brakes", "soyuz_1971", {}),
    (
        "lateral springs that give back less",
        "soyuz_1971",
        {"mechanism.parameters.lateral.spring.unloading": 0.3},
    ),
)
ASIDE = {
    "csm.parameters.initial.position": [-6.71, 0.15, -0.12],
    "csm.parameters.initial.quaternion": [1.0, 0.0, 0.0, 0.0],
    "csm.command.attitude_hold": 0,
    "lm.command.attitude_hold": 0,
}
"""Apollo 0.19 m aside, with parallel axes and without control."""
INERTIA = "csm.parameters.inertia"
ABSORBER = "mechanism.parameters.joint.absorber.displacement."
APOLLO: tuple[tuple[str, dict[str, Any]], ...] = (
    ("no thrust, no control", {}),
    ("thrust of 890 N", {"csm.command.push": 1}),
    ("attitude held", {"csm.command.attitude_hold": 1, "csm.parameters.hold_frequency": 0.5}),
    ("half the inertia", {INERTIA: [[2.4e4, 0.0, 0.0], [0.0, 5e4, 0.0], [0.0, 0.0, 5e4]]}),
    ("twice the inertia", {INERTIA: [[9.6e4, 0.0, 0.0], [0.0, 2e5, 0.0], [0.0, 0.0, 2e5]]}),
    ("absorber that gives nothing back", {ABSORBER + "stiffness": 0.0}),
    ("absorber that gives nearly all back", {ABSORBER + "stiffness": 5e4, ABSORBER + "damping": 200.0}),
)
RINGS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("aligned", {}),
    ("pitch 4°", {"initial_conditions.pitch": "4deg"}),
    ("yaw 4°", {"initial_conditions.yaw": "4deg"}),
    ("roll 4°", {"initial_conditions.roll": "4deg"}),
    ("0.1 m aside", {"initial_conditions.miss": [0.1, 0.0]}),
)


def rankings() -> None:
    """Print the least speeds that capture."""
    print("| probe, 0.15 m aside | least speed |\n|---|---|")
    for title, system, settings in PROBES:
        print(f"| {title} | {least_speed(system, {**PROBE, **settings}, PROBE_STOP):.3f} m/s |", flush=True)
    print("\n| Apollo, 0.19 m aside | least speed |\n|---|---|")
    for title, settings in APOLLO:
        least = least_speed("apollo_probe_drogue", {**ASIDE, **settings}, APOLLO_STOP, high=0.25)
        print(f"| {title} | {least:.3f} m/s |", flush=True)
    print("\n| ring without thrust | `apas_75_capture` | `apas_75_independent` |\n|---|---|---|")
    for title, settings in RINGS:
        aligned = {THRUST: 0.0, "initial_conditions.pitch": 0.0, **settings}
        speeds = (least_speed(s, aligned, 4.0, halvings=5) for s in ("apas_75_capture", "apas_75_independent"))
        print(f"| {title} | {' | '.join(f'{speed:.3f} m/s' for speed in speeds)} |", flush=True)
