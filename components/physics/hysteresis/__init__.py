"""Piecewise linear hysteresis of links and gear trains. See README.md."""

from dockfmu.components.physics.hysteresis.builders import SHORTEST, elastic_loop, elastic_loop_side, largest_loss
from dockfmu.components.physics.hysteresis.law import reaction, reset, update
from dockfmu.components.physics.hysteresis.ports import MAX_POINTS, law, loop_parameters, memory
from dockfmu.components.physics.hysteresis.validity import IRREGULAR, NOT_FINITE, messages, validate

__all__ = [
    "IRREGULAR",
    "MAX_POINTS",
    "NOT_FINITE",
    "SHORTEST",
    "elastic_loop",
    "elastic_loop_side",
    "largest_loss",
    "law",
    "loop_parameters",
    "memory",
    "messages",
    "reaction",
    "reset",
    "update",
    "validate",
]
