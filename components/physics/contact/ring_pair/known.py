"""Contacts that a look for new ones leaves out, see `kernel.closes_new`."""

from __future__ import annotations

from dockfmu.components.core.kernel import kernel
from dockfmu.components.physics.contact.pairs import slot_of


@kernel
def is_known(unit, pair, index):
    """Return whether a contact is one of the set `work.known`."""
    return (int(unit.work.known) >> int(slot_of(unit.kind, pair, index))) & 1 == 1
