# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether each cluster's API answers from here. No credential of anybody's is sent: a refusal is an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from ...cluster.reach import look
from ...model.errors import ClusterError
from ...model.findings import Check, Verdict
from ...model.ids import ClusterId
from ...model.records import ClusterRecord
from ...model.states import ClusterState
from .at_once import ask_all

SECONDS = 20.0
"""For all clusters together; one that does not answer is known after three."""

_AT_ONCE = 16

_NOT_ASKED = "not asked"

_GOING = frozenset({ClusterState.DELETING, ClusterState.DELETED})


def check_endpoints(
    clusters: Iterable[ClusterRecord], *, named: Mapping[ClusterId, str], seconds: float = SECONDS
) -> tuple[Check, ...]:
    """One check for each cluster that is out of reach, and one for all that answer.

    Arguments:
        clusters: those that are not deleted; of those with an endpoint that somebody still wants, each is tried.
        named: what the lines call each cluster.
    """
    tried = {one.id: one for one in clusters if one.outputs and one.outputs.endpoint and one.state not in _GOING}
    questions: dict[ClusterId, Callable[[], str]] = {
        cluster.id: partial(_look, cluster.outputs.endpoint, cluster.outputs.ca_pem)
        for cluster in tried.values()
        if cluster.outputs
    }
    answers = ask_all(questions, at_once=_AT_ONCE, seconds=seconds, late=_NOT_ASKED)
    found = [
        Check(
            about=named[cluster_id],
            verdict=Verdict.PROBLEM,
            message=f"the cluster is out of reach from here: {answer}",
            cure="see that this host reaches the endpoint (proxy, name server, firewall, the cluster's own allow list)",
        )
        for cluster_id, answer in answers.items()
        if answer and answer != _NOT_ASKED
    ]
    late = [named[cluster_id] for cluster_id, answer in answers.items() if answer == _NOT_ASKED]
    if late:
        message = f"{len(late)} of {len(answers)} were not asked within {seconds:.0f} s, {late[0]} among them"
        found.append(Check(about="clusters", verdict=Verdict.NOT_CHECKED, message=message))
    well = sum(not answer for answer in answers.values())
    if well:
        message = f"{well} of {len(answers)} answer from here"
        found.append(Check(about="clusters", verdict=Verdict.OK, message=message))
    return tuple(found)


def _look(endpoint: str, ca_pem: str) -> str:
    """What is wrong with it; empty where it answers."""
    try:
        look(endpoint, ca_pem)
    except ClusterError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 -- a fault in one cluster's check does not take the others'; its text may hold anything
        return f"a fault of bc-fleetd's own: {type(error).__name__}"
    return ""
