"""What of the coarse and the jammed berthing depends on assumed data: one value changed at a time.

    python -m benchmarks.validation.berthing_sweep

`airlock_era_coarse`: does the load exceed its limit at capture (oracle O37 of manipulator)? `mim1_ssrms_nrt_jam`: does
the head jam (O33)? Prints the table of docs/validation/berthing.md.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dockfmu

COARSE, JAM = "airlock_era_coarse", "mim1_ssrms_nrt_jam"
SPEED = "sequence.parameters.step.speed[1]"
FRICTION = "mechanism.probe_cone.parameters.law_head.friction"
CURRENT = "manipulator.parameters.motor.current_limit"
MISS = "initial_conditions.miss"
SETTLE = {"manipulator.parameters.control.settle_time": 1.0}

SWEEP: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("as declared: 50 mm/s", COARSE, {}),
    ("Insert at 25 mm/s", COARSE, {SPEED: 0.025}),
    ("Insert at 5 mm/s", COARSE, {SPEED: 0.005}),
    ("gears of ERA at a quarter of their stiffness", COARSE, {"manipulator.parameters.gear.stiffness": 1e5}),
    ("motors of ERA at half their current", COARSE, {CURRENT: 2.5}),
    ("motors of ERA at twice their current", COARSE, {CURRENT: 10.0}),
    ("airlock of 500 kg", COARSE, {"manipulator.parameters.payload.mass": 500.0}),
    ("airlock of 2000 kg", COARSE, {"manipulator.parameters.payload.mass": 2000.0}),
    ("as declared: friction 0.65, 0.24 and -0.16 m aside", JAM, {}),
    ("friction 0.20", JAM, {FRICTION: 0.20}),
    ("friction 0.40", JAM, {FRICTION: 0.40}),
    ("friction 0.55", JAM, {FRICTION: 0.55}),
    ("0.16 and -0.11 m aside", JAM, {MISS: [0.16, -0.11]}),
    ("0.20 and -0.13 m aside", JAM, {MISS: [0.20, -0.13]}),
)


def row(title: str, system: str, settings: dict[str, Any]) -> str:
    """Run a system with changed data, and return its row of the table."""
    loads = ("sequence.load.peak_force", "sequence.load.peak_torque")
    motors = [f"manipulator.joint[{k}].motor_torque" for k in range(1, 8)]
    try:
        done = dockfmu.load(system, {**SETTLE, **settings}).run(record=[*loads, *motors])
    except dockfmu.DockfmuError as error:
        return f"| `{system}` | {title} | failed: {str(error).splitlines()[0][:90]} | | | |"
    captured = f"{done.events['capture']:.1f} s" if "capture" in done.events else "none"
    # K_T I_max: 1 N m with the current of the sets
    limit = 0.2 * settings.get(CURRENT, 5.0)
    saturated = [str(k) for k, name in enumerate(motors, 1) if np.abs(done[name]).max() > 0.999 * limit]
    force, torque = (float(done[name][-1]) for name in loads)
    joints = ", ".join(saturated) or "none"
    return f"| `{system}` | {title} | {done.outcome} | {captured} | {force:.0f} N, {torque:.0f} N m | {joints} |"


def main() -> None:
    """Run the sweep and print the table."""
    print("| system | data | outcome | capture | load on the gripper | joints at their torque limit |")
    print("|---|---|---|---|---|---|")
    for entry in SWEEP:
        print(row(*entry), flush=True)


if __name__ == "__main__":
    main()
