"""Random declarations: legal ones equal the reference formulations, illegal ones are told by name."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dockfmu.base.errors import DockfmuError
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.analysis.elements import element_loads
from dockfmu.components.multibody.declaration import ModelError, read_text
from dockfmu.components.multibody.importing import declaration_text
from dockfmu.components.multibody.model import BASE, CoordinateLaw, Model, MultibodyJoint, PrescribedMotion
from dockfmu.components.multibody.reference.algebra import cross, quaternion_of
from dockfmu.components.multibody.reference.articulated import articulated
from dockfmu.components.multibody.reference.cartesian_solution import cartesian
from dockfmu.components.multibody.reference.graph_method import equations, solve
from dockfmu.components.multibody.reference.impulse import ClosureError
from dockfmu.components.multibody.reference.kinematics import TreeMotion, follow
from dockfmu.components.multibody.reference.loops import closed, cut_rows
from dockfmu.components.multibody.reference.system import BaseMotion
from tests.components.multibody.declarations import Table, choices, declaration, numbers, text_of
from tests.components.multibody.random_models import body_accelerations, made
from tests.components.multibody.random_systems import moving_base
from tests.components.multibody.test_links import turned_around

TOLERANCE = 1e-10
"""Of accelerations relative to the largest, for condition numbers below `CONDITION`."""
CONDITION = 1e4
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])


def port_of(base: BaseMotion) -> dict[str, Any]:
    """Return the inputs of the port `base` for a motion in axes of I."""
    return {
        "base.position": base.r,
        "base.quaternion": quaternion_of(base.A),
        "base.velocity": base.A.T @ base.v,
        "base.acceleration": base.A.T @ base.a,
        "base.angular_velocity": base.A.T @ base.w,
        "base.angular_acceleration": base.A.T @ base.e,
    }


def formulations(model: Model, motion: TreeMotion, held: dict[int, float]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return (accelerations of the centres of mass, angular accelerations) by all formulations that apply."""
    loads = element_loads(model, motion)
    found = {name: cartesian(motion, loads, held, dense=name == "dense") for name in ("CART", "dense")}
    found["LOOP"] = closed(motion, loads, held)
    out = {name: (one.a, one.e) for name, one in found.items()}
    if not model.cuts:
        tree = equations(motion, loads)
        out["WITT"] = tree.accelerations(solve(tree.A, tree.B, held)[0])
        if not held:
            out["ABA"] = articulated(motion, loads)[1:]
    return out


def agree(model: Model, motion: TreeMotion, start: dict[str, Any], held: dict[int, float]) -> dict[str, np.ndarray]:
    """Compare the kernels with all formulations; return what the kernels give."""
    kernels = body_accelerations(Instance(made(model), **start), model)
    for name, (a, e) in formulations(model, motion, held).items():
        size = 1.0 + max(np.abs(a).max(), np.abs(e).max())
        for k, body in enumerate(model.bodies):
            arm, w = -motion.A[k + 1] @ np.array(body.center), motion.w[k + 1]
            origin = a[k] + cross(e[k], arm) + cross(w, cross(w, arm))
            expected = np.concatenate((origin, e[k]))
            assert np.abs(kernels[body.name] - expected).max() < TOLERANCE * size, (name, body.name)
    return kernels


@pytest.mark.slow
@settings(relaxed, max_examples=15)
@given(choices())
def test_spec10_oracle_2_any_legal_declaration_equals_all_formulations(chosen):
    """It reads, is written and read again, and ABA of the FMU = ABA = WITT = CART = LOOP, on any base, to 1e-10."""
    model = read_text(text_of(declaration(chosen))).model
    system, base, start = Multibody(model), BaseMotion(), {}
    if chosen.base == "carried":
        base = moving_base(np.random.default_rng(chosen.seed))
        start = port_of(base)
    state = system.start
    motion = follow(system.system, state.q, state.u, 0.0, base)
    held = system._held(0.0)
    free = [k for k in range(system.system.rates) if k not in held]
    assume(not free or np.linalg.cond(system.mass_matrix()[np.ix_(free, free)]) < CONDITION)
    kernels = agree(model, motion, start, held)
    again = read_text(declaration_text(model)).model
    written = body_accelerations(Instance(made(again), **start), again)
    for name, values in kernels.items():
        # twelve digits
        assert np.abs(values - written[name]).max() < 1e-9 * (1.0 + max(np.abs(v).max() for v in kernels.values()))


@pytest.mark.slow
@settings(relaxed, max_examples=30)
@given(choices(loops=True))
def test_spec10_oracle_2_any_closed_declaration_equals_all_formulations(chosen):
    """Trees with one or two cut joints of any kind, also redundant ones: ABA of the FMU = LOOP = CART.

    Poses that are nearly singular are left out: constraints that are neither dependent nor independent in rounding.
    """
    model = read_text(text_of(declaration(chosen))).model
    system = Multibody(model)
    state = system.start
    motion = follow(system.system, state.q, state.u)
    A = system.mass_matrix()
    assume(len(A) and np.linalg.cond(A) < CONDITION)
    rows = cut_rows(motion, equations(motion, element_loads(model, motion)))
    strengths = np.linalg.eigvalsh(rows.H @ np.linalg.solve(A, rows.H.T))
    assume(not ((strengths > 1e-13 * strengths.max()) & (strengths < strengths.max() / CONDITION)).any())
    agree(model, motion, {}, {})


@pytest.mark.slow
@settings(relaxed, max_examples=30)
@given(choices(loops=True, held=True))
def test_spec10_oracle_2_any_closed_declaration_with_held_coordinates_equals_all_formulations(chosen):
    """Cut joints beside prescribed and locked coordinates, on any base: ABA of the FMU = LOOP = CART.

    Declarations whose held coordinates contradict the loops have no start, and nearly singular ones are left out.
    """
    try:
        content = declaration(chosen)
    except ClosureError:
        assume(False)
    model = read_text(text_of(content)).model
    system, base, start = Multibody(model), BaseMotion(), {}
    if chosen.base == "carried":
        base = moving_base(np.random.default_rng(chosen.seed))
        start = port_of(base)
    motion = follow(system.system, system.start.q, system.start.u, 0.0, base)
    held = system._held(0.0)
    free = [k for k in range(system.system.rates) if k not in held]
    A = system.mass_matrix()[np.ix_(free, free)]
    assume(free and np.linalg.cond(A) < CONDITION)
    H = cut_rows(motion, equations(motion, element_loads(model, motion))).H[:, free]
    strengths = np.linalg.eigvalsh(H @ np.linalg.solve(A, H.T))
    assume(not ((strengths > 1e-13 * strengths.max()) & (strengths < strengths.max() / CONDITION)).any())
    agree(model, motion, start, held)


def backwards(joint: MultibodyJoint, laws: list[CoordinateLaw]) -> tuple[MultibodyJoint, list[CoordinateLaw]]:
    """Return a joint directed the other way, in the same state, with its laws and motions."""
    if joint.kind in ("universal", "planar", "fixed"):
        return joint, laws
    signs = dict.fromkeys(("position", "rate", "acceleration", "amplitude"), -1.0)
    motions = {
        k: PrescribedMotion(**{key: signs.get(key, 1.0) * value for key, value in vars(motion).items()})
        for k, motion in joint.motions.items()
    }
    turned = [replace(law, rest=-law.rest, preload=-law.preload, lower=-law.upper, upper=-law.lower) for law in laws]
    return replace(turned_around(joint), motions=motions), turned


def along_its_axis(joint: MultibodyJoint) -> MultibodyJoint:
    """Return a revolute joint whose point is elsewhere on its axis."""
    if joint.kind != "revolute":
        return joint
    places = {
        key: replace(place, point=tuple(map(float, np.array(place.point) + 0.7 * np.array(place.rotation)[2])))
        for key in ("on_predecessor", "on_successor")
        for place in [getattr(joint, key)]
    }
    return replace(joint, **places)


def on_another_root(model: Model, motion: TreeMotion, body: int) -> Model:
    """Return a free system that hangs on the base by a body of the given number instead of its first joint."""
    A, w, part = motion.A[body], motion.w[body], model.bodies[body - 1]
    arm = -A @ np.array(part.center)
    q = (*(motion.r[body] + arm), *quaternion_of(A))
    u = (*(motion.v[body] + cross(w, arm)), *(A.T @ w))
    root = MultibodyJoint("root", "free", BASE, part.name, coordinates=numbers(q), rates=numbers(u))
    return replace(model, joints=(*model.joints[1:], root))


@pytest.mark.slow
@settings(relaxed, max_examples=20)
@given(choices())
def test_spec10_oracle_5_any_declaration_is_invariant(chosen):
    """Directions of arcs, numbers of bodies and joints, points along axes, and the root of a free system: no effect."""
    assume(chosen.base != "carried")
    model = read_text(text_of(declaration(chosen))).model
    system = Multibody(model)
    held = system._held(0.0)
    free = [k for k in range(system.system.rates) if k not in held]
    assume(not free or np.linalg.cond(system.mass_matrix()[np.ix_(free, free)]) < CONDITION)
    rng = np.random.default_rng(chosen.seed)
    turned = [backwards(joint, [law for law in model.laws if law.joint == joint.name]) for joint in model.joints]
    order = rng.permutation(len(model.bodies))
    variants = {
        "direction": replace(
            model,
            joints=tuple(joint for joint, _ in turned),
            laws=tuple(law for _, laws in turned for law in laws),
        ),
        "numbers": replace(
            model,
            bodies=tuple(model.bodies[k] for k in order),
            joints=tuple(model.joints[k] for k in rng.permutation(len(order))),
        ),
        "axis": replace(model, joints=tuple(map(along_its_axis, model.joints))),
    }
    if chosen.base == "free":
        motion = follow(system.system, system.start.q, system.start.u)
        variants["root"] = on_another_root(model, motion, int(rng.integers(1, len(order) + 1)))
    expected = body_accelerations(Instance(made(model)), model)
    size = 1.0 + max(np.abs(values).max() for values in expected.values())
    for name, variant in variants.items():
        found = body_accelerations(Instance(made(variant)), variant)
        for body, values in expected.items():
            assert np.abs(found[body] - values).max() < TOLERANCE * size, (name, body)


Fault = tuple[str, str]


def _joint_of(content: Table, *kinds: str) -> str:
    """Return the first joint of the tree of these kinds; hypothesis drops the example if there is none."""
    found = [name for name, joint in content["joints"].items() if joint["kind"] in kinds]
    assume(found)
    return found[0]


def _leaf(content: Table) -> str:
    names = [body for joint in content["joints"].values() for body in joint["bodies"]]
    return next(body for body in reversed(content["bodies"]) if names.count(body) == 1)


def unknown_body(content: Table) -> Fault:
    content["joints"]["joint1"]["bodies"][1] = "bodi"
    return "joints.joint1.bodies", "there is no body 'bodi'"


def three_bodies(content: Table) -> Fault:
    content["joints"]["joint1"]["bodies"].append("body1")
    return "joints.joint1.bodies", "joins exactly two bodies"


def loop(content: Table) -> Fault:
    content["joints"]["more"] = {"kind": "revolute", "bodies": ["base", "body2"]}
    return "joints.", "add cut = true to one joint of this loop"


def second_root(content: Table) -> Fault:
    del content["joints"]["joint2"]
    return "bodies.", "a second root"


def massless_leaf(content: Table) -> Fault:
    leaf = _leaf(content)
    content["bodies"][leaf] = {"mass": 0.0}
    return f"bodies.{leaf}.mass", "a body without mass at the end of a chain"


def triangle(content: Table) -> Fault:
    content["bodies"]["body1"]["inertia"] = [1.0, 1.0, 2.5]
    return "bodies.body1.inertia", "triangle inequality"


def axis(content: Table) -> Fault:
    name = _joint_of(content, "revolute", "prismatic", "screw", "cylindrical", "planar")
    content["joints"][name]["axis"] = [0.0, 1.0, 1.0]
    return f"joints.{name}.axis", "its length is 1.41421"


def unit(content: Table) -> Fault:
    content["bodies"]["body2"]["mass"] = "2 m"
    return "bodies.body2.mass = '2 m'", "give it in kg"


def surface(content: Table) -> Fault:
    content["surfaces"] = {"tip": {"body": "bodi", "sphere": 0.1}}
    return "surfaces.tip.body", "there is no body 'bodi'"


def stop(content: Table) -> Fault:
    name = _joint_of(content, "revolute", "screw", "cylindrical", "planar")
    content["joints"][name]["angle"] = {"lower": 1.0, "upper": -1.0, "stop_stiffness": 1.0}
    return f"joints.{name}.angle.lower", "must be less than upper"


def infinite(content: Table) -> Fault:
    content["bodies"]["body2"]["center"] = [0.0, float("nan"), 0.0]
    return "bodies.body2.center", "3 finite numbers"


def key(content: Table) -> Fault:
    content["bodies"]["body1"]["mas"] = 1.0
    return "bodies.body1.mas", "did you mean mass?"


def uncuttable(content: Table) -> Fault:
    content["joints"]["extra"] = {"kind": "screw", "pitch": 1.0, "bodies": ["base", "body2"], "cut": True}
    return "joints.extra.kind", "a screw joint has no cut form"


# of these at most one at once: those of the graph are told when all joints are well formed
GRAPH = (unknown_body, three_bodies, loop, second_root, massless_leaf)
OTHERS = (triangle, axis, unit, surface, stop, infinite, key, uncuttable)


@settings(relaxed, max_examples=80)
@given(choices(), st.sampled_from(GRAPH), st.lists(st.sampled_from(OTHERS), max_size=3, unique=True))
def test_any_illegal_declaration_is_told_by_name_all_mistakes_at_once(chosen, graph, others):
    assume(len(chosen.joints) > 1 and not {graph, *others} >= {massless_leaf, unit})
    assume(graph is not massless_leaf or not {infinite, key, triangle} & {*others})
    content = declaration(replace(chosen, springs=0))
    faults = [fault(content) for fault in (graph, *others)]
    with pytest.raises(ModelError) as found:
        read_text(text_of(content), "some.toml")
    for place, what in faults:
        told = [text for text in found.value.problems if text.startswith(f"some.toml: {place}") and what in text]
        assert told, (place, what, found.value.problems)


JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(),
    st.sampled_from(("", "base", "body1", "joint1", "3 kg", "-1 m", "1e400", "nan deg", "\x00", "тело")),
    st.just([]),
    st.lists(st.floats(-2.0, 2.0), max_size=4),
    st.just({}),
    st.just({"value": 1.0, "unit": "m"}),
    st.just([["base", "body1"], [1.0, {}]]),
)


def places(content: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all entries of nested tables and lists."""
    entries = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    return [one for name, value in entries for one in ((*path, name), *places(value, (*path, name)))]


@pytest.mark.slow
@settings(relaxed, max_examples=60)
@given(choices(), st.data())
def test_any_entry_may_be_junk(chosen, data):
    """An entry is removed, renamed or replaced: the declaration is read, or told what is wrong, and so is the start."""
    content = declaration(chosen)
    for _ in range(data.draw(st.integers(1, 2))):
        path = data.draw(st.sampled_from(places(content)))
        inner: Any = content
        for name in path[:-1]:
            inner = inner[name]
        junk = data.draw(JUNK)
        if junk is None:
            del inner[path[-1]]
        else:
            inner[path[-1]] = junk
    problems: tuple[str, ...] = ()
    try:
        model = read_text(text_of(content), "some.toml").model
    except ModelError as error:
        problems = error.problems
        assume(False)
    finally:
        assert all(text.startswith("some.toml: ") for text in problems)
    with np.errstate(all="ignore"), contextlib.suppress(DockfmuError):
        Instance(made(model))
