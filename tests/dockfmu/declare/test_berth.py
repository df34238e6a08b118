"""Berthings: the pose of the station's unit stands once; initial conditions by inverse kinematics of the arm."""

from __future__ import annotations

import numpy as np
import pytest

from dockfmu.components.core.component import Instance
from dockfmu.declare.berth import check_berths, follow_berths
from dockfmu.declare.conditions.arm_placement import place_arm
from dockfmu.declare.conditions.initial_conditions import with_condition
from dockfmu.declare.conditions.limits import draw, severity
from dockfmu.declare.declaration import read
from dockfmu.declare.packages.assembly import make_component, start_values
from dockfmu.declare.packages.unbuilt import opened
from dockfmu.declare.toml.tables import DeclarationError
from dockfmu.master.errors import StructureError

UNITS = {
    "airlock_era": ["contact.base"], "airlock_era_coarse": ["contact.base"], "radiator_era": ["contact.target"],
    "radiator_era_blind": ["contact.target"], "mim1_ssrms_nrt74": ["mechanism.target"],
    "mim1_ssrms_rt3": ["mechanism.target"], "mim1_ssrms_nrt_jam": ["mechanism.target"],
    "mim1_ssrms_nrt74_stand": ["platform.passive", "balance.passive"],
    "docs/examples/arm_by_hand.toml": ["contact.base"],
}  # fmt: skip


def moved(system, name, by):
    """Return a copy of a system with a start value changed."""
    element, _, variable = name.partition(".")
    changed = system.copy()
    start = changed.elements[element].start
    start[variable] = start.get(variable, changed.description(element).variables[variable].start) + by
    return changed


@pytest.mark.parametrize("name", UNITS)
def test_the_unit_of_the_station_stands_where_its_arm_states(name):
    """Its declaration says so nowhere else."""
    elements = read(name).elements
    with opened(name) as (system, _):
        check_berths(system)
        for unit in UNITS[name]:
            element, port = unit.split(".")
            values = elements[element].values
            assert values is None or not any(key.startswith(f"{port}.position") for key in values.values)
            for k in (1, 2, 3):
                stated = system.elements["manipulator"].start[f"parameters.target.position[{k}]"]
                assert system.elements[element].start[f"{port}.position[{k}]"] == stated


@pytest.mark.parametrize("slot", ["position[2]", "quaternion[4]"])
@pytest.mark.parametrize("name", ["airlock_era", "radiator_era", "mim1_ssrms_nrt74_stand"])
def test_a_unit_that_stands_elsewhere_is_refused_by_name(name, slot):
    unit = UNITS[name][-1]
    with opened(name) as (system, _), pytest.raises(StructureError) as refused:
        check_berths(moved(system, f"{unit}.{slot}", 0.01))
    said = str(refused.value)
    assert f"{unit} stands 0" in said
    assert "off manipulator.parameters.target" in said
    assert f"and {unit} follows" in said


def test_a_unit_follows_a_berth_that_is_set_later_and_keeps_a_pose_of_its_own():
    with opened("airlock_era") as (system, _):
        further = moved(system, "manipulator.parameters.target.position[1]", 0.5)
        with pytest.raises(StructureError, match=r"contact.base stands 0.5 m"):
            check_berths(further)
        follow_berths(further, system)
        check_berths(further)
        both = moved(further, "contact.base.position[1]", 0.1)
        follow_berths(both, further)
        with pytest.raises(StructureError, match=r"contact.base stands 0.1 m and 0 rad off manipulator"):
            check_berths(both)
        turned = moved(system, "manipulator.parameters.target.angles[1]", 0.2)
        follow_berths(turned, system)
        check_berths(turned)
        assert turned.elements["contact"].start["base.quaternion[3]"] == pytest.approx(np.sin(0.1), abs=1e-12)


@pytest.mark.parametrize("angles", np.random.default_rng(48).uniform(-1.5, 1.5, (8, 3)).tolist())
def test_a_unit_follows_any_attitude(angles):
    """The kernels turn the unit; the check is code of its own, and sees a hundredth of a degree about each axis."""
    with opened("airlock_era") as (system, _):
        turned = system
        for k, angle in enumerate(angles, 1):
            turned = moved(turned, f"manipulator.parameters.target.angles[{k}]", angle)
        follow_berths(turned, system)
        check_berths(turned)
        for k in (1, 2, 3):
            with pytest.raises(StructureError, match=r"and contact\.base follows"):
                check_berths(moved(turned, f"manipulator.parameters.target.angles[{k}]", np.radians(0.01)))


def test_a_unit_on_a_moving_station_is_left_to_its_connections():
    with opened("airlock_era") as (system, _):
        system.elements["manipulator"].start["parameters.base_fixed"] = 0
        check_berths(moved(system, "contact.base.position[1]", 1.0))


ON_STATIONS = tuple(f"tests/metamorphic/systems/{unit}_on_a_station.toml" for unit in ("airlock", "radiator", "mim1"))


@pytest.mark.parametrize("name", ON_STATIONS)
@pytest.mark.parametrize(
    "slot", ["port[2].position[2]", "port[2].angles[1]", "port[1].position[3]", "port[1].angles[3]"]
)
def test_a_berth_on_a_moving_station_is_the_place_of_its_port(name, slot):
    """The port of the unit against that of the arm, whatever the axes of the station's structure."""
    with opened(name) as (system, _):
        check_berths(system)
        with pytest.raises(StructureError) as refused:
            check_berths(moved(system, f"station.parameters.{slot}", 0.01))
    said = str(refused.value)
    assert said.startswith("manipulator.parameters.target is 0") or "manipulator.parameters.target is 0" in said
    assert "off station.port[2], on which the unit of the berth stands" in said


def arm_of(name):
    """Return the conditions of a system, and its arm: components and start values by element."""
    declared = read(name)
    element = declared.elements["manipulator"]
    component = make_component(element.component, element.origin, dict(element.options))
    return declared.initial_conditions, {"manipulator": component}, {"manipulator": start_values(component, element)}


ARMS = ("airlock_era", "radiator_era", "radiator_era_blind", "mim1_ssrms_nrt74", "mim1_ssrms_rt3", "mim1_ssrms_nrt_jam")


@pytest.mark.parametrize("name", ARMS)
def test_the_payload_stands_as_asked(name):
    """The arm itself reports the pose, for the declared conditions and for draws; grip and locked joints stay."""
    conditions, components, values = arm_of(name)
    nominal = Instance(components["manipulator"], **values["manipulator"]).m
    grip = np.array(nominal.free_body.fixture)
    for seed in (None, 1, 2, 3):
        asked = conditions if seed is None else draw(conditions, seed)
        placed = place_arm(asked, components, values)["manipulator"]
        m = Instance(components["manipulator"], **{**values["manipulator"], **placed}).m
        np.testing.assert_allclose(m.relative.position, (-asked.gap, *asked.miss), atol=1e-9)
        np.testing.assert_allclose(m.relative.angles, asked.angles, atol=1e-9)
        np.testing.assert_allclose(m.free_body.fixture, grip, atol=1e-9)
        for k in np.flatnonzero(np.asarray(m.parameters.joint.locked)):
            assert m.joint[k].angle == nominal.joint[k].angle


def test_conditions_out_of_reach_are_refused_by_name():
    conditions, components, values = arm_of("airlock_era")
    far = with_condition(conditions, "gap", 30.0)
    with pytest.raises(DeclarationError, match=r"gap = 30 m, .*: manipulator cannot bring its payload there .* m and"):
        place_arm(far, components, values)
    stiff = {"manipulator": {**values["manipulator"], "parameters.joint.angle_limit[4]": 1.601}}
    low = with_condition(conditions, "gap", 0.8)
    with pytest.raises(
        DeclarationError, match=r"gap = 0.8 m, .* joint 4 of manipulator would have to turn to 1\.\d+ rad"
    ):
        place_arm(low, components, stiff)


def test_an_arm_that_is_none_is_refused_by_name():
    from dataclasses import replace

    conditions, components, values = arm_of("airlock_era")
    with pytest.raises(DeclarationError, match=r"initial_conditions.arm: the system has no element 'crane'"):
        place_arm(replace(conditions, arm="crane"), components, values)


def test_conditions_of_a_berthing_are_five_and_a_gap():
    """Set by name, with units; limited, drawn by seed within the limits; those of a docking are refused."""
    declared = read("mim1_ssrms_nrt74")
    changed = declared.with_conditions({"yaw": "2deg", "miss[2]": "5cm", "gap": 1.2}).initial_conditions
    assert changed.angles[0] == pytest.approx(np.radians(2.0))
    assert changed.miss == (0.03, 0.05)
    assert changed.gap == 1.2
    with pytest.raises(DeclarationError, match=r"initial_conditions.velocity = .* there is no such condition"):
        declared.with_conditions({"velocity": [0.1, 0.0, 0.0]})
    found = severity(declared.initial_conditions)
    assert found.sum == pytest.approx(0.3 + 0.2 + (0.5 + 0.5 + 1.0) / 3.0)
    drawn = declared.with_conditions({"seed": 4}).initial_conditions
    again = declared.with_conditions({"seed": 4}).initial_conditions
    assert drawn == again
    assert drawn.miss != declared.initial_conditions.miss
    assert np.abs(drawn.miss).max() <= 0.1
    assert np.degrees(np.abs(drawn.angles)).max() <= 3.0
    assert drawn.gap == declared.initial_conditions.gap


def test_a_table_for_an_arm_has_no_entries_of_a_docking(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        'extends = "airlock_era"\nname = "mine"\n[initial_conditions]\nvelocity = ["1m/s", "0m/s", "0m/s"]\n'
    )
    with pytest.raises(DeclarationError, match=r"velocity"):
        read(str(file))
