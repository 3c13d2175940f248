# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's key and self-signed certificate. bcd trusts the key by its pin alone, so no authority is asked.

Made once and kept: a new key means new pins on every cluster.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import ipaddress
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

_VALID_FOR = timedelta(days=3650)
"""Nobody checks it: bcd looks at the key only. Long, so that tools that do look never find it expired."""

_KEY_NAME = "gateway-key.pem"
_CERTIFICATE_NAME = "gateway-certificate.pem"


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """Where key and certificate are, and the key's pin.

    Attributes:
        pin: base64 of the SHA-256 of the certificate's SubjectPublicKeyInfo: what the settings' [agent] pins name.
    """

    certificate_file: Path
    key_file: Path
    pin: str


def own_files(state_dir: Path) -> tuple[Path, Path]:
    """Where the certificate that the gateway makes itself is, and its key."""
    return state_dir / _CERTIFICATE_NAME, state_dir / _KEY_NAME


def ensure_certificate(state_dir: Path, *, hosts: Sequence[str]) -> Certificate:
    """The certificate in the state folder, made with a fresh key if there is none.

    A crash between the two files leaves a key without a certificate: the key is kept and certified, so a pin that was
    told once stays right. Two processes at once end with one key.

    Arguments:
        hosts: names and addresses to put into a new certificate.

    Raises:
        OSError: the folder cannot be made or written.
    """
    state_dir.mkdir(mode=0o750, parents=True, exist_ok=True)
    certificate_file, key_file = own_files(state_dir)
    if not key_file.exists():
        _write_new(key_file, _new_key())
    if not certificate_file.exists():
        _write_new(certificate_file, _certify(key_file.read_bytes(), hosts))
    return read_certificate(certificate_file, key_file)


def read_certificate(certificate_file: Path, key_file: Path) -> Certificate:
    """A certificate that is there already.

    Raises:
        OSError, ValueError: it cannot be read, or is not PEM.
    """
    certificate = x509.load_pem_x509_certificate(certificate_file.read_bytes())
    return Certificate(certificate_file=certificate_file, key_file=key_file, pin=pin_of(certificate))


def pin_of(certificate: x509.Certificate) -> str:
    """The pin of a certificate's key: base64 of the SHA-256 of its SubjectPublicKeyInfo.

    Raises:
        ValueError: its key makes no sense.
    """
    spki = certificate.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return base64.b64encode(hashlib.sha256(spki).digest()).decode()


def not_named(certificate: x509.Certificate, hosts: Sequence[str]) -> list[str]:
    """Of these names and addresses, those that the certificate is not for."""
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, x509.DuplicateExtension, ValueError):
        return list(hosts)
    return [host for host in hosts if _general_name(host) not in names]


def _new_key() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def _certify(key_pem: bytes, hosts: Sequence[str]) -> bytes:
    key = serialization.load_pem_private_key(key_pem, password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise ValueError("the gateway's key is not an elliptic curve key")
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bc-fleetd gateway")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # for clocks that are behind
        .not_valid_after(now + _VALID_FOR)
        .add_extension(x509.SubjectAlternativeName([_general_name(host) for host in hosts]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner reads, whole or not at all; one that another process just made is left."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mode 0600
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """See that the file is still there after a power failure: its pin may be told to the clusters next."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
