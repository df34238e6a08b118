"""The templates of the pages."""

from __future__ import annotations

from pathlib import Path

import jinja2

from base.cache import cache_root, keep, kept


def environment() -> jinja2.Environment:
    """Return what renders the templates of this folder; their code is kept in the cache."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("dockfmu", "report"), autoescape=True, bytecode_cache=_Kept()
    )  # fmt: skip


class _Kept(jinja2.BytecodeCache):
    """Code of templates, by their content. jinja2 refuses that of another version of it or of Python."""

    def load_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        data = kept(_file(bucket), bucket.checksum)
        if data is not None:
            bucket.bytecode_from_string(data)

    def dump_bytecode(self, bucket: jinja2.bccache.Bucket) -> None:
        keep(_file(bucket), bucket.checksum, bucket.bytecode_to_string())


def _file(bucket: jinja2.bccache.Bucket) -> Path:
    return cache_root() / "templates" / f"{bucket.key}-{bucket.checksum[:16]}"
