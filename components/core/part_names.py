"""Messages that name the part of a component that failed, where a component has parts with names of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dockfmu.components.core.component import Component, Message
from dockfmu.components.core.record import Memory

PART = "status.index"
"""The variable that holds the number of the part that failed, from 1."""
PART_FORMAT = "part"
"""Format specification of the name of a part."""


@dataclass(frozen=True)
class PartMessage(Message):
    """A message in which `{part}` is the name of the part with the number `status.index`; `parts` are all names."""

    parts: tuple[str, ...] = ()

    @cached_property
    def pieces(self) -> tuple[tuple[str, str | None, str], ...]:
        """Return those of a message; a piece that ends with the name of the part has the format "part"."""
        found = super().pieces
        return tuple((text, PART, PART_FORMAT) if name == "part" else (text, name, spec) for text, name, spec in found)

    def part(self, number: float) -> str:
        """Return the name of a part, or its number if it has none."""
        known = np.isfinite(number) and 1 <= number <= len(self.parts)
        return self.parts[int(number) - 1] if known else f"{number:.0f}"


class PartsComponent(Component):
    """A component whose messages name its parts."""

    def remarks(self) -> tuple[str, ...]:
        """Return what whoever builds the component should know, sentences."""
        return ()

    def explain(self, code: int, memory: Memory | np.ndarray) -> str:
        """Return the message of `code`, with values of the record and the name of the part inserted."""
        message = self.messages.get(code)
        if not isinstance(message, PartMessage):
            return super().explain(code, memory)
        block = memory if isinstance(memory, np.ndarray) else np.frombuffer(np.void.tobytes(memory))
        out = []
        for text, name, spec in message.pieces:
            out.append(text)
            if name is not None:
                value = float(block[self.record.index[name]])
                out.append(message.part(value) if spec == PART_FORMAT else format(value, spec or "g"))
        return "".join(out)
