"""The audit of a craft that stands still in I: energy alone, because what holds it takes up momentum."""

import pytest

from dockfmu.declare import declaration
from dockfmu.declare.packages.unbuilt import on_paper
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
