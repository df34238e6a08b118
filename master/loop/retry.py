"""Macro steps of a fixed length, of which those that fail for their length are made of shorter ones."""

from __future__ import annotations

from master.loop.advance import take
from master.loop.compiled import compiled
from master.loop.observe import observe
from master.loop.shorter import SLACK, shorter
from master.loop.states import restore, save
from master.loop.tables import DONE, OUTER, REASON


@compiled
def _parts(tables, t, h):
    """From t to t + h, at once if that can be done; False after a failure that no step of the shortest length helps."""
    now, end, part = t, t + h, h
    while save(tables, OUTER):
        if take(tables, now, part):
            now, part = now + part, end - (now + part)
            if part <= SLACK * h:
                return True
        else:
            part = shorter(tables, now, part)
            if part < tables.control.shortest:
                return False
            tables.control.rejected[0] += 1
            if not restore(tables, OUTER):
                return False
    return False


@compiled
def advance_retrying(tables, origin, h, number, first, count):
    """As `advance`; all instances can go back."""
    tables.report[REASON] = DONE
    for k in range(count):
        if not _parts(tables, origin + (first + k) * h, h):
            return k
        observe(tables, number + k + 1, origin + (first + k + 1) * h)
        if tables.report[REASON] != DONE:
            return k + 1
    return count
