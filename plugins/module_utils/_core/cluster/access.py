# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our own way into a cluster: the service account `bc-access/bc-substrate` and a token of it that lives 600 s.

The provider's token is only the bootstrap: providers give tokens of different, longer lives (EKS: 15 minutes), while
TokenRequest gives 600 s everywhere. The token lives in the returned ClusterApi and nowhere else.

The identity belongs to the cluster, not to one pool: a deployment that will be refused at the claim may have made it
before. So it counts as ours when it carries our label with any pool's id.
"""

from __future__ import annotations

from collections.abc import Callable

from ..model.errors import ClusterConflict, ClusterObjectMissing, ClusterUnreachable, NotOurs
from ..model.observed import BootstrapAccess
from ..model.secret import Secret
from . import objects
from .api import ClusterApi
from .names import ACCESS_ACCOUNT, ACCESS_BINDING, ACCESS_NAMESPACE
from .objects import Owner
from .token_request import request_token

_TOKEN_SECONDS = 600
"""The shortest life that the API grants (599 is a 422), and longer than any pass."""


Again = Callable[[], BootstrapAccess]
"""Has the provider give its own way in once more, or raises a ClusterError."""


def bootstrap_api(bootstrap: BootstrapAccess, *, again: Again | None = None) -> ClusterApi:
    """The API with the provider's own token, for teardown: it makes no access and needs none of ours.

    Arguments:
        again: asked once, when the token is refused with a 401 on the way.
    """
    mint_again = None if again is None else lambda: again().token
    return ClusterApi(
        endpoint=bootstrap.endpoint, ca_pem=bootstrap.ca_pem, token=bootstrap.token, mint_again=mint_again
    )


def open_cluster(bootstrap: BootstrapAccess, *, pool_id: Owner, again: Again | None = None) -> ClusterApi:
    """The API with our own 600 s credential, whose service account and binding are made where they are missing.

    One POST where they stand. Safe for several processes at once.

    Arguments:
        again: asked once, when our own credential is refused with a 401 on the way: another one is minted then.

    Raises:
        NotOurs: a namespace, binding or service account of our names stands there without our label.
        ClusterAccessDenied: the bootstrap token is refused.
        ClusterUnreachable, ClusterConflict: come again.
    """
    mint_again = None if again is None else lambda: _mint(again(), pool_id)
    return ClusterApi(
        endpoint=bootstrap.endpoint, ca_pem=bootstrap.ca_pem, token=_mint(bootstrap, pool_id), mint_again=mint_again
    )


def make_access(api: ClusterApi, *, pool_id: Owner) -> None:
    """Create namespace, binding and service account where they are missing.

    The service account comes last: one that exists says that its binding was made, which is what lets `open_cluster`
    do with one POST. Call it by hand (with the bootstrap's API) when our own credential is refused: it heals a binding
    that somebody deleted.

    Raises:
        NotOurs: one of the names is taken by an object without our label.
    """
    binding = objects.identity("ClusterRoleBinding", ACCESS_BINDING, pool_id=pool_id) | {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": ACCESS_ACCOUNT, "namespace": ACCESS_NAMESPACE}],
    }
    for manifest in (
        objects.identity("Namespace", ACCESS_NAMESPACE, pool_id=pool_id),
        binding,
        objects.identity("ServiceAccount", ACCESS_ACCOUNT, pool_id=pool_id, namespace=ACCESS_NAMESPACE),
    ):
        _create_or_accept(api, manifest)


def remove_access(api: ClusterApi, *, pool_id: Owner) -> bool:
    """Take the service account, its binding and then the namespace away, each only if it carries our label.

    The namespace stays while another subject (a service account but `default`) is in it.

    Arguments:
        api: with the bootstrap's token: our own would end itself on the way.
        pool_id: whose substrate goes; the identity is removed whichever pool's id it carries.

    Returns:
        True when all that is to go is gone; False while something is still going.
    """
    del pool_id  # the identity is the cluster's: see the module's docstring
    account = _remove(api, "ServiceAccount", ACCESS_ACCOUNT, ACCESS_NAMESPACE)
    binding = _remove(api, "ClusterRoleBinding", ACCESS_BINDING)
    if not (account and binding):
        return False
    namespace = objects.read(api, "Namespace", ACCESS_NAMESPACE)
    if namespace is None or objects.owner(namespace) is None:
        return True
    if objects.is_going(namespace):
        return False
    if _other_subjects(api):
        return True
    return objects.delete(api, namespace)


def _mint(bootstrap: BootstrapAccess, pool_id: Owner) -> Secret:
    with bootstrap_api(bootstrap) as api:
        try:
            return _request_token(api)
        except ClusterObjectMissing:
            make_access(api, pool_id=pool_id)
            return _request_token(api)


def _request_token(api: ClusterApi) -> Secret:
    return request_token(api, ACCESS_ACCOUNT, seconds=_TOKEN_SECONDS).token


def _create_or_accept(api: ClusterApi, manifest: objects.Manifest) -> None:
    """Create the object; one of that name is fine when it carries our label with any pool's id."""
    try:
        objects.create(api, manifest)
    except ClusterConflict:
        kind, name = manifest["kind"], manifest["metadata"]["name"]
        namespace = manifest["metadata"].get("namespace")
        live = objects.read(api, kind, name, namespace)
        if live is None or objects.is_going(live):
            raise
        if objects.owner(live) is None:
            raise NotOurs(
                f"{objects.describe(kind, name, namespace)} stands in the cluster without our label: "
                "it is left alone; rename or remove it"
            ) from None


def _remove(api: ClusterApi, kind: str, name: str, namespace: str | None = None) -> bool:
    live = objects.read(api, kind, name, namespace)
    if live is None or objects.owner(live) is None:
        return True
    return False if objects.is_going(live) else objects.delete(api, live)


def _other_subjects(api: ClusterApi) -> bool:
    """Whether another service account than Kubernetes' own `default` is in the namespace."""
    accounts = api.request("GET", objects.collection("ServiceAccount", ACCESS_NAMESPACE)).get("items")
    if not isinstance(accounts, list):
        raise ClusterUnreachable("the Kubernetes API answered a list of service accounts without items")
    return any(account["metadata"]["name"] not in ("default", ACCESS_ACCOUNT) for account in accounts)
