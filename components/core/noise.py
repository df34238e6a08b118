"""Counter-based noise: the same seed and reading number give the same deviates, whatever was drawn before.

Threefry-2x32 with 20 rounds (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, *Parallel random numbers: as easy as
1, 2, 3*, SC11, 2011) turns a key and a counter of two words each into two random words. The Box-Muller transform
turns these into two standard normal deviates. Words are 32-bit integers, kept in range by masks, so the interpreter
and compiled code give bitwise equal results.
"""

from __future__ import annotations

from math import cos, log, pi, sin, sqrt

from dockfmu.components.core.kernel import kernel

MASK = 0xFFFFFFFF
PARITY = 0x1BD11BDA
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
GROUPS = 5
WORDS = 4294967296.0


@kernel
def threefry(key0, key1, counter0, counter1):
    """Return two random 32-bit words from a key and a counter of two words each."""
    keys = (key0, key1, (PARITY ^ key0 ^ key1) & MASK)
    x = (counter0 + key0) & MASK
    y = (counter1 + key1) & MASK
    for group in range(GROUPS):
        for i in range(4):
            turn = ROTATIONS[4 * (group % 2) + i]
            x = (x + y) & MASK
            y = ((y << turn) | (y >> (32 - turn))) & MASK
            y ^= x
        x = (x + keys[(group + 1) % 3]) & MASK
        y = (y + keys[(group + 2) % 3] + group + 1) & MASK
    return x, y


@kernel
def normal_pair(seed, number, pair):
    """Return two independent standard normal deviates for pair `pair` of reading `number`."""
    low = number & MASK
    high = (number >> 32) & MASK
    x, y = threefry(seed & MASK, high, low, pair)
    radius = sqrt(-2.0 * log((x + 0.5) / WORDS))
    angle = 2.0 * pi * ((y + 0.5) / WORDS)
    return radius * cos(angle), radius * sin(angle)
