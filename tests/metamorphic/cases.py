"""Any declared system of two craft as a case that can be transformed: adding a system is one line in `SYSTEMS`.

A case holds the start values of both craft; a transformation gives another case and says how a motion of it maps back.
The motion is that of the bodies, as the craft report it: velocities in the axes of the body.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

import dockfmu
from tests.metamorphic import rotations


@dataclass(frozen=True)
class Kind:
    """Hold the symmetries of a system (mirrors, a turn by 120 deg about the axis, or neither) and its speed in tests.

    Rings have legs at 0, 120, 240 deg and petals at 90, 210, 330 deg: no common mirror. A gear tree that adds up six
    legs two by two is not the same for each pair.

    An arm has no symmetry: it berths from a free station, whose state and the start angles of the arm make the case.

    Motions are compared for `duration`, s. Rings rattle between petals and latches: within a second rounding decides on
    the length of a micro-step, and motions then differ by the tolerance of the micro-steps, 2e-6 m/s a step.

    A declared mechanism has no drawn initial conditions: its `approach`, m along x, brings the craft to where they soon
    touch, and the start is drawn about it.

    `halving` bounds the change of velocities by half the macro step, against those exchanged. The contact of a radiator
    is evaluated once a step: on the 30 kg that the arm's end feels like, 2e6 N/m give (w h)^2 / 24 = 3e-3 in a bounce.
    """

    mirrors: bool = False
    turns: bool = False
    arm: bool = False
    quick: bool = False
    duration: float = 1.0
    halving: float = 1e-2
    approach: float = 0.0


SYSTEMS = {
    "atv_probe_cone": Kind(mirrors=True, quick=True),
    "soyuz_probe_cone": Kind(mirrors=True),
    "soyuz_probe_cone_v2": Kind(mirrors=True),
    "soyuz_probe_cone_v3": Kind(mirrors=True),
    "atv_probe_cone_v2": Kind(mirrors=True),
    "atv_probe_cone_v3": Kind(mirrors=True),
    "expert_peripheral_5t": Kind(turns=True, duration=0.4),
    "hydraulic_ring_5t": Kind(turns=True, duration=0.4),
    "electric_ring_5t": Kind(turns=True, duration=0.4),
    "geared_ring_5t": Kind(duration=0.4),
    "hunt_ring_5t": Kind(turns=True, duration=0.4),
    "idss_electric_20t": Kind(turns=True, duration=0.4),
    "airlock_on_a_station": Kind(arm=True, duration=3.0),
    "radiator_on_a_station": Kind(arm=True, duration=2.0, halving=2e-2),
    "mim1_on_a_station": Kind(arm=True, duration=4.0),
    "small_probe": Kind(turns=True, approach=0.1, duration=1.0, quick=True),
    "ring_claw": Kind(approach=0.046, duration=1.0),
}
OWN = Path(__file__).parent / "systems"
# the parameters that say how the acceleration of the base reaches what it carries
MECHANISM_ON_CHASER = ("chaser.parameters.port[1].base_motion", "mechanism.parameters.base_motion")
ARM_ON_STATION = ("station.parameters.port[1].base_motion", "manipulator.parameters.base_motion")

# the velocity of a body is absolute, in its own axes
STATE = {"position": 3, "quaternion": 4, "velocity": 3, "angular_velocity": 3}


@dataclass(frozen=True)
class Craft:
    """State of a craft's body and the data of its structure that a transformation may change."""

    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    data: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Start values of a system: its craft by name, and its other values."""

    system: str
    crafts: dict[str, Craft]
    values: dict = field(default_factory=dict)

    def each(self, change: Callable[[Craft], Craft]) -> "Case":
        return replace(self, crafts={name: change(craft) for name, craft in self.crafts.items()})

    def settings(self) -> dict:
        found = dict(self.values)
        for name, craft in self.crafts.items():
            found |= {f"{name}.parameters.initial.{key}": list(getattr(craft, key)) for key in STATE}
            found |= {f"{name}.parameters.{key}": np.asarray(value).tolist() for key, value in craft.data.items()}
        return found


@dataclass(frozen=True)
class Motion:
    """Times (n,), the state of each craft, and of the payload of an arm, as arrays (n, 3) and (n, 4); largest force."""

    time: np.ndarray
    crafts: dict[str, dict[str, np.ndarray]]
    force: float = 0.0


class Bench:
    """A system whose FMUs are loaded once for each step and start time."""

    def __init__(self, name: str, base_motion: str | None = None) -> None:
        self.name = name
        own = OWN / f"{name}.toml"
        carried = ARM_ON_STATION if name in SYSTEMS and SYSTEMS[name].arm else MECHANISM_ON_CHASER
        values = {} if base_motion is None else dict.fromkeys(carried, base_motion)
        self.system = dockfmu.load(own if own.exists() else name, values)
        structure = self.system.structure
        self.crafts = [e for e in structure.elements if "body.velocity[1]" in structure.description(e).variables]
        self.arms = [e for e in structure.elements if "payload.velocity[1]" in structure.description(e).variables]
        self.bodies = [f"{e}.body" for e in self.crafts] + [f"{e}.payload" for e in self.arms]
        (unit,) = (e for e in ("mechanism", "contact", "claw") if e in structure.elements)
        self.forces = [f"{unit}.target.force_now[{k}]" for k in (1, 2, 3)]
        self._open: dict = {}
        self._nominal: dict = {}

    def rigid(self, craft: str) -> bool:
        variables = self.system.structure.description(craft).variables
        return "parameters.modes_used" not in variables

    def simulation(self, step: float | None, start: float):
        key = step, start
        if key not in self._open:
            names = [f"{body}.{key}" for body in self.bodies for key in STATE]
            self._open[key] = self.system.simulate(step=step, start=start, record=names + self.forces)
            self._open[key].__enter__()
        return self._open[key]

    def draw(self, seed: int, **conditions) -> Case:
        """Return random initial conditions within the documented limits."""
        simulation = self.simulation(None, 0.0)
        approach = SYSTEMS[self.name].approach if self.name in SYSTEMS else 0.0
        simulation.reset({} if approach else {"initial_conditions.seed": seed} | conditions)
        crafts = {
            name: Craft(*(np.asarray(simulation[f"{name}.parameters.initial.{key}"], float) for key in STATE))
            for name in self.crafts
        }
        if approach:
            return Case(self.name, _drawn(crafts, approach, seed))
        if not self.arms:
            return Case(self.name, crafts)
        initial = [f"{arm}.parameters.initial.{key}" for arm in self.arms for key in ("angle", "payload_angles")]
        values = {name: np.asarray(simulation[name], float).tolist() for name in initial}
        return Case(self.name, {name: _adrift(seed) for name in crafts}, values)

    def nominal(self, seed: int, duration: float) -> tuple[Case, Motion]:
        """Return the case of a seed and its motion, each made once, with its parameters in the simulation."""
        key = seed, duration
        if key not in self._nominal:
            case = self.draw(seed)
            self._nominal[key] = case, self.run(case, duration)
        case, motion = self._nominal[key]
        self.simulation(None, 0.0).reset(case.settings())
        return case, motion

    def data(self, craft: str, names) -> dict:
        """Return parameters of a craft."""
        simulation = self.simulation(None, 0.0)
        return {name: np.asarray(simulation[f"{craft}.parameters.{name}"], float) for name in names}

    def azimuths(self) -> dict[str, float]:
        """Return the azimuths of parts of the mechanism, by full names."""
        simulation = self.simulation(None, 0.0)
        found = {}
        for name in self.system.variables("*azimuth*", causality=("parameter",)):
            found[name] = float(simulation[name])
        return found

    def lateral(self) -> dict[str, np.ndarray]:
        """Return where the chains of a lateral damper are: its cranks and struts have no symmetry."""
        simulation = self.simulation(None, 0.0)
        found = {}
        for element in self.system.structure.elements:
            variables = self.system.structure.description(element).variables
            for name in (
                f"{kind}.{what}" for kind in ("spring", "brake") for what in ("base_point", "node_point", "base_axes")
            ):
                full = f"parameters.lateral.{name}"
                if any(variable.startswith(f"{full}[") for variable in variables):
                    found[f"{element}.{full}"] = np.asarray(simulation[f"{element}.{full}"], float)
        return found

    def run(self, case: Case, duration: float, *, step: float | None = None, start: float = 0.0) -> Motion:
        simulation = self.simulation(step, start)
        simulation.reset(case.settings())
        simulation.advance(start + duration)
        outcome = simulation.outcome
        crafts = {body: {key: np.asarray(outcome[f"{body}.{key}"]) for key in STATE} for body in self.bodies}
        force = float(np.linalg.norm([outcome[name] for name in self.forces], axis=0).max())
        return Motion(np.asarray(outcome.time), crafts, force)


def _adrift(seed: int) -> Craft:
    """Return a station somewhere that turns by up to 0.2 deg/s; the arm and its payload start at rest on it."""
    random = np.random.default_rng(seed)
    rate = np.radians(0.2) * random.uniform(-1.0, 1.0, 3)
    return Craft(random.uniform(-10.0, 10.0, 3), rotations.random_rotation(random), random.uniform(-0.1, 0.1, 3), rate)


def _drawn(crafts: dict[str, Craft], approach: float, seed: int) -> dict[str, Craft]:
    """Return craft near their start: the first one nearer by `approach`, a few mm, mm/s and tenths of a degree off."""
    random = np.random.default_rng(seed)
    first, *others = crafts
    craft = crafts[first]
    turn = np.concatenate([[1.0], 2e-3 * random.uniform(-1.0, 1.0, 3)])
    moved = replace(
        craft,
        position=craft.position + [approach, 0.0, 0.0] + 2e-3 * random.uniform(-1.0, 1.0, 3),
        quaternion=rotations.product(craft.quaternion, turn / np.linalg.norm(turn)),
        velocity=craft.velocity + 2e-3 * random.uniform(-1.0, 1.0, 3),
        angular_velocity=craft.angular_velocity + 1e-3 * random.uniform(-1.0, 1.0, 3),
    )
    return {first: moved, **{name: crafts[name] for name in others}}


@cache
def bench(name: str, base_motion: str | None = None) -> Bench:
    """Return the bench of a system, its base motion as declared or changed."""
    return Bench(name, base_motion)


@dataclass(frozen=True)
class Transformed:
    """A transformed case, its start time, and the map of its motion back to that of the case."""

    case: Case
    back: Callable[[Motion], Motion]
    start: float = 0.0


def _mapped(motion: Motion, change: Callable) -> Motion:
    """Apply `change(time, position, quaternion, velocity, angular velocity)` to the rows, one below the other."""
    crafts = {}
    for name, state in motion.crafts.items():
        changed = change(motion.time[:, None], *(state[key] for key in STATE))
        crafts[name] = dict(zip(STATE, changed, strict=True))
    return replace(motion, crafts=crafts)


def other_frame(case: Case, random: np.random.Generator) -> Transformed:
    """Rotate and move the inertial frame: the laws know no direction and no place."""
    turn, shift = rotations.random_rotation(random), random.uniform(-30.0, 30.0, 3)
    r = rotations.matrix(turn)
    changed = case.each(
        lambda c: replace(
            c,
            position=r @ c.position + shift,
            quaternion=rotations.product(turn, c.quaternion),
            velocity=r @ c.velocity,
        )
    )

    def back(motion: Motion) -> Motion:
        return _mapped(
            motion,
            lambda t, x, q, v, w: ((x - shift) @ r, rotations.product(rotations.conjugate(turn), q), v, w),
        )

    return Transformed(changed, back)


def common_velocity(case: Case, velocity: np.ndarray) -> Transformed:
    """Add a velocity to both craft: the laws know no rest. With minus that of a craft, the other one approaches."""
    changed = case.each(lambda c: replace(c, velocity=c.velocity + velocity))

    def back(motion: Motion) -> Motion:
        return _mapped(motion, lambda t, x, q, v, w: (x - velocity * t, q, v - velocity @ rotations.matrix(q), w))

    return Transformed(changed, back)


def mirrored(case: Case, axis: int, bench: Bench) -> Transformed:
    """Mirror everything across y (1) or z (2): positions and velocities are vectors, turns are axial."""
    sign = np.ones(3)
    sign[axis] = -1.0
    axial = -sign
    turn = np.concatenate([[1.0], axial])

    def change(name: str, craft: Craft) -> Craft:
        data = {
            "inertia": sign[:, None] * bench.data(name, ["inertia"])["inertia"] * sign,
            "center_of_mass": sign * bench.data(name, ["center_of_mass"])["center_of_mass"],
        }
        return Craft(
            sign * craft.position, turn * craft.quaternion, sign * craft.velocity, axial * craft.angular_velocity, data
        )

    crafts = {name: change(name, craft) for name, craft in case.crafts.items()}
    values = {}
    for name, azimuth in bench.azimuths().items():
        # from y toward z
        new = -azimuth if axis == 2 else np.pi - azimuth
        values[name] = float((new + np.pi) % (2.0 * np.pi) - np.pi)
    for name, value in bench.lateral().items():
        # rows of base_axes are axes of a chain: the third one follows from the others by the right hand
        hand = np.diag([1.0, 1.0, -1.0]) if name.endswith("base_axes") else None
        values[name] = (value * sign if hand is None else hand @ (value * sign)).tolist()
    return Transformed(
        replace(case, crafts=crafts, values=case.values | values),
        lambda m: _mapped(m, lambda t, x, q, v, w: (sign * x, turn * q, sign * v, axial * w)),
    )


def turned(case: Case, angle: float, bench: Bench) -> Transformed:
    """Turn the mechanism and the passive unit about their axis, a symmetry of both: the craft move as before."""
    crafts = {}
    for name, craft in case.crafts.items():
        angles = bench.data(name, ["port[1].angles"])["port[1].angles"]
        new = rotations.to_angles(rotations.product(rotations.from_angles(*angles), rotations.about(0, angle)))
        crafts[name] = replace(craft, data=craft.data | {"port[1].angles": new})
    return Transformed(replace(case, crafts=crafts), lambda m: m)


def later(case: Case, start: float) -> Transformed:
    """Begin at another time: the laws know no date."""
    return Transformed(case, lambda m: replace(m, time=m.time - start), start)


def other_structure(case: Case, bench: Bench, random: np.random.Generator) -> Transformed:
    """Describe the rigid craft in another structural frame: nothing changes in space."""
    crafts = {}
    for name, craft in case.crafts.items():
        crafts[name] = replace(craft, data=restructured(bench, name, random)) if bench.rigid(name) else craft
    return Transformed(replace(case, crafts=crafts), lambda m: m)


def restructured(bench: Bench, name: str, random: np.random.Generator) -> dict:
    """Return the data of a rigid craft in another structural frame."""
    turn, shift = rotations.random_rotation(random), random.uniform(-2.0, 2.0, 3)
    r = rotations.matrix(turn)  # new S -> S
    variables = bench.system.structure.description(name).variables
    ports = sum(f"parameters.port[{k}].angles[1]" in variables for k in range(1, 9))
    thrusters = sum(f"parameters.thruster[{k}].position[1]" in variables for k in range(1, 9))
    old = bench.data(name, ["inertia", "center_of_mass", "axes"])
    assert not bench.simulation(None, 0.0)[f"{name}.parameters.inertia_about_origin"]
    data = {
        "inertia": r.T @ old["inertia"] @ r,
        "center_of_mass": r.T @ (old["center_of_mass"] - shift),
        "axes": _angles_in(turn, old["axes"]),
    }
    for k in range(1, ports + 1):
        port = bench.data(name, [f"port[{k}].position", f"port[{k}].angles"])
        data[f"port[{k}].position"] = r.T @ (port[f"port[{k}].position"] - shift)
        data[f"port[{k}].angles"] = _angles_in(turn, port[f"port[{k}].angles"])
    for k in range(1, thrusters + 1):
        thruster = bench.data(name, [f"thruster[{k}].position", f"thruster[{k}].direction"])
        data[f"thruster[{k}].position"] = r.T @ (thruster[f"thruster[{k}].position"] - shift)
        data[f"thruster[{k}].direction"] = r.T @ thruster[f"thruster[{k}].direction"]
    return data


def _angles_in(turn: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return the angles against the new frame of what had these angles against the old one."""
    return rotations.to_angles(rotations.product(rotations.conjugate(turn), rotations.from_angles(*angles)))


def distance(one: Motion, other: Motion) -> dict[str, float]:
    """Return the largest differences of position (m), attitude (rad), velocity (m/s) and rate (rad/s)."""
    assert len(one.time) == len(other.time)
    found = dict.fromkeys(STATE, 0.0)
    for name, state in one.crafts.items():
        for key in ("position", "velocity", "angular_velocity"):
            found[key] = max(found[key], float(np.abs(state[key] - other.crafts[name][key]).max()))
        error = rotations.product(rotations.conjugate(state["quaternion"]), other.crafts[name]["quaternion"])
        found["quaternion"] = max(found["quaternion"], 2.0 * float(np.abs(error[:, 1:]).max()))
    return found
