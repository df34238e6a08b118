"""A declared model does what every component does: one model of each kind, each built once for all tests.

The chain of equality, with the pythonfmu flavour, is `tests/test_equality.py`.
"""

import ctypes
import json
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dockfmu
from dockfmu import fmus
from dockfmu.base.scene import FILE
from dockfmu.components.multibody import component
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import read_text
from dockfmu.components.multibody.model import Model
from dockfmu.fmus.check import validate
from dockfmu.fmus.toolchain.libraries import FUNCTIONS, read_macho, read_pe
from dockfmu.fmus.toolchain.targets import TARGETS
from dockfmu.master.system import Structure
from dockfmu.swap.interface import check_swap
from dockfmu.view.scenes import scenes_of
from tests.fmus.library import OK, Instance, Library

pytestmark = pytest.mark.slow

HERE = Path(__file__).parent
MODELS = Path(__file__).parents[3] / "components" / "multibody" / "models"
STEP = 0.01


@dataclass(frozen=True)
class Kind:
    """A declared model: its file, what moves it, and what is asked of it."""

    file: Path
    inputs: dict[str, float]
    varied: str
    platform: str
    resting: dict[str, Any] = field(default_factory=dict)
    start: dict[str, Any] = field(default_factory=dict)


# rest in equilibrium, for linear models
STILL = {
    "parameters.joint.flight.velocity": (0.0, 0.0, 0.0),
    "parameters.joint.flight.angular_velocity": (0.0, 0.0, 0.0),
}
KINDS = {
    "free craft": Kind(
        MODELS / "solar_array.toml",
        {"dock.force[1]": 3.0, "dock.torque[2]": -1.0, "joint.root.angle.drive": 0.2},
        "parameters.body.hull.mass",
        "win64",
    ),
    "between two craft, with contacts": Kind(
        MODELS / "small_probe.toml",
        {"base.velocity[1]": 0.05, "target.acceleration[1]": -0.1},
        "parameters.contact.head.stiffness",
        "darwin64",
        {f"parameters.joint.hinge{k}.angle.rest": 0.69 for k in (1, 2, 3)},
        # the head 0.3 mm deep in the cone
        {"target.position": (0.22, 0.0169, 0.0), "target.velocity[1]": -0.02},
    ),
    "closed chain": Kind(
        HERE / "ring.toml",
        {"joint.one.angle.drive": 0.5},
        "parameters.body.bar.mass",
        "aarch64-darwin",
        {**STILL, "parameters.joint.one.angle.start_rate": 0.0, "parameters.joint.two.angle.start_rate": 0.0},
    ),
    "elements": Kind(
        HERE / "mixed.toml",
        {"tip.force[2]": 4.0, "drive.shoulder.command": 0.4, "drive.spindle.command": 1.0},
        "parameters.drive.shoulder.gear_stiffness",
        "win64",
    ),
}


@dataclass(frozen=True)
class Built:
    """A kind, its component's model, its FMU, and the library in it."""

    kind: Kind
    model: Model
    file: Path
    library: Library

    def running(self, **values: Any) -> Instance:
        """Return an instance at t = 0, with start values by their names."""
        instance = self.library.instance()
        record = component(self.kind.file).record
        for name, value in {**self.kind.start, **values}.items():
            for scalar, number in record.expand(name, value, "start"):
                instance.set_checked(scalar, number)
        assert instance.setup() == instance("EnterInitializationMode") == OK, instance.messages
        assert instance("ExitInitializationMode") == OK, instance.messages
        return instance

    def outputs(self) -> list[str]:
        """Return the names of all Real outputs."""
        return [
            scalar.get("name")
            for scalar in self.library.root.iterfind("ModelVariables/ScalarVariable")
            if scalar.get("causality") == "output" and scalar[0].tag == "Real"
        ]


@pytest.fixture(scope="module", params=KINDS)
def built(request, tmp_path_factory):
    kind = KINDS[request.param]
    folder = tmp_path_factory.mktemp("declared")
    made = component(kind.file)
    file = Path(fmus.build(made, folder))
    return Built(kind, made.model, file, Library(file, folder / "open"))


def steps(built, instance, first, count):
    """Return all outputs after each of some steps, in which the inputs change."""
    found = []
    for k in range(first, first + count):
        for name, value in built.kind.inputs.items():
            instance.set_checked(name, value * (1.0 + 0.1 * k))
        assert instance.step(k * STEP, STEP) == OK, instance.messages
        found.append(instance.get_all(built.outputs()))
    return np.array(found)


def test_fmu_passes_all_checks(built):
    assert validate(built.file) == []


def test_reset_and_saved_states_give_the_same_bits_again(built):
    instance = built.running()
    first = steps(built, instance, 0, 6)
    assert not np.array_equal(first[0], first[-1])
    state = instance.save()
    data = instance.serialize(state)
    expected = steps(built, instance, 6, 6)
    assert instance("SetFMUstate", state) == OK
    np.testing.assert_array_equal(steps(built, instance, 6, 6), expected)

    # into another instance, through bytes
    other, copy = built.running(), ctypes.c_void_p()
    assert other("DeSerializeFMUstate", data, ctypes.c_size_t(len(data)), ctypes.byref(copy)) == OK
    assert other("SetFMUstate", copy) == OK
    np.testing.assert_array_equal(steps(built, other, 6, 6), expected)

    # reset gives all start values back: those of the kind are set again
    assert instance("Reset") == OK
    fresh = component(built.kind.file).record
    for name, value in built.kind.start.items():
        for scalar, number in fresh.expand(name, value, "start"):
            instance.set_checked(scalar, number)
    assert instance.setup() == instance("EnterInitializationMode") == OK, instance.messages
    assert instance("ExitInitializationMode") == OK, instance.messages
    np.testing.assert_array_equal(steps(built, instance, 0, 6), first)


def test_library_for_another_platform_offers_the_functions_of_the_standard(built, tmp_path):
    target = TARGETS[built.kind.platform]
    file = fmus.build(component(built.kind.file), tmp_path, platforms=(built.kind.platform,))
    name = built.library.identifier
    with zipfile.ZipFile(file) as archive:
        data = archive.read(f"binaries/{built.kind.platform}/{name}{target.extension}")
    if target.extension == ".dll":
        assert read_pe(data).defined == FUNCTIONS
    else:
        assert read_macho(data).defined - {"__dso_handle", "_mh_dylib_header"} == FUNCTIONS


def test_scene_shows_every_part_without_notes(built):
    with zipfile.ZipFile(built.file) as archive:
        scene = json.loads(archive.read(FILE))
    labels = {shape.get("label") for shape in scene["shapes"]} | {one.get("label") for one in scene["frames"].values()}
    model = built.model
    for parts in (model.bodies, model.joints, model.springs, model.surfaces, model.contacts):
        assert {part.name for part in parts} <= labels
    assert {f"port {port.name}" for port in model.ports} <= labels
    system = Structure("alone")
    system.add("part", built.file)
    scenes = scenes_of(system)
    assert scenes.notes == ()
    assert len(scenes.elements["part"]["shapes"]) >= len(model.bodies) + len(model.joints)


def test_campaign_varies_the_parameters_of_a_declaration(built, tmp_path):
    """Two rows of a campaign over a parameter of the declaration: what is measured changes with it, no run fails."""
    file = tmp_path / "alone.toml"
    start = "\n".join(
        f"{name} = {{ value = {list(value) if isinstance(value, tuple) else value}, unit = '1', source = 'test' }}"
        for name, value in built.kind.start.items()
        if "[" not in name
    ).replace("unit = '1'", "unit = 'm'")
    file.write_text(f"""
name = "alone"
[elements.part]
component = "multibody"
model = "{built.kind.file}"
[elements.part.values]
{start}
[run]
step = {STEP}
stop = 0.05
""")
    nominal = built.running().get(built.kind.varied)
    vary = {"name": f"part.{built.kind.varied}", "law": "uniform", "low": 0.9 * nominal, "high": 1.1 * nominal}
    study = {
        "name": "declared",
        "system": str(file),
        "runs": 2,
        "seed": 1,
        "vary": [vary],
        "measures": {"energy": {"signal": "part.audit.kinetic_energy", "kind": "final"}},
    }
    campaign = dockfmu.Campaign(study, tmp_path / "campaign")
    rows = [campaign.row(k) for k in range(2)]
    drawn = [campaign.values(k) for k in range(2)]
    assert drawn[0] != drawn[1]
    assert all(np.isfinite(row["energy"]) for row in rows)
    if built.model.surfaces:
        return
    assert rows[0]["energy"] != rows[1]["energy"]


@pytest.mark.parametrize("built", ["between two craft, with contacts", "closed chain"], indirect=True)
def test_linear_model_has_the_eigenvalues_of_the_analysis(built):
    """At rest in equilibrium, without contact: eigenvalues of the FMU's step = those of dockfmu.Multibody, to 1e-5.

    A step of 1 ms in micro-steps of 0.1 ms has an error (omega h)^2 / 12 below 3e-5 at the fastest 180 rad/s; modes
    without stiffness and damping are left out.
    """
    exact = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": 1e-4}
    # the springs of the fingers are relaxed
    system = Multibody(read_text(built.kind.file.read_text().replace("rest = 0.9", "rest = 0.69")).model)
    still = system.state(rates=dict.fromkeys(system.rates, 0.0))
    expected = system.vibrations(still)
    assert expected.unbalanced < 1e-9
    model = dockfmu.linearise(built.file, settings={**exact, **built.kind.resting}, step=1e-3, inputs=())
    found = np.array([mode.eigenvalue for mode in model.modes])
    stiff = [one for one in expected.eigenvalues if abs(one) > 0.05]
    assert len(stiff) >= 2
    for one in stiff:
        assert np.abs(found - one).min() < (3e-5 if abs(one) > 100.0 else 1e-5) * abs(one), (one, found)


def derivative(instance, unknown, name, size=1.0):
    block = (ctypes.c_double * 1)()
    status = instance(
        "GetDirectionalDerivative",
        instance.references(unknown),
        ctypes.c_size_t(1),
        instance.references(name),
        ctypes.c_size_t(1),
        (ctypes.c_double * 1)(size),
        block,
    )
    assert status == OK, instance.messages
    return block[0]


ASKED = {
    "solar_array.toml": ("joint.hinge2.angle.rate", "joint.root.angle.drive"),
    "small_probe.toml": ("target.force[1]", "target.velocity[1]"),
    "ring.toml": ("joint.two.angle.rate", "joint.one.angle.drive"),
    "mixed.toml": ("drive.spindle.motor_rate", "drive.spindle.command"),
}


def test_directional_derivative_of_a_step_is_that_of_repeated_steps(built):
    """By an input of the last step: central differences of the step repeated from its saved start, to 1e-4.

    With micro-steps of one length: chosen ones change in number when an input moves.
    """
    unknown, name = ASKED[built.kind.file.name]
    instance = built.running(**{"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": 5e-4})
    before = instance.save()
    value = instance.get(name)
    assert instance.step(0.0, STEP) == OK
    found = derivative(instance, unknown, name)
    moved = 1e-5
    ends = []
    for sign in (1.0, -1.0):
        assert instance("SetFMUstate", before) == OK
        instance.set_checked(name, value + sign * moved)
        assert instance.step(0.0, STEP) == OK
        ends.append(instance.get(unknown))
    expected = (ends[0] - ends[1]) / (2.0 * moved)
    assert abs(expected) > 1e-6
    assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(
    ("joint", "moved", "key"),
    [
        ("spindle.angle", "drive.spindle.command", "command"),
        ("cross.angle_x", "parameters.joint.cross.angle_x.start", "state"),
    ],
    ids=["of a drive", "of a hysteretic spring"],
)
def test_directional_derivatives_at_the_start_equal_the_analysis(built, joint, moved, key):
    """Of the acceleration by the command of a drive, and by the angle of a hysteretic spring on its first loading."""
    if built.kind.file.name != "mixed.toml":
        pytest.skip("this model has no drives and hysteresis")
    system = Multibody(built.model)
    place = system.rates.index(joint)
    if key == "command":
        at = [system.forward_dynamics(commands={"spindle": 2.0 + d})[place] for d in (1e-4, -1e-4)]
    else:
        at = [system.forward_dynamics(system.state({joint: 0.2 + d}))[place] for d in (1e-4, -1e-4)]
    expected = (at[0] - at[1]) / 2e-4
    instance = built.library.instance()
    assert instance.setup() == instance("EnterInitializationMode") == OK, instance.messages
    found = derivative(instance, f"joint.{joint}.acceleration", moved)
    assert abs(expected) > 1e-3
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("system", "file"), [("small_probe.mechanism", "small_probe"), ("solar_array.craft", "solar_array")]
)
def test_a_declared_model_takes_the_place_of_a_declared_model(system, file, tmp_path):
    """The same file with other numbers fits, without a note; one without its port `dock` or its target does not."""
    text = (MODELS / f"{file}.toml").read_text()
    heavier = component(text.replace("12 kg", "13 kg").replace("0.5 kg", "0.6 kg"))
    assert check_swap(system, Path(fmus.build(heavier, tmp_path))) == ([], [])
