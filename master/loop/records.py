"""The records of the loop: rows of its tables whose entries differ in meaning."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_WORD = 8
_CALL = ("function", "component", "references", "count", "values", "stride", "kind", "owner")
_TRANSFER = ("source", "target")


def _words(*names: str) -> np.dtype:
    """Return a record of 64-bit words."""
    return np.dtype([(name, np.int64) for name in names])


CALL = np.dtype(
    {
        "names": (*_CALL, *_TRANSFER),
        "formats": (np.int64,) * (len(_CALL) + len(_TRANSFER)),
        "offsets": [_WORD * k for k in (*range(len(_CALL)), *range(len(_TRANSFER)))],
        "itemsize": _WORD * len(_CALL),
    }
)
"""A call of an FMI function, or a transfer of `count` values from adjacent outputs to adjacent inputs.

A call has the addresses of `function`, `component`, value `references` and `values`, the number of values, and the
number of the instance that is its `owner`; `stride` is used by recording, which fills row after row. A transfer has the
first slots of its `source` and its `target` in place of the first two. `kind` says which it is; see tables.
"""

DERIVATIVE = _words(
    "function", "component", "unknowns", "unknown_count", "knowns", "known_count", "dv_known", "dv_unknown"
)
"""The arguments of fmi2GetDirectionalDerivative; all are 0 for an instance that has no such function."""

REPORT = _words("reason", "instance", "called", "status", "events", "row")
"""Why the loop returned, and which call failed.

`reason` is DONE, STOPPED, ...; `called` is SET, STEP, ... of an `instance` with a `status` of FMI; for SET, GET and
RECORD `row` is that of their table. `events` counts the events that wait in TriggerTable.event.
"""

RECORDS = {"CALL": CALL, "DERIVATIVE": DERIVATIVE, "REPORT": REPORT}


def table_of(record: np.dtype, values: Sequence[tuple[int, ...]]) -> np.ndarray:
    """Return rows of words as records, shape (rows,)."""
    table = np.array(values, np.int64).reshape(-1, record.itemsize // _WORD)
    return table.view(record)[:, 0].view(np.recarray)
