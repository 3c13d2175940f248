# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the records alone tell: pure judgements on one look at the database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from ...model.agent import AgentSettings
from ...model.findings import AGENT_MISSING, Check, Finding, FindingCode, Verdict, some_of
from ...model.liveness import MARK_LASTS, Listening
from ...model.permissions import ApiToken, TokenState
from ...model.states import ClusterState, SubstrateState
from ...reconcile.verdict import MESSAGE_SEPARATOR
from ..clusters.views import ClusterView
from ..self_check import self_check
from ..substrates import SubstrateView

OVERDUE = timedelta(minutes=5)
"""A pool that is due is worked on within seconds while a daemon runs, unless all its workers are busy."""

_GOING = "being deleted, and not gone"
"""Whether it waits for bookings and for the provider, or for somebody because something is refused, is in the message:
what stays deleting for ever is never left unannounced."""

_START = "start `bc-fleetd run` on this database, and keep it running: nodes join and are looked after by it"


def check_gateway_marks(
    views: Sequence[SubstrateView], listening: Listening | None, running: Iterable[Listening], *, now: datetime
) -> Check:
    """Whether some daemon's gateway listens for bcd, by the marks that they leave.

    Arguments:
        listening: the mark of all of them together, which outlives them.
        running: each one's own, which it takes away when it stops.
    """
    about = "daemon"
    alive = [one for one in running if now - one.heard_at <= MARK_LASTS]
    if alive:
        since = min(one.since for one in alive)
        many = "a gateway has" if len(alive) == 1 else f"{len(alive)} gateways have, the first of them,"
        message = f"{many} been listening for bcd since {since:%Y-%m-%d %H:%M} UTC"
        return Check(about=about, verdict=Verdict.OK, message=message)
    if listening is None:
        message = "no gateway has ever listened for bcd on this database"
    else:
        message = f"no gateway has been listening for bcd since {listening.heard_at:%Y-%m-%d %H:%M} UTC"
    verdict = Verdict.PROBLEM if views else Verdict.WARNING
    return Check(about=about, verdict=verdict, message=message, cure=_START)


def check_due_times(names: Mapping[str, str], due: Mapping[str, datetime], *, now: datetime) -> Check:
    """Whether somebody works on what is due.

    Arguments:
        names: unit -> what a person calls it, of those that nobody works on now.
        due: unit -> when it is due.
    """
    late = sorted((due[unit], name) for unit, name in names.items() if unit in due and now - due[unit] > OVERDUE)
    if not late:
        return Check(about="passes", verdict=Verdict.OK, message="none is overdue")
    since, _name = late[0]
    named = some_of([name for _since, name in late])
    message = f"due since {since:%Y-%m-%d %H:%M} UTC or later, and nobody is at work: {named}"
    cure = f"{_START}; where one runs, read its log, or raise workers in [reconcile]"
    return Check(about="passes", verdict=Verdict.PROBLEM, message=message, cure=cure)


def check_api_tokens(issued: Iterable[ApiToken], *, now: datetime) -> Check:
    """Whether anybody can call the API. Asked where it is served."""
    about = "API tokens"
    live = sum(token.state(now) == TokenState.LIVE for token in issued)
    if live:
        message = f"{live} may call the API"
        return Check(about=about, verdict=Verdict.OK, message=message)
    cure = "issue one with `bc-fleetd token create` (docs/api-tokens.md), or take [api] out of the settings"
    return Check(about=about, verdict=Verdict.WARNING, message="none is live: nobody can call the API", cure=cure)


def check_pools(
    views: Sequence[SubstrateView], *, agent: AgentSettings | None, agent_known: bool, now: datetime
) -> tuple[Check, ...]:
    """Agent, joining and state of the pools' substrates.

    Arguments:
        agent: how the settings say that bcd is run.
        agent_known: False where the settings say it wrongly: then nobody knows.
    """
    found = self_check(views, agent=agent if agent_known else _SOME_AGENT, now=now)
    told = {finding.message.removeprefix(f"{finding.code}: ") for finding in found} | {AGENT_MISSING}
    return (
        _agent(found, agent=agent, agent_known=agent_known),
        *_joining(views, found),
        *_standing(views, told=told),
    )


_SOME_AGENT = AgentSettings(image="unknown", gateway_url="https://unknown.invalid", pins=())
"""Stands for settings that are there and cannot be read."""


def _agent(found: Iterable[Finding], *, agent: AgentSettings | None, agent_known: bool) -> Check:
    about, code = "agent", FindingCode.AGENT_MISSING
    if not agent_known:
        return Check(about=about, verdict=Verdict.NOT_CHECKED, message="[agent] in the settings is not right")
    for finding in found:
        if finding.code == code:
            return Check(
                about=about,
                verdict=Verdict.PROBLEM,
                message=f"{some_of(finding.pools)}: {finding.message}",
                cure="the pin is what `bc-fleetd certificate` prints",
                code=code,
            )
    if agent is None:
        message = "the settings do not say how bcd is run, and no pool asks for it"
    else:
        message = "the settings say how bcd is run"
        if "@sha256:" not in agent.image:
            # No warning: a tag that is never moved is as good, and whether it is, only its owners know.
            message += "; its image is named by a tag, so what runs can change without them (docs/operations.md)"
    return Check(about=about, verdict=Verdict.OK, message=message)


def _joining(views: Sequence[SubstrateView], found: Iterable[Finding]) -> list[Check]:
    checks = [
        Check(
            about=f"pool {', '.join(finding.pools)}",
            verdict=Verdict.PROBLEM,
            message=finding.message,
            code=finding.code,
        )
        for finding in found
        if finding.code == FindingCode.NODES_NOT_JOINING
    ]
    if not checks:
        waiting = sum(view.record.waiting_nodes for view in views)
        if waiting:
            message = f"{waiting} have yet to join, for less than a quarter of an hour"
        elif any(view.record.nodes_listed for view in views):
            message = "all have joined"
        else:
            message = "no Nodes are listed yet"
        checks.append(Check(about="nodes", verdict=Verdict.OK, message=message))
    return checks


def _standing(views: Sequence[SubstrateView], *, told: set[str]) -> list[Check]:
    checks = []
    for view in views:
        record, said = view.record, view.record.message
        for text in told:
            said = said.removesuffix(f"{MESSAGE_SEPARATOR}{text}")
        if not said or said in told:
            continue
        if record.state == SubstrateState.ERROR:
            verdict, message = Verdict.PROBLEM, f"in error: {said}"
        elif record.state == SubstrateState.READY:
            # Something could not be asked, or not changed in place: what stands is looked after.
            verdict, message = Verdict.WARNING, f"ready, and yet: {said}"
        elif record.state == SubstrateState.DELETING:
            verdict, message = Verdict.WARNING, f"{_GOING}: {said}"
        else:
            continue
        checks.append(Check(about=f"pool {view.pool}", verdict=verdict, message=message))
    return [*checks, _readiness(views)]


def _readiness(views: Sequence[SubstrateView]) -> Check:
    """How many are ready: one that is being deleted is there, and is not."""
    about = "pools"
    if not views:
        return Check(about=about, verdict=Verdict.OK, message="none has a substrate")
    # What is ready and not as it was declared last is being changed.
    others = [
        f"{view.pool} ({'changing' if view.record.state == SubstrateState.READY else view.record.state})"
        for view in views
        if not view.ready
    ]
    message = f"{len(views) - len(others)} of {len(views)} are ready"
    if not others:
        return Check(about=about, verdict=Verdict.OK, message=message)
    cure = "`bc-fleetd status` shows where each stands; what is on its way needs time, and a daemon that runs"
    return Check(about=about, verdict=Verdict.WARNING, message=f"{message}; not {some_of(others)}", cure=cure)


def check_clusters(views: Iterable[ClusterView]) -> tuple[Check, ...]:
    """The state of clusters that back no pool; nothing where they are as they should be."""
    checks = []
    for view in views:
        record = view.record
        if record.state == ClusterState.ERROR:
            verdict, message = Verdict.PROBLEM, f"in error: {record.message}"
        elif record.state == ClusterState.READY and record.message:
            verdict, message = Verdict.WARNING, f"ready, and yet: {record.message}"
        elif record.state == ClusterState.DELETING and record.message:
            verdict, message = Verdict.WARNING, f"{_GOING}: {record.message}"
        else:
            continue
        checks.append(Check(about=name_of(view), verdict=verdict, message=message))
    return tuple(checks)


def name_of(view: ClusterView) -> str:
    """What a line calls a cluster: by its pool where it backs one."""
    return f"pool {view.pool}" if view.pool else f"cluster {view.record.name} of {view.record.tenant_id}"
