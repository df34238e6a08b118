"""Names that a record cannot have, because numba reads the attributes of the same name."""

import pytest

from components.core.field import Group, private
from components.core.record import RESERVED, Record


@pytest.mark.parametrize("name", RESERVED)
def test_names_that_hide_the_memory_from_numba_are_refused(name):
    with pytest.raises(ValueError, match=f"can be called {name!r}"):
        Record(private(name, "1", ""))
    with pytest.raises(ValueError, match=f"can be called {name!r}"):
        Record(Group("outer", Group(name, private("x", "1", ""))))
