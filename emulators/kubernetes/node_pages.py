# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The Node list, page by page: as of its first page, and only as long as that moment is remembered."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..engine import Clock
from .kinds import NODE
from .objects import Object, ObjectStore
from .requests import Request
from .statuses import ApiRefusal, not_emulated
from .validation import is_label

METADATA_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""The only form in which the product asks for Nodes."""

_LABEL = re.compile(r"(?P<key>[^=!<>,()\s]+)=(?P<value>[^=!<>,()\s]+)")
"""A selector of one label and its value, whatever is in them."""

_INCONSISTENT = "inconsistent"
"""The continuation in a refusal of an old one: for who does not mind a list of no one moment."""

_REMEMBERED = timedelta(minutes=5)
"""etcd compacts every five minutes; older continuations are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rest:
    nodes: list[Object]
    version: str
    since: datetime


class NodePages:
    """Answers lists of Nodes. Called with the cluster's lock held."""

    def __init__(self, *, store: ObjectStore, clock: Clock) -> None:
        """Nothing is under way."""
        self._store = store
        self._clock = clock
        self._rests: dict[str, _Rest] = {}

    def answer(self, request: Request) -> dict[str, Any]:
        """One page.

        Raises:
            ApiRefusal: 400 for a limit or continuation that makes no sense, 410 for a continuation that is too old;
                501 for another form and for selectors of more than one label.
        """
        request.require_accept(METADATA_ONLY)
        query = request.query("labelSelector", "limit", "continue")
        limit = _limit(query.get("limit", "0"))
        if "continue" in query:
            rest = self._continued(query["continue"])
        else:
            rest = _Rest(
                nodes=selected(self._store.all_of(NODE), query.get("labelSelector", "")),
                version=self._store.version,
                since=self._clock.now(),
            )
        page = rest.nodes[:limit] if limit else rest.nodes
        metadata = {"resourceVersion": rest.version}
        if len(page) < len(rest.nodes):
            token = secrets.token_urlsafe(16)
            self._rests[token] = _Rest(nodes=rest.nodes[len(page) :], version=rest.version, since=rest.since)
            metadata["continue"] = token
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": metadata,
            # What has no items is null here, and not empty.
            "items": [
                {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": node["metadata"]}
                for node in page
            ]
            or None,
        }

    def _continued(self, token: str) -> _Rest:
        if token == _INCONSISTENT:
            raise not_emulated("a list that goes on after it expired")
        rest = self._rests.get(token)
        if rest is None:
            raise ApiRefusal(400, "continue key is not valid")
        if self._clock.now() - rest.since > _REMEMBERED:
            raise ApiRefusal(
                410,
                "The provided continue parameter is too old to display a consistent list result. You can start a new "
                "list without the continue parameter, or use the continue token in this response to retrieve the "
                "remainder of the results. Continuing with the provided token results in an inconsistent list - "
                "objects that were created, modified, or deleted between the time the first chunk was returned and "
                "now may show up in the list.",
                metadata={"continue": _INCONSISTENT},
            )
        return rest


def selected(objects: list[Object], selector: str) -> list[Object]:
    """Those whose labels a selector chooses.

    Raises:
        ApiRefusal: 400 for one that cannot be, 501 for another selector than the product sends.
    """
    one = _LABEL.fullmatch(selector)
    if one is None:
        raise not_emulated(f"a list by {selector!r} instead of one label and its value")
    key, value = one["key"], one["value"]
    if not is_label(key, value):
        raise ApiRefusal(400, f"unable to parse requirement: {selector!r}")
    return [found for found in objects if found["metadata"].get("labels", {}).get(key) == value]


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ApiRefusal(400, f"the limit {text!r} is not a number")
    return int(text)
