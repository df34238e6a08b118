"""The jinja2 environment of the page templates."""

from __future__ import annotations

from pathlib import Path

import jinja2

from dockfmu.base.cache import cache_root, load_cached, store_cached


def environment() -> jinja2.Environment:
    """Return the jinja2 environment of the templates in this folder, whose compiled code is cached."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("dockfmu", "report"), autoescape=True, bytecode_cache=_TemplateCache()
    )


class _TemplateCache(jinja2.BytecodeCache):
    """Cache of compiled templates by content; jinja2 refuses code of other versions of itself or of Python."""

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        data = load_cached(_file(bucket), bucket.checksum)
        if data is not None:
            bucket.bytecode_from_string(data)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        store_cached(_file(bucket), bucket.checksum, bucket.bytecode_to_string())


def _file(bucket: jinja2.bccache.Bucket) -> Path:
    return cache_root() / "templates" / f"{bucket.key}-{bucket.checksum[:16]}"
