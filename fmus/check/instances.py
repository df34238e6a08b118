"""Checks of many instances in one process, and of instances in several threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from dockfmu.fmus.check.findings import Finding, error
from dockfmu.fmus.check.subject import Subject, Value, first_difference, same

CROWD, FEW_STEPS = 1000, 3


def _alone(subject: Subject) -> bool:
    """Return whether the FMU allows one instance only, or its instances share the lock of an interpreter."""
    return subject.fmu.description.only_one_per_process or subject.fmu.description.needs_execution_tool


def check_many_instances(subject: Subject) -> Iterator[Finding]:
    """Check that a thousand instances, stepped in turn, are bitwise equal to one alone."""
    if _alone(subject):
        return
    single = subject.running()
    expected = subject.run(single, 0, FEW_STEPS)
    subject.drop(single)
    crowd = [subject.running() for _ in range(CROWD)]
    for k in range(FEW_STEPS):
        for number, instance in enumerate(crowd):
            (values,) = subject.run(instance, k, k + 1)
            if not same(values, expected[k]):
                yield error(
                    subject.file,
                    "fmi2DoStep",
                    f"instance {number} of {CROWD} differs in step {k + 1} from one alone: "
                    + first_difference(subject.outputs, values, expected[k]),
                    "Keep nothing outside of the instance",
                )
                return
    for instance in reversed(crowd):
        subject.drop(instance)


def check_threads(subject: Subject) -> Iterator[Finding]:
    """Check that instances stepped by two threads at once are bitwise equal to one alone."""
    if _alone(subject):
        return

    def trace(_: int = 0) -> list[list[Value]]:
        return subject.run(subject.running(), 0, subject.before)

    expected = trace()
    with ThreadPoolExecutor(2) as pool:
        for found in pool.map(trace, range(4)):
            for k, (one, two) in enumerate(zip(found, expected, strict=True)):
                if not same(one, two):
                    yield error(
                        subject.file,
                        "fmi2DoStep",
                        f"in one of two threads step {k + 1} differs: " + first_difference(subject.outputs, one, two),
                        "Share nothing that is written",
                    )
                    return
