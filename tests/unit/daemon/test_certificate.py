# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gateway's own certificate: made once, kept, and what bcd computes is what we tell."""

from __future__ import annotations

import base64
import ipaddress
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding

from ansible_collections.better_compute.fleet.daemon.web.certificate import Certificate, ensure_certificate
from bcd.pinning import pin_of

HOSTS = ("127.0.0.1", "gateway.example")


def loaded(certificate: Certificate) -> x509.Certificate:
    return x509.load_pem_x509_certificate(certificate.certificate_file.read_bytes())


def test_it_is_made_once_and_then_kept(tmp_path: Path) -> None:
    first = ensure_certificate(tmp_path / "state", hosts=HOSTS)
    before = first.certificate_file.read_bytes(), first.key_file.read_bytes()
    again = ensure_certificate(tmp_path / "state", hosts=("other.example",))
    assert again == first
    assert (again.certificate_file.read_bytes(), again.key_file.read_bytes()) == before


def test_only_its_owner_reads_the_key(tmp_path: Path) -> None:
    key_file = ensure_certificate(tmp_path, hosts=HOSTS).key_file
    assert stat.S_IMODE(key_file.stat().st_mode) == 0o600


def test_nothing_but_the_two_files_is_left(tmp_path: Path) -> None:
    made = ensure_certificate(tmp_path, hosts=HOSTS)
    assert set(tmp_path.iterdir()) == {made.certificate_file, made.key_file}


def test_the_pin_is_the_one_that_bcd_computes(tmp_path: Path) -> None:
    made = ensure_certificate(tmp_path, hosts=HOSTS)
    der = loaded(made).public_bytes(Encoding.DER)
    assert base64.b64decode(made.pin) == pin_of(der)


def test_it_is_a_p256_certificate_of_ten_years_for_the_hosts(tmp_path: Path) -> None:
    certificate = loaded(ensure_certificate(tmp_path, hosts=HOSTS))
    key = certificate.public_key()
    assert isinstance(key, ec.EllipticCurvePublicKey)
    assert isinstance(key.curve, ec.SECP256R1)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["gateway.example"]
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    assert certificate.not_valid_after_utc - datetime.now(UTC) > timedelta(days=3640)


def test_a_key_without_a_certificate_is_certified_and_not_replaced(tmp_path: Path) -> None:
    first = ensure_certificate(tmp_path, hosts=HOSTS)
    first.certificate_file.unlink()
    assert ensure_certificate(tmp_path, hosts=HOSTS).pin == first.pin


def test_two_that_make_it_at_once_end_with_one_key(tmp_path: Path) -> None:
    start = threading.Barrier(8)
    pins: list[str] = []

    def make() -> None:
        start.wait()
        pins.append(ensure_certificate(tmp_path, hosts=HOSTS).pin)

    threads = [threading.Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(pins) == 8
    assert len(set(pins)) == 1
