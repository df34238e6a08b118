"""Sets of cone, hinge, limiter and levers that fit each other, and those that are refused with the reason."""

import re

import pytest

from components.core.record import ParameterError
from components.probe_mechanism import component
from components.probe_mechanism.fit import misfit
from dockfmu.declare import declaration
from dockfmu.declare.assembly import start_values

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
