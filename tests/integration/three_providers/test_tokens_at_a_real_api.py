# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each provider's own token opens a real kube-apiserver, which asks the emulated cloud's authenticator about it.

The drivers make the tokens. A kube-apiserver's token-review webhook passes them on, and the clouds judge them with what
their emulated Kubernetes APIs ask too: a presigned STS request that is verified, an OAuth token, one of DigitalOcean's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.emulators.gcp.project import OPERATOR
from ansible_collections.better_compute.fleet.emulators.kubernetes import ClusterUser
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.access import (
    bootstrap_api,
    open_cluster,
    remove_access,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.claim import hold_claim
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import ClusterAccessDenied
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.labels import SUBSTRATE_POOL
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import BootstrapAccess
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.tests.conformance.life import active_cluster
from ansible_collections.better_compute.fleet.tests.support.controlplane.cloud_clusters import OneRealCluster
from ansible_collections.better_compute.fleet.tests.support.controlplane.cluster import RealCluster
from ansible_collections.better_compute.fleet.tests.support.doks_subject import DoksSubject, doks_subject
from ansible_collections.better_compute.fleet.tests.support.eks_subject import EksSubject, eks_subject
from ansible_collections.better_compute.fleet.tests.support.emulated_subject import POOL
from ansible_collections.better_compute.fleet.tests.support.gke_subject import GkeSubject, gke_subject

pytestmark = pytest.mark.controlplane

AnySubject = EksSubject | GkeSubject | DoksSubject
LONGER_THAN_ANY_TOKEN_SECONDS = 8 * 24 * 3600


@dataclasses.dataclass(frozen=True, kw_only=True)
class Cloud:
    """A cloud whose one cluster is the real one, and stands."""

    subject: AnySubject
    access: Callable[[], BootstrapAccess]


def aws(subject: EksSubject) -> Callable[[str, str], ClusterUser | None]:
    def user(token: str, cluster: str) -> ClusterUser | None:
        principal = subject.aws.authenticate(token, cluster)
        if principal is None:
            return None
        return ClusterUser(name=principal.caller_arn, admin=subject.aws.is_admin(principal, cluster))

    return user


def google(subject: GkeSubject) -> Callable[[str, str], ClusterUser | None]:
    return lambda token, cluster: administrator(subject.gcp.authenticate(token, cluster))


def digitalocean(subject: DoksSubject) -> Callable[[str, str], ClusterUser | None]:
    return lambda token, cluster: administrator(subject.cloud.user(token, cluster))


def administrator(name: str | None) -> ClusterUser | None:
    return None if name is None else ClusterUser(name=name, admin=True)


@pytest.fixture
def real_apis(real_cluster_api: RealCluster) -> OneRealCluster:
    return OneRealCluster(real_cluster_api)


@pytest.fixture(params=["eks", "gke", "doks"])
def cloud(request: pytest.FixtureRequest, real_apis: OneRealCluster, tmp_path: Path) -> Iterator[Cloud]:
    with ExitStack() as stack:
        subject: AnySubject
        if request.param == "eks":
            subject = stack.enter_context(eks_subject(tmp_path, apis=real_apis))
            real_apis.let_judge(aws(subject))
        elif request.param == "gke":
            subject = stack.enter_context(gke_subject(tmp_path, apis=real_apis))
            real_apis.let_judge(google(subject))
        else:
            subject = stack.enter_context(doks_subject(tmp_path, apis=real_apis))
            real_apis.let_judge(digitalocean(subject))
        cluster = active_cluster(subject)
        driver = subject.open()
        driver.grant_access(subject.cluster)
        subject.settle()
        yield Cloud(subject=subject, access=lambda: driver.bootstrap_access(cluster))


def test_the_drivers_token_makes_our_access_and_mints_the_credential(
    cloud: Cloud, real_cluster_api: RealCluster
) -> None:
    access = cloud.access()
    assert access.endpoint == real_cluster_api.endpoint
    with open_cluster(access, pool_id=POOL) as api:
        hold_claim(api, pool_id=POOL)
    claim = real_cluster_api.read("/api/v1/namespaces/kube-system/configmaps/better-compute-substrate")
    assert claim is not None
    assert claim["metadata"]["labels"] == {SUBSTRATE_POOL: POOL}
    with bootstrap_api(cloud.access()) as api:
        remove_access(api, pool_id=POOL)
    account = "/api/v1/namespaces/bc-access/serviceaccounts/bc-substrate"
    assert real_cluster_api.read(account) is None


def test_nobodys_token_is_refused(cloud: Cloud) -> None:
    nobody = dataclasses.replace(cloud.access(), token=Secret("nobodys-token"))
    with pytest.raises(ClusterAccessDenied, match="401"):
        open_cluster(nobody, pool_id=POOL)


def test_a_token_that_was_good_is_refused_once_it_has_expired(cloud: Cloud) -> None:
    access = cloud.access()
    if isinstance(cloud.subject, GkeSubject):
        # The token endpoint's tokens do not end, because Google's library renews them by the real clock.
        access = dataclasses.replace(access, token=Secret(cloud.subject.gcp.tokens.issue(OPERATOR, seconds=3600)))
    cloud.subject.clock.advance(LONGER_THAN_ANY_TOKEN_SECONDS)
    with pytest.raises(ClusterAccessDenied, match="401"):
        open_cluster(access, pool_id=POOL)


def test_a_token_of_a_cluster_that_is_gone_is_refused(cloud: Cloud) -> None:
    access = cloud.access()
    cloud.subject.open().delete_cluster(cloud.subject.cluster)
    cloud.subject.settle()
    with pytest.raises(ClusterAccessDenied, match="401"):
        open_cluster(access, pool_id=POOL)


@pytest.fixture
def eks(real_apis: OneRealCluster, tmp_path: Path) -> Iterator[EksSubject]:
    with eks_subject(tmp_path, apis=real_apis) as subject:
        real_apis.let_judge(aws(subject))
        yield subject


def test_a_token_that_was_signed_for_another_eks_cluster_is_refused(eks: EksSubject) -> None:
    cluster = active_cluster(eks)
    driver = eks.open()
    driver.grant_access(eks.cluster)
    here, elsewhere = (
        driver.bootstrap_access(dataclasses.replace(cluster, name=name)) for name in (eks.cluster.name, "bc-other")
    )
    with pytest.raises(ClusterAccessDenied, match="401"):
        open_cluster(dataclasses.replace(here, token=elsewhere.token), pool_id=POOL)
    open_cluster(here, pool_id=POOL).close()


def test_a_principal_without_an_access_entry_is_nobody_at_eks(eks: EksSubject) -> None:
    cluster = active_cluster(eks)
    with pytest.raises(ClusterAccessDenied, match="401"):
        open_cluster(eks.open().bootstrap_access(cluster), pool_id=POOL)


def test_a_principal_whose_access_entry_grants_nothing_is_known_and_may_do_nothing(eks: EksSubject) -> None:
    cluster = active_cluster(eks)
    eks.clients.eks.create_access_entry(clusterName=eks.cluster.name, principalArn=eks.aws.operator.principal_arn)
    with pytest.raises(ClusterAccessDenied, match="403"):
        open_cluster(eks.open().bootstrap_access(cluster), pool_id=POOL)
