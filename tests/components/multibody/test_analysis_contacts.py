"""Contact forces of dockfmu.Multibody: closed forms, distances by brute force, and the kernels of the FMU."""

from pathlib import Path

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody, TargetMotion
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.physics.mechanics.rotation import quaternion
from tests.components.multibody import random_systems
from tests.components.multibody.random_models import interpreted

pytestmark = pytest.mark.quick

PROBE = Path(__file__).parents[3] / "components" / "multibody" / "models" / "small_probe.toml"
BALL = """
name = "ball"
[bodies.ball]
mass = 2.0
inertia = [0.01, 0.01, 0.01]
[joints.flight]
kind = "free"
bodies = ["base", "ball"]
start = {{ position = [0.098, 0, 0], velocity = [{approach}, 0.3, 0.4] }}
[surfaces.skin]
body = "ball"
sphere = 0.1
[surfaces.floor]
body = "base"
plane = 9.0
axis = [-1, 0, 0]
[contacts.floor]
surfaces = ["floor", "skin"]
stiffness = 1e5
damping = 50.0
friction = 0.2
slip_velocity = 0.1
"""


@pytest.mark.parametrize("approach", [-0.5, 0.0, 10.0])
def test_force_of_a_ball_on_a_plane_is_that_of_its_law(approach):
    """k d + c v, never a pull, and friction mu f s / sqrt(s^2 + v_e^2) against the sliding of 0.5 m/s; in numbers."""
    system = Multibody(read_text(BALL.format(approach=approach)).model)
    (found,) = system.contact_forces()
    normal = max(0.0, 1e5 * 0.002 - 50.0 * approach)
    friction = 0.2 * normal * 0.5 / np.hypot(0.5, 0.1)
    assert (found.contact, found.bodies) == ("floor", ("ball", "base"))
    assert found.depth == pytest.approx(0.002, rel=1e-9)
    assert (found.normal_force, found.friction_force) == pytest.approx((normal, friction), rel=1e-9)
    # on the base: pressed down, and dragged along
    np.testing.assert_allclose(found.force, [-normal, 0.6 * friction, 0.8 * friction], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.position, [0.098 - 0.1, 0.0, 0.0], rtol=0, atol=0.0021)
    assert found.stored_energy == pytest.approx(0.5 * 1e5 * 0.002**2, rel=1e-9)
    free = system.forward_dynamics()
    pressed = system.forward_dynamics(contacts=[found])
    np.testing.assert_allclose(2.0 * (pressed - free)[:3], -found.force, rtol=0, atol=1e-9 * max(normal, 1.0))


def distance(point, polygon):
    """Return the distance of a point of a half plane from a closed polygon, negative inside."""
    best, inside = np.inf, True
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        side = b - a
        t = np.clip((point - a) @ side / (side @ side), 0.0, 1.0)
        best = min(best, float(np.linalg.norm(point - a - t * side)))
        inside = inside and side[0] * (point[1] - a[1]) - side[1] * (point[0] - a[0]) > 0.0
    return -best if inside else best


def test_depths_of_the_probe_in_its_drogue_are_distances_from_the_section():
    """Balls of head, fingers and pads against the drogue at 60 random poses of the target, by distances in (x, r)."""
    model = read_text(PROBE.read_text()).model
    system, rng = Multibody(model), np.random.default_rng(4)
    outline = np.array(next(one for one in model.surfaces if one.name == "drogue").vertices)
    positions, motion = {}, system._motion(None)
    number = {"base": 0, **{body.name: k for k, body in enumerate(model.bodies, 1)}}
    radii = {one.name: one.radius for one in model.surfaces}
    for one in model.surfaces:
        if one.form == "ball":
            k = number[one.body]
            center = np.array(model.bodies[k - 1].center) if k else np.zeros(3)
            positions[one.name] = motion.r[k] + motion.A[k] @ (np.array(one.point) - center)
    touched = 0
    for _ in range(60):
        A = random_systems.attitude(rng) if rng.random() < 0.2 else np.eye(3)
        place = np.array([rng.uniform(-0.05, 0.35), *rng.uniform(-0.12, 0.12, 2)])
        target = TargetMotion(position=place, quaternion=tuple(quaternion(tuple(map(tuple, A.T)))))
        found = {
            one.surfaces[0]: one.depth for one in system.contact_forces(target=target) if one.surfaces[1] == "drogue"
        }
        for name, point in positions.items():
            if not any({name, "drogue"} == set(pair) for contact in model.contacts for pair in contact.pairs):
                continue
            x, y, z = A.T @ (point - place)
            depth = radii[name] - distance(np.array([x, np.hypot(y, z)]), outline)
            assert (name in found) == (depth > 0.0), name
            if depth > 0.0:
                touched += 1
                assert found[name] == pytest.approx(depth, abs=1e-12), name
    assert touched > 20


def test_contacts_in_the_dynamics_equal_the_kernels_of_the_fmu():
    """Accelerations of the probe under its contacts, without friction, at 6 random poses: those of the FMU's start."""
    text = PROBE.read_text().replace("friction = 0.05", "friction = 0.0").replace("friction = 0.2", "friction = 0.0")
    declared, rng = interpreted(component_of(read_text(text))), np.random.default_rng(8)
    system = Multibody(read_text(text).model)
    seen = 0
    while seen < 6:
        place = (rng.uniform(0.19, 0.24), *rng.uniform(-0.03, 0.03, 2))
        speed, spin = 0.1 * rng.normal(size=3), 0.1 * rng.normal(size=3)
        target = TargetMotion(position=place, velocity=speed, angular_velocity=spin)
        contacts = system.contact_forces(target=target)
        if not contacts or max(one.depth for one in contacts) > 0.003:
            continue
        seen += 1
        start = {"target.position": place, "target.velocity": speed, "target.angular_velocity": spin}
        instance = Instance(declared, **start)
        expected = system.forward_dynamics(contacts=contacts)
        found = [coordinate.acceleration for coordinate in instance.m.coordinate]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())
        on_target = sum(one.force for one in contacts if one.bodies[1] == "target")
        np.testing.assert_allclose(instance.m.target.force_now, on_target, rtol=0, atol=1e-10 * np.abs(on_target).max())


def test_the_guide_has_an_example_of_each_method():
    guide = (Path(__file__).parents[3] / "docs" / "guide" / "multibody-analysis.md").read_text()
    code = "\n".join(block.split("```")[0] for block in guide.split("```python\n")[1:])
    public = [name for name in vars(Multibody) if not name.startswith("_")]
    assert len(public) > 12
    assert [name for name in public if f".{name}" not in code] == []
