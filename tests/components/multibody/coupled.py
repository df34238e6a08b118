"""Two craft with a random declared mechanism between them, coupled step by step, and transformed cases of it."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dockfmu.components import spacecraft
from dockfmu.components.core.component import Instance
from dockfmu.components.core.ports import BASE_MOTION
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.declarations import KINDS, Choice, Choices, Table, declaration, numbers, text_of
from tests.components.multibody.random_models import interpreted, made
from tests.components.multibody.random_systems import direction
from tests.components.multibody.test_random_mirror import mirrored
from tests.metamorphic import rotations

ELEMENTS = ("nothing", "spring", "stop", "motion", "friction", "hysteresis", "latch")
ONE_FORM = [kind for kind in KINDS if kind not in ("planar", "free")]
"""Planar joints have axes in their plane by a rule that is no mirror of itself."""
TWIST = ("position", "quaternion", "velocity", "angular_velocity", "acceleration", "angular_acceleration")
MIRROR = np.diag([1.0, -1.0, 1.0])
STEP, COUNT, SHORT = 5e-3, 12, 5e-4


@dataclass(frozen=True)
class Body:
    """Hold the data of a craft, its port, and its state at the start."""

    mass: float
    inertia: np.ndarray
    center: np.ndarray
    place: np.ndarray
    angles: np.ndarray
    position: np.ndarray
    quaternion: np.ndarray
    velocity: np.ndarray
    spin: np.ndarray

    def instance(self, mode: float) -> Instance:
        start = {"position": self.position, "quaternion": self.quaternion, "velocity": self.velocity}
        return Instance(
            interpreted(spacecraft.component()),
            **{
                "parameters.mass": self.mass,
                "parameters.inertia": self.inertia,
                "parameters.center_of_mass": self.center,
                "parameters.port[1].position": self.place,
                "parameters.port[1].angles": self.angles,
                "parameters.port[1].base_motion": mode,
                "parameters.push_thrust": 0.0,
                "parameters.initial.angular_velocity": self.spin,
            },
            **{f"parameters.initial.{name}": value for name, value in start.items()},
        )


Motion = tuple[list[tuple[np.ndarray, ...]], np.ndarray]
"""Of the two craft (position, I -> body, velocity and angular velocity, body axes), and the coordinates."""


@dataclass(frozen=True)
class Pair:
    """Hold a mechanism and its craft, the step, and the time at which it starts."""

    content: Table
    craft: tuple[Body, Body]
    step: float = STEP
    start: float = 0.0

    def run(self, base_motion: str) -> Motion:
        """Return the motion at the end."""
        mode = float(BASE_MOTION.codes[base_motion])
        craft = [body.instance(mode) for body in self.craft]
        ports = [one.m.port[0] for one in craft]
        values = {
            f"{side}.{name}": np.array(getattr(port, name))
            for side, port in zip(("base", "target"), ports, strict=True)
            for name in TWIST
        }
        steps = {"micro_tolerance": 0.0, "micro_step": SHORT / STEP * self.step}
        values |= {f"parameters.stepping.{name}": value for name, value in steps.items()}
        values |= {"parameters.base_motion": mode}
        mechanism = Instance(made(read_text(text_of(self.content)).model), **values)
        sides = (mechanism.m.base, mechanism.m.target)
        for k in range(COUNT):
            for side, port in zip(sides, ports, strict=True):
                for name in TWIST:
                    getattr(side, name)[:] = getattr(port, name)
            mechanism.step(self.start + k * self.step, self.step)
            for one, side, port in zip(craft, sides, ports, strict=True):
                port.force[:], port.torque[:] = side.force, side.torque
                port.affine_mass[:] = getattr(side, "affine_mass", 0.0)
                one.step(self.start + k * self.step, self.step)
        bodies = [one.m.body for one in craft]
        states = [
            (b.position.copy(), rotations.matrix(b.quaternion), b.velocity.copy(), b.angular_velocity.copy())
            for b in bodies
        ]
        return states, np.array([one.position for one in mechanism.m.coordinate])


def random_pair(seed: int) -> Pair:
    """Return a mechanism of up to four bodies that touches the other craft, heavier craft, all in motion."""
    rng = np.random.default_rng(seed)
    joints = []
    for k in range(int(rng.integers(1, 5))):
        kind = str(rng.choice(ONE_FORM))
        element = str(rng.choice(ELEMENTS)) if kind not in ("fixed", "spherical") else "nothing"
        joints.append(Choice(kind, int(rng.integers(0, k + 1)), bool(rng.integers(2)), element))
    content = declaration(Choices(seed, tuple(joints), (), int(rng.integers(0, 3)), "carried", int(rng.integers(0, 2))))
    content["gravity"] = [0.0, 0.0, 0.0]
    form = {"plane": 3.0, "axis": numbers(direction(rng))} if rng.integers(2) else {"sphere": 0.5}
    content.setdefault("surfaces", {}).update(
        near={"body": list(content["bodies"])[-1], "sphere": 0.4, "point": numbers(rng.uniform(-0.3, 0.3, 3))},
        far={"body": "target", "point": numbers(rng.uniform(-0.3, 0.3, 3)), **form},
    )
    law = {"stiffness": 60.0, "damping": 1.0, "friction": 0.3, "depth_limit": 100.0}
    content.setdefault("contacts", {})["meeting"] = {"surfaces": ["near", "far"], **law}
    for contact in content["contacts"].values():
        # with a unit of time, and so not by default
        contact["slip_velocity"] = 1e-3
    return Pair(content, (_body(rng), _body(rng)))


def _body(rng: np.random.Generator) -> Body:
    axes = rotations.matrix(rotations.random_rotation(rng))
    J = axes @ np.diag(rng.uniform(30.0, 60.0, 3)) @ axes.T
    return Body(float(rng.uniform(80.0, 200.0)), 0.5 * (J + J.T), rng.uniform(-0.2, 0.2, 3),
                rng.uniform(-0.5, 0.5, 3), rng.uniform(-1.0, 1.0, 3), rng.uniform(-0.5, 0.5, 3),
                rotations.random_rotation(rng), 0.3 * rng.normal(size=3), 0.3 * rng.normal(size=3))  # fmt: skip


def _each(pair: Pair, change: Any, **changes: Any) -> Pair:
    one, other = (replace(body, **change(body)) for body in pair.craft)
    return replace(pair, craft=(one, other), **changes)


def turned(pair: Pair, rng: np.random.Generator) -> tuple[Pair, Any]:
    """Rotate and move the inertial frame."""
    turn, shift = rotations.random_rotation(rng), rng.uniform(-30.0, 30.0, 3)
    r = rotations.matrix(turn)
    new = _each(pair, lambda b: {"position": r @ b.position + shift, "velocity": r @ b.velocity,
                                 "quaternion": rotations.product(turn, b.quaternion)})  # fmt: skip
    return new, lambda x, A, v, w: (r.T @ (x - shift), r.T @ A, v, w)


def moved(pair: Pair, rng: np.random.Generator) -> tuple[Pair, Any]:
    """Add a velocity to both craft."""
    common = 10.0 * rng.normal(size=3)
    way = COUNT * pair.step * common
    new = _each(pair, lambda b: {"velocity": b.velocity + common})
    return new, lambda x, A, v, w: (x - way, A, v - A.T @ common, w)


def later(pair: Pair, rng: np.random.Generator) -> tuple[Pair, Any]:
    """Begin at another time: not for prescribed motions, which know the time."""
    prescribed = any("motion" in one for one in coordinates(pair.content))
    return replace(pair, start=0.0 if prescribed else 64.0), lambda *state: state


def in_a_mirror(pair: Pair, rng: np.random.Generator) -> tuple[Pair, Any]:
    """Mirror everything across y = 0."""
    S = MIRROR
    new = _each(
        pair,
        lambda b: {
            "inertia": S @ b.inertia @ S,
            "center": S @ b.center,
            "place": S @ b.place,
            "angles": b.angles * (1.0, -1.0, -1.0),
            "position": S @ b.position,
            "quaternion": b.quaternion * (1.0, -1.0, 1.0, -1.0),
            "velocity": S @ b.velocity,
            "spin": -S @ b.spin,
        },
        content=mirrored(pair.content),
    )
    return new, lambda x, A, v, w: (S @ x, S @ A @ S, S @ v, -S @ w)


POWERS = {"rate": 1, "stiffness": 2, "preload": 2, "damping": 1, "stop_stiffness": 2, "stop_damping": 1, "friction": 2,
          "friction_stiffness": 2, "acceleration": 2, "frequency": 1, "slip_velocity": 1}  # fmt: skip
"""Powers of the inverse of a time in numbers of a declaration; the friction of contacts is a coefficient."""


def coordinates(content: Table) -> list[Table]:
    """Return the tables of all coordinates."""
    return [
        value
        for joint in content["joints"].values()
        for key, value in joint.items()
        if isinstance(value, dict) and key != "start"
    ]


def faster(pair: Pair, rng: np.random.Generator) -> tuple[Pair, Any]:
    """Let everything go four times as fast: a power of two changes no rounding."""
    s = 4.0
    content = copy.deepcopy(pair.content)
    tables = [*coordinates(content), *content["springs"].values(), *content["contacts"].values()]
    tables += [one[key] for one in coordinates(content) for key in ("hysteresis", "motion") if key in one]
    for table in tables:
        for key in POWERS.keys() & table.keys():
            if not (key == "friction" and "surfaces" in table):
                table[key] *= s ** POWERS[key]
    for joint in content["joints"].values():
        if "start" in joint:
            joint["start"]["angular_velocity"] = [s * rate for rate in joint["start"]["angular_velocity"]]
    new = _each(pair, lambda b: {"velocity": s * b.velocity, "spin": s * b.spin}, content=content, step=pair.step / s)
    return new, lambda x, A, v, w: (x, A, v / s, w / s)
