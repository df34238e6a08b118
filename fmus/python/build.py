"""The content of a pythonfmu FMU."""

from components.core.component import Component


def build_python(component: Component, key: str) -> dict[str, bytes]:
    raise NotImplementedError
