# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster_credentials: a subject's kubeconfig, written to a file and never told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from ansible.module_utils.basic import AnsibleModule

from ..model.errors import InvalidInput, Problem
from ..model.ids import ClusterId, TenantId
from ..model.records import ClusterRecord
from ..model.secret import Secret
from ..operations.clusters.credentials import (
    AccessRequest,
    credential_problems,
    find_cluster,
    issue_credentials,
    named_cluster,
    revoke_credentials,
)
from ..operations.clusters.kubeconfig import Stated, kubeconfig, stated_in
from ..operations.drivers import drivers
from ..operations.session import Session
from .edge import run_module
from .secret_file import SecretFile

CREDENTIAL_ARGUMENTS: dict[str, dict[str, Any]] = {
    "tenant": {"type": "str", "default": "platform"},
    "pool": {"type": "str"},
    "cluster_id": {"type": "str"},
    "subject": {"type": "str"},
    "namespaces": {"type": "list", "elements": "str"},
    "dest": {"type": "path"},
    "expires_seconds": {"type": "int", "default": 3600},
    "renew_before": {"type": "int", "default": 900},
    "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
}


def run_cluster_credentials() -> None:
    """The module bc_cluster_credentials."""
    run_module(
        CREDENTIAL_ARGUMENTS,
        _converge,
        drivers=drivers,
        add_file_common_args=True,
        mutually_exclusive=[("pool", "cluster_id")],
        required_one_of=[("pool", "cluster_id")],
        required_if=[("state", "present", ("namespaces", "dest"))],
    )


def _converge(module: AnsibleModule, session: Session) -> Mapping[str, Any]:
    params = module.params
    asked = AccessRequest(
        tenant_id=TenantId(params["tenant"]),
        subject=params["subject"] or session.caller,
        pool=params["pool"],
        cluster_id=None if params["cluster_id"] is None else ClusterId(params["cluster_id"]),
    )
    if params["state"] == "absent":
        return _take(module, session, asked)
    return _give(module, session, asked)


def _give(module: AnsibleModule, session: Session, asked: AccessRequest) -> dict[str, Any]:
    namespaces, seconds = tuple(module.params["namespaces"]), module.params["expires_seconds"]
    renew_before = module.params["renew_before"]
    problems = credential_problems(namespaces=namespaces, seconds=seconds)
    if not 0 <= renew_before < seconds:
        message = f"expected 0 seconds or more, and fewer than expires_seconds, found {renew_before}"
        problems.append(Problem(path="renew_before", message=message))
    if problems:
        raise InvalidInput(problems)
    cluster = find_cluster(session, asked)
    file = SecretFile(module)
    text = file.read()
    standing = stated_in(text)
    if file.exists and standing is None and text.strip():
        message = f"{file.path} is no kubeconfig of this module's: it is left alone; name another file, or remove it"
        raise InvalidInput([Problem(path="dest", message=message)])
    now = session.clock.now()
    wanted = Stated(
        cluster_id=cluster.id,
        tenant_id=asked.tenant_id,
        subject=asked.subject,
        account=asked.account,
        namespaces=namespaces,
        expires_at=now + timedelta(seconds=seconds),
    )
    if (
        standing is not None
        and replace(wanted, expires_at=standing.expires_at) == standing
        and standing.expires_at - now > timedelta(seconds=renew_before)
    ):
        return _result(cluster, file, standing, changed=file.settle(), before=standing)
    file.require_writable()
    if module.check_mode:
        return {**_result(cluster, file, wanted, changed=True, before=standing), "expires_at": None}
    credential = issue_credentials(session, asked, namespaces=namespaces, seconds=seconds)
    # The last net: what is no_log is struck out of anything that the module ever prints.
    module.no_log_values.add(credential.token.reveal())
    made = replace(wanted, expires_at=credential.expires_at)
    file.write(Secret(kubeconfig(made, credential, cluster_name=cluster.name)))
    return _result(cluster, file, made, changed=True, before=standing)


def _take(module: AnsibleModule, session: Session, asked: AccessRequest) -> dict[str, Any]:
    cluster = named_cluster(session, asked)
    revoked = revoke_credentials(session, asked, only_look=module.check_mode)
    file = SecretFile(module) if module.params["dest"] else None
    standing = stated_in(file.read()) if file else None
    wanted = (cluster.id, asked.tenant_id, asked.subject)
    if standing is not None and (standing.cluster_id, standing.tenant_id, standing.subject) != wanted:
        standing = None
    if file is not None and standing is not None and not module.check_mode:
        file.remove()
    return {
        "changed": revoked or standing is not None,
        "cluster_id": str(cluster.id),
        "cluster_name": cluster.name,
        "subject": asked.subject,
        "account": asked.account,
        "diff": {"before": standing.to_data() if standing else {}, "after": {}},
    }


def _result(
    cluster: ClusterRecord, file: SecretFile, stated: Stated, *, changed: bool, before: Stated | None
) -> dict[str, Any]:
    """What is told of a kubeconfig: everything but its token."""
    return {
        "changed": changed,
        "dest": str(file.path),
        "cluster_name": cluster.name,
        "endpoint": cluster.outputs.endpoint if cluster.outputs else None,
        **stated.to_data(),
        "diff": {"before": before.to_data() if before else {}, "after": stated.to_data()},
    }
