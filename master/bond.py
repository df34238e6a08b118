"""Power bonds between instances."""

from __future__ import annotations

from dataclasses import dataclass

from dockfmu.master.errors import StructureError


@dataclass(frozen=True)
class Bond:
    """A power bond between two instances: pairs of `efforts` (outputs of one) and `flows` (outputs of the other).

    An effort is the mean over the macro step that just ended, a flow the value at its end.
    """

    name: str
    efforts: tuple[str, ...]
    flows: tuple[str, ...]

    def __post_init__(self) -> None:
        """Raise StructureError for a bond that does not have as many efforts as flows."""
        if len(self.efforts) != len(self.flows):
            raise StructureError([f"bond {self.name}: as many efforts as flows are needed"])
