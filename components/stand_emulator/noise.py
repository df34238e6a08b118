"""Noise from a counter: the same deviates for the same seed and number of the reading, whatever was drawn before.

Threefry-2x32 with 20 rounds (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, *Parallel random numbers: as easy as
1, 2, 3*, SC11, 2011) turns a key and a counter of two words each into two random words; Box and Muller's transform
makes two standard normal deviates of them. Words are integers of 32 bits, kept in their range by masks, so the
interpreter and compiled code give the same bits.
"""

from __future__ import annotations

from math import cos, log, pi, sin, sqrt

from components.core.kernel import kernel

MASK = 0xFFFFFFFF
PARITY = 0x1BD11BDA
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
GROUPS = 5
WORDS = 4294967296.0


@kernel
def threefry(key0, key1, counter0, counter1):
    """Return two random words of 32 bits from a key and a counter of two words each."""
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
    """Return two independent standard normal deviates of the `pair` of a reading of that `number`."""
    low = number & MASK
    high = (number >> 32) & MASK
    x, y = threefry(seed & MASK, high, low, pair)
    radius = sqrt(-2.0 * log((x + 0.5) / WORDS))
    angle = 2.0 * pi * ((y + 0.5) / WORDS)
    return radius * cos(angle), radius * sin(angle)
