"""Growing modes of a craft on a compressed probe: those of an inverted pendulum, by equations that stand here alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dockfmu

pytestmark = pytest.mark.slow

SYSTEM, AT = "central_impact_20t", 0.3
FORCE, LENGTH = "mechanism.target.force_now[1]", "mechanism.probe.length"


def planar(value: Callable[[str], np.ndarray], force: float, length: float, rate: float, axis: int) -> np.ndarray:
    """Return the eigenvalues of small lateral motion about an axis (1: y, 2: z), 1/s.

    Coordinates: place across and angle of the craft, angles of housing and probe, place and angle of the station. The
    head's centre stands in the middle of the socket, pressed on its bottom by `force`, N; its normal stays that of the
    station. The work of a constant force is force x approach, whose second-order part turns craft, housing and probe
    away from the axis, as gravity does an inverted pendulum. Springs and brakes hold housing and probe. Friction holds
    the head by force x k / slip velocity. The probe has `length`, m, which changes by `rate`, m/s: the head of a tilted
    probe moves across as it retracts.
    """
    p = "mechanism.parameters"
    reach, back = (float(np.abs(value(f"{craft}.parameters.port[1].position")[0])) for craft in ("chaser", "station"))
    radius = float(value("mechanism.probe_cone.parameters.head.radius"))
    hinge = float(value(f"{p}.probe.bearing_distance"))
    gain = float(value(f"{p}.probe.free_length")) / length
    # springs: their first segment ends at `ramp`; the node stands 0.1 m beside the axis
    ramp = float(value(f"{p}.lateral.spring.ramp")[0])
    lever = np.abs(value(f"{p}.lateral.spring.node_point")).max() ** 2
    first = value(f"{p}.lateral.spring.first_preload")[0] + value(f"{p}.lateral.spring.first_stiffness")[0] * ramp
    # brakes: rods along x from cranks to nodes beside the axis, two of them for either axis
    arms = value(f"{p}.lateral.brake.node_point")[:, 3 - axis] / value(f"{p}.lateral.brake.crank")
    slopes = value(f"{p}.lateral.brake.torque")[:, 1] / value(f"{p}.lateral.brake.speed")[:, 1]
    springs = (
        (1, 2, lever * first / ramp, lever * value(f"{p}.lateral.spring.damping")[0] + (arms**2 * slopes).sum()),
        (2, 3, gain * value(f"{p}.probe.bending_stiffness"), gain * value(f"{p}.probe.bending_damping")),
    )
    law = "mechanism.probe_cone.parameters.law_bottom"
    grip = float(value(f"{law}.friction") / value(f"{law}.slip_velocity")) * force
    across = np.array([1.0, reach, hinge, length, -1.0, 0.0])
    turn = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    held = across + back * turn + radius * np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    stiffness = -force * np.diag([0.0, reach, hinge, length, 0.0, -(back + radius)])
    stiffness += force * (np.outer(across, turn) + np.outer(turn, across))
    stiffness += grip * rate * np.outer(held, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    damping = grip * np.outer(held, held)
    for one, other, k, c in springs:
        apart = np.zeros(6)
        apart[one], apart[other] = -1.0, 1.0
        stiffness += k * np.outer(apart, apart)
        damping += c * np.outer(apart, apart)
    centre = float(value(f"{p}.probe.probe_centre")[0]) + length - float(value(f"{p}.probe.free_length"))
    mass = np.diag([
        float(value("chaser.parameters.mass")), value("chaser.parameters.inertia")[axis, axis],
        value(f"{p}.probe.housing_inertia")[axis, axis], 0.1,
        float(value("station.parameters.mass")), value("station.parameters.inertia")[axis, axis],
    ])  # fmt: skip
    for part, places in (("housing_mass", (0.0, 0.0)), ("probe_mass", (hinge, centre))):
        place = np.array([1.0, reach, *places, 0.0, 0.0])
        mass += float(value(f"{p}.probe.{part}")) * np.outer(place, place)
    A = np.block([[np.zeros((6, 6)), np.eye(6)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]])
    return np.asarray(np.linalg.eigvals(A))


def test_a_craft_on_a_compressed_probe_is_an_inverted_pendulum():
    """0.3 s into a central impact the axial brakes push with 3.6 kN, through a probe that pivots in the socket.

    Two modes grow with 0.17 1/s, about y and about z: sqrt(P l / (I + m l^2)) is 0.155 with all joints held, and they
    are the ones of the planar equations within 1 %, as are those that decay likewise, the swing at 0.38 Hz and the
    joints. So they are physical: nothing holds the attitude of a craft that is pushed from behind at its nose.
    """
    system = dockfmu.load(SYSTEM)
    with system.simulate(stop=AT, record=[FORCE, LENGTH], every=1) as run:
        run.advance(AT)
        force, length = (float(run[name]) for name in (FORCE, LENGTH))
        before = run.outcome[LENGTH][-2]
        rate = (length - before) / system.plan.step
        planes = [planar(lambda name: np.asarray(run[name]), force, length, rate, axis) for axis in (1, 2)]
    expected = np.concatenate(planes)
    reach = 5.011 + 0.35 + length + 0.045
    assert max(planes[0].real) == pytest.approx(np.sqrt(force * reach / (1.89e5 + 19957.0 * reach**2)), rel=0.15)

    outputs = ["chaser.body.velocity", "chaser.body.angular_velocity", "station.body.angular_velocity"]
    model = dockfmu.linearise(SYSTEM, AT, inputs=["chaser.control.force"], outputs=outputs)
    found = np.array([mode.eigenvalue for mode in model.modes])

    def within(values, low, high, imaginary=False):
        chosen = values[(values.real > low) & (values.real < high) & ((np.abs(values.imag) > 0.1) == imaginary)]
        return np.sort_complex(chosen)

    for low, high in ((0.1, 1.0), (0.01, 0.1), (-0.1, -0.01), (-1.0, -0.1), (-30.0, -5.0)):
        assert within(found, low, high).real == pytest.approx(within(expected, low, high).real, rel=0.015), (low, high)
    swing = within(found, -0.05, 0.05, imaginary=True)
    assert len(swing) == 4
    assert swing.imag == pytest.approx(within(expected, -0.05, 0.05, imaginary=True).imag, rel=0.015)
    assert {mode.kind for mode in model.modes if mode.eigenvalue.real > 0.1} == {"grows"}
