"""Power bonds between instances."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bond:
    """A power bond between two instances: `efforts` (outputs of one) and `flows` (of the other) in pairs.

    An effort is the mean over the macro step that just ended, a flow the value at its end.
    """

    name: str
    efforts: tuple[str, ...]
    flows: tuple[str, ...]
