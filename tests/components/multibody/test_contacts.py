"""Contact of declared surfaces: geometry, energy, momentum, friction, the target, sensors and conditions."""

from math import pi, sqrt

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.contacts import detection
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.physics.tree import links
from tests.components.multibody.random_models import flex_of, interpreted
from tests.components.multibody.test_motion import balance, run

BALL = """
name = "ball"
gravity = [{gravity}, 0, 0]
[bodies.ball]
mass = 2.0
solid = {{ sphere = 0.1 }}
[joints.flight]
kind = "free"
bodies = ["base", "ball"]
start = {{ position = [{height}, 0, 0], velocity = [{fall}, {slide}, 0] }}
[surfaces.skin]
body = "ball"
sphere = 0.1
[surfaces.floor]
body = "base"
plane = 9.0
axis = [-1, 0, 0]
[contacts.bounce]
surfaces = ["floor", "skin"]
stiffness = 2e6
damping = {damping}
friction = {friction}
[sensors.down]
contact = "bounce"
"""


def instance(text: str, **values: object) -> Instance:
    return Instance(interpreted(component_of(read_text(text))), **values)


def ball(gravity=0.0, height=0.11, fall=-1.0, slide=0.0, damping=0.0, friction=0.0, **values) -> Instance:
    text = BALL.format(gravity=gravity, height=height, fall=fall, slide=slide, damping=damping, friction=friction)
    return instance(text, **values)


def test_a_ball_on_a_plane_bounces_by_the_closed_form_of_spring_and_damper() -> None:
    # m x'' + c x' + k x = 0 from x' = -1: leaves where the force k x + c x' vanishes
    one = ball(damping=400.0, **{"parameters.stepping.micro_step": 1e-5})
    run(one, 0.1)
    m, k, c = 2.0, 2e6, 400.0
    decay, omega = c / (2 * m), sqrt(k / m - (c / (2 * m)) ** 2)
    t = np.linspace(0.0, pi / omega, 200001)
    x = np.exp(-decay * t) * np.sin(omega * t) / omega
    v = np.gradient(x, t)
    leaving = np.argmax((k * x + c * v < 0.0) & (t > 0.1 * pi / omega))
    # the method is of second order; contact begins and ends within a micro-step: 1e-5 s of 3.1e-3 s
    assert one.m.body[0].velocity[0] == pytest.approx(-v[leaving], rel=2e-3)
    lost = 0.5 * m * (1.0 - one.m.body[0].velocity[0] ** 2)
    assert one.m.audit.dissipated_contacts == pytest.approx(lost, rel=2e-3)


def test_an_elastic_bounce_returns_its_energy_with_the_square_of_the_micro_step() -> None:
    errors = []
    for micro_step in (1e-4, 2.5e-5):
        worst = 0.0
        for height in np.linspace(0.11, 0.1101, 5):
            one = ball(height=height, **{"parameters.stepping.micro_step": micro_step})
            before = balance(one)
            run(one, 0.03)
            assert one.m.contact[0].closed == 0.0
            worst = max(worst, abs(balance(one) - before))
        errors.append(worst)
    # a kick of up to k v h at the ends of contact moves the ball by v h: k (v h)^2
    assert errors[0] < 2e6 * 1e-4**2
    assert errors[1] < errors[0] / 8.0


def test_friction_of_a_sliding_ball_ends_in_rolling_with_five_sevenths_of_its_speed() -> None:
    one = ball(gravity=-9.81, height=0.1, fall=0.0, slide=1.0, damping=4000.0, friction=0.3)
    run(one, 0.25)
    body = one.m.body[0]
    assert one.m.sensor[0].closed == 1.0
    assert body.angular_velocity[2] * 0.1 == pytest.approx(5.0 / 7.0, rel=1e-9)
    speed = one.m.rotation[0].velocity
    assert speed[1] == pytest.approx(5.0 / 7.0, rel=1e-9)
    # what slides and what rolls: 1/2 m v^2 (1 - 5/7)
    assert one.m.audit.dissipated_contacts == pytest.approx(1.0 / 7.0 * 2.0, rel=1e-3)


SLOPE = """
name = "block"
gravity = [{down}, {along}, 0]
[bodies.block]
mass = 2.0
inertia = [0.01, 0.01, 0.01]
[joints.flight]
kind = "planar"
bodies = ["base", "block"]
axis = [0, 0, 1]
x.start = 0.04999019
[surfaces.floor]
body = "base"
plane = 9.0
axis = [-1, 0, 0]
[surfaces.left]
body = "block"
sphere = 0.02
point = [-0.03, -0.05, 0]
[surfaces.right]
body = "block"
sphere = 0.02
point = [-0.03, 0.05, 0]
[contacts.feet]
pairs = [["floor", "left"], ["floor", "right"]]
stiffness = 1e6
damping = 2000
friction = 0.4
"""


@pytest.mark.parametrize("slope", [0.35, 0.45])
def test_ruling_R39_friction_holds_a_block_below_its_limit_and_slides_it_above(slope: float) -> None:
    g = 9.81
    one = instance(SLOPE.format(down=-g, along=slope * g))
    place = next(c for c in one.m.coordinate if abs(c.position) < 1e-12)
    run(one, 0.1)
    before = place.rate
    run(one, 0.1)
    limit = 0.4 * one.m.contact[0].normal_force
    assert one.m.contact[0].pairs == 2.0
    if slope < 0.4:
        # it creeps with the speed at which the regularised friction holds it (ruling R24)
        assert abs(place.rate) < 2.5e-3
        assert one.m.contact[0].friction_force == pytest.approx(2.0 * g * slope, rel=1e-3)
    else:
        assert place.rate - before == pytest.approx((slope - 0.4) * g * 0.1, rel=1e-2)
        assert one.m.contact[0].friction_force <= limit * (1.0 + 1e-9)


RIG = """
name = "rig"
{gravity}
[bodies.a]
mass = 1.0
solid = {{ sphere = 0.1 }}
[bodies.b]
mass = 3.0
inertia = [0.02, 0.03, 0.04]
[joints.fly]
kind = "free"
bodies = ["base", "a"]
start = {{ position = {place} }}
[joints.arm]
kind = "spherical"
bodies = ["a", "b"]
points = [[0.3, 0, 0], [-0.3, 0.05, 0]]
[surfaces.one]
body = "{first}"
{one}
[surfaces.other]
body = "base"
{other}
[contacts.pair]
surfaces = ["one", "other"]
stiffness = 1e5
"""

PAIRS = {
    "ball in a stepped cone": ("sphere = 0.045", "profile = [[0, 0.5], [0.55, 0.047], [0.64, 0.047], [0.64, 0]]"),
    "ball over an edge circle": ("sphere = 0.045", "circle = [0.2, 0.3]"),
    "segment over an edge circle": ("segment = [[-0.1, 0, 0], [0.1, 0.02, 0]]\nradius = 0.01", "circle = [0.2, 0.3]"),
    "segment in a cone": ("segment = [[-0.1, 0, 0], [0.1, 0.02, 0]]", "cone = [0.5, 0.1, 0.4]"),
    "ball on a ring": ("sphere = 0.03", "section = [[0, 0.2], [0.05, 0.2], [0.05, 0.3], [0, 0.28]]"),
    "ball on a dome": ("sphere = 0.03", "section = [[0, 0], [0.1, 0], [0.05, 0.3], [0, 0.28]]"),
    "two capsules": (
        "segment = [[-0.1, 0, 0], [0.1, 0.02, 0]]\nradius = 0.02",
        "segment = [[0, -0.2, 0], [0, 0.3, 0.1]]\nradius = 0.03",
    ),
}  # fmt: skip


def rig(pair: str) -> Instance:
    one, other = PAIRS[pair]
    text = RIG.format(gravity="", place=[0, 0, 0], first="a", one=one, other=other)
    return instance(
        text.replace(
            "[surfaces.other]", "[surfaces.other]\naxis = [1, 0, 0]\n" if "segment" not in other else "[surfaces.other]"
        )
    )


def depth_and_force(one: Instance, place: np.ndarray) -> tuple[float, np.ndarray]:
    """Return the depth at a place of body a, and the force of the spring on it."""
    link = one.m.link[1]
    link.place[:] = place
    links.place(one.m.link, flex_of(one.m))
    links.move(one.m.link)
    detection.place_surfaces(one.m.link, one.m.surface, one.m.run)
    detection.detect(one.m.surface, one.m.face, one.m.pair, one.m.kind, one.m.tally, one.m.run)
    force, energy = np.zeros(3), 0.0
    for o in one.m.tally.contact[: int(one.m.tally.count)]:
        sign = -1.0 if int(o.link) == 0 else 1.0
        force += sign * o.gain * o.penetration * np.array(o.normal)
        energy += 0.5 * o.penetration**2
    return energy, force


@pytest.mark.parametrize("pair", PAIRS)
def test_ruling_R36_forces_are_the_gradient_of_their_energy_over_all_features(pair: str) -> None:
    """Then any closed path gives back its energy: over faces, edges, and both ends of segments."""
    one = rig(pair)
    rng = np.random.default_rng(5)
    touched, step = 0, 1e-7
    for _ in range(1500):
        # a segment through the rim of an open outline leaves it with a depth (ruling R57)
        place = rng.uniform((-0.1, -0.25, -0.25), (0.7, 0.25, 0.25))
        energy, force = depth_and_force(one, place)
        if not 0.0 < energy < 0.5 * 0.02**2:
            continue
        gradient, other = np.zeros(3), np.zeros(3)
        for k in range(3):
            shift = step * np.eye(3)[k]
            ahead, behind = (depth_and_force(one, place + sign * shift) for sign in (1.0, -1.0))
            gradient[k] = (behind[0] - ahead[0]) / (2.0 * step)
            other += np.abs(ahead[1] - behind[1])
        if other.max() > 1e-4:
            continue  # the normal jumps between two features here
        touched += 1
        np.testing.assert_allclose(force, gradient, atol=2e-7)
    assert touched > 10


@pytest.mark.parametrize("pair", PAIRS)
def test_the_depth_of_a_pair_is_continuous_along_random_paths(pair: str) -> None:
    one = rig(pair)
    rng = np.random.default_rng(8)
    worst, step, moved = 0.0, 2e-5, 0
    while moved < 8:
        place = rng.uniform((0.0, -0.4, -0.4), (0.6, 0.4, 0.4))
        if not 0.0 < depth_and_force(one, place)[0] < 0.5 * 0.01**2:
            continue
        moved += 1
        along = rng.normal(size=3)
        along *= step / np.linalg.norm(along)
        before = None
        for k in range(400):
            depth = sqrt(2.0 * depth_and_force(one, place + k * along)[0])
            if before is not None and max(depth, before) < 0.02:
                worst = max(worst, abs(depth - before))
            before = depth
    # two chains together change by at most sqrt 2 of the path
    assert worst < 1.5 * step


TWO = """
name = "pair"
[bodies.hub]
mass = 5.0
inertia = [0.1, 0.2, 0.3]
[bodies.finger]
mass = 1.0
inertia = [0.01, 0.02, 0.02]
[joints.fly]
kind = "free"
bodies = ["base", "hub"]
start = { velocity = [0.1, 0, 0], angular_velocity = [0.1, 0.2, 1.5] }
[joints.hinge]
kind = "revolute"
bodies = ["hub", "finger"]
points = [[0.2, 0, 0], [-0.2, 0, 0]]
angle = { rate = 2.0, start = -1.0 }
[surfaces.tip]
body = "finger"
sphere = 0.03
[surfaces.wall]
body = "hub"
plane = 1.0
point = [0, 0.1, 0]
axis = [0, 1, 0]
[contacts.knock]
surfaces = ["tip", "wall"]
stiffness = 1e5
damping = 100
friction = 0.4
"""


def test_contact_within_a_free_system_keeps_its_momentum() -> None:
    one = instance(TWO)
    audit = one.m.audit
    before, energy = np.hstack([audit.momentum, audit.angular_momentum]), balance(one)
    run(one, 0.8)
    assert audit.dissipated_contacts > 0.05
    after = np.hstack([audit.momentum, audit.angular_momentum])
    np.testing.assert_allclose(after, before, rtol=0.0, atol=1e-12 * np.abs(before).max())
    assert balance(one) == pytest.approx(energy, rel=2e-3)


def test_a_depth_beyond_its_limit_is_told_by_name() -> None:
    one = ball(fall=-20.0)
    with pytest.raises(ComponentError, match=r"contact bounce at t = .* s: the depth 0.01.* m exceeds its depth_limit"):
        run(one, 0.05)


PROBE = """
name = "probe"
base = "{base}"
[bodies.rod]
mass = 4.0
inertia = [0.01, 0.2, 0.2]
{joint}
[surfaces.head]
body = "rod"
sphere = 0.05
point = [0.3, 0, 0]
[surfaces.cone]
body = "target"
cone = [0.4, 0.1, 0.3]
[contacts.capture]
surfaces = ["head", "cone"]
stiffness = 5e4
damping = 100
friction = 0.2
[sensors.near]
gap = ["head", "cone"]
below = 0.02
"""
CARRIED = """
[joints.slide]
kind = "prismatic"
bodies = ["base", "rod"]
axis = [1, 0, 0]
displacement = { stiffness = 2e3, damping = 50 }
"""
FLYING = """
[joints.slide]
kind = "free"
bodies = ["base", "rod"]
start = { position = [-0.4, 0.2, 0.1], velocity = [0.5, 0, 0], angular_velocity = [0.1, 0, 0.2] }
"""


def test_the_target_gets_the_opposite_of_what_a_free_system_gets_about_every_point() -> None:
    common = np.array([7000.0, 1.0, -2.0])
    one = instance(
        PROBE.format(base="fixed", joint=FLYING.replace("velocity = [0.5, 0, 0]", "velocity = [7000.5, 1, -2]")),
        **{"target.position": (0.0, 0.0, 0.0), "target.velocity": common, "target.angular_velocity": (0.1, 0.0, 0.0)},
    )
    target, audit = one.m.target, one.m.audit
    impulse, turned, work, peak = np.zeros(3), np.zeros(3), 0.0, 0.0
    energy = balance(one) - audit.work_target
    momentum = np.hstack([audit.momentum, audit.angular_momentum])
    step = 1e-3
    for k in range(400):
        t = k * step
        angle = 0.1 * t
        target.position[:] = common * t
        target.quaternion[:] = (np.cos(0.5 * angle), np.sin(0.5 * angle), 0.0, 0.0)
        c, s = np.cos(angle), np.sin(angle)
        A = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
        target.velocity[:] = A @ common
        one.step(t, step)
        c, s = np.cos(angle + 0.05 * step), np.sin(angle + 0.05 * step)
        middle = np.array([[1, 0, 0], [0, c, s], [0, -s, c]])
        force = middle.T @ target.force
        impulse += step * force
        turned += step * (middle.T @ target.torque + np.cross(common * (t + 0.5 * step), force))
        work -= step * (force @ common + 0.1 * (middle.T @ target.torque)[0])
        peak = max(peak, one.m.load.compression)
        assert one.m.load.compression >= target.force[0] - 1e-9
    assert peak > 50.0
    after = np.hstack([audit.momentum, audit.angular_momentum])
    np.testing.assert_allclose(after[:3] - momentum[:3], -impulse, atol=1e-9)
    # the mean is about the moving origin of the port (ruling R48)
    np.testing.assert_allclose(after[3:] - momentum[3:], -turned, atol=1e-9 * np.abs(turned).max())
    assert audit.work_target == pytest.approx(work, rel=1e-9)
    assert balance(one) - audit.work_target == pytest.approx(energy, abs=2e-3)


def test_a_carried_mechanism_hands_on_the_whole_impulse_of_its_contact() -> None:
    """A base at rest gets what the target gives, but for the momentum that the rod keeps."""
    one = instance(PROBE.format(base="carried", joint=CARRIED), **{"target.position": (0.1, -0.1, 0.02)})
    m = one.m
    start = 0.1
    on_base, on_target = np.zeros(3), np.zeros(3)
    for k in range(500):
        t = k * 1e-3
        m.target.position[0] = start - 0.4 * t if t < 0.25 else start - 0.1 + 0.4 * (t - 0.25)
        m.target.velocity[0] = -0.4 if t < 0.25 else 0.4
        one.step(t, 1e-3)
        on_base += 1e-3 * m.base.force
        on_target += 1e-3 * m.target.force
    assert on_target[0] > 1.0
    np.testing.assert_allclose(on_base + on_target, -np.array(m.audit.momentum), atol=1e-9)


@pytest.mark.parametrize(("port", "words"), [("base", r"port 1 \(1 base"), ("target", r"port 2 \(.* 2 target")])
def test_a_port_whose_motion_is_no_number_is_told_by_its_number(port, words) -> None:
    one = instance(PROBE.format(base="carried", joint=CARRIED))
    for entry in ("position", "acceleration"):
        one.m[port][entry][0] = np.nan
        with pytest.raises(ComponentError, match=words):
            one.step(0.0, 1e-3)
        one.m[port][entry][0] = 0.0


LATCH = """
name = "latch"
[bodies.bolt]
mass = 1.0
inertia = [0.1, 0.1, 0.1]
[joints.slide]
kind = "prismatic"
bodies = ["base", "bolt"]
axis = [1, 0, 0]
displacement = { start = -0.2, rate = 1.0 }
[surfaces.tip]
body = "bolt"
sphere = 0.01
[surfaces.stop]
body = "base"
plane = 1.0
[contacts.end]
surfaces = ["tip", "stop"]
stiffness = 1e5
[sensors.end]
contact = "end"
[sensors.half]
joint = "slide"
above = -0.1
[locks.bolt]
joint = "slide"
close_when = ["end", "half"]
"""


def test_a_lock_closes_when_all_its_sensors_have_closed_and_opens_by_another() -> None:
    one = instance(LATCH)
    run(one, 0.15)
    assert (one.m.sensor[1].closed, one.m.lock[0].closed) == (1.0, 0.0)
    run(one, 0.06)
    assert one.m.lock[0].closed == one.m.lock[0].closings == 1.0
    # within two short micro-steps at 1 m/s from the plane
    assert -0.01 <= one.m.coordinate[0].position < -0.01 + 2.1e-4
    assert one.m.lock[0].loss == pytest.approx(0.5, rel=1e-2)
    opened = instance(
        LATCH.replace('close_when = ["end", "half"]', 'closed = true\nopen_when = "early"')
        + '[sensors.early]\ngap = ["tip", "stop"]\nabove = 0.1\n'
    )
    run(opened, 0.1)
    # closed at the start: at rest, and opened by the gap of 0.2 m
    assert opened.m.lock[0].closed == 0.0
    assert opened.m.sensor[2].value == pytest.approx(0.2)
