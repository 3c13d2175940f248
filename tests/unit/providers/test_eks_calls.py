# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Throttling inside one budget."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    Throttled,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.calls import THROTTLE_BUDGET_SECONDS
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.calls import Calls


class Service:
    """Answers with one reply after the other; the last one for ever."""

    def __init__(self, *replies: Exception | str) -> None:
        self.replies = list(replies)
        self.calls = 0

    def answer(self, *, name: str) -> str:
        self.calls += 1
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, Exception):
            raise reply
        return f"{reply} {name}"


def refusal(code: str, status: int = 400) -> ClientError:
    reply: Any = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(reply, "Call")


def calls(waits: list[float], jitter: float = 1.0) -> Calls:
    return Calls(sleep=waits.append, jitter=lambda: jitter)


def test_a_throttled_call_is_repeated_with_growing_waits_until_it_is_answered() -> None:
    waits: list[float] = []
    service = Service(refusal("ThrottlingException"), refusal("TooManyRequestsException"), "hello")
    assert calls(waits)(service.answer, name="x") == "hello x"
    assert waits == [0.25, 0.5]


def test_throttling_that_outlasts_the_budget_becomes_throttled() -> None:
    waits: list[float] = []
    service = Service(refusal("Throttling"))
    with pytest.raises(Throttled):
        calls(waits)(service.answer, name="x")
    assert 0 < sum(waits) <= THROTTLE_BUDGET_SECONDS
    assert service.calls == len(waits) + 1


@pytest.mark.parametrize("jitter", [0.0, 0.3, 1.0])
def test_the_budget_is_that_of_all_calls_of_one_method_together(jitter: float) -> None:
    waits: list[float] = []
    call = calls(waits, jitter)
    for _time in range(3):
        with pytest.raises(Throttled):
            call(Service(refusal("Throttling")).answer, name="x")
    assert sum(waits) <= THROTTLE_BUDGET_SECONDS


def test_jitter_takes_up_to_half_of_a_wait() -> None:
    waits: list[float] = []
    calls(waits, jitter=0.0)(Service(refusal("Throttling"), "hello").answer, name="x")
    assert waits == [0.125]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refusal("InvalidParameterException"), InvalidRequest),
        (refusal("ServerException", 500), Unavailable),
        (ReadTimeoutError(endpoint_url="https://x"), Unavailable),
    ],
)
def test_nothing_but_throttling_is_repeated(reply: Exception, kind: type[Exception]) -> None:
    waits: list[float] = []
    service = Service(reply)
    with pytest.raises(kind):
        calls(waits)(service.answer, name="x")
    assert (service.calls, waits) == (1, [])


def test_the_sdks_exception_does_not_hang_on_to_ours() -> None:
    with pytest.raises(InvalidRequest) as caught:
        calls([])(Service(refusal("InvalidParameterException")).answer, name="x")
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
