"""Names that a record cannot have, because numba reads the attributes of the same name."""

import pytest

from dockfmu.components.core.field import Group, private
from dockfmu.components.core.record import RESERVED, Record

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("name", RESERVED)
def test_names_that_hide_the_memory_from_numba_are_refused(name):
    with pytest.raises(ValueError, match=f"can be called {name!r}"):
        Record(private(name, "1", ""))
    with pytest.raises(ValueError, match=f"can be called {name!r}"):
        Record(Group("outer", Group(name, private("x", "1", ""))))


def test_data_is_the_memory_itself():
    record = Record(private("x", "1", "", shape=3), Group("inner", private("y", "1", "")))
    block = record.start.copy()
    memory = record.view(block)
    block[3] = 5.0
    assert bytes(memory.data) == block.tobytes()
    assert memory.data.ctypes.data == block.ctypes.data
    assert memory.inner.data.ctypes.data == block[3:].ctypes.data
