"""Random declarations as nested tables, as a TOML file holds them: all kinds of joints, elements, loops, bases.

Numbers come from a generator that a seed starts; what there is comes from choices, which hypothesis draws and shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.importing.text import yaw_pitch_roll
from dockfmu.components.multibody.loop_order import ROWS
from dockfmu.components.multibody.model import BASE, CONSTRAINTS, COORDINATES, RATES, Model
from dockfmu.components.multibody.reference.from_model import rigid_system
from dockfmu.components.multibody.reference.impulse import closed_rates
from dockfmu.components.multibody.reference.kinematics import follow
from tests.components.multibody.random_systems import attitude, direction

Table = dict[str, Any]
KINDS = tuple(kind for kind in COORDINATES if kind not in CONSTRAINTS)
CUTS = tuple(sorted(kind for kind in ROWS if kind not in CONSTRAINTS))


@dataclass(frozen=True)
class Choice:
    """Describe a joint of the tree: its kind, the body before it, its direction, and what acts on its coordinates."""

    kind: str
    before: int
    reversed: bool
    element: str


@dataclass(frozen=True)
class Choices:
    """Hold what a declaration has."""

    seed: int
    joints: tuple[Choice, ...]
    cuts: tuple[str, ...]
    springs: int
    base: str
    contacts: int = 0
    port: bool = True


ELEMENTS = ("nothing", "spring", "stop", "motion")
EQUIPMENT = (*ELEMENTS[:-1], "friction", "hysteresis", "drive", "geared drive", "lock", "latch")
"""What acts on the coordinates of an equipped declaration, the simplest first."""
ROLLING = ("knife_edge", "rolling_ball", "rolling_disc")


@st.composite
def choices(draw: Callable[..., Any], loops: bool = False, held: bool = False) -> Choices:
    """Draw the structure of a declaration; with `loops`, a closed one, without prescribed coordinates unless `held`.

    With `held` some coordinates are prescribed or locked, and the base may be carried or the system fly freely.
    """
    base = draw(st.sampled_from(("fixed",) if loops and not held else ("fixed", "carried", "free")))
    elements = ELEMENTS[:-1] if loops else ELEMENTS
    elements = (*ELEMENTS, "lock") if held else elements
    joints = []
    for k in range(draw(st.integers(2 if loops else 1, 6))):
        kind = draw(st.sampled_from(KINDS))
        # all hang on the body that flies
        before = draw(st.integers(1 if base == "free" and k else 0, k))
        element = draw(st.sampled_from(elements if kind not in ("fixed", "spherical", "free") else ELEMENTS[:1]))
        if base == "free" and k == 0:
            kind, element = "free", "nothing"
        joints.append(Choice(kind, before, draw(st.booleans()), element))
    cuts = tuple(draw(st.lists(st.sampled_from(CUTS), min_size=1, max_size=2))) if loops else ()
    return Choices(draw(st.integers(0, 2**32 - 1)), tuple(joints), cuts, draw(st.integers(0, 2)), base)


@st.composite
def equipped(draw: Callable[..., Any]) -> Choices:
    """Draw a declaration with drives, hysteresis, friction, locks, latches, tethers, contacts and constraints.

    The constraints close loops, roll, or do not slip. All that is drawn shrinks to nothing.
    """
    flies = draw(st.booleans())
    joints = []
    for k in range(draw(st.integers(1, 5))):
        kind = "free" if flies and k == 0 else draw(st.sampled_from([kind for kind in KINDS if kind != "free"]))
        element = draw(st.sampled_from(EQUIPMENT if kind not in ("fixed", "spherical", "free") else ELEMENTS[:1]))
        joints.append(Choice(kind, draw(st.integers(1 if flies and k else 0, k)), draw(st.booleans()), element))
    held = sum(one.element in ("lock", "latch") for one in joints)
    # a lock may take the last freedom of a loop away
    some = draw(st.lists(st.sampled_from((*ROLLING, "spherical")), max_size=0 if held or len(joints) < 3 else 1))
    numbers_of = [draw(st.integers(0, 2)) for _ in range(2)]
    seed = draw(st.integers(0, 2**32 - 1))
    return Choices(seed, tuple(joints), tuple(some), numbers_of[0], "free" if flies else "fixed", numbers_of[1])


def numbers(values: Any) -> list[float]:
    return [float(value) for value in values]


def declaration(chosen: Choices) -> Table:
    """Return the declaration."""
    rng = np.random.default_rng(chosen.seed)
    count = len(chosen.joints)
    names = [BASE, *(f"body{k}" for k in range(1, count + 1))]
    content: Table = {
        "name": "random",
        "base": "carried" if chosen.base == "carried" else "fixed",
        "gravity": numbers(rng.normal(size=3)),
        "bodies": {name: _body(rng) for name in names[1:]},
        "joints": {f"joint{k + 1}": _joint(rng, one, names, k + 1) for k, one in enumerate(chosen.joints)},
        "springs": {f"spring{k}": _spring(rng, names) for k in range(chosen.springs)},
    }
    if chosen.port:
        content["ports"] = {
            "tool": {"body": names[-1], "point": numbers(rng.normal(size=3)), "angles": [0.3, -0.2, 0.1]}
        }
    _equip(rng, content, chosen)
    if chosen.cuts:
        _close(rng, content, chosen.cuts, names)
    return content


def _equip(rng: np.random.Generator, content: Table, chosen: Choices) -> None:
    """Add drives, locks, and contacts between spheres and of spheres with discs."""
    names = [BASE, *content["bodies"]]
    drives, locks = {}, {}
    for k, one in enumerate(chosen.joints, start=1):
        joint = content["joints"][f"joint{k}"]
        for name in () if one.kind in ("spherical", "free") else COORDINATES[one.kind]:
            place = {"joint": f"joint{k}", "coordinate": name}
            if one.element in ("drive", "geared drive"):
                drives[f"drive{k}_{name}"] = place | _drive(rng, one.element == "geared drive")
            elif one.element == "lock":
                joint[name]["rate"] = 0.0
                locks[f"lock{k}_{name}"] = place | {"closed": True}
            elif one.element == "latch":
                # it is passed within the first steps, or never
                locks[f"lock{k}_{name}"] = place | {"at": joint[name]["start"] + 0.01 * joint[name]["rate"]}
    surfaces, contacts = {}, {}
    for k in range(chosen.contacts):
        one, other = (str(name) for name in rng.choice(names, size=2, replace=False))
        surfaces[f"ball{k}"] = {"body": one, "sphere": 0.4, "point": numbers(rng.uniform(-0.5, 0.5, size=3))}
        form = {"plane": 2.0, "axis": numbers(direction(rng))} if rng.integers(2) else {"sphere": 0.4}
        surfaces[f"other{k}"] = {"body": other, "point": numbers(rng.uniform(-0.5, 0.5, size=3)), **form}
        contacts[f"contact{k}"] = {"surfaces": [f"ball{k}", f"other{k}"], "stiffness": 40.0, "damping": 1.0,
                                   "friction": 0.3, "depth_limit": 100.0}  # fmt: skip
    for key, tables in (("drives", drives), ("locks", locks), ("surfaces", surfaces), ("contacts", contacts)):
        if tables:
            content[key] = tables


def _drive(rng: np.random.Generator, geared: bool) -> Table:
    made = {"control": "rate", "command": float(rng.normal()), "ratio": float(rng.uniform(1.0, 10.0)), "inertia": 1e-2,
            "torque_constant": 0.2, "resistance": 1.5, "voltage_limit": 24.0, "current_limit": 8.0, "rate_gain": 0.4,
            "friction": 0.05, "holding_stiffness": 20.0, "efficiency": 0.8}  # fmt: skip
    return made | ({"gear_stiffness": 100.0, "gear_damping": 1.0, "play": 0.01} if geared else {})


def _body(rng: np.random.Generator) -> Table:
    spread = rng.uniform(0.02, 0.3, size=3)
    axes = attitude(rng)
    mass = float(rng.uniform(0.5, 3.0))
    J = mass * (spread.sum() * np.eye(3) - axes @ np.diag(spread) @ axes.T)
    six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
    return {"mass": mass, "center": numbers(rng.uniform(-0.3, 0.3, size=3)), "inertia": numbers(six)}


def _joint(rng: np.random.Generator, one: Choice, names: Sequence[str], body: int) -> Table:
    ends = [names[one.before], names[body]]
    made: Table = {
        "kind": one.kind,
        "bodies": ends[::-1] if one.reversed else ends,
        "points": [numbers(rng.uniform(-0.6, 0.6, size=3)) for _ in range(2)],
        "attitude": numbers(rng.uniform(-1.0, 1.0, size=3)),
    }
    if one.kind in ("revolute", "prismatic", "screw", "cylindrical", "planar"):
        made["axis"] = numbers(direction(rng))
    if one.kind == "universal":
        made["axes"] = [numbers(row) for row in attitude(rng)[:2]]
    if one.kind == "screw":
        made["pitch"] = float(rng.uniform(0.3, 3.0))
    if one.kind in ("spherical", "free"):
        made["start"] = {"angles": numbers(rng.uniform(-1.0, 1.0, size=3)), "angular_velocity": _rates(rng)}
        if one.kind == "free":
            made["start"] |= {"position": _rates(rng), "velocity": _rates(rng)}
    else:
        for name in COORDINATES[one.kind]:
            made[name] = _coordinate(rng, one.element)
    return made


def _rates(rng: np.random.Generator) -> list[float]:
    return numbers(rng.normal(size=3))


def _coordinate(rng: np.random.Generator, element: str) -> Table:
    q, rate, a, b, c, d = numbers(rng.uniform(-1.0, 1.0, size=6))
    if element == "motion":
        return {"motion": {"position": q, "rate": rate, "acceleration": a, "amplitude": b, "frequency": c, "phase": d}}
    made = {"start": q, "rate": rate}
    if element == "spring":
        made |= {"stiffness": 20.0 * abs(a), "rest": b, "preload": c, "damping": abs(d)}
    elif element == "friction":
        made |= {"friction": 0.5 * abs(a), "friction_stiffness": 50.0}
    elif element == "hysteresis":
        made["hysteresis"] = {"stiffness": 20.0 * abs(a) + 1.0, "range": 3.0, "loss": 0.4, "rest": b, "play": 0.1}
    elif element == "stop":
        # beyond it, or not, at the start
        made |= {"upper": a, "stop_stiffness": 50.0 * abs(b) + 1.0, "stop_damping": abs(c)}
    return made


def _spring(rng: np.random.Generator, names: Sequence[str]) -> Table:
    ends = [str(name) for name in rng.choice(names, size=2, replace=False)]
    points = [numbers(rng.uniform(-0.5, 0.5, size=3)) for _ in range(2)]
    return {
        "bodies": ends,
        "points": points,
        "stiffness": float(rng.uniform(1.0, 50.0)),
        "length": float(rng.uniform(0.0, 1.0)),
        "damping": float(rng.uniform(0.0, 2.0)),
        str(rng.choice(("tether", "pusher"))): bool(rng.integers(2)),
    }


def _close(rng: np.random.Generator, content: Table, kinds: Sequence[str], names: Sequence[str]) -> None:
    """Add cut joints that are closed where the tree starts, and rates that keep them closed.

    Raises ClosureError if prescribed and locked coordinates contradict them.
    """
    model = read_text(text_of(content)).model
    system = rigid_system(model)
    start = Multibody(model).start
    q, u = start.q, start.u
    motion = follow(system, q, np.zeros(system.rates))
    centers = [np.zeros(3), *(np.array(body.center) for body in model.bodies)]
    for k, kind in enumerate(kinds):
        one, other = (int(i) for i in rng.choice(len(names), size=2, replace=False))
        place = motion.r[one] + rng.uniform(-0.5, 0.5, size=3)
        points = [motion.A[i].T @ (place - motion.r[i]) + centers[i] for i in (one, other)]
        cut: Table = {
            "kind": kind,
            "bodies": [names[one], names[other]],
            "points": [numbers(point) for point in points],
            # I -> body: the transposes of the columns in `motion.A`
            "attitude": numbers(yaw_pitch_roll(motion.A[other].T @ motion.A[one])),
            "cut": True,
        }
        if kind in ("revolute", "prismatic", "cylindrical", "planar"):
            cut["axis"] = numbers(direction(rng))
        if kind in ROLLING:
            _roll(rng, cut, motion.A[other].T @ motion.A[one])
        content["joints"][f"cut{k}"] = cut
    closed = read_text(text_of(content)).model
    _set_rates(content, closed, closed_rates(rigid_system(closed), q, u, _held(content, closed)))


def _held(content: Table, model: Model) -> list[int]:
    """Return the indices of the rates of prescribed and locked coordinates."""
    locked = {(lock["joint"], lock["coordinate"]) for lock in content.get("locks", {}).values() if "closed" in lock}
    names = [(joint.name, name) for joint in model.tree for name in RATES[joint.kind]]
    moved = {(joint, name) for joint, name in names if "motion" in content["joints"][joint].get(name, {})}
    return [k for k, name in enumerate(names) if name in locked | moved]


def _roll(rng: np.random.Generator, cut: Table, turned: np.ndarray) -> None:
    """Make a joint one that rolls or does not slip; `turned` takes components of the first body to the second."""
    del cut["attitude"]
    normal, axis = direction(rng), direction(rng)
    if cut["kind"] != "rolling_ball":
        cut["axis"] = numbers(axis)
    if cut["kind"] == "knife_edge":
        return
    cosine = float((turned @ normal) @ axis) if cut["kind"] == "rolling_disc" else 0.0
    # the plane is below the centre by what the disc or ball reaches down
    height = 0.3 * np.sqrt(1.0 - cosine**2)
    cut |= {"radius": 0.3, "normal": numbers(normal)}
    cut["points"][0] = numbers(np.array(cut["points"][0]) - height * normal)


def _set_rates(content: Table, model: Model, u: np.ndarray) -> None:
    for joint, rates in zip(model.tree, rigid_system(model).rate_slices, strict=True):
        made = content["joints"][joint.name]
        if joint.kind in ("spherical", "free"):
            made["start"]["angular_velocity"] = numbers(u[rates][-3:])
            if joint.kind == "free":
                made["start"]["velocity"] = numbers(u[rates][:3])
        else:
            for name, value in zip(RATES[joint.kind], u[rates], strict=True):
                if "motion" not in made[name]:
                    made[name]["rate"] = float(value)


def text_of(content: Mapping[str, Any], place: str = "") -> str:
    """Return nested tables as TOML, numbers with all their digits."""
    plain = {key: value for key, value in content.items() if not isinstance(value, Mapping)}
    lines = [f"[{place}]"] if place else []
    lines += [f"{_key(key)} = {value_text(value)}" for key, value in plain.items()]
    tables = [
        text_of(value, f"{place}.{_key(key)}" if place else _key(key))
        for key, value in content.items()
        if isinstance(value, Mapping)
    ]
    return "\n".join([*lines, *tables])


def _key(key: str) -> str:
    return key if key.isidentifier() and key.isascii() else '"' + key.encode("unicode_escape").decode() + '"'


def value_text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return f"[{', '.join(map(value_text, value))}]"
    return repr(value)
