"""Build FMUs in parallel, one process each, because compiling holds Python's global lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from threading import Thread
from typing import Any

from dockfmu.base.cache import cache_root
from dockfmu.base.processes import kill_group, python_command, with_temporary_files_in
from dockfmu.base.temporary import TemporaryFolder
from dockfmu.components.core.component import Component
from dockfmu.fmus import catalogue
from dockfmu.fmus.package import build, is_built


def build_in_parallel(
    wanted: Sequence[tuple[str, Mapping[str, Any], Component]],
    progress: Callable[[str], None],
    beside: Sequence[str] = (),
) -> None:
    """Build the native FMUs of components, given as (name in the catalogue, build options, component), into the cache.

    Failures are left to a later `build`, which raises them. `progress` is called with a line that says how many FMUs
    are missing, and with lines "NAME: what is being done".
    The modules `beside` are run at the same time, as by `python -m`, to compile what else a run needs.
    """
    tasks = {json.dumps([name, dict(options)], sort_keys=True): component for name, options, component in wanted}
    missing = [task for task, component in tasks.items() if not is_built(component)]
    if missing:
        progress(
            f"{len(missing)} of {len(tasks)} FMUs are compiled first, which takes a minute or two; "
            f"{cache_root()} keeps them for later runs"
        )
    if len(missing) < 2 or os.cpu_count() == 1:
        return
    commands = [*(["dockfmu.fmus.parallel", task] for task in missing), *([module] for module in beside)]
    workers: list[subprocess.Popen[str]] = []
    # they are killed with their work half done if this process is interrupted
    with TemporaryFolder("build") as folder:
        try:
            for command in commands:
                workers.append(
                    subprocess.Popen(
                        python_command("-m", *command),
                        stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL,
                        text=True,
                        env=with_temporary_files_in(folder),
                        start_new_session=True,  # a group, with the compilers that it starts
                    )
                )
            readers = [Thread(target=_relay, args=(worker, progress)) for worker in workers]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()
        finally:
            for worker in workers:
                kill_group(worker)


def _relay(worker: subprocess.Popen[str], progress: Callable[[str], None]) -> None:
    for line in worker.stdout or ():
        progress(line.rstrip())


def main(task: str) -> None:
    """Build the FMU of one task, as JSON of (name, build options), into the cache."""
    name, options = json.loads(task)
    component = catalogue.component(name, **options)
    with TemporaryFolder("build") as folder:
        build(component, folder, progress=lambda text: print(f"{component.name}: {text}", flush=True))


if __name__ == "__main__":
    main(sys.argv[1])
