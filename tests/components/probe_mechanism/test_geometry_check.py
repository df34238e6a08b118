"""Sets of cone, hinge, limiter and levers that fit each other, and those that are refused with the reason."""

import re

import pytest

from components.core.record import ParameterError
from components.probe_mechanism import component
from components.probe_mechanism.geometry_check import misfit
from dockfmu.declare import declaration
from dockfmu.declare.packages.assembly import start_values

pytestmark = pytest.mark.quick

MECHANISM = component(axial="two_brakes")
SETS = {entry.name: entry for entry in MECHANISM.parameter_sets}


def reason(*names, **values):
    return misfit(MECHANISM.record.view(MECHANISM.start(*(SETS[name] for name in names), **values)))


@pytest.mark.parametrize("lateral", [(), ("LD-2",)])
@pytest.mark.parametrize("sets", [
    (), ("PR-2", "LV-2", "RefCone25"), ("HB-1", "HB-1-pads"), ("PR-2", "LV-2", "RefCone25", "HB-2", "HB-2-pads"),
])  # fmt: skip
def test_both_hinges_fit_both_cones(sets, lateral):
    assert reason(*sets, *lateral) is None


def test_the_limiter_clears_the_cone_by_some_millimetres():
    """Spec/00 R19: 6 to 10 mm at full retraction with V1, and as much with the hinge moved."""
    at = "probe_cone.parameters.limiter.x"
    for sets, normal in ((("PR-2", "LV-2", "RefCone25"), 0.4226), (("HB-1", "HB-1-pads"), 0.643)):
        pads = MECHANISM.record.view(MECHANISM.start(*(SETS[n] for n in sets))).probe_cone.parameters.limiter.x
        assert reason(*sets, **{at: pads + 0.004 / normal}) is None
        assert "pads stand 0.00" in reason(*sets, **{at: pads + 0.0095 / normal})


@pytest.mark.parametrize(("sets", "text"), [
    (("PR-2", "LV-2"), r"docking planes stay 0\.263 m apart"),
    (("RefCone25",), r"pads stand 0\.058 m deep in it"),
    (("PR-2", "RefCone25"), "rollers stand .* m"),
    (("PR-2", "LV-2", "RefCone25", "HB-2"), r"pads stand 0\.04\d m before it and could not guide"),
    (("PR-2", "LV-2", "RefCone25", "HB-2-pads"), r"pads stand 0\.03\d m deep in it"),
    (("HB-2", "HB-2-pads"), "docking planes stay"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_with_the_reason(sets, text):
    assert re.search(text, reason(*sets)), reason(*sets)


MOVABLE = component(axial="two_brakes", limiter="movable")
MOVABLE_SETS = {entry.name: entry for entry in MOVABLE.parameter_sets}
V3 = ("AX-2", "LD-2", "LD-3", "PR-2", "DR-2", "HB-3", "ML-2")


def movable_reason(*names, **values):
    memory = MOVABLE.start(*(MOVABLE_SETS[name] for name in names), **values)
    return misfit(MOVABLE.record.view(memory))


@pytest.mark.parametrize("cone", ["ShortCone25", "RefCone25"])
@pytest.mark.parametrize("limiter", [(), ("ML-1",)])
def test_a_movable_limiter_fits_both_cones(cone, limiter):
    assert movable_reason(*V3, *limiter, cone, "ML-1-pads") is None


def test_a_fixed_limiter_does_not_reach_a_shortened_cone():
    text = r"pads still stand 0\.006 m before the mouth of the cone, .* needs a movable limiter"
    for hinge in ((), ("HB-2", "HB-2-pads")):
        assert re.search(text, reason("PR-2", "LV-2", "ShortCone25", *hinge))


LIMITER, PADS = "parameters.limiter.", "probe_cone.parameters.limiter."


@pytest.mark.parametrize(("values", "text"), [
    ({"probe_cone.parameters.roller.count": 3}, r"has no levers, roller\.count must be 0"),
    ({PADS + "r": (0.2578, 0.2671)}, r"stand 0\.00\d m outside its mouth"),
    ({LIMITER + "forward": 0.36}, r"stands 0\.008 m deep in the cone"),
    ({LIMITER + "forward": 0.27}, r"stands 0\.035 m before the cone .* could not guide"),
    ({LIMITER + "stroke": 0.05}, r"its stroke of 0\.050 m ends 0\.008 m before the planes meet"),
    ({LIMITER + "head_distance": 0.47}, r"the head bears on it 0\.010 m before it lies on the cone"),
    ({LIMITER + "spring_rear": 1500.0}, r"springs' \d+ N alone pull the first brake back, which holds 733 N"),
    ({"parameters.pushers.preload": 0.0, "parameters.pushers.stiffness": 1e3}, "nothing re-cocks the first brake"),
])  # fmt: skip
def test_spec06_section_5_10_constraints_of_a_movable_limiter(values, text):
    found = movable_reason(*V3, "ShortCone25", "ML-1-pads", **values)
    assert found
    assert re.search(text, found), found


def test_docking_planes_that_overlap_are_refused():
    assert "docking planes overlap by 0.007 m" in reason(**{"parameters.docking_plane_x": 0.5})


def test_a_system_with_a_misfit_is_refused_by_name(tmp_path):
    file = tmp_path / "mixed.toml"
    file.write_text(
        'extends = "atv_probe_cone_v2"\nname = "mixed"\n[elements.mechanism]\n'
        'sets = ["AX-2", "LD-2", "PR-2", "LV-2", "DR-2", "RefCone25", "HB-2"]\n'
    )
    with pytest.raises(ParameterError, match=r"mixed.toml.*mechanism.*pads stand"):
        start_values(MECHANISM, declaration.read(str(file)).elements["mechanism"])


def test_a_set_of_the_other_axial_device_is_refused_by_name(tmp_path):
    file = tmp_path / "mixed.toml"
    file.write_text('extends = "atv_probe_cone_v2"\nname = "mixed"\n[elements.mechanism]\nsets = ["AX-1"]\n')
    with pytest.raises(ParameterError, match=r"no 'AX-1' among the parameter sets of ProbeMechanismTwoBrakes"):
        start_values(MECHANISM, declaration.read(str(file)).elements["mechanism"])
