# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From what a provider says of a node pool to its record, and when it may be asked again. Pure.

What the provider refuses is asked for again at most once in five minutes, whether it refuses at once or takes a create
or a change and gives it up later. A refused node pool stays in error until it is ready or changed: a try that may be
refused again is no news. What passes by itself (a throttled or broken call, of ours or of the provider's own) is no
error: the node pool is on its way, and its message says what it waits for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from ..model.errors import ProviderError, Throttled
from ..model.observed import Difference, ObservedNodePool
from ..model.records import NodePoolRecord
from ..model.states import NodePoolState, ProviderStatus
from ..model.versions import is_older
from ..providers.contract import NodePoolSpec
from .outcome import DONE, Outcome, failed, passes_by, waiting
from .timing import STOCKOUT_RETRY

_TAKES_CHANGES = (ProviderStatus.ACTIVE, ProviderStatus.DEGRADED)
_MOVING = (ProviderStatus.CREATING, ProviderStatus.UPDATING, ProviderStatus.DELETING)
_ON_ITS_WAY = (NodePoolState.PENDING, NodePoolState.UPDATING, NodePoolState.DELETING)


def on_its_way(record: NodePoolRecord, message: str = "") -> NodePoolRecord:
    """The record while something is asked for or done about it. One in error stays so."""
    if record.state == NodePoolState.ERROR:
        return record
    state = NodePoolState.UPDATING if record.observed_version else NodePoolState.PENDING
    return replace(record, state=state, message=message)


def may_create(record: NodePoolRecord, now: datetime) -> bool:
    """Whether a create may be sent now: at once, unless the last one was refused less than five minutes ago."""
    return record.state != NodePoolState.ERROR or is_past(record.last_create_at, now)


def create_intent(record: NodePoolRecord, now: datetime) -> NodePoolRecord:
    """What is recorded before a create is sent. It is another group than the one that nodes may have joined from."""
    attempts = record.create_attempts + (1 if record.state == NodePoolState.ERROR else 0)
    new = replace(record, create_attempts=attempts, last_create_at=now, ever_joined=False)
    return on_its_way(replace(new, update_id=None, last_update_at=None))


def wants_change(spec: NodePoolSpec, found: ObservedNodePool, differences: tuple[Difference, ...]) -> bool:
    """Whether asking the driver for `spec` may send something: it is not as wanted, and takes changes."""
    if found.status not in _TAKES_CHANGES or any(not item.in_place for item in differences):
        return False
    return bool(differences) or is_older(found.version, spec.version or "")


def may_change(record: NodePoolRecord, now: datetime) -> bool:
    """Whether a change may be sent now: at once, unless the last one was refused less than five minutes ago."""
    return record.state != NodePoolState.ERROR or is_past(record.last_update_at, now)


def change_intent(record: NodePoolRecord, now: datetime) -> NodePoolRecord:
    """What is recorded before a change is sent."""
    return on_its_way(replace(record, update_id=None, last_update_at=now))


def is_past(sent_at: datetime | None, now: datetime) -> bool:
    """Whether what was sent then, and refused, may be sent again."""
    return sent_at is None or now - sent_at >= STOCKOUT_RETRY


def settled(record: NodePoolRecord, found: ObservedNodePool) -> NodePoolRecord:
    """The record after the provider took the request: ready when it says so and gives no failure."""
    record = replace(record, update_id=found.update_id or record.update_id)
    if found.failure is not None:
        if isinstance(found.failure, Throttled):
            return on_its_way(record, str(found.failure))
        return replace(record, state=NodePoolState.ERROR, message=str(found.failure))
    if found.status != ProviderStatus.ACTIVE:
        return on_its_way(record)
    ready = replace(record, state=NodePoolState.READY, message="", observed_version=record.version)
    return replace(ready, update_id=None, last_update_at=None)


def refused(record: NodePoolRecord, error: ProviderError) -> NodePoolRecord:
    """The record after an error: a refusal is an error with its reason; what passes, or a refused delete, is not."""
    if record.state == NodePoolState.DELETING:
        return replace(record, message=str(error))
    if passes_by(error):
        return record if record.state == NodePoolState.ERROR else replace(record, message=str(error))
    return replace(record, state=NodePoolState.ERROR, message=str(error))


def change_refused(record: NodePoolRecord, error: ProviderError, now: datetime) -> NodePoolRecord:
    """The record after an error to a change that was sent now, or to the question what became of one.

    Whether it was the change that failed for a reason that passes, or the question, cannot be told: it is asked again
    for five minutes, and then the change is sent again. One that is still under way is not sent twice by that: the
    provider says that it is busy.
    """
    after = refused(record, error)
    if not passes_by(error):
        return replace(after, update_id=None, last_update_at=now)
    return replace(after, update_id=None) if is_past(record.last_update_at, now) else after


def create_failed(record: NodePoolRecord, found: ObservedNodePool) -> NodePoolRecord:
    """The record of a node pool that the provider took and failed to create. Its remains may still stand there."""
    reason = str(found.failure) if found.failure else "the provider failed to create it"
    if record.last_create_at is None and not record.ever_joined:  # since it failed, something else is wanted of it
        return on_its_way(record, f"the one that the provider failed to create is cleared away: {reason}")
    if found.failure is not None and passes_by(found.failure):
        return on_its_way(record, reason)
    return replace(record, state=NodePoolState.ERROR, message=reason)


def may_clear_away(record: NodePoolRecord, now: datetime) -> bool:
    """Whether a failed one may be deleted, to be made again: when that may follow, and no node of it ever joined."""
    return not record.ever_joined and is_past(record.last_create_at, now)


def going(record: NodePoolRecord) -> NodePoolRecord:
    """The provider is deleting what we want. One that failed keeps its reason: its remains are being cleared away."""
    if record.state != NodePoolState.READY and record.message:
        return record
    return on_its_way(record, "the provider is deleting it; it is made anew when it is gone")


def sum_up(after: tuple[NodePoolRecord, ...], observed: Mapping[str, ObservedNodePool]) -> Outcome:
    """The step's outcome: failed while one is refused, also while another try of it is under way."""
    broken = [f"node pool {record.name}: {record.message}" for record in after if record.state == NodePoolState.ERROR]
    if broken:
        seen = [observed[record.name].status for record in after if record.name in observed]
        moving = any(status in _MOVING for status in seen) or any(record.state in _ON_ITS_WAY for record in after)
        return failed("; ".join(broken), moving=moving)
    on_their_way = [
        f"{record.name} ({record.message})" if record.message else record.name
        for record in after
        if record.state in _ON_ITS_WAY
    ]
    return waiting(f"node pools on their way: {', '.join(on_their_way)}") if on_their_way else DONE
