# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether each provider account's credential is there and is taken: one or two reads of the provider, for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ...model.errors import (
    AlreadyExists,
    FleetError,
    InvalidRequest,
    NotFound,
    OperationInProgress,
    PermissionDenied,
    Throttled,
    Unavailable,
)
from ...model.findings import Check, Verdict
from ...model.ids import AccountId
from ...model.libraries import library_of, not_installed
from ...model.records import AccountRecord, ClusterRecord
from ...providers.contract import ClusterSpec
from ...reconcile.specs import cluster_spec
from .at_once import ask_all

if TYPE_CHECKING:
    from ...providers.contract import Driver

SECONDS = 30.0
"""For all accounts together. A call's own time-out is under half of it, so that an account that is out of reach says
what its provider's library says."""

_AT_ONCE = 8

_NO_SUCH_CLUSTER = "bc-doctor"
"""Asked for where an account has no cluster yet: that there is none is an answer, too. Passes make `bc-<26 more>`."""

_ANY_GOOGLE_REGION = "us-central1"
"""Of an account that names no zones: every project may ask there."""

_PAGES = {
    "aws": "docs/permissions.md",
    "gcp": "docs/permissions.md",
    "digitalocean": "docs/permissions-digitalocean.md",
}


def check_accounts(
    accounts: Iterable[AccountRecord],
    clusters: Iterable[ClusterRecord],
    *,
    open_driver: Callable[[AccountRecord], Driver],
    seconds: float = SECONDS,
) -> dict[AccountId, Check]:
    """One check for each account, in the order of their names.

    Arguments:
        clusters: those that are not deleted: an account is asked for one of its own.
        open_driver: see Session.
    """
    own = {cluster.account_id: cluster for cluster in clusters}
    ordered = sorted(accounts, key=lambda account: (account.name, account.id))
    questions: dict[AccountId, Callable[[], Check | None]] = {
        account.id: partial(_check, account, own.get(account.id), open_driver) for account in ordered
    }
    answers = ask_all(questions, at_once=_AT_ONCE, seconds=seconds, late=None)
    return {account.id: answers[account.id] or _late(account, seconds) for account in ordered}


def _check(
    account: AccountRecord, cluster: ClusterRecord | None, open_driver: Callable[[AccountRecord], Driver]
) -> Check:
    try:
        try:
            driver = open_driver(account)
        except PermissionDenied as error:
            return _problem(account, f"credentials are missing: {error}", _where_credentials_are(account))
        return _ask(account, driver, cluster_spec(cluster) if cluster else _no_such_cluster(account))
    except InvalidRequest as error:
        return _problem(account, str(error), "correct the account in the document, and apply it")
    except ImportError as error:
        return _missing(account, error)
    except FleetError as error:
        return _problem(account, str(error))
    except Exception as error:  # noqa: BLE001 -- a fault in one account's check does not take the others'
        return _fault(account, error)


def _ask(account: AccountRecord, driver: Driver, cluster: ClusterSpec) -> Check:
    """What its answer says of the credential.

    Raises:
        FleetError: it says something else.
    """
    name = f"account {account.name}"
    try:
        driver.get_cluster(cluster)
        driver.node_places()
    except (AlreadyExists, NotFound, OperationInProgress):
        pass  # the provider answered, and says nothing against the credential
    except Throttled as error:
        return Check(
            about=name,
            verdict=Verdict.WARNING,
            message=f"{account.provider} answers that it is asked too often: {error}",
            cure="look again in some minutes; fewer [reconcile] workers ask less at once",
        )
    except PermissionDenied as error:
        cure = f"give the credential what {_PAGES.get(account.provider, 'the provider')} lists, or another one"
        return _problem(account, f"{account.provider} refuses the credential: {error}", cure)
    except Unavailable as error:
        return _problem(account, f"{account.provider} is out of reach: {error}", _REACH)
    return Check(about=name, verdict=Verdict.OK, message=f"{account.provider} takes the credential")


_REACH = "see that this host reaches the provider's API: proxy, name server, firewall, endpointUrl and caFile"


def _no_such_cluster(account: AccountRecord) -> ClusterSpec:
    config = account.config
    location = config.get("region") or (config.get("zones") or [_ANY_GOOGLE_REGION])[0]
    # As somebody else's, it is looked for in the fewest calls.
    return ClusterSpec(name=_NO_SUCH_CLUSTER, location=location, private_nodes=False, tags={}, adopted=True)


def _where_credentials_are(account: AccountRecord) -> str:
    source = account.config.get("credential")
    if isinstance(source, Mapping) and "env" in source:
        return f"set {source['env']}… for whoever runs passes (bc-fleetd's service, a module's environment)"
    if isinstance(source, Mapping) and "file" in source:
        return f"put the credential into {source['file']}, readable by whoever runs passes"
    return "give this process credentials that the provider's own chain finds, or name a credential in the document"


def _problem(account: AccountRecord, message: str, cure: str = "") -> Check:
    return Check(about=f"account {account.name}", verdict=Verdict.PROBLEM, message=message, cure=cure)


def _missing(account: AccountRecord, error: ImportError) -> Check:
    library = library_of(error)
    if library is None:
        return _fault(account, error)
    return _problem(
        account,
        not_installed(account.provider, library),
        f"install {library} for the Python that runs bc-fleetd",
    )


def _fault(account: AccountRecord, error: Exception) -> Check:
    # Its text may hold anything.
    return _problem(account, f"a fault of bc-fleetd's own: {type(error).__name__}")


def _late(account: AccountRecord, seconds: float) -> Check:
    return _problem(account, f"{account.provider} did not answer within {seconds:.0f} s", _REACH)
