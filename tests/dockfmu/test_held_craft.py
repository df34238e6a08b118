"""The audit of what stands still in I or has weight: energy alone, because what holds or pulls it takes up momentum."""

import pytest

from dockfmu.components.core.ports import BASE_MOTION
from dockfmu.declare import declaration
from dockfmu.declare.base_motion import check_base_motion
from dockfmu.declare.packages.unbuilt import on_paper
from dockfmu.master.errors import StructureError
from dockfmu.watch.audit import audit


@pytest.mark.parametrize("system", ["central_impact_20t", "atv_probe_cone"])
def test_momenta_are_not_balanced_if_a_craft_stands_still(system, tmp_path):
    declared = declaration.read(system)
    structure, _ = on_paper(declared, tmp_path)
    free = audit(structure, declared.plan)
    assert all(free.momenta.values())
    structure.elements["station"].start["parameters.fixed"] = True
    held = audit(structure, declared.plan)
    assert not any(held.momenta.values())
    assert held.kinetic == free.kinetic
    assert held.dissipated == free.dissipated


HINGE = '[joints.root]\nkind = "revolute"\nbodies = ["base", "arm"]\n'
FLIGHT = '[joints.root]\nkind = "free"\nbodies = ["base", "arm"]\n'


@pytest.mark.parametrize(
    ("held", "more"),
    [
        (False, FLIGHT),
        (True, HINGE),
        (True, FLIGHT + '[springs.rope]\nbodies = ["arm", "base"]\npoints = [[0, 0, 0], [1, 0, 0]]\nstiffness = 3\n'),
        (True, FLIGHT + '[locks.hold]\njoint = "root"\nclosed = true\n'),
    ],
)
def test_momenta_are_not_balanced_if_what_stands_still_holds_a_declared_system(held, more, tmp_path):
    """Regression: an arm on a fixed base was told that its elements do not receive the impulses that others felt."""
    assert any(balance_of_robot(0.0, more, tmp_path).momenta.values()) != held


@pytest.mark.parametrize("gravity", [0.0, -9.81])
def test_momenta_are_not_balanced_in_a_field_of_gravity(gravity, tmp_path):
    """Regression: a falling robot was told that its elements do not receive the impulses that others felt."""
    balance = balance_of_robot(gravity, FLIGHT, tmp_path)
    assert any(balance.momenta.values()) == (gravity == 0.0)
    assert balance.kinetic == ("robot.audit.kinetic_energy",)


def test_ruling_R38_a_declared_craft_and_its_mechanism_must_agree_on_the_base_motion(tmp_path):
    """The port of the craft alone is told of AFFINE."""
    (tmp_path / "hull.toml").write_text(
        f'name = "hull"\n[bodies.arm]\nmass = 2\ninertia = [0.3, 0.4, 0.5]\n{FLIGHT}[ports.tip]\nbody = "arm"\n',
        encoding="utf-8",
    )
    (tmp_path / "tool.toml").write_text(
        f'name = "tool"\nbase = "carried"\n[bodies.arm]\nmass = 2\ninertia = [0.3, 0.4, 0.5]\n{HINGE}',
        encoding="utf-8",
    )
    (tmp_path / "both.toml").write_text(
        'name = "both"\n[elements.hull]\ncomponent = "multibody"\nmodel = "hull.toml"\n[elements.tool]\n'
        'component = "multibody"\nmodel = "tool.toml"\n[[connections]]\nports = ["hull.tip", "tool.base"]\n'
        "[run]\nstop = 1.0\nstep = 0.01\n",
        encoding="utf-8",
    )
    structure, _ = on_paper(declaration.read(str(tmp_path / "both.toml")), tmp_path)
    check_base_motion(structure)
    structure.elements["hull"].start["parameters.port.tip.base_motion"] = BASE_MOTION.codes["AFFINE"]
    with pytest.raises(StructureError, match=r"hull\.parameters\.port\.tip\.base_motion = AFFINE, but tool\.param"):
        check_base_motion(structure)


def balance_of_robot(gravity, joints, tmp_path):
    """Return the balance of a system of one declared body."""
    (tmp_path / "robot.toml").write_text(
        f'name = "robot"\ngravity = [0, 0, {gravity}]\n[bodies.arm]\nmass = 2\ninertia = [0.3, 0.4, 0.5]\n{joints}',
        encoding="utf-8",
    )
    (tmp_path / "fall.toml").write_text(
        'name = "fall"\n[elements.robot]\ncomponent = "multibody"\nmodel = "robot.toml"\n'
        '[run]\nstop = 1.0\nstep = 0.01\n[audit]\nelements = ["robot"]\n',
        encoding="utf-8",
    )
    declared = declaration.read(str(tmp_path / "fall.toml"))
    structure, _ = on_paper(declared, tmp_path)
    return audit(structure, declared.plan)
