"""What the tests of contact share."""

from typing import Any

import pytest

from tests.components.physics.contact.probe_cone.contact_unit import Unit


@pytest.fixture
def make_unit():
    """`make_unit(**{"head.radius": 0.04})`; the limiter stands far outside."""

    def make(**parameters: Any) -> Unit:
        unit = Unit(**parameters)
        unit.link(1, (-1.0, 0.0, 0.0))
        return unit

    return make
