"""Contact of the radiator's units against brute force, energies and closed forms (contact-geometry 8.2, 5.14)."""

from __future__ import annotations

from itertools import pairwise
from math import hypot, pi, radians, sin, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.spatial import KDTree

from dockfmu.base.compiler import jit
from dockfmu.components.core.record import Record
from dockfmu.components.physics.contact import radiator_pair
from dockfmu.components.physics.contact.radiator_pair.pairs import BALL_HOLDS, BALL_RESISTS, PIN, PLANES, PLUG
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.physics.contact.airlock_pair.test_airlock_pair import turn
from tests.components.physics.contact.closed_path import Y, place

RECORD = Record(radiator_pair.unit())
ELASTIC = {f"law_{law}.{name}": 0.0 for law in ("device", "plane") for name in ("damping", "friction")}
ELASTIC |= {f"law_{law}.penetration_limit": 1.0 for law in ("device", "plane")}
# RefB2, written again: plug and pins
TORUS, TUBE, PLUG_X, PIN_X, PIN_R, ASIDE = 0.005, 0.010, 0.050, 0.044, 0.012, 0.26


class Radiator:
    """An initialised pair; parameters are named without `radiator_pair.parameters`."""

    def __init__(self, **parameters: Any) -> None:
        block = RECORD.start.copy()
        for name, value in parameters.items():
            for slot, number in RECORD.expand(f"radiator_pair.parameters.{name}", value, "the test"):
                block[RECORD.index[slot]] = number
        self.block = block
        self.u = RECORD.view(block).radiator_pair
        assert radiator_pair.initialize(self.u) == 0

    def place(self, position: Any, angles: Any = (0, 0, 0), rotation: Any = None) -> int:
        """Place the active unit in the passive one (yaw, pitch, roll or a matrix) at rest, and evaluate."""
        link = self.u.work.link[0]
        link.position[:] = position
        link.rotation[:] = from_angles(*map(float, angles)) if rotation is None else rotation
        return int(radiator_pair.evaluate(self.u))

    def contacts(self, *pairs: float) -> list:
        found = [self.u.tally.contact[k] for k in range(int(self.u.tally.count))]
        return [item for item in found if not pairs or item.pair in pairs]


@pytest.fixture(scope="module")
def radiator() -> Radiator:
    return Radiator(**ELASTIC)


def bore(mouth: float, radius: float) -> KDTree:
    """Return points (x, r) of a docking plane with a cone of 45 deg and a bore, 10 um apart."""
    corners = [(0.0, 0.15), (0.0, mouth), (mouth - radius, radius), (0.080, radius)]
    rows = []
    for (x0, r0), (x1, r1) in pairwise(corners):
        s = np.linspace(0.0, 1.0, int(hypot(x1 - x0, r1 - r0) / 1e-5) + 2)
        rows.append(np.stack([x0 + s * (x1 - x0), r0 + s * (r1 - r0)], axis=1))
    return KDTree(np.concatenate(rows))


def poses(count: int, seed: int, gap: tuple[float, float], aside: float, tilt: float):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = rng.choice([1.0, 0.2, 0.05])
        position = np.array([-rng.uniform(*gap), *rng.uniform(-aside, aside, 2) * size])
        yield position, np.array(from_angles(*map(float, np.radians(rng.uniform(-tilt, tilt, 3)) * size)))


def free_depth(centre: np.ndarray, line: KDTree, mouth: float, radius: float, tube: float) -> float:
    """Depth of a sphere whose centre is in free space; -1 for one whose centre is in the material."""
    x, r = centre[0], hypot(centre[1], centre[2])
    if x > 0.0 and r > max(radius, mouth - x):
        return -1.0
    return tube - float(line.query((x, r))[0])


@pytest.mark.slow
def test_plug_and_pins_are_as_deep_as_brute_force(radiator):
    """Torus: 720 spheres round it where the unit has 64, which lose at most R_t (1 - cos(pi / 64)) = 6 um."""
    plug_line, pin_line = bore(0.030, 0.0165), bore(0.035, 0.0135)
    azimuth = np.linspace(0.0, 2.0 * pi, 720, endpoint=False)
    ring = np.stack([np.full(720, PLUG_X), TORUS * np.cos(azimuth), TORUS * np.sin(azimuth)], axis=1)
    checked = {PLUG: 0, PIN: 0}
    for position, A in poses(1200, 1, (0.0, 0.062), 0.03, 2.0):
        assert radiator.place(position, rotation=A) == 0
        centres = position + ring @ A
        coarse = [free_depth(c, plug_line, 0.030, 0.0165, TUBE) for c in centres[::24]]
        k = 24 * int(np.argmax(coarse))
        depth = max(free_depth(centres[i % 720], plug_line, 0.030, 0.0165, TUBE) for i in range(k - 24, k + 25))
        found = [item.penetration for item in radiator.contacts(PLUG)]
        if min(coarse) > -1.0 and depth < 5e-3:
            assert max(found, default=0.0) == pytest.approx(max(depth, 0.0), abs=1.2e-5)
            checked[PLUG] += bool(found)
        for j, side in enumerate((1.0, -1.0), start=1):
            centre = position + np.array([PIN_X, side * ASIDE, 0.0]) @ A - [0.0, side * ASIDE, 0.0]
            depth = free_depth(centre, pin_line, 0.035, 0.0135, PIN_R)
            mine = [item.penetration for item in radiator.contacts(PIN) if item.index == j]
            if depth > -1.0:
                assert max(mine, default=0.0) == pytest.approx(max(depth, 0.0), abs=1e-5)
                checked[PIN] += bool(mine)
    assert checked[PLUG] > 80
    assert checked[PIN] > 80


def test_coaxial_torus_closed_form(radiator):
    """contact-geometry 8.2: depth = R_S - sin(a) (x_T - x) + cos(a) (e + R_t), on the side of the offset."""
    for e in (0.006, 0.009, 0.012):
        x = 0.0300 - e - TORUS - TUBE * sqrt(2.0) + 0.001
        assert radiator.place((x - PLUG_X, 0.0, e)) == 0
        (item,) = radiator.contacts(PLUG)
        depth = TUBE - (0.030 - x) * sin(pi / 4) + (e + TORUS) * sin(pi / 4)
        assert item.penetration == pytest.approx(depth, abs=1e-12)
        assert item.normal == pytest.approx([sqrt(0.5), 0.0, sqrt(0.5)], abs=1e-9)


@pytest.mark.parametrize("captured", [0.0, 1.0])
def test_spec05_oracle_T21_wrench_is_the_gradient_of_the_energy(captured):
    """Differences of 1e-8 m and rad; action and reaction agree in force and torque (T17)."""
    radiator = Radiator(**ELASTIC)
    radiator.u.state.captured = captured
    step = 1e-8
    checked = 0
    seen = set()

    def energy(position, A):
        assert radiator.place(position, rotation=A) == 0
        return float(radiator.u.work.sums.stored_energy)

    for position, A in [*poses(400, 2, (0.0, 0.06), 0.02, 1.0), *poses(200, 3, (-0.002, 0.004), 0.002, 0.3)]:
        stored = energy(position, A)
        # deeper than the limit of the laws a sphere is beyond the middle of its bore
        if stored <= 0.0 or max((item.penetration for item in radiator.contacts()), default=0.0) > 5e-3:
            continue
        on_active = np.array([*radiator.u.work.sums.part[0].force, *radiator.u.work.sums.part[0].torque])
        on_passive = np.array([*radiator.u.work.sums.passive.force, *radiator.u.work.sums.passive.torque])
        size = np.abs(on_active).max()
        assert np.allclose(on_passive[:3], -on_active[:3], atol=1e-12 * size)
        moment = on_passive[3:] + on_active[3:] + np.cross(position, on_active[:3])
        assert np.allclose(moment, 0.0, atol=1e-12 * size)
        found = {item.pair for item in radiator.contacts()}
        slopes = []
        for sign in (1.0, -1.0):
            moved = [energy(position + sign * step * e, A) for e in np.eye(3)]
            moved += [energy(position, A @ turn(-sign * step * e)) for e in np.eye(3)]
            slopes.append(sign * (np.array(moved) - stored) / step)
        # at a kink, from one sphere of the torus to the next, the force is one of the two
        low, high = np.minimum(*slopes) - 2e-5 * size, np.maximum(*slopes) + 2e-5 * size
        if np.allclose(*slopes, atol=1e-2 * size):
            assert ((low <= -on_active) & (-on_active <= high)).all()
            checked += 1
            seen |= found
    assert checked > 100
    assert seen >= {PIN, PLUG, PLANES, BALL_HOLDS if captured else BALL_RESISTS}


@jit
def loop(unit, middle, size, phase, steps, seen):
    """Move the active unit once around its loop: (work of the forces on it, most and remaining energy, code)."""
    link = unit.work.link[0]
    link.velocity[:] = 0.0
    link.angular_velocity[:] = 0.0
    before = 0.0
    work = 0.0
    first = 0.0
    most = 0.0
    for i in range(steps + 1):
        rate, w, _ = place(link, middle, size, phase, Y, 2.0 * np.pi * i / steps)
        code = radiator_pair.evaluate(unit)
        if code:
            return work, most, 0.0, code
        for j in range(int(unit.tally.count)):
            seen[int(unit.tally.contact[j].pair)] = 1.0
        power = 0.0
        for j in range(3):
            power += unit.work.sums.part[0].force[j] * rate[j] + unit.work.sums.part[0].torque[j] * w[j]
        if i == 0:
            first = unit.work.sums.stored_energy
        else:
            work += 0.5 * (before + power) * 2.0 * np.pi / steps
        before = power
        most = max(most, unit.work.sums.stored_energy)
    return work, most, unit.work.sums.stored_energy - first, 0


PHASE = np.array([0.0, 1.1, 2.3, 0.7, 1.9, 3.0])
TILT = [0.002, 0.002, 0.004]
# (middle, size, captured, pairs that must touch) of each loop
LOOPS = {
    "plug on cone and plane": ([-0.055, 0.020, 0.0, 0, 0, 0], [0.004, 0.010, 0.010, *TILT], 0.0, {PLUG}),
    "pins in their cones": ([-0.027, 0.0, 0.0, 0, 0, 0], [0.006, 0.004, 0.004, *TILT], 0.0, {PIN, PLUG}),
    "plug in its bore, over the ball": ([-0.015, 0.0, 0.0, 0, 0, 0], [0.010, 0.002, 0.002, 0.004, 0.001, 0.004], 0.0,
                                        {PLUG, PIN, BALL_RESISTS}),
    "held, planes closed": ([-0.001, 0.0, 0.0, 0, 0, 0], [0.003, 0.0016, 0.0016, *TILT], 1.0, {PLANES, BALL_HOLDS}),
}  # fmt: skip
STEPS = (4000, 16000, 64000)


@pytest.mark.parametrize("kind", LOOPS)
def test_spec05_oracle_T21_closed_paths_give_back_their_energy(kind):
    """The part of the largest energy stored on the way that is left falls with the spacing: no depth jumps.

    Forces jump from one sphere of the torus to the next, so it falls with its first power at least.
    """
    middle, size, captured, pairs = LOOPS[kind]
    radiator = Radiator(**ELASTIC)
    radiator.u.state.captured = captured
    errors = []
    for steps in STEPS:
        seen = np.zeros(6)
        work, most, left, code = loop(radiator.u, np.array(middle, float), np.array(size, float), PHASE, steps, seen)
        assert code == 0
        assert pairs <= {float(i) for i in np.nonzero(seen)[0]}
        assert most > 1e-3
        assert left == pytest.approx(0.0, abs=1e-9 * most)
        errors.append(abs(work) / most)
    assert all(error < 8.0 / steps for error, steps in zip(errors, STEPS, strict=True)), errors


def test_ball_resists_and_then_holds():
    """40 N against the plug, none once it is through, 2 N per micrometre against coming back (berthing 4.4)."""
    radiator = Radiator(**ELASTIC)
    for gap, force in ((0.021, 0.0), (0.019, 20.0), (0.010, 40.0), (0.0031, 40.0)):
        assert radiator.place((-gap, 0.0, 0.0)) == 0
        radiator_pair.accept(radiator.u)
        assert radiator.u.work.sums.passive.force == pytest.approx([force, 0.0, 0.0])
        assert radiator.u.state.captured == 0.0
    assert radiator.place((-0.0029, 0.0, 0.0)) == 0
    radiator_pair.accept(radiator.u)
    assert radiator.u.state.captured == 1.0
    assert radiator.u.state.dissipated_ball == pytest.approx(40.0 * 0.016, rel=1e-12)
    assert radiator.place((-0.0029, 0.0, 0.0)) == 0
    assert radiator.u.work.sums.passive.force == pytest.approx([0.0, 0.0, 0.0])
    assert radiator.place((-0.0040, 0.0, 0.0)) == 0
    assert radiator.u.work.sums.passive.force == pytest.approx([-2000.0, 0.0, 0.0])


def test_planes_share_the_load(radiator):
    radiator.u.state.captured = 1.0
    assert radiator.place((0.0002, 0.0, 0.0)) == 0
    assert len(radiator.contacts(PLANES)) == 4
    assert radiator.u.work.sums.passive.force == pytest.approx([1e7 * 0.0002, 0.0, 0.0])
    radiator.u.state.captured = 0.0


def test_blind_plug_stands_on_the_plane(radiator):
    """Beside the mouth by 28 mm the plug bears on the plane, with no force that would centre it (fig. 8.4.7)."""
    assert radiator.place((-0.0595, 0.026, 0.0)) == 0
    (item,) = radiator.contacts(PLUG)
    assert item.normal == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)
    assert item.penetration == pytest.approx(0.0005, abs=1e-12)


def test_what_does_not_fit_is_refused():
    unit = Radiator().u
    unit.parameters.socket.bore_radius = 0.012
    assert radiator_pair.initialize(unit) == 100
    assert unit.status.index == 3
    unit.parameters.guide.mouth_radius = 0.0
    assert radiator_pair.initialize(unit) == 100
    assert unit.status.index == 1
    tilted = Radiator(**ELASTIC)
    assert tilted.place((-0.05, 0.0, 0.0), (0.0, radians(20.0), 0.0)) == 101
