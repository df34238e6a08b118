"""Connections of strangers to the ports of a campaign: they are closed, and nobody hears of them.

A connection that breaks off before the handshake of TLS makes asyncio log a traceback, on standard error of the client
and of each worker; any user of the machine could make thousands a second. Dask loads this module in its workers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

MODULE = __name__


def _is_ours(record: logging.LogRecord) -> bool:
    """Return whether a message is anything but an error of a connection that a server has just accepted."""
    error = record.exc_info[1] if record.exc_info else None
    # ssl.SSLError is an OSError; tornado accepts connections in `_handle_events`
    return not (isinstance(error, OSError) and "_handle_events" in record.getMessage())


@contextmanager
def strangers_unheard() -> Iterator[None]:
    """Keep errors of incoming connections from the log of asyncio."""
    logger = logging.getLogger("asyncio")
    logger.addFilter(_is_ours)
    try:
        yield
    finally:
        logger.removeFilter(_is_ours)


def dask_setup(worker: Any) -> None:
    """Do the same for the life of a worker; Dask calls this function by its name."""
    logging.getLogger("asyncio").addFilter(_is_ours)
