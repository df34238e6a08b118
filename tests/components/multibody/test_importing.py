"""Import of URDF and MJCF: the model equals MuJoCo's, and what is left out is said."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest

from dockfmu.cli import main
from dockfmu.components.multibody.analysis import Multibody, MultibodyState
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.importing import RobotError, declaration_text, read_robot
from dockfmu.components.multibody.importing.text import yaw_pitch_roll
from dockfmu.components.multibody.reference.articulated import articulated
from dockfmu.components.multibody.reference.graph_method import loads
from dockfmu.components.physics.mechanics.rotation import from_angles
from tests.components.multibody import robots
from tests.components.multibody.declared_models import motion_of
from tests.components.multibody.random_models import random_model

mujoco = pytest.importorskip("mujoco")

DESCRIPTIONS = {"arm.urdf": robots.ARM, "dog.xml": robots.QUADRUPED, "sat.xml": robots.SATELLITE}


@pytest.fixture(params=DESCRIPTIONS)
def robot(request, tmp_path):
    """The path of a description."""
    file = tmp_path / request.param
    file.write_text(DESCRIPTIONS[request.param])
    return file


def compiled(file):
    """Return MuJoCo's own model, without contacts, limits, friction and armature, which the declaration leaves out."""
    spec = mujoco.MjSpec.from_file(str(file))
    spec.compiler.fusestatic = False
    spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT)
    model = spec.compile()
    model.dof_armature[:] = 0.0
    model.dof_frictionloss[:] = 0.0
    return model


def random_state(system, model, rng):
    """Return a state of the imported system, and the same of MuJoCo: (q, u) and (qpos, qvel, places of the rates)."""
    q, u = system.start.q.copy(), rng.normal(size=len(system.rates))
    qpos, qvel, order = model.qpos0.copy(), np.zeros(model.nv), []
    for joint, here, rates in zip(
        system.model.tree, system.system.position_slices, system.system.rate_slices, strict=True
    ):
        if joint.kind == "fixed":
            continue
        index = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint.name)
        if index < 0:
            # the free joint without a name has that of its body
            index = int(model.body_jntadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, joint.name)])
        at, dof = int(model.jnt_qposadr[index]), int(model.jnt_dofadr[index])
        part = rng.uniform(-0.5, 0.5, size={"free": 7, "spherical": 4}.get(joint.kind, 1))
        if joint.kind in ("free", "spherical"):
            part[-4:] = part[-4:] / np.linalg.norm(part[-4:])
        q[here] = part
        qpos[at : at + len(part)] = part if len(part) > 1 else part + model.qpos0[at]
        size = rates.stop - rates.start
        qvel[dof : dof + size] = u[rates]
        order += range(dof, dof + size)
    return MultibodyState(q, u), qpos, qvel, order


def test_forward_dynamics_equal_those_of_mujoco(robot):
    """At random states, loops open on both sides: mass matrix and accelerations with springs and dampers, 1e-9."""
    rng = np.random.default_rng(0)
    imported, model = read_robot(robot), compiled(robot)
    model.eq_active0[:] = 0
    tree = replace(imported.model, joints=imported.model.tree)
    # the limits of the declaration are stiff stops, which are off here
    laws = tuple(replace(law, lower=-np.inf, upper=np.inf) for law in tree.laws)
    system = Multibody(replace(tree, laws=laws))
    state, qpos, qvel, order = random_state(system, model, rng)
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = qpos, qvel
    data.eq_active[:] = 0
    mujoco.mj_forward(model, data)
    full = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, full)
    A = system.mass_matrix(state)
    np.testing.assert_allclose(A, full[np.ix_(order, order)], rtol=0, atol=1e-12 * np.abs(full).max())
    found = system.forward_dynamics(state)
    np.testing.assert_allclose(found, data.qacc[order], rtol=0, atol=1e-9 * np.abs(found).max())
    for body in imported.model.bodies:
        k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body.name)
        if k >= 0:
            np.testing.assert_allclose(system.positions(state)[body.name], data.xipos[k], atol=1e-12)


def names_of(imported):
    return ["base", *(body.name for body in imported.model.bodies)]


def test_constraint_becomes_a_cut_joint(tmp_path):
    """In the limit of stiff constraints MuJoCo has the same accelerations, to 1e-4, and constraint force, to 1e-3."""
    file = tmp_path / "sat.xml"
    file.write_text(robots.SATELLITE)
    imported = read_robot(file)
    (cut,) = imported.model.cuts
    assert (cut.name, cut.kind, cut.predecessor, cut.successor) == ("tip", "spherical", "strut", "boom")
    system = Multibody(imported.model)
    state = system.state(rates={"root.angle": 0.4, "pin.angle": 0.0})
    assert system.freedoms(state).number == 6 + 2 + 1 + 3 - 3
    model = compiled(file)
    for equality in range(model.neq):
        model.eq_solref[equality] = 1e-4, 1.0
        model.eq_solimp[equality] = 0.99999, 0.99999, 0.001, 0.5, 2.0
    model.eq_active0[2] = 0
    model.opt.timestep, model.opt.tolerance, model.opt.iterations = 1e-6, 0.0, 500
    data = mujoco.MjData(model)
    mujoco.mj_resetData(model, data)
    data.eq_active[2] = 0
    data.qvel[6] = 0.4
    mujoco.mj_forward(model, data)
    found = system.forward_dynamics(state)
    np.testing.assert_allclose(found, data.qacc, rtol=0, atol=1e-4 * np.abs(found).max())
    # the force of the constraint, in axes of the base on both sides: the frame of the ball joint is that of the strut
    motion = motion_of(system, state)
    force = motion.A[names_of(imported).index("strut")] @ system.reactions(state)["tip"].force
    np.testing.assert_allclose(-force, data.efc_force[:3], rtol=0, atol=1e-3 * np.abs(force).max())


def test_what_is_left_out_is_said(tmp_path):
    for name, text in DESCRIPTIONS.items():
        (tmp_path / name).write_text(text)
    said = "\n".join(read_robot(tmp_path / "arm.urdf").left_out)
    for part in ("<mimic> of 1 joints", "frictionloss 0.2 of joint shoulder", "body camera at the end of a chain"):
        assert part in said
    said = "\n".join(read_robot(tmp_path / "dog.xml").left_out)
    for part in (
        "armature 0.01 of joint hip0",
        "geometries that touch",
        "2 actuators",
        "(drive)",
        "1 sensors",
        "1 keyframes (stand)",
    ):
        assert part in said, part
    said = "\n".join(read_robot(tmp_path / "sat.xml").left_out)
    assert "equality hold: not active at the start" in said
    assert "neither connect nor weld" in said


def test_names_become_identifiers(tmp_path):
    file = tmp_path / "sat.xml"
    file.write_text(robots.SATELLITE)
    assert {"panel_1", "panel_2"} < {body.name for body in read_robot(file).model.bodies}


def test_a_file_that_is_no_robot_is_refused(tmp_path):
    file = tmp_path / "robot.urdf"
    file.write_text("<robot")
    with pytest.raises(RobotError, match=r"robot\.urdf: .*"):
        read_robot(file)
    with pytest.raises(RobotError, match=r"nothing\.xml"):
        read_robot(tmp_path / "nothing.xml")


COUNTS = {
    "replicate": '<replicate count="2000000" offset="1 0 0"><body><geom size="1"/></body></replicate>',
    "nested": '<replicate count="200"><replicate count="200"><body><geom size="1"/></body></replicate></replicate>',
    "composite": '<body><composite type="cable" count="100000 1 1" offset="0 0 1" size="1" initial="none"/></body>',
    "self": '<include file="robot.xml"/><replicate count="1e9"><body/></replicate>',
}


@pytest.mark.parametrize("kind", COUNTS)
def test_elements_that_stand_for_too_many_are_refused(tmp_path, kind):
    """Regression: two million bodies took all memory, and neither Ctrl-C nor a request to terminate ended it."""
    file = tmp_path / "robot.xml"
    file.write_text(f"<mujoco><worldbody>{COUNTS[kind]}</worldbody></mujoco>")
    with pytest.raises(RobotError, match=r"robot\.xml: its elements stand for more than 10000 copies"):
        read_robot(file)
    (tmp_path / "other.xml").write_text('<mujoco><include file="robot.xml"/></mujoco>')
    with pytest.raises(RobotError, match="10000 copies"):
        read_robot(tmp_path / "other.xml")


def test_a_few_copies_are_read(tmp_path):
    file = tmp_path / "robot.xml"
    body = '<body><joint/><geom size="1" mass="1"/></body>'
    copies = "".join(f'<replicate count="{count}">{body}</replicate>' for count in (70, 80))
    file.write_text(f"<mujoco><worldbody>{copies}</worldbody></mujoco>")
    assert len(read_robot(file).model.bodies) == 150


def test_a_description_whose_declaration_would_be_refused_writes_none(tmp_path, capsys):
    """Regression: MuJoCo takes a negative damping, a declaration does not."""
    file, out = tmp_path / "robot.urdf", tmp_path / "out.toml"
    assert '<dynamics damping="' in robots.ARM
    file.write_text(robots.ARM.replace('<dynamics damping="', '<dynamics damping="-'))
    assert main(["import", str(file), "-o", str(out)]) == 2
    assert "damping = -" in capsys.readouterr().err
    assert not out.exists()


def test_warnings_of_mujoco_are_told_and_leave_no_file(tmp_path, monkeypatch):
    """Regression: MUJOCO_LOG.TXT in the current folder."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><worldbody><body><joint frictionloss="NaN"/><geom size="1" mass="1"/></body></worldbody></mujoco>'
    )
    assert any("MuJoCo warns: XML contains a 'NaN'" in sentence for sentence in read_robot(file).left_out)
    assert [path.name for path in tmp_path.iterdir()] == ["robot.xml"]


def test_control_characters_in_the_name_of_a_file_make_no_toml(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "a\n[run]\x1b\x0bstop = 1 #.xml"
    file.write_text(robots.SATELLITE)
    assert main(["import", str(file), "-o", "out.toml", "--name", "sat"]) == 0
    assert "run" not in tomllib.loads((tmp_path / "out.toml").read_text())


def test_impossible_inertias_are_refused_all_at_once_not_balanced(tmp_path):
    """Public robots have several; MuJoCo names the first, and an option that the import does not follow."""
    file = tmp_path / "one.xml"
    bodies = {"b": 'diaginertia="1 1 3"', "fine": 'diaginertia="1 1 1.5"', "c": 'fullinertia="1 1 1 1 1 1"'}
    file.write_text(
        '<mujoco><compiler balanceinertia="true"/><worldbody>'
        + "".join(
            f'<body name="{name}"><joint/><inertial pos="0 0 0" mass="1" {inertia}/></body>'
            for name, inertia in bodies.items()
        )
        + "</worldbody></mujoco>"
    )
    with pytest.raises(RobotError, match=r"one\.xml: .*: b \(1, 1, 3\), c \(.*, 3\)\. .* correct") as caught:
        read_robot(file)
    assert "balanceinertia" not in str(caught.value)
    assert "fine" not in str(caught.value)


def urdf(file, tip, joint="revolute"):
    """Return a file with a robot of one arm, and a tip whose contents are given on it."""
    file.write_text(
        f"""<?xml version="1.0"?><!-- not <mujoco> --><robot name="r"><link name="base"/><link name="arm"><inertial>
        <mass value="2"/><inertia ixx="0" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="swing" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
        <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
        <link name="tip">{tip}</link><joint name="end" type="{joint}"><parent link="arm"/><child link="tip"/>
        <origin xyz="1 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    )
    return file


BALL = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'


def test_a_link_without_inertial_has_no_mass(tmp_path):
    """URDF says so, and Pinocchio too; MuJoCo gave it that of its collision geometry, here 4.2 kg."""
    imported = read_robot(urdf(tmp_path / "r.urdf", BALL, "fixed"))
    assert sum(body.mass for body in imported.model.bodies) == 2.0
    assert "body tip at the end of a chain, which has no mass" in imported.left_out
    with pytest.raises(RobotError, match=r"tip.*give the body that moves"):
        read_robot(urdf(tmp_path / "r.urdf", BALL))


def test_a_rod_has_its_inertia(tmp_path):
    """A principal moment of zero is that of a rod: MuJoCo refused it."""
    (arm,) = (body for body in read_robot(urdf(tmp_path / "r.urdf", "", "fixed")).model.bodies if body.name == "arm")
    np.testing.assert_allclose(arm.inertia, np.diag([0.0, 0.01, 0.01]), rtol=0, atol=1e-12)


def test_an_inertia_that_is_left_out_is_told(tmp_path):
    """A foot of mass 0 with an inertia, as a public robot has."""
    foot = '<inertial><mass value="0"/><inertia ixx="2e-7" iyy="3e-7" izz="3e-7" ixy="0" ixz="0" iyz="0"/></inertial>'
    left_out = read_robot(urdf(tmp_path / "r.urdf", foot, "fixed")).left_out
    assert "body tip at the end of a chain, which has no mass, with its inertia of up to 3e-07 kg m2" in left_out


def test_meshes_whose_files_are_missing_are_left_out(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(robots.ARM.replace("visual>", "collision>"))
    imported = read_robot(file)
    assert "1 meshes whose files were not found, with 1 geometries" in imported.left_out
    assert {body.name for body in imported.model.bodies} == {"base_link", "upper_arm", "forearm", "wrist", "finger"}


BODIES = """<body name="b"><joint/><geom size="1" material="m" mass="2"/></body>
    <body name="c"><joint/><geom size="1" mass="2"/><geom type="mesh" mesh="mesh"/></body>"""


def test_textures_and_skins_whose_files_are_missing_are_left_out(tmp_path):
    """They have no mass: the walkers of dm_control were refused for them."""
    file = tmp_path / "robot.xml"
    assets = '<texture name="t" type="2d" file="no.png"/><material name="m" texture="t"/><skin name="s" file="no.skn"/>'
    bodies = BODIES.replace('<geom type="mesh" mesh="mesh"/>', "")
    file.write_text(f"<mujoco><asset>{assets}</asset><worldbody>{bodies}</worldbody></mujoco>")
    imported = read_robot(file)
    assert [body.mass for body in imported.model.bodies] == [2.0, 2.0]
    assert "textures and skins, of which files were not found" in imported.left_out


def test_the_mass_of_missing_meshes_is_told(tmp_path):
    """Bodies without inertia of their own have that of their geometries."""
    file = tmp_path / "robot.xml"
    assets = '<mesh name="mesh" file="no.obj"/><material name="m"/>'
    file.write_text(f"<mujoco><asset>{assets}</asset><worldbody>{BODIES}</worldbody></mujoco>")
    left_out = read_robot(file).left_out
    assert "1 meshes whose files were not found, with 1 geometries" in left_out
    assert "mass of these geometries, of bodies without inertia of their own: c" in left_out
    file.write_text(file.read_text().replace('<geom size="1" mass="2"/>', ""))
    with pytest.raises(RobotError, match=r"mass and inertia of moving bodies.*left out: 1 meshes"):
        read_robot(file)


def test_the_declaration_of_an_imported_robot_reads_back(robot):
    """Numbers have twelve digits: mass matrix and accelerations to 1e-9 of their size."""
    imported = read_robot(robot)
    text = declaration_text(imported.model, comments=imported.left_out, assumed=imported.assumed)
    read, expected = Multibody(read_text(text).model), Multibody(imported.model)
    assert read.coordinates == expected.coordinates
    np.testing.assert_allclose(read.start.q, expected.start.q, atol=1e-11)
    A = expected.mass_matrix()
    np.testing.assert_allclose(read.mass_matrix(), A, rtol=0, atol=1e-10 * np.abs(A).max())
    a = expected.forward_dynamics()
    np.testing.assert_allclose(read.forward_dynamics(), a, rtol=0, atol=1e-9 * max(1.0, np.abs(a).max()))


@pytest.mark.parametrize("seed", range(8))
def test_the_text_of_any_model_reads_back(seed):
    """All kinds of joints with random frames: the same motion of the bodies, in coordinates of the declared frames."""
    model = random_model(seed, 8, reverse=0.5)
    accelerations = []
    for system in (Multibody(model), Multibody(read_text(declaration_text(model)).model)):
        motion = motion_of(system)
        _, a, e = articulated(motion, loads(system.system, model.gravity))
        accelerations.append(np.hstack((motion.r[1:], motion.v[1:], a, e)))
    expected, read = accelerations
    np.testing.assert_allclose(read, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("pitch", [0.3, np.pi / 2, -np.pi / 2, np.pi / 2 - 1e-9])
def test_angles_of_an_attitude_are_exact(pitch):
    A = np.array(from_angles(0.7, pitch, -1.1))
    np.testing.assert_allclose(from_angles(*yaw_pitch_roll(A)), A, atol=1e-15)


def test_the_command_writes_a_declaration_and_lists_what_is_left_out(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "dog.xml"
    file.write_text(robots.QUADRUPED)
    assert main(["import", str(file), "--name", "Dog"]) == 0
    out, err = capsys.readouterr()
    # the trunk, four legs of two bodies with a frame without mass between two hinges, the head
    assert out == "dog.toml: 14 bodies, 14 joints\n"
    assert "left out:\n" in err
    text = (tmp_path / "dog.toml").read_text()
    content = tomllib.loads(text)
    assert content["name"] == "Dog"
    assert content["joints"]["hip0"]["angle"]["upper"] == 1.2
    assert "1 keyframes (stand)" in text
    assert "# assumed: the limit has no stiffness" in text
    assert main(["import", str(tmp_path / "cat.xml")]) == 2
    assert "cat.xml" in capsys.readouterr().err


def test_fluid_weight_compensation_and_nonlinear_springs_are_said(tmp_path):
    file = tmp_path / "one.xml"
    file.write_text(
        '<mujoco><option density="1"/><worldbody><body gravcomp="1"><joint name="j" stiffness="2 3"/>'
        '<geom size="1"/></body></worldbody></mujoco>'
    )
    said = read_robot(file).left_out
    assert "1 bodies whose weight is compensated: they have weight here" in said
    assert "1 fluid with drag" in said
    assert "nonlinear spring or damper of joint j: only its linear part is taken" in said


def test_a_keyframe_is_the_start(tmp_path):
    """Hinges with a reference, a ball and a free joint: the bodies are where MuJoCo has them."""
    file = tmp_path / "dog.xml"
    model = mujoco.MjModel.from_xml_string(robots.QUADRUPED)
    rng = np.random.default_rng(4)
    qpos = rng.uniform(-0.5, 0.5, size=model.nq)
    text = " ".join(map(str, qpos))
    file.write_text(robots.QUADRUPED.replace('<key name="stand"/>', f'<key name="stand" qpos="{text}"/>'))
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    mujoco.mj_forward(model, data)
    system = Multibody(read_robot(file, pose="stand").model)
    for name, place in system.positions().items():
        k = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
        if k >= 0:
            np.testing.assert_allclose(place, data.xipos[k], atol=1e-12)
    with pytest.raises(RobotError, match=r"there is no keyframe stend; did you mean stand\?"):
        read_robot(file, pose="stend")
