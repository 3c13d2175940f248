# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Bringing an object to what its manifest says, and keeping it so: compare first, write only on a difference.

- First by create, so that nothing of the same name is ever taken over; afterwards by server-side apply. The apply
  forces: the object carries our label, and fields that were set by our own create count as another manager's.
- An apply takes away nothing that another manager owns: items that somebody added to our lists (a variable, a volume,
  an admission policy's condition) stay, and so does what our own create set and we no longer want. A JSON merge patch
  replaces lists whole and takes out what is null, so one follows where the object still differs. Nothing is deleted
  for it: pods stay where their template is what it was.
- Somebody may put it back each time (a mutating webhook). Then it is left so until the next pass: two writes a pass,
  after which the object is as it was before them, so that no pod is rolled.
- Each write carries the uid and resourceVersion that were compared: if the object changed or was replaced in between,
  the API answers 409 and the next pass looks again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ..model.errors import ClusterConflict, ClusterInvalid, ClusterObjectMissing
from .api import APPLY_PATCH, MERGE_PATCH, ClusterApi
from .names import FIELD_MANAGER
from .objects import (
    Manifest,
    Owner,
    create,
    delete,
    describe,
    is_going,
    path,
    read,
    require_ours,
    stands_in,
    without_absent,
)

_STATUS_CHANGES = 5
"""How many writes of an object's status are let pass before a write of ours is left to the next pass."""


def ensure(api: ClusterApi, manifest: Manifest, *, pool_id: Owner, fixed: str | None = None) -> bool:
    """Make the object stand as the manifest says; one read and no write where it does already.

    Arguments:
        fixed: a field that the API lets nobody change. Where it differs, the object is made anew.

    Returns:
        Whether anything was written.

    Raises:
        NotOurs: an object of that name does not carry this pool's label; it was left alone.
        ClusterConflict: somebody changed it in between, or it is being deleted: look again later.
        ClusterInvalid: the API refuses what is wanted.
    """
    key = (manifest["kind"], manifest["metadata"]["name"], manifest["metadata"].get("namespace"))
    live = read(api, *key)
    if live is None:
        try:
            create(api, manifest)
        except ClusterConflict:
            # Another process may have made it just now.
            live = read(api, *key)
            if live is None:
                raise
        else:
            return True
    require_ours(live, pool_id=pool_id)
    if is_going(live):
        raise ClusterConflict(f"{describe(*key)} is being deleted; it can be made again when it is gone")
    if stands_in(manifest, live):
        return False
    if fixed is not None and not stands_in(manifest[fixed], live.get(fixed)):
        delete(api, live)
        create(api, manifest)
        return True
    # What is wanted may be invalid only together with what somebody added: the patch, which leaves nothing of that in
    # our lists, has the last word.
    with suppress(ClusterInvalid):
        live = _while_status_moves(api, manifest, live, _apply)
    if not stands_in(manifest, live):
        _while_status_moves(api, manifest, live, _replace_lists)
    return True


_Write = Callable[[ClusterApi, Manifest, Manifest], Manifest]
"""Sends a manifest onto exactly the live object; returns what stands then."""


def _while_status_moves(api: ClusterApi, manifest: Manifest, live: Manifest, write: _Write) -> Manifest:
    """Write, and again onto what stands there now as long as nothing but its status has changed in between.

    A DaemonSet's controller writes its status at every step of a rollout, and each write is a new resourceVersion.
    """
    for _turn in range(_STATUS_CHANGES):
        try:
            return write(api, manifest, live)
        except ClusterConflict:
            metadata = live["metadata"]
            now = read(api, live["kind"], metadata["name"], metadata.get("namespace"))
            if now is None or _without_status(now) != _without_status(live):
                raise
            live = now
    return write(api, manifest, live)


def _without_status(live: Manifest) -> Manifest:
    """The object without what a write of its status changes."""
    metadata = {
        key: value for key, value in live["metadata"].items() if key not in ("resourceVersion", "managedFields")
    }
    return {key: value for key, value in live.items() if key != "status"} | {"metadata": metadata}


def _apply(api: ClusterApi, manifest: Manifest, live: Manifest) -> Manifest:
    """Server-side apply."""
    return _patch(api, without_absent(manifest), live, content_type=APPLY_PATCH, force="true")


def _replace_lists(api: ClusterApi, manifest: Manifest, live: Manifest) -> Manifest:
    """JSON merge patch (RFC 7386); the API fills its defaults into the items of lists again.

    Raises:
        ClusterConflict: also when the object is gone.
    """
    try:
        return _patch(api, _with_nulls(manifest), live, content_type=MERGE_PATCH)
    except ClusterObjectMissing as error:
        raise ClusterConflict(str(error)) from error


def _patch(api: ClusterApi, body: Manifest, live: Manifest, *, content_type: str, **query: str) -> Manifest:
    metadata = live["metadata"]
    exactly = {"uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"]}
    return api.request(
        "PATCH",
        path(body["kind"], metadata["name"], metadata.get("namespace")),
        query={"fieldManager": FIELD_MANAGER, "fieldValidation": "Strict", **query},
        body=body | {"metadata": body["metadata"] | exactly},
        content_type=content_type,
    )


def _with_nulls(value: Any) -> Any:
    """A copy in which None stands in maps, where a merge patch reads it as "take this out", and nowhere in lists."""
    if isinstance(value, Mapping):
        return {key: _with_nulls(inner) for key, inner in value.items()}
    return without_absent(value)
