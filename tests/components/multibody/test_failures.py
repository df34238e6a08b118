"""A failed step names joint, time and value, and what to do: in process, in the FMU's log, and in the master."""

import numpy as np
import pytest

from dockfmu.components.core.component import ComponentError, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.random_models import interpreted

STEADY = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": 1e-3}


def failure(text: str, stop: float = 1.0, step: float = 0.05, **values: object) -> str:
    """Run a declaration until it fails; return what it says."""
    instance = Instance(interpreted(component_of(read_text(text))), **values)
    # what overflows warns in the interpreter
    with np.errstate(all="ignore"), pytest.raises(ComponentError) as found:
        _run(instance, stop, step)
    return str(found.value)


def _run(instance: Instance, stop: float, step: float) -> None:
    for k in range(round(stop / step)):
        instance.step(k * step, step)


GIMBAL = """
name = "gimbal"
[bodies.needle]
mass = 1
inertia = [0.0, 0.02, 0.02]
[joints.wrist]
kind = "universal"
bodies = ["base", "needle"]
angle_x = { rate = 0.1 }
[joints.wrist.angle_y.motion]
position = %g
rate = %.17g
"""


def test_a_joint_that_turns_into_a_singular_pose_is_named_with_time_and_value() -> None:
    """A needle that comes to lie along the first axis of its universal joint, after 0.4 s: nothing resists it."""
    # the middle of a micro-step of 1 ms is exactly there
    text = GIMBAL % (1.0, -1.0 / 0.4005)
    message = failure(text, **STEADY)
    assert message.startswith("gimbal, step at t = 0.4 s, h = 0.05 s: joint wrist.angle_x at t = 0.4005 s: it feels")
    assert "not a positive one, at a singular pose. Give what it carries an inertia about its axis" in message


def test_a_singular_pose_at_the_start_names_the_joint() -> None:
    told = r"joint wrist\.angle_x feels the inertia 0, .* start from another pose"
    with np.errstate(all="ignore"), pytest.raises(ComponentError, match=told):
        Instance(interpreted(component_of(read_text(GIMBAL % (0.0, 1.0)))))


STOP = """
name = "ram"
[bodies.ram]
mass = 100
[joints.slide]
kind = "prismatic"
bodies = ["base", "ram"]
displacement = { rate = 2.0, upper = 0.1, stop_stiffness = 1e4, stop_limit = 0.05 }
"""


def test_a_stop_that_is_exceeded_is_named_with_time_and_value() -> None:
    """100 kg at 2 m/s would go sqrt(m/k) v = 0.2 m beyond the stop; 0.05 m after 0.1/v + asin(0.05/0.2) sqrt(m/k)."""
    message = failure(STOP)
    assert "joint slide.displacement at t = 0.075" in message
    assert "it is 0.050" in message
    assert "m or rad beyond its stop, more than stop_limit; its stop_stiffness is too low for the impact" in message


FLAT = """
name = "flat"
[bodies.crank]
mass = 1
solid = { rod = 0.3 }
[bodies.coupler]
mass = 1
solid = { rod = 0.6 }
[bodies.rocker]
mass = 1
solid = { rod = 0.3 }
[joints.a]
kind = "revolute"
bodies = ["base", "crank"]
points = [[0, 0, 0], [-0.15, 0, 0]]
angle = { rate = 1.0 }
[joints.b]
kind = "revolute"
bodies = ["crank", "coupler"]
points = [[0.15, 0, 0], [-0.3, 0, 0]]
angle = { rate = -1.5 }
[joints.d]
kind = "revolute"
bodies = ["base", "rocker"]
points = [[0.6, 0, 0], [-0.15, 0, 0]]
angle = { rate = -1.0 }
[joints.c]
kind = "revolute"
bodies = ["coupler", "rocker"]
points = [[0.3, 0, 0], [0.15, 0, 0]]
cut = true
"""


def bent(crank: float, limit: str = "") -> str:
    """Return the parallelogram away from its flat pose, with a rate of its crank."""
    rates = {"rate = 1.0": crank, "rate = -1.5": -crank, "rate = -1.0": crank}
    text = FLAT + limit
    for (old, rate), start in zip(rates.items(), (0.7, -0.7, 0.7), strict=True):
        text = text.replace(f"angle = {{ {old} }}", f"angle = {{ start = {start}, rate = {rate} }}")
    return text


def test_a_loop_that_opens_is_named_with_time_and_value() -> None:
    """With micro-steps of 50 ms a crank at 30 rad/s cannot keep the loop closed to 1e-3."""
    long = {"parameters.stepping.micro_step": 0.05, "parameters.stepping.longest_micro_step": 0.05}
    message = failure(bent(30.0), **{**STEADY, **long})
    assert "joint c at t = " in message
    assert "the loop has opened by" in message
    assert "use a shorter parameters.stepping.longest_micro_step, or a larger closure_limit" in message
    # the limit is a key of the joint
    shorter = dict.fromkeys(long, 0.02)
    assert "more than the joint's closure_limit" in failure(bent(30.0, "closure_limit = 1e-6"), **{**STEADY, **shorter})


def test_a_change_of_rank_is_named_with_time_and_value() -> None:
    """A parallelogram that starts flat has a redundant constraint more there than where it moves to."""
    message = failure(FLAT)
    assert "joint c at t = " in message
    assert "a constraint that depended on others where the run began does not any more" in message
    assert "the pose at the start is singular, or prescribed and locked coordinates contradict the loop. " in message
    assert "Start from another pose" in message


BLOW_UP = """
name = "pair"
[bodies.one]
mass = 1e-3
[bodies.two]
mass = 1e-3
[joints.first]
kind = "prismatic"
bodies = ["base", "one"]
displacement = { start = 0.1 }
[joints.second]
kind = "prismatic"
bodies = ["one", "two"]
displacement = { start = 0.1 }
[springs.coil]
bodies = ["base", "two"]
stiffness = 1e9
points = [[0, 0, -1], [0, 0, 0]]
"""


def test_a_motion_without_bound_is_named_with_joint_time_and_rate() -> None:
    """An explicit spring whose period is far shorter than the micro-step: rates grow until they overflow."""
    message = failure(BLOW_UP, stop=50.0, step=0.5, **STEADY)
    assert "joint second.displacement at t = " in message
    assert "its acceleration is not finite, at the rate " in message
    assert "use a shorter parameters.stepping.longest_micro_step or micro_step" in message


CONTACT = """
name = "drop"
gravity = [0, 0, -9.81]
[bodies.ball]
mass = 10
[joints.rail]
kind = "prismatic"
bodies = ["base", "ball"]
displacement = { rate = -1.0, start = 0.2 }
[surfaces.tip]
body = "ball"
sphere = 0.05
[surfaces.floor]
body = "base"
plane = 1.0
axis = [0, 0, -1]
[contacts.bounce]
surfaces = ["tip", "floor"]
stiffness = 1e3
depth_limit = 0.02
"""


def test_a_depth_beyond_its_limit_is_named_with_contact_time_and_value() -> None:
    """10 kg at 1 m/s and more would sink in by 0.1 m and more."""
    message = failure(CONTACT)
    assert "contact bounce at t = 0.1" in message
    assert "the depth 0.02" in message
    assert "m exceeds its depth_limit; its stiffness is too low for the impact" in message


def test_inputs_that_are_not_finite_are_named() -> None:
    text = STOP + '[ports.tool]\nbody = "ram"\n'
    instance = Instance(interpreted(component_of(read_text(text))))
    instance.m.coordinate[0].drive = float("nan")
    with pytest.raises(ComponentError, match=r"joint slide\.displacement: the input drive = nan is not finite"):
        instance.step(0.0, 0.01)
    instance.m.coordinate[0].drive = 0.0
    instance.m.port[0].force[1] = float("inf")
    with pytest.raises(ComponentError, match="port tool: an input, force, torque or affine_mass, is not finite"):
        instance.step(0.0, 0.01)


def test_locks_change_which_constraints_are_independent() -> None:
    """A parallelogram with its crank locked, then its rocker too: the rank falls, and rises as they open again."""
    text = bent(0.0) + '[locks.one]\njoint = "a"\n[locks.two]\njoint = "d"\n'
    one = Instance(interpreted(component_of(read_text(text))))
    ranks = [(one.m.closure.rank, one.m.closure.freedoms)]
    for change in (("close", 0, 1.0), ("close", 1, 1.0), ("open", 0, 1.0), ("open", 1, 1.0)):
        name, lock, value = change
        setattr(one.m.lock[lock], name, value)
        one.step(0.0, 0.01)
        ranks.append((one.m.closure.rank, one.m.closure.freedoms))
    assert one.m.closure.equations == 5.0
    assert ranks == [(2, 1), (2, 0), (1, 0), (2, 0), (2, 1)]


SLED = """
name = "sled"
[bodies.cart]
mass = 2.0
inertia = [1.0, 1.0, 1.0]
[bodies.sled]
mass = 1.0
inertia = [1.0, 1.0, 1.0]
[joints.along]
kind = "prismatic"
bodies = ["base", "cart"]
axis = [1, 0, 0]
displacement = { MOTION }
[joints.across]
kind = "prismatic"
bodies = ["cart", "sled"]
axis = [0, 1, 0]
displacement = { rate = 0.5 }
[joints.edge]
kind = "knife_edge"
bodies = ["base", "sled"]
axis = [0.7071067811865476, -0.7071067811865476, 0]
cut = true
[locks.held]
joint = "across"
at = 0.23
"""


def test_a_lock_that_lets_an_edge_slip_is_named_with_time_and_rate() -> None:
    """Regression: the edge slipped in silence, and when the lock opened again the energy of the slip was lost.

    The sled moves at 45 degrees with a cart at 0.5 m/s until its lock closes at 0.46 s.
    """
    message = failure(SLED.replace("MOTION", "motion = { rate = 0.5 }"), **STEADY)
    assert "joint edge at t = 0.46" in message
    assert "what should roll, or not move across its edge, slips at 0.3536 m/s" in message
    # a cart that is free stops with the sled
    free = Instance(interpreted(component_of(read_text(SLED.replace("MOTION", "rate = 0.5")))), **STEADY)
    _run(free, 1.0, 0.05)
    assert free.m.lock[0].closed == 1.0
    assert abs(free.m.coordinate[0].rate) < 1e-9
