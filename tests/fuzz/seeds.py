"""The loop over seeds of the scripts beside."""

import shutil
from collections.abc import Callable, Iterable
from pathlib import Path


def try_seeds(
    first: int, count: int, scratch: Path | str, trial: Callable[[Path, int], tuple[Iterable[str], str]]
) -> int:
    """Print what fails at each seed, and a summary; return the number of seeds that failed.

    `trial` takes a folder in `scratch`, which is removed after it, and the seed; it returns the failures, and what was
    changed.
    """
    failed = 0
    for seed in range(first, first + count):
        folder = Path(scratch) / str(seed)
        failures, changed = trial(folder, seed)
        shutil.rmtree(folder, ignore_errors=True)
        failed += bool(failures)
        for failure in failures:
            print(f"seed {seed}: {changed}: {failure}", flush=True)
    print(f"{failed} of {count} seeds failed")
    return failed
