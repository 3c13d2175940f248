# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bc_cluster_credentials on the three emulated clouds: into a tenant's own cluster, and the one behind a pool."""

from __future__ import annotations

import base64
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.better_compute.fleet.emulators.engine import Error, LostReply
from ansible_collections.better_compute.fleet.emulators.kubernetes import EmulatedCluster
from ansible_collections.better_compute.fleet.emulators.kubernetes.kinds import CLUSTER_ROLE_BINDING
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.api import ClusterApi
from ansible_collections.better_compute.fleet.plugins.module_utils._core.cluster.tenant_access import account_name
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    ClusterAccessDenied,
    ClusterCredentialRefused,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store.tables import tables
from ansible_collections.better_compute.fleet.tests.support.everything_logged import everything_logged
from ansible_collections.better_compute.fleet.tests.support.life import memory_folder, scene
from ansible_collections.better_compute.fleet.tests.support.life.clouds import AWS, DOKS, GKE, Cloud, Place
from ansible_collections.better_compute.fleet.tests.support.life.fleet_at_hand import fleet_at_hand
from ansible_collections.better_compute.fleet.tests.support.life.fleet_on_clouds import environment_of
from ansible_collections.better_compute.fleet.tests.support.life.world import without_pools
from ansible_collections.better_compute.fleet.tests.support.module_runs import Modules, Result, modules_on
from ansible_collections.better_compute.fleet.tests.support.secret_watch import ACCESS, SecretWatch

MACHINE = {AWS: "m7i.large", GKE: "e2-standard-4", DOKS: "s-4vcpu-8gb"}
TRAINING = ["training"]


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> Iterator[Modules]:
    """The modules beside all three emulated clouds, with nothing declared."""
    with memory_folder() as folder, scene(f"sqlite:///{folder / 'fleet.db'}", gcp=True) as stage:
        yield modules_on(fleet_at_hand(stage), monkeypatch, BC_FLEET_OPERATOR="alice", **environment_of(stage))


@pytest.fixture(params=[AWS, GKE, DOKS], ids=["eks", "gke", "doks"])
def cloud(request: pytest.FixtureRequest) -> Cloud:
    """Each provider."""
    found: Cloud = request.param
    return found


class Kube:
    """A kubeconfig's file, asked for and looked at."""

    def __init__(self, modules: Modules, folder: Path, **of: Any) -> None:
        """Arguments: of: which cluster."""
        self.modules, self.of, self.path = modules, of, folder / "kubeconfig"

    def run(self, **more: Any) -> Result:
        """The module; everything can be said otherwise."""
        return self.modules.run(
            "bc_cluster_credentials", **{"dest": str(self.path), "namespaces": TRAINING, **self.of, **more}
        )

    def ok(self, **more: Any) -> Result:
        result = self.run(**more)
        assert not result["failed"], result
        return result

    @property
    def written(self) -> dict[str, Any]:
        found: dict[str, Any] = yaml.safe_load(self.path.read_text())
        return found

    @property
    def token(self) -> str:
        [user] = self.written["users"]
        return str(user["user"]["token"])

    def api(self) -> ClusterApi:
        """The cluster as the kubeconfig reaches it."""
        [cluster] = self.written["clusters"]
        return ClusterApi(
            endpoint=cluster["cluster"]["server"],
            ca_pem=base64.b64decode(cluster["cluster"]["certificate-authority-data"]).decode(),
            token=Secret(self.token),
        )

    def reaches(self) -> str:
        """How its cluster answers: an emulated one tells subjects from nobody, and lets none of them do a thing."""
        with self.api() as api, pytest.raises(ClusterAccessDenied) as refused:
            api.request("GET", "/api/v1/namespaces/training")
        return "unknown" if isinstance(refused.value, ClusterCredentialRefused) else "known"


def own_cluster(modules: Modules, folder: Path, cloud: Cloud, *, owner: str = "acme") -> dict[str, Any]:
    """A cluster of acme's own, ready."""
    config = {**cloud.config, **cloud.config_of(modules.fleet.scene.world, folder)}
    account = {"name": cloud.provider, "provider": cloud.provider, "tenantId": owner, "config": config}
    modules.run("bc_fleet", config={**without_pools(), "providerAccounts": [account]})
    node_pools = [{"name": "system", "machine_type": MACHINE[cloud], "node_count": 1}]
    wanted = {"name": "web", "account": cloud.provider, "location": cloud.location, "node_pools": node_pools}
    made = modules.run("bc_cluster", tenant="acme", clusters=[wanted])
    assert not made["failed"], made
    [web] = made["clusters"]
    return dict(web)


@pytest.fixture
def web(modules: Modules, tmp_path: Path, cloud: Cloud) -> Kube:
    """acme's own cluster on each provider."""
    return Kube(modules, tmp_path, tenant="acme", cluster_id=own_cluster(modules, tmp_path, cloud)["id"])


@pytest.fixture
def eks(modules: Modules, tmp_path: Path) -> Kube:
    """acme's own cluster on EKS."""
    return Kube(modules, tmp_path, tenant="acme", cluster_id=own_cluster(modules, tmp_path, AWS)["id"])


def emulated(modules: Modules) -> EmulatedCluster:
    """The only cluster that we ever were in: each cloud names its own."""
    world = modules.fleet.scene.world
    [name] = {item.detail["cluster"] for item in world.engine.inventory.items(cloud="kubernetes")}
    found = world.apis.cluster(str(name))
    assert found is not None
    return found


def test_a_subject_gets_into_its_tenants_cluster_and_out_of_it_again(web: Kube) -> None:
    clock = web.modules.fleet.session.clock
    checked = web.ok(check=True)
    assert (checked["changed"], checked["expires_at"], web.path.exists()) == (True, None, False)

    made = web.ok()
    account = account_name(TenantId("acme"), "alice")
    assert (made["changed"], made["subject"], made["account"]) == (True, "alice", account)
    assert (made["namespaces"], made["cluster_name"], made["cluster_id"]) == (TRAINING, "web", web.of["cluster_id"])
    assert web.reaches() == "known"
    context = web.written["contexts"][0]["context"]
    assert context == {"cluster": "web", "user": account, "namespace": "training"}
    assert stat.S_IMODE(web.path.stat().st_mode) == 0o600
    namespace = emulated(web.modules).read("Namespace", "bc-access")
    assert namespace is not None
    assert namespace["metadata"]["labels"]["better-compute.dev/cluster"] == web.of["cluster_id"]

    mark, before = web.modules.fleet.scene.engine.log.mark, web.path.read_bytes()
    again = web.ok()
    assert (again["changed"], again["expires_at"]) == (False, made["expires_at"])
    assert (web.path.read_bytes(), web.modules.fleet.scene.engine.log.mark) == (before, mark)

    web.modules.fleet.scene.clock.advance(2701)
    writes = web.modules.writes()
    renewed = web.ok()
    assert renewed["changed"]
    assert renewed["expires_at"] > made["expires_at"] > clock.now().isoformat()
    assert web.modules.writes() == writes, "a token is all that is new"
    assert web.path.read_bytes() != before

    held = web.api()
    looked = web.ok(check=True, state="absent")
    assert (looked["changed"], web.reaches()) == (True, "known")
    gone = web.ok(state="absent")
    assert (gone["changed"], web.path.exists()) == (True, False)
    with held, pytest.raises(ClusterAccessDenied, match="401"):
        held.request("GET", "/api/v1/namespaces/training")
    assert emulated(web.modules).read("Namespace", "training") is not None
    assert not web.ok(state="absent")["changed"]
    assert not web.ok(check=True, state="absent")["changed"]


def test_a_subject_gets_into_the_cluster_behind_its_pool(modules: Modules, tmp_path: Path, cloud: Cloud) -> None:
    place = Place(world=modules.fleet.scene.world, folder=tmp_path)
    modules.fleet.join_all(place.document({cloud: (cloud.flavor("h100"),)}))
    kube = Kube(modules, tmp_path, pool="gpu-fleet")
    made = kube.ok()
    assert (made["changed"], kube.reaches()) == (True, "known")
    account = emulated(modules).read("ServiceAccount", made["account"], "bc-access")
    assert account is not None
    pool_id = str(modules.fleet.view().record.pool_id)
    assert account["metadata"]["labels"] == {"better-compute.dev/substrate-pool": pool_id}
    writes = modules.writes()
    modules.fleet.one_pass()
    assert modules.writes() == writes, "the pass leaves it all alone"

    place_without = place.document({})
    modules.fleet.apply(place_without, prune=True)
    kube.of = {"cluster_id": made["cluster_id"]}
    refused = kube.run(subject="bob")
    assert (refused["code"], "being deleted" in refused["msg"]) == ("INVALID_STATE", True)
    modules.fleet.live(minutes=20)
    assert list(modules.fleet.scene.engine.inventory.items(cloud="kubernetes")) == []
    assert kube.ok(state="absent")["changed"], "the file is left, and nothing else"


def test_no_token_is_told_logged_recorded_or_raised(
    modules: Modules, tmp_path: Path, cloud: Cloud, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = SecretWatch(modules.fleet.scene.world, monkeypatch)
    kube = Kube(modules, tmp_path, tenant="acme", cluster_id=own_cluster(modules, tmp_path, cloud)["id"])
    faults = modules.fleet.scene.engine.faults
    with everything_logged() as logged:
        kube.ok()
        first = kube.token
        for action in (LostReply(), Error(status=500, code="InternalError", message="it broke")):
            kube.path.unlink(missing_ok=True)
            fault = faults.add("kubernetes", "POST serviceaccounts/token", action, nth=2)
            assert kube.run()["code"] == "UNAVAILABLE"
            assert fault.struck
            faults.remove(fault)
            assert not kube.path.exists()
        kube.ok()
        kube.ok(check=True, namespaces=["other"])
        kube.ok(namespaces=["other"])
        kube.ok(state="absent")
    assert {first} < watch.secrets[ACCESS]
    assert watch.leaks("".join(modules.told)) == set()
    assert watch.leaks(logged()) == set()
    assert watch.leaks(repr(modules.fleet.rows())) == set()


def test_another_tenants_cluster_is_not_found(eks: Kube) -> None:
    for more in ({"tenant": "beta"}, {"tenant": "platform"}, {"cluster_id": "kcl_01k00000000000000000000000"}):
        for state in ("present", "absent"):
            refused = eks.run(state=state, **more)
            assert (refused["code"], eks.path.exists()) == ("NOT_FOUND", False)


def test_an_adopted_cluster_is_refused(eks: Kube) -> None:
    table = tables().clusters
    with eks.modules.fleet.session.store.write() as tx:
        tx.execute(table.update().values(adopted=True))
    mark = eks.modules.fleet.scene.engine.log.mark
    for state in ("present", "absent"):
        refused = eks.run(state=state)
        assert refused["code"] == "INVALID_STATE"
        assert "is adopted" in refused["msg"]
        assert "the provider's credentials" in refused["msg"]
    assert eks.modules.fleet.scene.engine.log.mark == mark


def test_a_cluster_that_is_not_up_yet_is_refused_and_nobody_is_asked(modules: Modules, tmp_path: Path) -> None:
    own_cluster(modules, tmp_path, AWS)
    wanted = {"name": "new", "account": "aws", "location": "us-east-1"}
    [_web, new] = sorted(
        modules.run("bc_cluster", tenant="acme", clusters=[wanted], wait=False)["clusters"]
        + modules.run("bc_cluster_info", tenant="acme", names=["web"])["clusters"],
        key=lambda one: str(one["name"]),
        reverse=True,
    )
    mark = modules.fleet.scene.engine.log.mark
    refused = Kube(modules, tmp_path, tenant="acme", cluster_id=new["id"]).run()
    assert (refused["code"], "no Kubernetes API yet" in refused["msg"]) == ("INVALID_STATE", True)
    assert modules.fleet.scene.engine.log.mark == mark


def test_a_cluster_that_goes_takes_its_subjects_along(eks: Kube) -> None:
    eks.ok()
    eks.modules.run("bc_cluster", tenant="acme", clusters=[{"name": "web"}], state="absent")
    refused = eks.run(namespaces=["other"])
    assert refused["code"] == "INVALID_STATE"
    gone = eks.ok(state="absent")
    assert (gone["changed"], eks.path.exists()) == (True, False)


def test_a_cluster_older_than_the_guards_api_is_unsupported_with_its_version(eks: Kube) -> None:
    absent = Error(status=404, code="NotFound", message="the server could not find the requested resource")
    eks.modules.fleet.scene.engine.faults.add("kubernetes", "*validatingadmissionpolicies", absent, times=None)
    refused = eks.run()
    assert refused["code"] == "UNSUPPORTED"
    [cluster] = eks.modules.run("bc_cluster_info", tenant="acme")["clusters"]
    assert f"runs Kubernetes {cluster['running_version']}" in refused["msg"]
    assert "Kubernetes 1.30" in refused["msg"]
    assert not eks.path.exists()
    assert emulated(eks.modules).read("Namespace", "training") is None


def test_an_api_that_does_not_answer_is_unavailable(eks: Kube) -> None:
    for fault in (LostReply(), Error(status=503, code="ServiceUnavailable", message="later")):
        added = eks.modules.fleet.scene.engine.faults.add("kubernetes", "*", fault, times=None)
        refused = eks.run()
        assert refused["code"] == "UNAVAILABLE", refused
        eks.modules.fleet.scene.engine.faults.remove(added)


def test_our_own_binding_that_somebody_deleted_is_made_again(eks: Kube) -> None:
    eks.ok()
    store = emulated(eks.modules)._store
    binding = store.get(CLUSTER_ROLE_BINDING, None, "bc-substrate")
    assert binding is not None
    store.remove(binding)  # as somebody with kubectl would
    assert eks.ok(namespaces=["other"])["changed"]
    assert emulated(eks.modules).read("ClusterRoleBinding", "bc-substrate") is not None


@pytest.mark.parametrize(
    ("more", "paths"),
    [
        ({"namespaces": []}, {"namespaces"}),
        ({"namespaces": ["Training", "a" * 64, "-x", ""]}, {f"namespaces[{n}]" for n in range(4)}),
        ({"namespaces": ["better-compute", "bc-access", "default"]}, {f"namespaces[{n}]" for n in range(3)}),
        ({"namespaces": ["kube-system", "kube-x"]}, {"namespaces[0]", "namespaces[1]"}),
        ({"namespaces": ["a", "a"]}, {"namespaces[1]"}),
        ({"namespaces": [f"n{n}" for n in range(51)]}, {"namespaces"}),
        ({"expires_seconds": 599, "renew_before": 0}, {"expires_seconds"}),
        ({"expires_seconds": 86401}, {"expires_seconds"}),
        ({"renew_before": 3600}, {"renew_before"}),
        ({"renew_before": -1}, {"renew_before"}),
        ({"subject": "al\nice"}, {"subject"}),
        ({"subject": "a" * 257}, {"subject"}),
        ({"tenant": "a/b"}, {"tenant"}),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_its_path(eks: Kube, more: dict[str, Any], paths: set[str]) -> None:
    mark = eks.modules.fleet.scene.engine.log.mark
    refused = eks.run(**more)
    assert (refused["code"], {one["path"] for one in refused["problems"]}) == ("INVALID_INPUT", paths), refused
    assert eks.modules.fleet.scene.engine.log.mark == mark


def test_a_file_that_is_not_ours_is_left_alone(eks: Kube) -> None:
    for content in ("apiVersion: v1\nkind: Config\nusers: []\n", "notes", "[", b"\xff\xfe", "a: &a [*a]"):
        eks.path.write_bytes(content if isinstance(content, bytes) else content.encode())
        before = eks.path.read_bytes()
        mark = eks.modules.fleet.scene.engine.log.mark
        refused = eks.run()
        assert (refused["code"], [one["path"] for one in refused["problems"]]) == ("INVALID_INPUT", ["dest"])
        assert eks.modules.fleet.scene.engine.log.mark == mark
        eks.ok(state="absent")
        assert eks.path.read_bytes() == before
    eks.path.write_text("")
    assert eks.ok()["changed"], "an empty file, as the tempfile module makes it, is ours to fill"


def test_somebody_elses_kubeconfig_is_not_removed(eks: Kube) -> None:
    eks.ok(subject="bob")
    eks.ok(state="absent")
    assert eks.path.exists()
    assert eks.ok(subject="bob", state="absent")["changed"]
    assert not eks.path.exists()


def test_a_colleagues_access_is_taken_without_a_file(eks: Kube) -> None:
    eks.ok(subject="bob")
    gone = eks.ok(subject="bob", state="absent", dest=None)
    assert (gone["changed"], eks.reaches()) == (True, "unknown")


def test_a_folder_that_is_not_there_is_said_before_a_token_is_asked_for(eks: Kube) -> None:
    mark = eks.modules.fleet.scene.engine.log.mark
    for dest in (eks.path.parent / "no" / "file", eks.path.parent):
        refused = eks.run(dest=str(dest))
        assert [one["path"] for one in refused["problems"]] == ["dest"]
    assert eks.modules.fleet.scene.engine.log.mark == mark


def test_the_mode_is_kept_close_and_put_back(eks: Kube) -> None:
    eks.path.write_text("")
    eks.path.chmod(0o666)
    eks.ok()
    assert stat.S_IMODE(eks.path.stat().st_mode) == 0o600
    eks.path.chmod(0o644)
    assert eks.ok(check=True)["changed"]
    assert eks.ok()["changed"]
    assert stat.S_IMODE(eks.path.stat().st_mode) == 0o600
    assert eks.ok(mode="0640")["changed"]
    assert stat.S_IMODE(eks.path.stat().st_mode) == 0o640
    link = eks.path.parent / "link"
    link.symlink_to(eks.path)
    assert not eks.ok(dest=str(link), mode="0640")["changed"]
    assert link.is_symlink()


def test_a_kubeconfig_that_kubectl_rewrote_is_still_known(eks: Kube) -> None:
    eks.ok()
    config = eks.written
    config["contexts"][0]["context"]["namespace"] = "elsewhere"
    eks.path.write_text(yaml.safe_dump(config))
    assert not eks.ok()["changed"]
    config["extensions"][0]["extension"]["expires_at"] = "soon"
    eks.path.write_text(yaml.safe_dump(config))
    assert eks.run()["code"] == "INVALID_INPUT"
