"""Every component gives the same bits in the interpreter, compiled in this process, and in both kinds of FMU."""

from math import sin

import equality
import numpy as np
import pytest
from equality import Scenario, assert_equal_chain

SCENARIOS = [
    Scenario(
        "Oscillator",
        tuple({"force": sin(0.3 * k)} for k in range(50)),
        step=0.05,
        values={"parameters.initial_position": 1.0, "parameters.damping": 0.3, "parameters.stiffness": 2.0},
    ),
]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_interpreter_jit_native_and_pythonfmu_are_equal(scenario):
    assert_equal_chain(scenario)


def test_the_chain_notices_one_bit(monkeypatch):
    scenario = SCENARIOS[0]
    trace = equality.run_directly(scenario)
    wrong = trace.copy()
    wrong[3, 1] = np.nextafter(wrong[3, 1], 2.0)
    monkeypatch.setattr(equality, "chain", lambda _: {"JIT": trace, "native FMU": wrong})
    with pytest.raises(
        AssertionError, match="native FMU differs from the JIT in 1 values, first position after step 3"
    ):
        assert_equal_chain(scenario)
