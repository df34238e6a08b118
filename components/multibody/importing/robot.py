"""Read URDF or MJCF by MuJoCo's compiler, as a model of a multibody system."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dockfmu.base.errors import DockfmuError
from dockfmu.base.extras import load_extra
from dockfmu.base.given_files import read_text, unreadable
from dockfmu.base.names import did_you_mean
from dockfmu.components.multibody.importing.inertias import impossible, keep_given, listed
from dockfmu.components.multibody.importing.parts import constraints, elements_left_out, forces, in_pose, joint_chain
from dockfmu.components.multibody.importing.repeats import MOST, most_copies
from dockfmu.components.multibody.model import BASE, CoordinateLaw, Model, MultibodyJoint, PointSpring, RigidBody
from dockfmu.components.multibody.reference.algebra import rotation_of


class RobotError(DockfmuError, ValueError):
    """A robot description cannot be read."""


@dataclass(frozen=True)
class ImportedRobot:
    """A model from a robot description, and what it does not have of it.

    Attributes
    ----------
    left_out : tuple of str
        One sentence for each kind of element that the model does not have.
    assumed : mapping of str to str
        Reasons for values that the description does not give, by "joint.key".
    """

    model: Model
    left_out: tuple[str, ...]
    assumed: dict[str, str]


class Names:
    """Names of an imported model: letters, digits and underscores, each once."""

    def __init__(self) -> None:
        self.used = {BASE}

    def new(self, wanted: str, otherwise: str) -> str:
        """Return a name near the one wanted."""
        name = re.sub(r"\W", "_", wanted, flags=re.ASCII) or otherwise
        if not name.isidentifier():
            name = f"{otherwise}_{name}"
        number, found = 2, name
        while found in self.used:
            found, number = f"{name}_{number}", number + 1
        self.used.add(found)
        return found


def read_robot(file: Path, name: str = "", pose: str = "") -> ImportedRobot:
    """Return the model of a URDF or MJCF file, in the pose of one of its keyframes if it is named.

    Raises
    ------
    MissingPackageError
        If MuJoCo is not installed.
    RobotError
        If MuJoCo cannot read the file, or finds no such keyframe in it.
    """
    mujoco = load_extra("mujoco", "the import of URDF and MJCF", "import")
    text = _text(file)
    if most_copies(text, file.parent) > MOST:
        raise RobotError(f"{file}: its elements stand for more than {MOST} copies: write out those that are needed")
    left_out: list[str] = []
    with _warnings(mujoco, left_out):
        compiled = _compiled(mujoco, file, text, left_out)
    left_out += _mimics(text)
    positions = _positions(compiled, file, pose) if pose else compiled.qpos0
    return _model(mujoco, compiled, name or Names().new(file.stem, "robot"), left_out, positions)


@contextmanager
def _warnings(mujoco: Any, left_out: list[str]) -> Iterator[None]:
    """Add what MuJoCo warns of, which it would write to a file in the current folder."""
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: left_out.append(f"MuJoCo warns: {text}"))
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(before)


def _positions(compiled: Any, file: Path, pose: str) -> np.ndarray:
    names = [compiled.key(k).name for k in range(compiled.nkey)]
    if pose not in names:
        raise RobotError(f"{file}: there is no keyframe {pose}{did_you_mean(pose, names)}; it has {len(names)}")
    return np.array(compiled.key_qpos[names.index(pose)])


def _text(file: Path) -> str:
    try:
        return read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise RobotError(f"{file}: {unreadable(error)}") from error


def _mimics(text: str) -> list[str]:
    count = len(re.findall(r"<mimic\b", text))
    return [f"<mimic> of {count} joints: they move independently; couple them or fix them"] if count else []


def _compiled(mujoco: Any, file: Path, text: str, left_out: list[str]) -> Any:
    """Return the compiled model; what files are missing for is left out: appearance, or meshes with their geoms too."""
    told: list[str] = []
    try:
        spec = mujoco.MjSpec.from_file(str(file))
        if spec.compiler.balanceinertia:
            left_out.append("balanceinertia: inertias are as given, not altered")
        problem = impossible(spec)
        if problem:
            raise RobotError(f"{file}: {problem}")
        compiled = None
        for parts in ((), (_without_appearance,), (_without_appearance, _without_meshes)):
            spec = _specification(mujoco, file, text)
            told = [sentence for without in parts for sentence in without(spec)]
            try:
                compiled = spec.compile()
                break
            except ValueError as error:
                if len(parts) == 2 or "rror opening file" not in str(error):
                    raise
    except (ValueError, RuntimeError) as error:
        if isinstance(error, RobotError):
            raise
        message = " ".join(str(error).split())
        if "mjMINVAL" in message:
            message += "; give the body that moves, or one fixed to it, a mass and an inertia, or fix its joint"
            message += "".join(f"; left out: {sentence}" for sentence in told)
        raise RobotError(f"{file}: {message}") from error
    left_out += told
    return compiled


def _specification(mujoco: Any, file: Path, text: str) -> Any:
    """Return what MuJoCo reads; static bodies keep their names, and no body of URDF gets the mass of a geometry."""
    spec = mujoco.MjSpec.from_file(str(file))
    spec.compiler.fusestatic = False
    spec.compiler.balanceinertia = False
    keep_given(mujoco, spec, text)
    return spec


def _without_appearance(spec: Any) -> list[str]:
    """Leave out textures, materials and skins, which have no mass. Returns what to tell."""
    shown = len(spec.skins) + sum(bool(texture.file) for texture in spec.textures)
    spec.compiler.discardvisual = True
    for skin in list(spec.skins):
        spec.delete(skin)
    return ["textures and skins, of which files were not found"] if shown else []


def _without_meshes(spec: Any) -> list[str]:
    """Leave out meshes and height fields with their geometries. Returns what to tell."""
    bare = [geom for geom in spec.geoms if geom.meshname or geom.hfieldname]
    massive = {geom.parent.name for geom in bare if not geom.parent.explicitinertial and geom.parent.name != "world"}
    told = [f"{len(spec.meshes)} meshes whose files were not found, with {len(bare)} geometries"]
    if massive and spec.compiler.inertiafromgeom.value:
        told.append(f"mass of these geometries, of bodies without inertia of their own: {listed(sorted(massive))}")
    for geom in bare:
        spec.delete(geom)
    for mesh in [*spec.meshes, *spec.hfields]:
        spec.delete(mesh)
    return told


def _model(mujoco: Any, compiled: Any, name: str, left_out: list[str], positions: np.ndarray) -> ImportedRobot:
    names, joint_names = Names(), Names()
    of_body = {0: BASE}
    bodies: list[RigidBody] = []
    joints: list[MultibodyJoint] = []
    laws: list[CoordinateLaw] = []
    assumed: dict[str, str] = {}
    data = mujoco.MjData(compiled)
    mujoco.mj_forward(compiled, data)
    for k in range(1, compiled.nbody):
        of_body[k] = names.new(compiled.body(k).name, "body")
        R = rotation_of(compiled.body_iquat[k])
        inertia = R @ np.diag(compiled.body_inertia[k]) @ R.T
        chain = joint_chain(mujoco, compiled, k, of_body, names, joint_names)
        bodies += [RigidBody(between, 0.0) for between in chain.between]
        bodies.append(
            RigidBody(
                of_body[k],
                float(compiled.body_mass[k]),
                _vector(compiled.body_ipos[k]),
                tuple(_vector(row) for row in 0.5 * (inertia + inertia.T)),  # type: ignore[arg-type]
            )
        )
        placed = {made.name: in_pose(compiled, index, made, positions) for index, made in chain.indices}
        joints += [placed.get(made.name, made) for made in chain.joints]
        for index, made in chain.indices:
            law, reasons = forces(compiled, data, index, made, left_out)
            laws += law
            assumed |= reasons
    cuts = constraints(mujoco, compiled, of_body, joint_names, left_out)
    left_out += elements_left_out(compiled)
    model = Model(name, tuple(bodies), (*joints, *cuts), tuple(laws), gravity=_vector(compiled.opt.gravity))
    return ImportedRobot(_without_empty_leaves(model, left_out), tuple(_counted(left_out)), assumed)


def _vector(values: Sequence[float]) -> Any:
    return tuple(float(value) for value in values)


def _without_empty_leaves(model: Model, left_out: list[str]) -> Model:
    """Return the model without bodies at the ends of chains that have no mass: frames of tools, cameras and the like.

    Their places are listed. A body that a cut joint or a spring needs stays.
    """
    while True:
        used = Counter(body for joint in model.joints for body in (joint.predecessor, joint.successor))
        held = {end for spring in model.springs for end in _spring_ends(spring)}
        held |= {end for joint in model.cuts for end in (joint.predecessor, joint.successor)}
        empty = {b.name for b in model.bodies if b.mass == 0.0 and used[b.name] == 1 and b.name not in held}
        if not empty:
            return model
        lost = {joint.name for joint in model.joints if joint.successor in empty}
        left_out += [
            f"body {b.name} at the end of a chain, which has no mass{_lost_inertia(b)}"
            for b in sorted(model.bodies, key=lambda b: b.name)
            if b.name in empty
        ]
        model = replace(
            model,
            bodies=tuple(body for body in model.bodies if body.name not in empty),
            joints=tuple(joint for joint in model.joints if joint.name not in lost),
            laws=tuple(law for law in model.laws if law.joint not in lost),
        )


def _lost_inertia(body: RigidBody) -> str:
    largest = float(np.abs(body.inertia).max())
    return f", with its inertia of up to {largest:.3g} kg m2" if largest > 0.0 else ""


def _spring_ends(spring: PointSpring) -> tuple[str, str]:
    return spring.first, spring.second


def _counted(sentences: Sequence[str]) -> list[str]:
    """Return the sentences once each, in their order."""
    return list(dict.fromkeys(sentences))
