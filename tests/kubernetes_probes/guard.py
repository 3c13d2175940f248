# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Guards the list of requests: fails each test in which the product sends one that is not in it. A pytest plugin.

It looks at what the product's own code gives to its one door to a cluster, ClusterApi.request; a test that uses the
door itself, as a stranger, may send what it likes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import JSON, ClusterApi

from .requests_sent import Forms, form_of, requests_sent

_PRODUCT = "ansible_collections.better_compute.fleet.plugins."


class Recording:
    """What the product has sent since the last look."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.forms: Forms = {}

    def note(self, method: str, path: str, **given: Any) -> None:
        """Note a request."""
        sent = {"query": None, "body": None, "content_type": JSON, "accept": JSON} | given
        form, fields = form_of(method, path, **sent)
        self.forms[form] = self.forms.get(form, frozenset()) | fields

    def unlisted(self) -> list[str]:
        """What of it is not in the list, in words."""
        listed = requests_sent()
        return [
            f"{form.request} {form.query} {form.accept} {form.content_type}"
            if form not in listed
            else f"{form.request}: {sorted(fields - listed[form])}"
            for form, fields in self.forms.items()
            if form not in listed or fields - listed[form]
        ]


@contextmanager
def recording() -> Iterator[Recording]:
    """Record what the product sends in here, in every thread of this process."""
    recorded = Recording()
    original = ClusterApi.request

    @wraps(original)
    def request(self: ClusterApi, method: str, path: str, **given: Any) -> dict[str, Any]:
        if str(sys._getframe(1).f_globals.get("__name__", "")).startswith(_PRODUCT):
            recorded.note(method, path, **given)
        return original(self, method, path, **given)

    ClusterApi.request = request  # type: ignore[method-assign]  # for as long as this lasts
    try:
        yield recorded
    finally:
        ClusterApi.request = original  # type: ignore[method-assign]  # as it was


@pytest.fixture(autouse=True)
def _only_listed_requests_are_sent() -> Iterator[None]:
    """Fail a test in which the product sends a request that is not in the list."""
    with recording() as recorded:
        yield
    unlisted = recorded.unlisted()
    if unlisted:
        pytest.fail(
            "the product sends what tests/kubernetes_probes does not know (its __init__.py says what to do):\n  "
            + "\n  ".join(unlisted),
            pytrace=False,
        )
