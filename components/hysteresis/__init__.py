"""Piecewise linear hysteresis of links and gear trains, alone and in series with friction brakes. See README.md."""

from components.hysteresis.brakes import update_with_brake, update_with_two_brakes
from components.hysteresis.builders import SHORTEST, elastic_loop, largest_loss, spring_and_brake
from components.hysteresis.law import reaction, reset, update
from components.hysteresis.ports import MAX_POINTS, law, memory, two_brakes
from components.hysteresis.validity import IRREGULAR, NOT_FINITE, messages, validate, validate_brakes

__all__ = [
    "IRREGULAR",
    "MAX_POINTS",
    "NOT_FINITE",
    "SHORTEST",
    "elastic_loop",
    "largest_loss",
    "law",
    "memory",
    "messages",
    "reaction",
    "reset",
    "spring_and_brake",
    "two_brakes",
    "update",
    "update_with_brake",
    "update_with_two_brakes",
    "validate",
    "validate_brakes",
]
