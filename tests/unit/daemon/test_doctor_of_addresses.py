# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd doctor` on where gateway and API listen, the certificate that callers of the API look at, and tokens."""

from __future__ import annotations

import errno
import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

from ansible_collections.better_compute.fleet.daemon.web.listening import listen, try_address
from ansible_collections.better_compute.fleet.tests.support.doctor_desk import Desk

DOCTOR = "ansible_collections.better_compute.fleet.daemon.doctor"


@pytest.fixture(autouse=True)
def _no_settings_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BC_FLEET_")]:
        monkeypatch.delenv(name)


@pytest.fixture
def desk(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    """Of a host whose daemon has a key."""
    made = Desk(tmp_path, capsys)
    made.run("certificate")
    return made


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def api(port: int, host: str = "127.0.0.1") -> str:
    return f'[api]\nlisten_host = "{host}"\nlisten_port = {port}\n'


def looked_at(desk: Desk, about: str) -> tuple[str, str, str]:
    """Verdict, message and cure of the one line about it."""
    [check] = desk.doctor()[1][about]
    return check["verdict"], check["message"], check["cure"] or ""


def certify(desk: Desk, *, days: float) -> None:
    """Have the daemon's key certified for so many days more; less than nothing: it expired so many days ago."""
    state = desk.folder / "state"
    key = load_pem_private_key((state / "gateway-key.pem").read_bytes(), None)
    before = x509.load_pem_x509_certificate((state / "gateway-certificate.pem").read_bytes())
    builder = x509.CertificateBuilder().subject_name(before.subject).issuer_name(before.issuer)
    made = builder.public_key(before.public_key()).serial_number(1)
    now = datetime.now(UTC)
    made = made.not_valid_before(now - timedelta(days=60)).not_valid_after(now + timedelta(days=days))
    for extension in before.extensions:
        made = made.add_extension(extension.value, extension.critical)
    signed = made.sign(key, hashes.SHA256())  # type: ignore[arg-type]  # it is the daemon's, an elliptic curve key
    (state / "gateway-certificate.pem").write_bytes(signed.public_bytes(Encoding.PEM))


@contextmanager
def listening(state: Path | None) -> Iterator[int]:
    """Somebody who listens: with the key in this folder, or without TLS. Gives the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if state:
        context.load_cert_chain(state / "gateway-certificate.pem", state / "gateway-key.pem")

    def serve() -> None:
        while True:
            try:
                plain, _address = server.accept()
            except OSError:
                return
            with plain, suppress(OSError):
                if state:
                    context.wrap_socket(plain, server_side=True).close()
                else:
                    plain.sendall(b"220 this is something else\r\n")

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_settings_without_an_api_have_one_line_about_it_and_ask_for_no_token(desk: Desk) -> None:
    desk.run("migrate")
    _status, found = desk.doctor()
    assert [check["verdict"] for check in found["API"]] == ["ok"]
    assert not {"API's address", "API's certificate", "API tokens"} & set(found)


def test_addresses_that_are_free_stay_free_and_nothing_is_written(desk: Desk) -> None:
    gateway, port = free_port(), free_port()
    desk.write(api(port), port=gateway)
    before = sorted(desk.folder.rglob("*"))
    assert looked_at(desk, "gateway's address")[:2] == (
        "ok",
        f"127.0.0.1:{gateway} is free, and nobody listens there",
    )
    assert looked_at(desk, "API's address")[:2] == ("ok", f"127.0.0.1:{port} is free, and nobody listens there")
    assert sorted(desk.folder.rglob("*")) == before
    socket.create_server(("127.0.0.1", port)).close()


def test_a_daemon_can_begin_while_its_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    port, close = free_port(), socket.socket.close
    begun: list[socket.socket] = []

    def begin_first(tried: socket.socket) -> None:
        monkeypatch.setattr(socket.socket, "close", close)
        begun.append(listen("127.0.0.1", port, backlog=1))
        tried.close()

    monkeypatch.setattr(socket.socket, "close", begin_first)
    try_address("127.0.0.1", port)
    with begun.pop(), pytest.raises(OSError, match="in use"):
        try_address("127.0.0.1", port)


def test_who_answers_with_this_hosts_key_is_the_daemon(desk: Desk) -> None:
    with listening(desk.folder / "state") as gateway, listening(desk.folder / "state") as port:
        desk.write(api(port), port=gateway)
        for about, taken in (("gateway's address", gateway), ("API's address", port)):
            assert looked_at(desk, about)[:2] == ("ok", f"127.0.0.1:{taken} answers with this host's key")
        desk.write(api(port, host="0.0.0.0"), port=gateway)
        assert looked_at(desk, "API's address")[0] == "ok"


def test_a_daemon_that_does_not_serve_the_api_yet_is_to_be_restarted(desk: Desk) -> None:
    with listening(desk.folder / "state") as gateway:
        desk.write(api(free_port()), port=gateway)
        verdict, message, cure = looked_at(desk, "API's address")
    assert verdict == "warning"
    assert "and yet a daemon runs here" in message
    assert cure.startswith("restart bc-fleetd")


def test_an_address_that_something_else_has_is_a_problem(desk: Desk) -> None:
    pin = desk.run("certificate")[1].split()[-1]
    other = (desk.folder / "state").rename(desk.folder / "other")
    desk.run("certificate")
    with listening(other) as with_tls, listening(None) as without:
        desk.write(api(with_tls), port=without)
        status = desk.doctor()[0]
        verdict, message, cure = looked_at(desk, "API's address")
        assert (status, verdict) == (1, "problem")
        assert message == (
            f"127.0.0.1:{with_tls} is taken by something else: its key is another than this host's (pin {pin})"
        )
        assert "give [api] another listen_port" in cure
        verdict, message, cure = looked_at(desk, "gateway's address")
        assert verdict == "problem"
        assert message.startswith(f"127.0.0.1:{without} is taken by something else: ")
        assert "give [gateway] another listen_port" in cure


def test_where_there_is_no_key_a_taken_address_may_be_the_daemons(desk: Desk) -> None:
    with listening(desk.folder / "state") as port:
        desk.write(api(port))
        (desk.folder / "state").rename(desk.folder / "elsewhere")
        verdict, message, _cure = looked_at(desk, "API's address")
    assert verdict == "warning"
    assert message.startswith(f"127.0.0.1:{port} is taken, and this host has no key to know by")


def test_an_address_that_is_not_this_hosts_is_a_problem(desk: Desk) -> None:
    desk.write(api(8444, host="192.0.2.1"))
    verdict, message, cure = looked_at(desk, "API's address")
    assert (verdict, message) == (
        "problem",
        "this host cannot listen on 192.0.2.1:8444: Cannot assign requested address",
    )
    assert "listen_host that is this host's own" in cure


@pytest.mark.parametrize(("host", "clashes"), [("127.0.0.1", True), ("0.0.0.0", True), ("127.0.0.2", False)])
def test_api_and_gateway_cannot_listen_at_one_address(desk: Desk, host: str, clashes: bool) -> None:
    port = free_port()
    desk.write(api(port, host=host), port=port)
    assert looked_at(desk, "gateway's address")[0] == "ok"
    verdict, _message, cure = looked_at(desk, "API's address")
    assert (verdict == "problem") == clashes
    assert ("give [api] another listen_port" in cure) == clashes


def test_who_may_not_listen_there_is_told_so_unless_the_daemon_does_already(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_host: str, _port: int) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(f"{DOCTOR}.addresses.try_address", refuse)
    desk.write(api(free_port()))
    verdict, message, cure = looked_at(desk, "API's address")
    assert verdict == "warning"
    assert message.startswith("this user may not listen on ")
    assert "CAP_NET_BIND_SERVICE" in cure
    with listening(desk.folder / "state") as port:
        desk.write(api(port))
        assert looked_at(desk, "API's address")[0] == "ok"


def test_an_api_section_that_is_not_right_is_not_checked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.run("migrate")
    monkeypatch.setenv("BC_FLEET_API_LISTEN_PORT", "many")
    status, found = desk.doctor()
    assert status == 2
    assert [check["verdict"] for check in found["API's address"]] == ["not_checked"]
    assert not {"API", "API tokens"} & set(found)


@pytest.mark.parametrize(
    ("days", "verdict", "told"),
    [(-1, "problem", "expired on "), (13, "warning", "expires on "), (15, "ok", "is valid ")],
)
def test_callers_of_the_api_look_at_when_the_certificate_expires(
    desk: Desk, days: float, verdict: str, told: str
) -> None:
    certify(desk, days=days)
    assert "API's certificate" not in desk.doctor()[1], "bcd looks at the key alone"
    desk.write(api(0))
    found = looked_at(desk, "API's certificate")
    assert found[0] == verdict
    assert f"gateway-certificate.pem {told}" in found[1]
    assert ("`bc-fleetd certificate`" in found[2]) == (verdict != "ok")


def test_a_certificate_of_ones_own_is_to_be_renewed_and_its_names_are_ones_own_matter(desk: Desk) -> None:
    certify(desk, days=-1)
    state = desk.folder / "state"
    own = f'certificate_file = "{state}/gateway-certificate.pem"\nkey_file = "{state}/gateway-key.pem"\n'
    desk.write(own + api(0, host="127.0.0.2"))
    assert looked_at(desk, "API's certificate")[2].startswith("renew it for the same key")
    certify(desk, days=100)
    assert looked_at(desk, "API's certificate")[0] == "ok"


def test_a_daemon_that_still_shows_an_expired_certificate_is_to_be_restarted(desk: Desk) -> None:
    certify(desk, days=-1)
    with listening(desk.folder / "state") as gateway, listening(desk.folder / "state") as port:
        certify(desk, days=100)
        desk.write(api(port), port=gateway)
        assert looked_at(desk, "API's certificate")[0] == "ok"
        verdict, message, cure = looked_at(desk, "API's address")
        assert looked_at(desk, "gateway's address")[0] == "ok", "bcd looks at the key alone"
    assert verdict == "problem"
    assert f"shown at 127.0.0.1:{port} expired on" in message
    assert "restart" in cure


@pytest.mark.parametrize("host", ["127.0.0.2", "0.0.0.0"])
def test_a_certificate_from_before_the_settings_knew_the_apis_name_is_made_anew_for_the_same_key(
    desk: Desk, host: str
) -> None:
    pin = desk.run("certificate")[1].split()[-1]
    agent = f'[agent]\nimage = "bcd:1"\ngateway_url = "https://fleet.example:8443"\npins = ["{pin}"]\n'
    desk.write(api(0, host=host) + agent)
    verdict, message, cure = looked_at(desk, "API's certificate")
    assert verdict == "warning"
    assert f" does not name {'fleet.example' if host == '0.0.0.0' else host}: " in message
    assert cure.startswith("remove it, and keep the key beside it")
    (desk.folder / "state" / "gateway-certificate.pem").unlink()
    assert desk.run("certificate")[1].split()[-1] == pin
    assert looked_at(desk, "API's certificate")[0] == "ok"


def test_an_api_that_nobody_has_a_token_for_is_a_hint(desk: Desk) -> None:
    desk.run("migrate")
    desk.write(api(0))
    status, found = desk.doctor()
    assert status == 0
    [check] = found["API tokens"]
    assert check["verdict"] == "warning"
    assert "`bc-fleetd token create`" in check["cure"]
