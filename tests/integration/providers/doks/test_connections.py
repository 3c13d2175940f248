# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a call between the DOKS driver and DigitalOcean: no answer, no sense, too many, too many threads."""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.emulators.kubernetes.certificates import make_server_context
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import AccountId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks import open_driver, pages
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.api import open_api
from ansible_collections.better_compute.fleet.tests.support.doks_subject import CLUSTER, NODE_POOL, DoksSubject


@contextmanager
def answering(status: int, body: bytes, folder: Path, **headers: str) -> Iterator[tuple[str, str, list[str]]]:
    """A server that always answers the same; its URL, its CA file, and what it was asked."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
            pass

    context, ca_pem = make_server_context(cluster="digitalocean", host="127.0.0.1")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    ca_file = folder / "another-ca.pem"
    ca_file.write_text(ca_pem)
    try:
        yield f"https://127.0.0.1:{server.server_port}", str(ca_file), asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def elsewhere(ocean: DoksSubject, url: str, ca_file: str | None) -> DoksSubject:
    settings = dataclasses.replace(ocean.settings, endpoint_url=url, ca_file=ca_file)
    return dataclasses.replace(ocean, settings=settings, api=open_api(settings))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>dop_v1_secret</html>",
        b"[]",
        b"{}",
        b'"yes"',
        b'{"kubernetes_clusters": [{"id": "x"}]}',
        b'{"kubernetes_clusters": [{}]}',
        b'{"kubernetes_clusters": [7]}',
        b"\xff\xfe",
    ],
)
def test_an_answer_that_makes_no_sense_proves_nothing_and_is_not_quoted(
    ocean: DoksSubject, body: bytes, tmp_path: Path
) -> None:
    with answering(200, body, tmp_path) as (url, ca_file, _asked):
        with pytest.raises(Unavailable) as caught:
            elsewhere(ocean, url, ca_file).open().get_cluster(CLUSTER)
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize("status", [500, 502, 504])
def test_a_server_error_is_unavailable_and_the_call_is_not_sent_again(
    ocean: DoksSubject, status: int, tmp_path: Path
) -> None:
    with answering(status, b"<html>", tmp_path) as (url, ca_file, asked):
        with pytest.raises(Unavailable):
            elsewhere(ocean, url, ca_file).open().get_cluster(CLUSTER)
        assert len(asked) == 1


def test_a_redirect_is_not_followed_with_the_token(ocean: DoksSubject, tmp_path: Path) -> None:
    with answering(302, b"", tmp_path, location=f"{ocean.cloud.endpoint_url}/v2/kubernetes/clusters") as place:
        url, ca_file, asked = place
        before = ocean.calls()
        with pytest.raises(InvalidRequest):
            elsewhere(ocean, url, ca_file).open().get_cluster(CLUSTER)
        assert (len(asked), ocean.calls()) == (1, before)


def test_a_server_that_the_accounts_ca_file_does_not_vouch_for_gets_no_token(
    ocean: DoksSubject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(ocean.cloud.ca_file))
    for ca_file in (None, ocean.settings.ca_file):
        with answering(200, b"{}", tmp_path) as (url, _ca_file, asked):
            with pytest.raises(Unavailable):
                elsewhere(ocean, url, ca_file).open().get_cluster(CLUSTER)
            assert asked == []
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/nowhere.pem")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert elsewhere(ocean, ocean.cloud.endpoint_url, ocean.settings.ca_file).open().get_cluster(CLUSTER) is None


def test_nobody_at_the_endpoint_is_unavailable(ocean: DoksSubject) -> None:
    with pytest.raises(Unavailable):
        elsewhere(ocean, "https://127.0.0.1:9", None).open().get_cluster(CLUSTER)


def test_throttling_is_waited_for_within_a_budget_and_then_told(ocean: DoksSubject) -> None:
    ocean.stand()
    ocean.cloud.rate_limit.an_hour = 0
    with pytest.raises(Throttled, match="rate limit"):
        ocean.open().get_cluster(CLUSTER)
    assert 2 < sum(ocean.waits) <= 4


def test_a_burst_that_is_to_wait_longer_than_the_budget_is_told_at_once(ocean: DoksSubject) -> None:
    ocean.stand()
    ocean.open().get_cluster(CLUSTER)
    ocean.cloud.rate_limit.a_minute = 1
    with pytest.raises(Throttled):
        ocean.open().get_cluster(CLUSTER)
    assert ocean.waits == []


def test_a_throttled_create_is_sent_once_it_may_be(ocean: DoksSubject) -> None:
    no = Error(status=429, code="too_many_requests", message="API rate limit exceeded.")
    ocean.engine.faults.add("digitalocean", "POST clusters", no, times=2)
    ocean.open().ensure_cluster(CLUSTER, (NODE_POOL,))
    assert ocean.writes() == 1
    assert len(ocean.waits) == 2


def test_lists_are_paged_through_to_the_end(ocean: DoksSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    ocean.cloud.readings.unique_names = False
    monkeypatch.setattr(
        "ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.pages.ITEMS_PER_PAGE", 2
    )
    pool = {"name": "x", "size": "s-2vcpu-4gb", "count": 1}
    body = {"name": "theirs", "region": "nyc2", "version": "latest", "node_pools": [pool]}
    for _time in range(4):
        ocean.api.kubernetes.create_cluster(body)
    ocean.stand()
    driver, before = ocean.open(), ocean.calls()
    assert driver.get_cluster(CLUSTER) is not None
    assert ocean.calls() - before == 3


def test_a_driver_may_be_shared_between_threads(ocean: DoksSubject) -> None:
    others = [
        dataclasses.replace(CLUSTER, name=f"bc-{n}", tags={"better-compute.dev/cluster": f"kcl_{n}"}) for n in "abcd"
    ]
    driver = ocean.open()

    def live(index: int) -> int:
        spec = others[index]
        pools = tuple(dataclasses.replace(NODE_POOL, name=f"p-{n}", tags=spec.tags) for n in range(index + 1))
        driver.ensure_cluster(spec, pools)
        for _time in range(5):
            driver.get_cluster(spec)
            assert [pool.name for pool in driver.get_node_pools(spec)] == [pool.name for pool in pools]
        return len(pools)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(live, range(4))) == [1, 2, 3, 4]


def test_the_token_is_in_no_log_and_no_repr(ocean: DoksSubject, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    account = AccountRecord(
        id=AccountId("acc_01kb5c0000000000000000000a"),
        tenant_id=TenantId("platform"),
        name="ocean",
        provider="digitalocean",
        config={
            "region": "nyc2",
            "credential": dict(ocean.settings.credential),
            "endpointUrl": ocean.settings.endpoint_url,
            "caFile": ocean.settings.ca_file,
        },
    )
    driver = open_driver(account, clock=SystemClock())
    driver.ensure_cluster(CLUSTER, (NODE_POOL,))
    ocean.settle()
    cluster = driver.get_cluster(CLUSTER)
    assert cluster is not None
    access = driver.bootstrap_access(cluster)
    shown = caplog.text + repr(access) + repr(vars(driver)) + repr(ocean.settings)
    for secret in (ocean.cloud.token, access.token.reveal()):
        assert secret not in shown


def test_a_list_without_end_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.pages._MOST_PAGES", 3
    )
    asked: list[int] = []

    def page(*, per_page: int, page: int) -> dict[str, object]:
        asked.append(page)
        return {"droplets": [{"id": page}], "links": {"pages": {"next": "x"}}, "meta": {"total": per_page * 9}}

    with pytest.raises(Unavailable):
        pages.read_all(lambda method, **kwargs: method(**kwargs), "droplets", page)  # type: ignore[arg-type]  # no budget
    assert asked == [1, 2, 3]
