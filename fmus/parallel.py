"""FMUs built side by side, a process each, because compiling keeps one processor busy and holds Python's lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from typing import Any

from fmus import catalogue
from fmus.package import build, is_built


def build_in_parallel(
    wanted: Sequence[tuple[str, Mapping[str, Any]]], progress: Callable[[str], None], beside: Sequence[str] = ()
) -> None:
    """Have the native FMUs of components (name in the catalogue, build options) in the cache, as far as they build.

    What cannot be built here is left to `build`, which says why. `progress` gets lines `NAME: what is being done`.
    Modules `beside` are run meanwhile, as `python -m` does: what else there is to compile.
    """
    tasks = {json.dumps([name, dict(options)], sort_keys=True): (name, options) for name, options in wanted}
    missing = [task for task, (name, options) in tasks.items() if not is_built(catalogue.component(name, **options))]
    if len(missing) < 2 or os.cpu_count() == 1:
        return
    commands = [*(["fmus.parallel", task] for task in missing), *([module] for module in beside)]
    workers = [subprocess.Popen([sys.executable, "-m", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True) for command in commands]  # fmt: skip
    readers = [Thread(target=_relay, args=(worker, progress)) for worker in workers]
    try:
        for reader in readers:
            reader.start()
        for reader in readers:
            reader.join()
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()


def _relay(worker: subprocess.Popen[str], progress: Callable[[str], None]) -> None:
    for line in worker.stdout or ():
        progress(line.rstrip())


def main(task: str) -> None:
    """Build one FMU into the cache."""
    name, options = json.loads(task)
    component = catalogue.component(name, **options)
    with tempfile.TemporaryDirectory() as folder:
        build(component, folder, progress=lambda text: print(f"{component.name}: {text}", flush=True))  # type: ignore[arg-type]


if __name__ == "__main__":
    main(sys.argv[1])
