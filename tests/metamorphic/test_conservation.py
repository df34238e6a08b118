"""Energy and momentum from the states of craft and links, by code of its own: numpy, rotations of this folder."""

import numpy as np
import pytest

from tests.metamorphic import rotations
from tests.metamorphic.cases import SYSTEMS, bench

DURATION, SEEDS = 0.5, (1, 2)
# the ring of hunt_ring_5t stands on cranks and rods, that of the others on telescopic legs
RINGS = [
    name for name, kind in SYSTEMS.items() if not (kind.mirrors or kind.arm or kind.approach) and name != "hunt_ring_5t"
]
slow = pytest.mark.slow


def body(simulation, name):
    """Return position, matrix to I, velocity in I, angular velocity in own axes."""
    x, q, v, w = (
        np.asarray(simulation[f"{name}.body.{key}"], float)
        for key in ("position", "quaternion", "velocity", "angular_velocity")
    )
    r = rotations.matrix(q)
    return x, r, r @ v, w


@pytest.mark.parametrize("name", [pytest.param(n, marks=[] if k.quick else slow) for n, k in SYSTEMS.items()])
@pytest.mark.parametrize("seed", SEEDS)
def test_energy_and_momentum_of_the_rigid_craft(name, seed):
    """m v, J w, and (m v^2 + w J w) / 2 of the states that a craft reports are those of its audit, to rounding."""
    own = bench(name)
    case = own.draw(seed)
    simulation = own.simulation(1e-3, 0.0)
    simulation.reset(case.settings())
    simulation.advance(DURATION)
    for craft in filter(own.rigid, own.crafts):
        x, r, v, w = body(simulation, craft)
        data = own.data(craft, ["mass", "inertia", "axes"])
        assert not data["axes"].any(), "axes of S and C are the same"
        mass, inertia = float(data["mass"]), data["inertia"]
        momentum, spin = mass * v, r @ (inertia @ w)
        angular = np.cross(x, momentum) + spin
        energy = 0.5 * mass * v @ v + 0.5 * w @ inertia @ w
        audit = f"{craft}.audit"
        np.testing.assert_allclose(simulation[f"{audit}.momentum"], momentum, rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(simulation[f"{audit}.angular_momentum"], angular, rtol=1e-11, atol=1e-9)
        assert float(simulation[f"{audit}.kinetic_energy"]) == pytest.approx(energy, rel=1e-11)


class RingOnLegs:
    """Ring, housings and rods of six legs as point masses and thin rods, from the pose and twist of base and ring."""

    def __init__(self, simulation):
        def value(name):
            return np.asarray(simulation[f"mechanism.parameters.{name}"], float)

        legs = {
            key: value(f"legs.{key}")
            for key in (
                "base_radius",
                "base_angle",
                "ring_radius",
                "ring_angle",
                "housing_mass",
                "housing_centre",
                "screw_mass",
                "screw_centre",
            )
        }
        self.ring_mass, self.offset = float(value("ring.mass")), float(value("ring.plane_offset"))
        self.masses = float(legs["housing_mass"]), float(legs["screw_mass"])
        self.centres = float(legs["housing_centre"]), float(legs["screw_centre"])
        self.lower, self.upper = (
            [self.joint(k, float(legs[f"{end}_radius"]), float(legs[f"{end}_angle"])) for k in range(6)]
            for end in ("base", "ring")
        )
        self.base, self.ring = (
            [
                np.asarray(simulation[f"{port}.{key}"], float)
                for key in ("position", "quaternion", "velocity", "angular_velocity")
            ]
            for port in ("chaser.port[1]", "mechanism.link[1]")
        )

    @staticmethod
    def joint(k, radius, half):
        azimuth = np.deg2rad(120.0 * (k // 2)) + (half if k % 2 else -half)
        return np.array([0.0, radius * np.cos(azimuth), radius * np.sin(azimuth)])

    def places(self, t):
        """Return (mass, place in frame 0) of ring, housings and rods, the ring moved on by a time t."""
        x, q, v, w = self.ring
        angle = np.linalg.norm(w) * t
        axis = w / max(np.linalg.norm(w), 1e-300)
        # the angular velocity of the ring is in axes of frame 0
        moved = rotations.product(np.array([np.cos(angle / 2), *(np.sin(angle / 2) * axis)]), q)
        r = rotations.matrix(moved)
        # the link is the ring plane, in front of the centre of mass
        centre = x + v * t - r @ np.array([self.offset, 0.0, 0.0])
        found = [(self.ring_mass, centre)]
        for lower, upper in zip(self.lower, self.upper, strict=True):
            top = centre + r @ upper
            along = (top - lower) / np.linalg.norm(top - lower)
            found.append((self.masses[0], lower + self.centres[0] * along))
            found.append((self.masses[1], top + self.centres[1] * along))
        return found

    def momentum(self):
        """Return the linear momentum in I: base motion and motion in frame 0, its derivative by central differences."""
        _, q, v, w = self.base
        step = 1e-5
        total = np.zeros(3)
        for (mass, place), (_, after), (_, before) in zip(
            self.places(0.0), self.places(step), self.places(-step), strict=True
        ):
            total += mass * (v + np.cross(w, place) + (after - before) / (2.0 * step))
        return rotations.matrix(q) @ total

    @property
    def mass(self):
        return self.ring_mass + 6.0 * sum(self.masses)


@slow
@pytest.mark.parametrize("name", RINGS)
@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_of_craft_ring_and_legs(name, seed):
    """Two craft, a ring and twelve links in free space keep their momentum.

    The mechanism sees the acceleration of its base one macro step late (LAGGED). The momentum errs by its mass times h
    times the change of that acceleration, 94 kg x 1 ms x 0.5 m/s2 = 0.05 N s, and so does the momentum that its audit
    gives, which has the base's twist as the mechanism knows it. At the start it knows that exactly.
    """
    own = bench(name)
    case = own.draw(seed)
    masses = {craft: float(own.data(craft, ["mass"])["mass"]) for craft in own.crafts}
    simulation = own.simulation(1e-3, 0.0)
    simulation.reset(case.settings())

    def total():
        """Return the momentum of all, without what thrust has given."""
        thrust = sum(np.asarray(simulation[f"{craft}.audit.impulse_control"], float) for craft in masses)
        bodies = sum(mass * body(simulation, craft)[2] for craft, mass in masses.items())
        return bodies + RingOnLegs(simulation).momentum() - thrust

    def reported():
        return np.asarray(simulation["mechanism.audit.own_momentum"], float)

    first, links = total(), RingOnLegs(simulation)
    scale = links.mass * np.linalg.norm(links.base[2])
    np.testing.assert_allclose(links.momentum(), reported(), rtol=0, atol=1e-9 * scale)
    simulation.advance(DURATION)
    links = RingOnLegs(simulation)
    np.testing.assert_allclose(links.momentum(), reported(), rtol=0, atol=0.05)
    np.testing.assert_allclose(total(), first, rtol=0, atol=0.05)


class ArmWithPayload:
    """Links of an arm as bodies, by forward kinematics from joint angles and the base; its payload and its rotors."""

    def __init__(self, simulation):
        def value(name):
            return np.asarray(simulation[f"manipulator.{name}"], float)

        self.value = value
        assert not value("parameters.base.position").any()
        assert not value("parameters.base.angles").any()
        used = value("parameters.segment.kind")[:, :, None] != 1.0
        self.reach = (value("parameters.segment.length") * used).sum(axis=1)
        self.axis = value("parameters.link.axis").astype(int) - 1
        self.masses, self.centres = value("parameters.link.mass"), value("parameters.link.center_of_mass")
        count = len(self.masses)
        self.angles, self.rates, self.motors = (
            np.array([float(simulation[f"manipulator.joint[{k}].{name}"]) for k in range(1, count + 1)])
            for name in ("angle", "rate", "motor_rate")
        )
        keys = ("position", "quaternion", "velocity", "angular_velocity")
        base = [np.asarray(simulation[f"station.port[1].{key}"], float) for key in keys]
        self.turn, self.spin = rotations.matrix(base[1]), base[3]
        self.start, self.speed = base[0], self.turn @ base[2]

    def links(self):
        """Yield (mass, velocity in I, angular velocity and inertia in link axes) of each link."""
        turn, place = self.turn, self.start + self.turn @ self.reach[0]
        spin = self.turn @ self.spin
        speed = self.speed + np.cross(spin, place - self.start)
        for k, axis in enumerate(self.axis):
            spin = spin + turn[:, axis] * self.rates[k]
            turn = turn @ rotations.matrix(rotations.about(axis, self.angles[k]))
            yield (
                self.masses[k],
                speed + np.cross(spin, turn @ self.centres[k]),
                turn.T @ spin,
                self.value("parameters.link.inertia")[k],
            )
            speed = speed + np.cross(spin, turn @ self.reach[k + 1])

    def momentum(self):
        """Return that of the links and of the payload."""
        mass = float(self.value("parameters.payload.mass"))
        payload = mass * rotations.matrix(self.value("payload.quaternion")) @ self.value("payload.velocity")
        return payload + sum(m * v for m, v, _, _ in self.links())

    def energy(self):
        """Return the kinetic energy of links, payload, rotors and the input shafts of the gears."""
        mass, inertia = float(self.value("parameters.payload.mass")), self.value("parameters.payload.inertia")
        v, w = self.value("payload.velocity"), self.value("payload.angular_velocity")
        rotors = self.value("parameters.motor.inertia") @ self.motors**2
        gears = self.value("parameters.gear.inertia") @ (self.value("parameters.gear.ratio") * self.rates) ** 2
        bodies = sum(m * v @ v + w @ j @ w for m, v, w, j in self.links())
        return 0.5 * (mass * v @ v + w @ inertia @ w + bodies + rotors + gears)


@slow
@pytest.mark.parametrize("name", [name for name, kind in SYSTEMS.items() if kind.arm])
@pytest.mark.parametrize("seed", SEEDS)
def test_momentum_and_energy_of_an_arm(name, seed):
    """Compare what the arm reports with its links and payload: equal to rounding at the start.

    Later the base has moved on by a macro step since the arm received it: the links err by their mass times h times its
    acceleration, 1 t x 1 ms x 0.01 m/s2 = 0.01 N s of 10 to 100, and their energy by as much times their speed.
    """
    own = bench(name)
    case = own.draw(seed)
    simulation = own.simulation(1e-3, 0.0)
    simulation.reset(case.settings())
    station = float(own.data("station", ["mass"])["mass"])

    def total():
        head = "mechanism.audit.own_momentum"
        probe = np.asarray(simulation[head], float) if name.startswith("mim1") else np.zeros(3)
        return ArmWithPayload(simulation).momentum() + station * body(simulation, "station")[2] + probe

    first, arm = total(), ArmWithPayload(simulation)
    np.testing.assert_allclose(arm.momentum(), simulation["manipulator.audit.momentum"], rtol=1e-9, atol=1e-9)
    assert float(simulation["manipulator.audit.kinetic_energy"]) == pytest.approx(arm.energy(), rel=1e-9)
    simulation.advance(SYSTEMS[name].duration)
    arm = ArmWithPayload(simulation)
    np.testing.assert_allclose(arm.momentum(), simulation["manipulator.audit.momentum"], rtol=0, atol=0.01)
    assert float(simulation["manipulator.audit.kinetic_energy"]) == pytest.approx(arm.energy(), abs=0.01)
    np.testing.assert_allclose(total(), first, rtol=0, atol=0.05)
