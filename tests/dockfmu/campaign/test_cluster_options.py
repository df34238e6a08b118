"""Clusters that cannot be made are refused before a campaign begins."""

import ssl
import subprocess
import sys
from contextlib import suppress

import pytest
from cryptography import x509

from dockfmu.campaign.cluster.certificate import campaign_security
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


def test_the_certificate_holds_whatever_time_the_clock_shows(tmp_path):
    """Regression: with the clock set back, no worker that was started again could connect.

    The campaign ended after two minutes. A handshake reads the clock of the machine, so that the dates are looked at.
    """
    security = campaign_security()
    key, *certificates = (
        getattr(security, f"tls_{name}") for name in ("worker_key", "ca_file", "client_cert", "worker_cert")
    )
    assert len(set(certificates)) == 1
    certificate = x509.load_pem_x509_certificate(certificates[0].encode())
    assert certificate.not_valid_before_utc.year == 1970
    assert certificate.not_valid_after_utc.year == 9999
    (tmp_path / "both.pem").write_text(key + certificates[0])
    sides = [ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)]
    for context in sides:
        context.load_cert_chain(tmp_path / "both.pem")
        context.load_verify_locations(tmp_path / "both.pem")
        context.check_hostname, context.verify_mode = False, ssl.CERT_REQUIRED
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = sides[0].wrap_bio(to_server, to_client, server_side=True)
    client = sides[1].wrap_bio(to_client, to_server)
    for _ in range(3):
        for end in (client, server):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    assert client.getpeercert()["notAfter"].endswith("9999 GMT")
    assert server.getpeercert()["notBefore"].endswith("1970 GMT")
