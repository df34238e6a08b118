"""What kernels call, compiled apart: the same bits, and machine code that is made once for many components."""

from dataclasses import replace

import numpy as np
import pytest

from dockfmu.components import multibody
from dockfmu.components.core import machine_code
from dockfmu.components.core.component import Instance
from dockfmu.components.core.machine_code import THIS_PROCESS, assemblies_of, objects_of
from dockfmu.fmus import catalogue

PENDULUM = multibody.EXAMPLE.read_text(encoding="utf-8")
LARGER = multibody.EXAMPLE.with_name("solar_array.toml").read_text(encoding="utf-8")


def steps(component, count=20):
    instance = Instance(component)
    return [instance.step(k * 1e-3, 1e-3) or instance.block.copy() for k in range(count)]


@pytest.mark.parametrize("name", ["Oscillator", "ProbeCyclogram", "Spacecraft"])
def test_kernels_give_the_same_bits_apart_and_as_a_whole(name):
    """Of components whose kernels call numba's own functions, kernels, and nothing."""
    whole = catalogue.component(name)
    apart = replace(whole, called_apart=True)
    assert len(assemblies_of(whole)) == 1
    assert len(assemblies_of(apart)) == 2
    assert np.array(steps(apart)).tobytes() == np.array(steps(whole)).tobytes()


def test_a_multibody_system_gives_the_same_bits_as_a_whole():
    apart = multibody.component(PENDULUM)
    assert apart.called_apart
    assert np.array(steps(apart)).tobytes() == np.array(steps(replace(apart, called_apart=False))).tobytes()


def test_systems_of_other_sizes_share_what_their_kernels_call(monkeypatch):
    """Records differ, and with them the two kernels alone: nothing else is compiled or optimised for the second."""
    first, second = multibody.component(PENDULUM), multibody.component(LARGER)
    assert first.record.size != second.record.size
    own, called = assemblies_of(first)
    others_own, others_called = assemblies_of(second)
    assert others_called == called
    assert others_own != own
    assert len(others_own) < 0.1 * len(called)
    optimised = []
    monkeypatch.setattr(machine_code, "object_of", lambda assembly, machine: optimised.append(assembly) or b"")
    objects_of(second, THIS_PROCESS)
    assert optimised == [others_own, called]
