# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""DigitalOcean's errors in the contract's words, however pydo gives them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from azure.core.exceptions import (
    DecodeError,
    HttpResponseError,
    ResourceNotFoundError,
    ServiceRequestError,
    ServiceResponseError,
)

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    AlreadyExists,
    InUse,
    InvalidRequest,
    NotFound,
    OperationInProgress,
    PermissionDenied,
    ProviderQuotaExceeded,
    StockedOut,
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.calls import Calls
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.doks.errors import (
    refusal,
    refusal_in,
    translate,
)


class Reply:
    """As much of an HTTP reply as azure's exceptions look at."""

    reason = "no"
    content_type = "application/json"

    def __init__(self, status: int, body: Any, **headers: str) -> None:
        self.status_code = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        self._text = body if isinstance(body, str) else json.dumps(body)

    def json(self) -> Any:
        return json.loads(self._text)

    def text(self) -> str:
        return self._text


def refused(status: int, code: str, message: str, **headers: str) -> HttpResponseError:
    reply: Any = Reply(status, {"id": code, "message": message}, **headers)
    return HttpResponseError(response=reply)


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (401, "unauthorized", "Unable to authenticate you", PermissionDenied),
        (403, "forbidden", "You are not authorized to perform this operation", PermissionDenied),
        (404, "not_found", "The resource you requested could not be found.", NotFound),
        (409, "conflict", "cluster is busy", OperationInProgress),
        (409, "conflict", "a cluster with this name already exists", AlreadyExists),
        (422, "unprocessable_entity", "validation error: a cluster with this name already exists", AlreadyExists),
        (
            422,
            "unprocessable_entity",
            "validation error: node pool names must be unique within a cluster",
            AlreadyExists,
        ),
        (422, "unprocessable_entity", "validation error: invalid version slug", InvalidRequest),
        (422, "unprocessable_entity", "validation error: invalid upgrade path", InvalidRequest),
        (422, "unprocessable_entity", "validation error: min nodes must be greater than or equal to 1", InvalidRequest),
        (
            422,
            "unprocessable_entity",
            "validation error: 3 additional nodes but not enough available droplet limit",
            ProviderQuotaExceeded,
        ),
        (422, "unprocessable_entity", "insufficient capacity for size gpu-h100x8-640gb", StockedOut),
        (422, "unprocessable_entity", "validation error: cluster must have at least one node pool", InUse),
        (422, "unprocessable_entity", "cluster is currently upgrading", OperationInProgress),
        (429, "too_many_requests", "API rate limit exceeded.", Throttled),
        (500, "server_error", "Server Error", Unavailable),
        (503, "", "", Unavailable),
        (302, "", "", InvalidRequest),
    ],
)
def test_a_refusal_is_typed_by_what_to_do_next(status: int, code: str, message: str, kind: type[Exception]) -> None:
    found = translate(refused(status, code, message))
    assert type(found) is kind
    assert message in str(found)


def test_a_404_that_pydo_returns_is_an_error_like_any_other() -> None:
    body = {"id": "not_found", "message": "The resource you requested could not be found.", "request_id": "x"}
    assert isinstance(refusal_in(body), NotFound)
    with pytest.raises(NotFound):
        calls()(lambda: body)
    with pytest.raises(NotFound):
        calls()(_raise, ResourceNotFoundError(response=_reply(404, body)))


@pytest.mark.parametrize("reply", [None, {"kubernetes_cluster": {"id": "x", "message": "y"}}, {"node_pools": []}, []])
def test_what_is_no_error_is_none(reply: object) -> None:
    assert refusal_in(reply) is None


@pytest.mark.parametrize(
    "error",
    [
        ServiceRequestError("connection refused"),
        ServiceResponseError("read timed out"),
        HttpResponseError(response=None),
        json.JSONDecodeError("no", "<html>", 0),
    ],
)
def test_no_answer_and_one_that_is_not_digitaloceans_may_have_had_their_effect(error: Exception) -> None:
    assert type(translate(error)) is Unavailable


def test_a_reply_of_somebody_in_between_is_not_quoted() -> None:
    page = HttpResponseError(response=_reply(502, "<html>token dop_v1_secret</html>"))
    broken = DecodeError("<html>token dop_v1_secret</html>", response=_reply(200, "<html>"))
    for error in (page, broken):
        found = translate(error)
        assert isinstance(found, Unavailable)
        assert "secret" not in str(found)


def test_a_wait_that_digitalocean_asks_for_is_kept_where_the_budget_allows_it() -> None:
    waits: list[float] = []
    replies = [refused(429, "too_many_requests", "no", retry_after="2"), "hello"]
    call = Calls(sleep=waits.append, jitter=lambda: 1.0)
    assert call(lambda: _next(replies)) == "hello"
    assert waits == [2.25]
    with pytest.raises(Throttled):
        call(_raise, refused(429, "too_many_requests", "no", retry_after="37"))
    assert waits == [2.25]


def test_text_of_any_length_is_shown_on_one_line_and_cut() -> None:
    assert len(str(refusal(status=422, body={"message": "x\n" * 9000}))) <= 600


def calls() -> Calls:
    return Calls(sleep=_never, jitter=lambda: 0.5)


def _never(seconds: float) -> None:
    raise AssertionError(f"waited for {seconds} s")


def _reply(status: int, body: Any) -> Any:
    return Reply(status, body)


def _raise(error: Exception) -> None:
    raise error


def _next(replies: list[Any]) -> Any:
    reply = replies.pop(0)
    if isinstance(reply, Exception):
        raise reply
    return reply
