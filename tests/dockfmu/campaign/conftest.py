"""What tests of campaigns share."""

import shutil
import subprocess
from contextlib import ExitStack

import pytest

from tests.dockfmu.campaign.machines import Network


@pytest.fixture
def network():
    """A network for machines, or None where this user can make none."""
    if shutil.which("ip") is None:
        yield None
        return
    with ExitStack() as opened:
        try:
            made = opened.enter_context(Network())
        except subprocess.CalledProcessError:
            made = None
        yield made
