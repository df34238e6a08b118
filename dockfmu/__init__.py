"""dockfmu: spacecraft docking and berthing as FMI co-simulation FMUs, and the master that couples them.

>>> import dockfmu                                                                               # doctest: +SKIP
>>> outcome = dockfmu.load("central_impact_20t").run()
>>> outcome.events, outcome.time, outcome["chaser.body.position"]

The public names are those of `__init__.pyi`; each is loaded on first use.
"""

import sys
from pathlib import Path
from typing import Any

import lazy_loader

# A wheel has all packages below this one. In a checkout they are beside it; a package's path tells Python so, on every
# platform, and leaves one file name to each module.
if not (_HERE := Path(__file__).resolve().parent).joinpath("master").is_dir():
    __path__.append(str(_HERE.parent))

_public, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dockfmu")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    return _public(name)
