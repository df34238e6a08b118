"""dockfmu: spacecraft docking and berthing as FMI co-simulation FMUs, and the master that couples them.

>>> import dockfmu                                                                               # doctest: +SKIP
>>> outcome = dockfmu.load("central_impact_20t").run()
>>> outcome.events, outcome.time, outcome["chaser.body.position"]

The public names are those of `__init__.pyi`; each is loaded on first use, and so is the list of them: a command and a
worker need neither, and nothing that takes time shall come before the first line of `__main__.py`.
"""

import os
import sys

# A wheel has all packages below this one. In a checkout they are beside it; a package's path tells Python so, on every
# platform, and leaves one file name to each module.
_HERE = os.path.dirname(os.path.realpath(__file__))  # noqa: PTH120  pathlib takes 10 ms
if not os.path.isdir(os.path.join(_HERE, "master")):  # noqa: PTH112, PTH118
    __path__.append(os.path.dirname(_HERE))  # noqa: PTH120


def _names() -> list[str]:
    """Return the public names, after reading the stub that has them."""
    if "__all__" not in globals():
        import lazy_loader

        loader, _, names = lazy_loader.attach_stub(__name__, __file__)
        globals().update(__all__=names, _loader=loader)
    found: list[str] = globals()["__all__"]
    return found


def __dir__() -> list[str]:
    return sorted(_names())


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("dockfmu")
    if name == "__all__":
        return _names()
    if name not in _names():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return globals()["_loader"](name)
