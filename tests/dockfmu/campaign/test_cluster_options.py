"""Clusters that cannot be made are refused before a campaign begins."""

import subprocess
import sys

import pytest

from dockfmu.campaign.cluster.execution import ClusterOptions, check_workers
from dockfmu.errors import OptionError


@pytest.mark.parametrize("memory", ["x", "", "0", "-1", None])
def test_memory_limits_that_are_no_size(memory):
    with pytest.raises(OptionError, match=f"--memory {memory}: must be a size, such as 2GiB"):
        check_workers(ClusterOptions(memory_limit=memory))


@pytest.mark.parametrize("address", ["nope", "", "tcp://", "nope://x:1", "tcp://localhost:abc", "inproc://x"])
def test_addresses_that_are_of_no_scheduler(address):
    with pytest.raises(OptionError, match=f"--scheduler {address}: is not the address of a scheduler, such as tcp"):
        check_workers(ClusterOptions(scheduler=address))


def test_options_that_fit():
    for options in (ClusterOptions(), ClusterOptions(memory_limit="auto"), ClusterOptions(scheduler="tcp://host:8786")):
        check_workers(options)


SCRIPT = """
import multiprocessing
from dockfmu.campaign.cluster.execution import ClusterOptions, check_workers
{call}
if __name__ == GUARD:
    process = multiprocessing.get_context("spawn").Process(target=print, args=("made",))
    process.start()
    process.join()
"""


@pytest.mark.parametrize(
    ("call", "guard", "says", "unsaid"),
    [
        ("GUARD = '__main' + '__'; check_workers(ClusterOptions(1))", "GUARD", "below `if __name__", "spawn"),
        ("check_workers(ClusterOptions(1))", "'__main__'", "study.py: each worker imports", "made"),
        ("", "'__main__'", "made", "Traceback"),
    ],
    ids=["none", "elsewhere", "sound"],
)
def test_a_script_that_workers_would_start_again_is_refused(tmp_path, call, guard, says, unsaid):
    """Regression: tracebacks of nannies, of locks and of spawn, and "a worker has ended" as the last word."""
    file = tmp_path / "study.py"
    file.write_text(SCRIPT.format(call=call).replace("GUARD:", f"{guard}:"))
    made = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=60)
    said = made.stdout + made.stderr
    assert says in said
    assert unsaid not in said
