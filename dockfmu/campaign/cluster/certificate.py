"""The certificate of the clusters of this machine, which is made for one campaign and lies in memory alone."""

from __future__ import annotations

from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from distributed.security import Security

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)


def campaign_security() -> Security:
    """Return keys and a certificate that hold at any time.

    Those of Dask hold from now on, for a year: once the clock of the machine had been set back, no worker that had been
    started again could connect.
    """
    security = Security.temporary()
    key = serialization.load_pem_private_key(security.tls_scheduler_key.encode(), None)
    assert isinstance(key, RSAPrivateKey)
    given = x509.load_pem_x509_certificate(security.tls_scheduler_cert.encode())
    builder = (
        x509.CertificateBuilder()
        .subject_name(given.subject)
        .issuer_name(given.issuer)
        .public_key(given.public_key())
        .serial_number(given.serial_number)
        .not_valid_before(EARLIEST)
        .not_valid_after(LATEST)
    )
    for extension in given.extensions:
        builder = builder.add_extension(extension.value, extension.critical)
    certificate = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM).decode()
    for name in ("tls_ca_file", "tls_client_cert", "tls_scheduler_cert", "tls_worker_cert"):
        setattr(security, name, certificate)
    return security
