"""The loop over seeds of the scripts beside."""

from collections.abc import Callable, Iterable


def try_seeds(first: int, count: int, trial: Callable[[int], tuple[Iterable[str], str]]) -> int:
    """Print what fails at each seed, and a summary; return the number of seeds that failed.

    `trial` returns the failures at a seed, and what was changed there.
    """
    failed = 0
    for seed in range(first, first + count):
        failures, changed = trial(seed)
        failed += bool(failures)
        for failure in failures:
            print(f"seed {seed}: {changed}: {failure}", flush=True)
    print(f"{failed} of {count} seeds failed")
    return failed
