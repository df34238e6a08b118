"""Random declarations with all that acts in them: drives, hysteresis, friction, locks, tethers, contacts, rolling."""

import fmpy
import numpy as np
import pytest
from hypothesis import assume, given, settings

from dockfmu import fmus
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.analysis import Multibody
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.declarations import Choice, Choices, declaration, equipped, text_of
from tests.components.multibody.random_models import made
from tests.components.multibody.test_random_declarations import CONDITION, relaxed

pytestmark = pytest.mark.slow

STEADY = {"parameters.stepping.micro_tolerance": 0.0, "parameters.stepping.micro_step": 2e-4}


def residual(instance: Instance) -> float:
    audit = instance.m.audit
    works = audit.work_drives + audit.work_motors + audit.work_motions + audit.work_ports + audit.work_base
    return float(audit.kinetic_energy + audit.stored_energy + audit.dissipated_energy - works)


def turnover(instance: Instance) -> float:
    """Return the energies that move, J."""
    audit = instance.m.audit
    parts = (audit.kinetic_energy, audit.stored_energy, audit.dissipated_energy, audit.work_motors)
    return 1.0 + sum(map(abs, parts))


@settings(relaxed, max_examples=20)
@given(equipped())
def test_spec10_oracle_3_any_equipped_declaration_keeps_its_balance(chosen):
    """It starts and runs for 20 ms: energy balances to the error of the method, momentum of free systems to rounding.

    In two runs with micro-steps of 0.2 and 0.1 ms: the error of a smooth motion falls to a quarter, that of an impact
    or a stick to a half; 1e-3 of the energies that move is allowed. Nearly singular starts are left out.
    """
    model = read_text(text_of(declaration(chosen))).model
    system = Multibody(model)
    held = system._held(0.0)
    free = [k for k in range(system.system.rates) if k not in held]
    assume(not free or np.linalg.cond(system.mass_matrix()[np.ix_(free, free)]) < CONDITION)
    instance = Instance(made(model), **STEADY)
    before = residual(instance)
    for k in range(4):
        instance.step(5e-3 * k, 5e-3)
    assert abs(residual(instance) - before) < 1e-3 * turnover(instance)
    for k, lock in enumerate(model.locks):
        if lock.closed:
            assert instance.m.lock[k].closed == 1.0
    assert all(cut.error < 1e-4 for cut in instance.m.cut)


@settings(relaxed, max_examples=20)
@given(equipped())
def test_spec10_oracle_2_any_equipped_declaration_starts_as_the_analysis_says(chosen):
    """Accelerations of the FMU = dockfmu.Multibody, to 1e-10 times the condition of its masses.

    Contacts have no friction: that of the FMU is one that is held over a micro-step.
    """
    content = declaration(chosen)
    for contact in content.get("contacts", {}).values():
        contact["friction"] = 0.0
    model = read_text(text_of(content)).model
    system = Multibody(model)
    held = system._held(0.0)
    free = [k for k in range(system.system.rates) if k not in held]
    assume(not free or np.linalg.cond(system.mass_matrix()[np.ix_(free, free)]) < CONDITION)
    # the loops of the generator are closed to rounding: poses that are nearly singular have large multipliers
    expected = dict(zip(system.rates, system.forward_dynamics(contacts=system.contact_forces()), strict=True))
    size = 1.0 + max(map(abs, expected.values()), default=0.0)
    assume(size < 1e4)
    shown = Instance(made(model)).m.coordinate
    labels = [name for name in system.rates if name.rpartition(".")[0] not in _special(model)]
    for name, coordinate in zip(labels, shown, strict=False):
        assert abs(coordinate.acceleration - expected[name]) < 1e-9 * size, name


def _special(model):
    return {joint.name for joint in model.tree if joint.kind in ("spherical", "free")}


WHOLE = Choices(
    14,
    (
        Choice("free", 0, False, "nothing"),
        Choice("revolute", 1, False, "geared drive"),
        Choice("prismatic", 2, True, "latch"),
        Choice("universal", 1, False, "hysteresis"),
        Choice("cylindrical", 1, True, "friction"),
    ),
    ("knife_edge",),
    2,
    "free",
    2,
)


def test_fmu_of_an_equipped_declaration_has_the_bits_of_the_kernels_in_fmpy(tmp_path):
    component = component_of(read_text(text_of(declaration(WHOLE))))
    fmu = str(fmus.build(component, tmp_path))
    description = fmpy.read_model_description(fmu)
    variables = [one for one in description.modelVariables if one.causality == "output" and one.type == "Real"]
    slave = fmpy.instantiate_fmu(fmpy.extract(fmu, str(tmp_path / "open")), description)
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    instance = Instance(component)
    places = [component.record.index[one.name] for one in variables]
    saved, seen = [], []
    for k in range(20):
        state = slave.getFMUState()
        saved.append(slave.serializeFMUState(state))
        slave.freeFMUState(state)
        slave.doStep(0.01 * k, 0.01)
        instance.step(0.01 * k, 0.01)
        values = slave.getReal([one.valueReference for one in variables])
        np.testing.assert_array_equal(values, instance.block[places])
        seen.append(values)
    assert any(contact.closed for contact in instance.m.contact)
    assert any(lock.closings for lock in instance.m.lock)
    # a state saved before any step, before or after the lock closes and the contacts touch, gives the same bits again
    for k, data in enumerate(saved):
        state = slave.deSerializeFMUstate(data)
        slave.setFMUState(state)
        slave.freeFMUState(state)
        for later in range(k, 20):
            slave.doStep(0.01 * later, 0.01)
            np.testing.assert_array_equal(slave.getReal([one.valueReference for one in variables]), seen[later])
    slave.terminate()
    slave.freeInstance()
