"""Clusters that cannot be made are refused before a campaign begins."""

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
