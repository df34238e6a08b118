"""The FMU of a random model, in fmpy: equal to the kernels in process."""

import fmpy
import fmpy.validation
import numpy as np
import pytest

from dockfmu import fmus
from dockfmu.components.core.component import Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.declarations import ELEMENTS, Choice, Choices, declaration, text_of
from tests.components.multibody.random_models import KINDS, free_model, made

pytestmark = pytest.mark.slow


def test_fmu_of_a_random_model_runs_in_fmpy(tmp_path):
    """A free tree of six bodies with all kinds of joints: outputs as in process, to the rounding of fmpy's times."""
    model = free_model(7, 6, [kind for kind in KINDS if kind != "free"])
    component = made(model)
    fmu = fmus.build(component, tmp_path)
    problems = fmpy.validation.validate_fmu(str(fmu))
    assert problems == []
    outputs = [
        variable.name
        for variable in fmpy.read_model_description(str(fmu)).modelVariables
        if variable.causality == "output"
    ]
    result = fmpy.simulate_fmu(str(fmu), stop_time=0.1, step_size=0.01, output_interval=0.01, output=outputs)
    instance = Instance(component)
    for k in range(10):
        instance.step(0.01 * k, 0.01)
    audit = instance.m.audit
    for name, values in (("momentum", audit.momentum), ("angular_momentum", audit.angular_momentum)):
        found = np.array([result[f"audit.{name}[{k}]"] for k in (1, 2, 3)])
        np.testing.assert_allclose(found[:, -1], values, rtol=0, atol=1e-12 * np.abs(values).max())
        np.testing.assert_allclose(found[:, -1], found[:, 0], rtol=0, atol=1e-12 * np.abs(found).max())
    coordinates = [name for name in outputs if name.endswith(".position")]
    expected = [coordinate.position for coordinate in instance.m.coordinate]
    np.testing.assert_allclose([result[name][-1] for name in coordinates], expected, rtol=0, atol=1e-12)
    assert all(abs(result[name][-1] - result[name][0]) > 1e-3 for name in coordinates)


def test_fmu_of_a_random_closed_declaration_has_the_bits_of_the_kernels(tmp_path):
    """A declaration of the generator with a loop, springs and stops: outputs bitwise as in process, 20 steps."""
    kinds = ("revolute", "spherical", "universal", "cylindrical", "prismatic")
    joints = tuple(Choice(kind, k, bool(k % 2), ELEMENTS[k % 3]) for k, kind in enumerate(kinds))
    component = component_of(read_text(text_of(declaration(Choices(3, joints, ("spherical",), 2, "fixed")))))
    fmu = str(fmus.build(component, tmp_path))
    variables = [
        one
        for one in fmpy.read_model_description(fmu).modelVariables
        if one.causality == "output" and one.type == "Real"
    ]
    slave = fmpy.instantiate_fmu(fmpy.extract(fmu, str(tmp_path / "open")), fmpy.read_model_description(fmu))
    slave.setupExperiment(startTime=0.0)
    slave.enterInitializationMode()
    slave.exitInitializationMode()
    instance = Instance(component)
    first = slave.getReal([one.valueReference for one in variables])
    for k in range(20):
        slave.doStep(0.01 * k, 0.01)
        instance.step(0.01 * k, 0.01)
        values = slave.getReal([one.valueReference for one in variables])
        places = [component.record.index[one.name] for one in variables]
        np.testing.assert_array_equal(values, instance.block[places])
    assert not np.allclose(values, first)
    slave.terminate()
    slave.freeInstance()
