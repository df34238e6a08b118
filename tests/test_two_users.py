"""Two users on one machine: what another user reaches of a campaign, a page, the key of recordings and the cache.

The attacker is `nobody`, as whom this user must be able to run programs; elsewhere the tests are skipped.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from dockfmu.base.cache import CacheError, cache_root
from dockfmu.base.private_key import private_key
from dockfmu.campaign.cluster.execution import ClusterOptions, Execution
from dockfmu.campaign.runner import RunPoint
from tests.dockfmu.campaign import stand_in

NOBODY = 65534
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin") or sys.executable


def as_nobody(code, *arguments):
    """Run code as another user, with the standard library alone; return what it prints as JSON."""
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", PYTHON, "-I", "-c", code]
    done = subprocess.run([*command, *map(str, arguments)], cwd="/", capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


@pytest.fixture(autouse=True)
def attacker():
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs to run programs as another user: root and setpriv")
    assert as_nobody("import json, os; print(json.dumps(os.getuid()))") == NOBODY


@pytest.fixture
def open_folder():
    """Make a folder that all users can reach, which those of pytest are not."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="two-users-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


READ = """
import json, os, sys
found = []
for top in sys.argv[1:]:
    for place, folders, files in os.walk(top):
        for name in files:
            try:
                with open(os.path.join(place, name), "rb") as file:
                    file.read(1)
            except OSError:
                continue
            found.append(os.path.join(place, name))
        for name in folders:
            try:
                os.listdir(os.path.join(place, name))
            except OSError:
                continue
            found.append(os.path.join(place, name))
print(json.dumps(found))
"""
"""Prints the files that can be read, and the folders that can be listed, below some folders."""

KNOCK = """
import json, socket, ssl, sys
found = {}
for port in map(int, sys.argv[1:]):
    for kind in ("plain", "tls"):
        try:
            with socket.create_connection(("127.0.0.1", port), 5) as link:
                link.settimeout(5)
                if kind == "tls":
                    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
                    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
                    link = context.wrap_socket(link)
                # a frame of Dask: one message of no bytes
                link.sendall((1).to_bytes(8, "little") + (0).to_bytes(8, "little"))
                answer = link.recv(1)
        except OSError:
            answer = b""
        found[f"{port} {kind}"] = len(answer)
print(json.dumps(found))
"""
"""Prints how many bytes each of some ports answers to somebody without a certificate."""

LOOK = """
import json, os, sys
found = {}
for process in sys.argv[1:]:
    for name in ("environ", "maps", "mem", "fd"):
        place = f"/proc/{process}/{name}"
        try:
            found[place] = len(os.listdir(place) if name == "fd" else open(place, "rb").read(1))
        except OSError:
            pass
print(json.dumps(found))
"""
"""Prints what can be read of some processes."""


def listening(process):
    """Return the ports on which a process listens."""
    return [one.laddr.port for one in process.net_connections("tcp") if one.status == psutil.CONN_LISTEN]


@pytest.mark.slow
def test_another_user_reaches_nothing_of_a_campaign(open_folder, monkeypatch):
    """Neither the scheduler nor a worker answers, and no file of them can be read."""
    monkeypatch.setattr(tempfile, "tempdir", str(open_folder))
    with Execution(stand_in.study(4), {}, ClusterOptions(workers=1), stand_in.StandIn) as execution:
        assert len(list(execution.run([RunPoint(k) for k in range(4)]))) == 4
        me = psutil.Process()
        workers = me.children(recursive=True)
        ports = [port for process in (me, *workers) for port in listening(process)]
        assert len(ports) >= 3  # the scheduler, its server of pages, a worker
        files = [file for file in open_folder.rglob("*") if file.is_file()]
        assert files
        assert as_nobody(READ, open_folder) == []
        pages = {execution._cluster.scheduler.http_server.port}
        pages |= {port for process in workers for port in listening(process) if not _speaks_tls(port)}
        answers = as_nobody(KNOCK, *(port for port in ports if port not in pages))
        assert set(answers.values()) == {0}, answers
        assert as_nobody(LOOK, *(process.pid for process in workers)) == {}
        for process in (me, *workers):
            assert "PRIVATE KEY" not in " ".join(process.cmdline())
        # the cluster has survived it
        assert len(list(execution.run([RunPoint(k) for k in range(4, 8)]))) == 4


def _speaks_tls(port):
    import socket
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with socket.create_connection(("127.0.0.1", port), 5) as link:
            context.wrap_socket(link).close()
    except ssl.SSLError:
        return False
    except OSError:
        return True
    return True


def test_another_user_cannot_read_the_key_of_recordings(open_folder, monkeypatch):
    """Whoever has it could seal recordings as this user."""
    monkeypatch.setenv("DOCKFMU_CACHE", str(open_folder / "cache"))
    key = private_key()
    assert len(key) >= 16
    holders = [file for file in (open_folder / "cache").rglob("*") if file.is_file() and key in file.read_bytes()]
    assert len(holders) == 1
    assert str(holders[0]) not in as_nobody(READ, open_folder)


WRITE = """
import json, os, sys
done = []
for place in sys.argv[1:]:
    try:
        with open(os.path.join(place, "planted"), "w"):
            done.append(place)
    except OSError:
        pass
print(json.dumps(done))
"""


def test_another_user_cannot_plant_files_in_the_cache(open_folder, monkeypatch):
    monkeypatch.setenv("DOCKFMU_CACHE", str(open_folder / "cache"))
    private_key()
    folders = [open_folder, *(path for path in open_folder.rglob("*") if path.is_dir())]
    assert as_nobody(WRITE, *folders) == []


MAKE = """
import json, os, sys
os.makedirs(os.path.join(sys.argv[1], "cache"), mode=0o755)
print(json.dumps(True))
"""


def test_a_cache_that_another_user_has_made_is_refused_also_after_the_first_look(open_folder, monkeypatch):
    """Regression: a folder that did not exist at the first look was never looked at again."""
    shared = open_folder / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("DOCKFMU_CACHE", str(shared / "cache"))
    assert cache_root() == shared / "cache"
    assert as_nobody(MAKE, shared)
    with pytest.raises(CacheError, match="other users may write to this cache"):
        cache_root()


def test_a_cache_in_a_folder_of_all_users_is_refused(open_folder, monkeypatch):
    """They could put another folder in its place."""
    place = open_folder / "open" / "mine" / "cache"
    place.mkdir(parents=True)
    (open_folder / "open").chmod(0o777)
    monkeypatch.setenv("DOCKFMU_CACHE", str(place))
    with pytest.raises(CacheError, match=r"another folder in its place, because they may write to .*/open:"):
        cache_root()
    (open_folder / "open").chmod(0o1777)
    monkeypatch.setenv("DOCKFMU_CACHE", str(open_folder / "open" / "mine" / "other"))
    (open_folder / "open" / "mine" / "other").mkdir()
    assert cache_root().name == "other"
