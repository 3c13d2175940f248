# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the GKE driver gets to Google: credentials, tokens, certificates, and what goes wrong on the way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.emulators.engine import Error
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    PermissionDenied,
    ProviderError,
    Unavailable,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import PLATFORM_TENANT, AccountId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke import open_driver
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.gke.driver import GkeDriver
from ansible_collections.better_compute.fleet.tests.support.gke_subject import CLUSTER, GkeSubject

ONE_RUN = """
import json, sys
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers import contract, gke
config = json.loads(sys.argv[1])
account = AccountRecord(id="pac_1", tenant_id="platform", name="gcp", provider="gcp", config=config)
spec = contract.ClusterSpec(name="one", location="us-central1", private_nodes=False, tags={"a": "b"})
assert gke.open_driver(account, clock=SystemClock()).get_cluster(spec) is None
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""


def config(google: GkeSubject, **changes: object) -> dict[str, object]:
    settings = google.settings
    return {
        "projectId": settings.project,
        "zones": list(settings.zones),
        "endpointUrl": settings.endpoint_url,
        "credential": settings.credential,
        **changes,
    }


def driver(google: GkeSubject, **changes: object) -> GkeDriver:
    account = AccountRecord(
        id=AccountId("pac_1"), tenant_id=PLATFORM_TENANT, name="gcp", provider="gcp", config=config(google, **changes)
    )
    return open_driver(account, clock=SystemClock())


def key_file(google: GkeSubject) -> Path:
    assert not isinstance(google.settings.credential, str)
    return Path(google.settings.credential["file"])


def test_a_run_of_this_driver_loads_no_other_providers_sdk(google: GkeSubject) -> None:
    program = [sys.executable, "-c", ONE_RUN, json.dumps(config(google))]
    loaded = json.loads(subprocess.run(program, check=True, capture_output=True, text=True).stdout)
    assert "grpc" in loaded
    assert not {"boto3", "botocore", "pydo", "azure", "kubernetes", "sqlalchemy"} & set(loaded)


def test_a_key_may_come_from_a_file_or_the_environment(google: GkeSubject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", key_file(google).read_text())
    for credential in (google.settings.credential, {"env": "OUR_KEY"}):
        assert driver(google, credential=credential).get_cluster(CLUSTER) is None


def test_ambient_credentials_are_those_that_googles_library_finds(
    google: GkeSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(key_file(google)))
    assert driver(google, credential="ambient").get_cluster(CLUSTER) is None
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/key.json")
    with pytest.raises(PermissionDenied, match="no Google credentials"):
        driver(google, credential="ambient")


def test_a_credential_that_is_not_there_is_named_and_not_quoted(
    google: GkeSubject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OUR_KEY", raising=False)
    with pytest.raises(PermissionDenied, match="OUR_KEY is not set"):
        driver(google, credential={"env": "OUR_KEY"})
    with pytest.raises(PermissionDenied, match="No such file"):
        driver(google, credential={"file": str(tmp_path / "none.json")})
    for text in ("hush-hush", '{"type": "hush-hush"}', '["hush-hush"]', '{"private_key": "hush-hush"}'):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(PermissionDenied, match="no service account's key") as refused:
            driver(google, credential={"file": str(tmp_path / "bad.json")})
        assert "hush-hush" not in str(refused.value)
        assert refused.value.__cause__ is None
        assert refused.value.__context__ is None


def test_a_key_that_google_does_not_know_is_denied(google: GkeSubject, tmp_path: Path) -> None:
    key = json.loads(key_file(google).read_text())
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**key, "client_email": "nobody@my-project.iam.gserviceaccount.com"}))
    with pytest.raises(PermissionDenied, match="no access token: invalid_grant") as refused:
        driver(google, credential={"file": str(other)}).get_cluster(CLUSTER)
    assert "PRIVATE" not in str(refused.value)
    assert google.calls() == 0


def test_where_no_token_can_be_had_is_unavailable(google: GkeSubject, tmp_path: Path) -> None:
    key = json.loads(key_file(google).read_text())
    other = tmp_path / "other.json"
    other.write_text(json.dumps({**key, "token_uri": "http://127.0.0.1:1/token"}))
    with pytest.raises(Unavailable, match="no access token"):
        driver(google, credential={"file": str(other)}).get_cluster(CLUSTER)


def test_a_token_is_used_until_shortly_before_its_end(google: GkeSubject) -> None:
    tokens = google.clients.tokens
    first, life = tokens.current()
    assert 55 * 60 < life.total_seconds() <= 60 * 60
    assert tokens.current()[0] == first
    assert first.reveal() not in repr(tokens.__dict__)


def test_a_token_that_gke_refuses_is_denied(google: GkeSubject) -> None:
    google.engine.faults.add(
        "gcp", "gke.GetCluster", Error(status=401, code="UNAUTHENTICATED", message="Request had invalid credentials.")
    )
    with pytest.raises(PermissionDenied, match="GetCluster: Request had invalid credentials"):
        google.open().get_cluster(CLUSTER)


def test_an_address_where_nobody_answers_is_unavailable(google: GkeSubject) -> None:
    with pytest.raises(Unavailable, match="GetCluster"):
        driver(google, endpointUrl="http://127.0.0.1:1").get_cluster(CLUSTER)
    with pytest.raises(Unavailable, match="GetCluster"):
        driver(google, endpointUrl=str(google.settings.endpoint_url).replace("http:", "https:")).get_cluster(CLUSTER)


def test_a_proxy_of_the_environment_is_not_asked_for_a_loopback_address(
    google: GkeSubject, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "grpc_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "")
    assert google.open().get_cluster(CLUSTER) is None


def test_a_token_is_not_shown_to_the_whole_network(google: GkeSubject) -> None:
    with pytest.raises(InvalidRequest, match="would show the token"):
        driver(google, endpointUrl="http://gke.example").get_cluster(CLUSTER)


def test_a_ca_file_that_does_not_exist_is_named(google: GkeSubject) -> None:
    with pytest.raises(InvalidRequest, match=r"/nowhere/ca\.pem does not exist"):
        driver(google, caFile="/nowhere/ca.pem")


def test_an_error_carries_nothing_of_googles_exception(google: GkeSubject) -> None:
    google.engine.faults.add("gcp", "*", Error(status=500, code="INTERNAL", message="Internal error encountered."))
    with pytest.raises(ProviderError) as failed:
        google.open().get_cluster(CLUSTER)
    assert (failed.value.__cause__, failed.value.__context__) == (None, None)
    assert str(failed.value) == "GetCluster: Internal error encountered. (INTERNAL)"


def test_a_config_without_a_project_is_refused(google: GkeSubject) -> None:
    account = AccountRecord(id=AccountId("pac_1"), tenant_id=PLATFORM_TENANT, name="gcp", provider="gcp", config={})
    with pytest.raises(InvalidRequest, match="projectId"):
        open_driver(account, clock=google.clock)
