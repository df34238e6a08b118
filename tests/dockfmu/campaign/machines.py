"""Machines for campaigns: processes with their own copies of dockfmu, caches, homes and folders, none shared.

Where a network is given, each machine is in a namespace of its own, with its own address, and reaches the others
through the network alone.
"""

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from dockfmu.base.cache import cache_root
from dockfmu.ssp.model import SsvParameter, SsvParameterSet
from dockfmu.ssp.write import write_parameter_set
from tests.dockfmu.campaign.stand_in import address_in
from tests.dockfmu.small_systems import TOML, as_toml

ROOT = Path(__file__).parents[3]
PARTS = {"dockfmu": ".", "base": "base", "components": "components", "fmus": "fmus", "master": "master", "ssp": "ssp"}
"""Where a wheel has the packages, below dockfmu."""
MASS = "mass.parameters.mass"
CONTENT = {
    "name": "machines", "system": "mine.toml", "runs": 12, "seed": 3, "keep": {"peaks": True}, "refined": 0.0,
    "vary": [
        {"name": MASS, "law": "uniform", "low": "1 kg", "high": "2 kg"},
        {"name": "kind", "law": "choice", "options": [
            {"label": "own"},
            {"label": "swapped", "swap": {"mass": "files/other.fmu"}},
            {"label": "stiff", "parameters": ["files/stiff.ssv"]},
        ]},
    ],
    "measures": {"far": {"signal": "mass.position"}, "speed": {"signal": "mass.velocity", "kind": "final"}},
}  # fmt: skip


class Machines:
    """Processes, each in a folder of its own that stands for a machine; ends them when it is left."""

    def __init__(self, folder, network=None):
        self.folder, self.network, self.processes, self.environments = folder, network, [], []

    def __enter__(self):
        return self

    def __exit__(self, *_error):
        for process in self.processes:
            process.kill()
            process.wait()

    def new(self, change=""):
        """Return the environment of another machine; `change` is added to a source file of its dockfmu."""
        place = self.folder / f"machine{len(self.environments)}"
        for name in ("home", "temporary", "work", "site"):
            (place / name).mkdir(parents=True)
        for package, inside in PARTS.items():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / package, place / "site" / "dockfmu" / inside, ignore=ignored)
        shutil.copy(ROOT / "LICENSE", place / "site" / "dockfmu")
        with (place / "site" / "dockfmu" / "outcome.py").open("a") as file:
            file.write(change)
        found = {"PATH": os.environ["PATH"], "HOME": str(place / "home"), "TMPDIR": str(place / "temporary"),
                 "PYTHONPATH": str(place / "site"), "OMP_NUM_THREADS": "1"}  # fmt: skip
        cache = place / "home" / ".cache" / "dockfmu"
        if len(self.environments) % 2:
            # the other ones keep theirs at home
            cache = place / "cache"
            found["DOCKFMU_CACHE"] = str(cache)
        (cache / "machine_code").mkdir(parents=True)
        # each machine has made runs before: compiling the master's loop takes half a minute
        for file in (cache_root() / "machine_code").glob("dockfmu.master.loop*.o"):
            shutil.copy(file, cache / "machine_code")
        self.environments.append(found)
        return found, place / "work"

    def start(self, module, *arguments, change="", settings=None, **options):
        """Start a module of Python on a new machine, whose environment has `settings` in addition."""
        environment, work = self.new(change)
        place = self.network.attach() if self.network else []
        command = [*place, sys.executable, "-m", module, *arguments]
        self.processes.append(subprocess.Popen(command, cwd=work, env=environment | (settings or {}), **options))
        return self.processes[-1]

    def scheduler(self, settings=None):
        """Start a scheduler, and return its address."""
        host = () if self.network else ("--host", "127.0.0.1")
        log = self.folder / f"scheduler{len(self.processes)}.log"
        with log.open("w") as file:
            process = self.start(
                "distributed.cli.dask_scheduler", *host, "--port", "0", "--no-dashboard", stderr=file, settings=settings
            )
        return address_in(log, process)

    def worker(self, address, change="", settings=None):
        return self.start(
            "distributed.cli.dask_worker",
            address,
            "--nthreads",
            "1",
            "--no-nanny",
            "--no-dashboard",
            "--memory-limit",
            "1GiB",
            change=change,
            settings=settings,
            stderr=subprocess.DEVNULL,
        )


class Network:
    """A switch to which machines are attached, each in a network namespace of the kernel; needs its administrator.

    Leaving it removes the namespaces, and with them all links.
    """

    numbers = itertools.count()

    def __init__(self):
        self.name = f"dockfmu{os.getpid()}-{next(self.numbers)}"
        self.attached = 0

    def __enter__(self):
        ip("netns", "add", self.name)
        try:
            ip("-n", self.name, "link", "add", "switch", "type", "bridge")
            ip("-n", self.name, "link", "set", "switch", "up")
        except subprocess.CalledProcessError:
            ip("netns", "delete", self.name)
            raise
        return self

    def __exit__(self, *_error):
        for k in range(self.attached):
            ip("netns", "delete", self.machine(k))
        ip("netns", "delete", self.name)

    def machine(self, k):
        return f"{self.name}-{k}"

    def attach(self):
        """Attach another machine, and return the words that come before a command on it."""
        k, machine = self.attached, self.machine(self.attached)
        ip("netns", "add", machine)
        self.attached += 1
        ip("link", "add", "cable", "netns", machine, "type", "veth", "peer", "name", f"port{k}", "netns", self.name)
        ip("-n", self.name, "link", "set", f"port{k}", "master", "switch", "up")
        ip("-n", machine, "address", "add", f"10.213.0.{k + 1}/24", "dev", "cable")
        for link in ("lo", "cable"):
            ip("-n", machine, "link", "set", link, "up")
        # its address is found by the way out, as on a machine that has one
        ip("-n", machine, "route", "add", "default", "via", "10.213.0.254")
        return ["ip", "netns", "exec", machine]

    def unplug(self, k):
        """Pull the cable of machine `k` out of the switch."""
        ip("-n", self.name, "link", "set", f"port{k}", "down")

    def plug(self, k):
        ip("-n", self.name, "link", "set", f"port{k}", "up")


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, timeout=30)


def write_study(folder, oscillator):
    """Write a campaign whose system extends another file, with a parameter set and an FMU, and return its file."""
    (folder / "files").mkdir(parents=True)
    (folder / "alone.toml").write_text(TOML)
    (folder / "mine.toml").write_text('name = "mine"\nextends = "alone"\n')
    shutil.copy(oscillator, folder / "files" / "other.fmu")
    stiff = SsvParameterSet("stiff", [SsvParameter("mass.parameters.stiffness", "Real", 40.0)])
    (folder / "files" / "stiff.ssv").write_bytes(write_parameter_set(stiff))
    file = folder / "machines.toml"
    file.write_text(as_toml(CONTENT))
    return file
