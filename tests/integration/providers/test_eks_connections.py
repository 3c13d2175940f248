# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the EKS driver reaches its endpoint: certificates, proxies, time-outs, broken connections, wrong answers.

Real boto3 against a small server on loopback that answers, or fails, as the test says.
"""

from __future__ import annotations

import datetime
import ipaddress
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.contract import ClusterSpec
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks import clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.driver import EksDriver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.settings import EksSettings

CLUSTER = ClusterSpec(name="bc-1", location="us-east-1", private_nodes=False, tags={"better-compute.dev/cluster": "k"})

Answer = Callable[[BaseHTTPRequestHandler], None]


def no_such_cluster(request: BaseHTTPRequestHandler) -> None:
    reply(request, 404, "ResourceNotFoundException", b'{"message":"No cluster found for name: bc-1."}')


def reply(request: BaseHTTPRequestHandler, status: int, code: str, body: bytes) -> None:
    request.send_response(status)
    request.send_header("x-amzn-errortype", code)
    request.send_header("content-length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


class Endpoint:
    """A server that answers every GET with `answer` and counts them."""

    def __init__(self, answer: Answer, *, tls: ssl.SSLContext | None = None) -> None:
        self.requests = 0
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                endpoint.requests += 1
                answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if tls:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self.server.server_address[1]}"


@contextmanager
def serving(answer: Answer, *, tls: ssl.SSLContext | None = None) -> Iterator[Endpoint]:
    endpoint = Endpoint(answer, tls=tls)
    thread = threading.Thread(target=endpoint.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.server.shutdown()
        endpoint.server.server_close()
        thread.join()


@pytest.fixture
def driver_for(monkeypatch: pytest.MonkeyPatch) -> Callable[..., EksDriver]:
    """Makes a driver for an endpoint, which waits in no time."""
    monkeypatch.setenv("FLEET_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", "hidden")

    def make(url: str, **config: Any) -> EksDriver:
        settings = EksSettings.of(
            {
                "region": "us-east-1",
                "eksClusterRoleArn": "arn:aws:iam::111111111111:role/eks-cluster",
                "eksNodeRoleArn": "arn:aws:iam::111111111111:role/eks-node",
                "eksSubnetIds": ["subnet-a"],
                "credential": {"env": "FLEET"},
                "endpointUrl": url,
            }
            | config
        )
        return EksDriver(
            settings=settings,
            clients=Clients.open(settings),
            clock=SystemClock(),
            sleep=lambda _: None,
            jitter=lambda: 1.0,
        )

    return make


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for 127.0.0.1 that is its own authority, with its key, in one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "endpoint")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path_factory.mktemp("tls") / "endpoint.pem"
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


@pytest.fixture
def tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return context


def test_the_accounts_ca_file_decides_and_not_the_environments(
    driver_for: Callable[..., EksDriver],
    certificate: Path,
    tls: ssl.SSLContext,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(tmp_path / "does-not-exist.pem"))
    with serving(no_such_cluster, tls=tls) as endpoint:
        assert driver_for(endpoint.url, caFile=str(certificate)).get_cluster(CLUSTER) is None


def test_a_certificate_that_nobody_vouches_for_is_unavailable(
    driver_for: Callable[..., EksDriver], tls: ssl.SSLContext
) -> None:
    with serving(no_such_cluster, tls=tls) as endpoint, pytest.raises(Unavailable, match="SSL"):
        driver_for(endpoint.url).get_cluster(CLUSTER)


def test_a_bundle_of_the_environment_that_is_gone_does_not_break_an_endpoint_of_the_accounts_own(
    driver_for: Callable[..., EksDriver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", " ")
    with serving(no_such_cluster) as endpoint:
        assert driver_for(endpoint.url).get_cluster(CLUSTER) is None


def test_a_proxy_of_the_environment_is_not_asked_for_a_loopback_endpoint(
    driver_for: Callable[..., EksDriver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with serving(no_such_cluster) as endpoint:
        assert driver_for(endpoint.url).get_cluster(CLUSTER) is None


def test_an_endpoint_where_nobody_listens_is_unavailable(driver_for: Callable[..., EksDriver]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        with pytest.raises(Unavailable):
            driver_for(f"http://127.0.0.1:{taken.getsockname()[1]}").get_cluster(CLUSTER)


def test_an_endpoint_that_does_not_answer_is_unavailable(
    driver_for: Callable[..., EksDriver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "READ_TIMEOUT_SECONDS", 0.2)
    asked_enough = threading.Event()

    def say_nothing(_handler: BaseHTTPRequestHandler) -> None:
        asked_enough.wait(30)

    with serving(say_nothing) as endpoint:
        try:
            with pytest.raises(Unavailable, match="timeout"):
                driver_for(endpoint.url).get_cluster(CLUSTER)
        finally:
            asked_enough.set()
        assert endpoint.requests == 1


def test_a_connection_that_breaks_is_unavailable_and_the_call_is_not_sent_again(
    driver_for: Callable[..., EksDriver],
) -> None:
    with serving(lambda request: request.connection.close()) as endpoint:
        with pytest.raises(Unavailable):
            driver_for(endpoint.url).get_cluster(CLUSTER)
        assert endpoint.requests == 1


@pytest.mark.parametrize("body", [b"", b"<html>Bad Gateway</html>", b'{"message": "Internal failure"}'])
def test_a_server_error_is_unavailable_and_the_call_is_not_sent_again(
    driver_for: Callable[..., EksDriver], body: bytes
) -> None:
    with serving(lambda request: reply(request, 502, "", body)) as endpoint:
        with pytest.raises(Unavailable):
            driver_for(endpoint.url).get_cluster(CLUSTER)
        assert endpoint.requests == 1


@pytest.mark.parametrize("body", [b"", b"{", b"{}", b"<html>hello</html>"])
def test_an_answer_that_makes_no_sense_is_unavailable(driver_for: Callable[..., EksDriver], body: bytes) -> None:
    with serving(lambda request: reply(request, 200, "", body)) as endpoint, pytest.raises(Unavailable):
        driver_for(endpoint.url).get_cluster(CLUSTER)


def test_a_page_instead_of_an_answer_is_unavailable_and_is_not_quoted(driver_for: Callable[..., EksDriver]) -> None:
    page = b"<html>please log in, dear bearer of s3cret</html><"
    with serving(lambda request: reply(request, 200, "", page)) as endpoint, pytest.raises(Unavailable) as raised:
        driver_for(endpoint.url).node_places()
    assert "s3cret" not in str(raised.value)


def test_throttling_is_retried_by_the_driver_alone(driver_for: Callable[..., EksDriver]) -> None:
    throttle = b'{"message": "Rate exceeded"}'
    with serving(lambda request: reply(request, 429, "ThrottlingException", throttle)) as endpoint:
        with pytest.raises(Throttled, match="Rate exceeded"):
            driver_for(endpoint.url).get_cluster(CLUSTER)
        # 0.25 + 0.5 + 1 + 2 seconds of waiting fit into the budget, the next 2 do not.
        assert endpoint.requests == 5
