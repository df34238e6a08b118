"""A state saved anywhere in a run of a random declared model and restored continues bitwise, failures included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dockfmu.base.errors import DockfmuError
from dockfmu.components.core.component import Component, ComponentError, Instance
from dockfmu.components.multibody import component_of
from dockfmu.components.multibody.declaration import read_text
from tests.components.multibody.declarations import choices, declaration, equipped, text_of
from tests.components.multibody.random_models import interpreted
from tests.components.multibody.test_random_declarations import relaxed

pytestmark = pytest.mark.slow

Trace = list[bytes | str]


def driven(component: Component) -> list[int]:
    """Return the places of all forces, torques, commands and accelerations among the inputs."""
    moving = (".drive", ".command", ".force[1]", ".force[3]", ".torque[2]", ".acceleration[2]")
    return [
        slot.index for slot in component.record.slots if slot.field.causality == "input" and slot.name.endswith(moving)
    ]


def started(component: Component) -> Instance | None:
    """Return an instance; None if the declaration has no start, as where a loop cannot be closed."""
    try:
        return Instance(component)
    except DockfmuError:
        return None


def go_on(instance: Instance, lengths: list[float], first: int, clear: bool = False) -> Trace:
    """Step from a communication point to the end with inputs that change; return the state after each, or the failure.

    With `clear`, what a state does not hold, the work space, is NaN before each step.
    """
    places = driven(instance.component)
    slots = instance.component.record.slots
    work = [slot.index for slot in slots if slot.field.causality == "temporary"]
    state = [slot.index for slot in slots if slot.field.causality != "temporary"]
    trace: Trace = []
    for k, h in enumerate(lengths):
        if k < first:
            continue
        instance.block[places] = np.sin(1.0 + k + np.arange(len(places)))
        if clear:
            instance.block[work] = np.nan
        try:
            instance.step(sum(lengths[:k]), h)
        except ComponentError as error:
            trace.append(str(error))
            return trace
        trace.append(instance.block[state].tobytes())
    return trace


@settings(relaxed, max_examples=30)
@given(
    st.one_of(choices(), choices(loops=True), equipped()),
    st.lists(st.sampled_from((1e-3, 4e-3, 1e-2)), min_size=2, max_size=8),
    st.booleans(),
    st.data(),
)
def test_a_state_saved_anywhere_and_restored_continues_bitwise(chosen, lengths, port, data):
    """Restored into the same instance that has run on, and into another one in another state: the whole memory that it
    saves, with the work space NaN.

    Declarations have all kinds of joints on any base, loops, drives, hysteresis, friction, locks, tethers, contacts and
    rolling. A run that fails, fails again with the same words.
    """
    component = interpreted(component_of(read_text(text_of(declaration(replace(chosen, port=port))))))
    instance, other = started(component), started(component)
    assume(instance)
    assert instance
    assert other
    at = data.draw(st.integers(0, len(lengths) - 1), label="saved before step")
    before = go_on(instance, lengths[:at], 0)
    assume(not before or isinstance(before[-1], bytes))
    saved = instance.block.copy()
    expected = go_on(instance, lengths, at)
    assert len(expected) == len(lengths) - at or isinstance(expected[-1], str)

    instance.block[:] = saved
    assert go_on(instance, lengths, at, clear=True) == expected
    go_on(other, [2e-3, 5e-3], 0)
    other.block[:] = saved
    assert go_on(other, lengths, at, clear=True) == expected
