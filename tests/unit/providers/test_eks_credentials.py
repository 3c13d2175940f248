# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an account's credential comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.clock import SystemClock
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    InvalidRequest,
    PermissionDenied,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import AccountId, TenantId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import AccountRecord
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.clients import Clients
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.credentials import (
    read_access_key,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.settings import EksSettings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.opening import open_driver

CONFIG: dict[str, Any] = {
    "region": "us-east-1",
    "eksClusterRoleArn": "arn:aws:iam::111111111111:role/eks-cluster",
    "eksNodeRoleArn": "arn:aws:iam::111111111111:role/eks-node",
    "eksSubnetIds": ["subnet-0000000000000000a", "subnet-0000000000000000b"],
}


def account(**config: Any) -> AccountRecord:
    return AccountRecord(
        id=AccountId("acct_1"), tenant_id=TenantId("platform"), name="aws", provider="aws", config=CONFIG | config
    )


@pytest.fixture(autouse=True)
def _nothing_ambient(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))


def clients(**config: Any) -> Clients:
    return Clients.open(EksSettings.of(CONFIG | config))


def test_ambient_credentials_are_those_of_boto3s_chain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "temporary")
    key = clients(credential="ambient").access_key()
    assert (key.key_id, key.secret, key.session_token) == ("AKIA", "hidden", "temporary")
    assert clients().access_key() == key


def test_no_ambient_credentials_is_a_refusal_that_says_where_they_were_looked_for() -> None:
    with pytest.raises(PermissionDenied, match="environment, shared files"):
        open_driver(account(), clock=SystemClock())


def test_a_prefix_names_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", "hidden")
    key = clients(credential={"env": "FLEET"}).access_key()
    assert (key.key_id, key.secret, key.session_token) == ("AKIA", "hidden", None)
    monkeypatch.setenv("FLEET_SESSION_TOKEN", "temporary")
    assert clients(credential={"env": "FLEET"}).access_key().session_token == "temporary"


def test_missing_variables_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PermissionDenied, match="FLEET_ACCESS_KEY_ID and FLEET_SECRET_ACCESS_KEY are not set"):
        open_driver(account(credential={"env": "FLEET"}), clock=SystemClock())
    monkeypatch.setenv("FLEET_ACCESS_KEY_ID", "AKIA")
    with pytest.raises(PermissionDenied, match="where FLEET_SECRET_ACCESS_KEY is not set"):
        open_driver(account(credential={"env": "FLEET"}), clock=SystemClock())


def test_a_profile_that_the_environment_names_does_not_disturb_a_named_credential(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_PROFILE", "for-something-else")
    monkeypatch.setenv("FLEET_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", "hidden")
    found = clients(credential={"env": "FLEET"})
    assert found.access_key().key_id == "AKIA"
    assert found.eks.meta.region_name == "us-east-1"


def test_an_ambient_profile_that_does_not_exist_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(PermissionDenied, match="nobody"):
        open_driver(account(), clock=SystemClock())


def test_a_file_is_read_as_shared_credentials(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text(
        "[other]\naws_access_key_id=no\n[default]\naws_access_key_id = AKIA\naws_secret_access_key = a%b=c\n"
    )
    key = clients(credential={"file": str(file)}).access_key()
    assert (key.key_id, key.secret, key.session_token) == ("AKIA", "a%b=c", None)


def test_the_only_profile_of_a_file_need_not_be_called_default(tmp_path: Path) -> None:
    file = tmp_path / "credentials"
    file.write_text("[fleet]\naws_access_key_id=AKIA\naws_secret_access_key=hidden\naws_session_token=temporary\n")
    assert read_access_key({"file": str(file)}).session_token == "temporary"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, "No such file"),
        ("hidden\n", "is not in the format"),
        ("[a]\n[b]\n", "no profile 'default'"),
        ("", "no profile 'default'"),
        ("[default]\naws_access_key_id=hidden\n", "'default' has no aws_secret_access_key"),
        ("[default]\n", "has no aws_access_key_id and no aws_secret_access_key"),
        (b"[default]\n\xff\xfehidden", "is not in the format"),
    ],
)
def test_an_incomplete_file_is_a_refusal_that_names_the_file_and_shows_nothing_of_it(
    tmp_path: Path, content: str | bytes | None, text: str
) -> None:
    file = tmp_path / "credentials"
    if content is not None:
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(PermissionDenied, match=text) as caught:
        open_driver(account(credential={"file": str(file)}), clock=SystemClock())
    assert str(file) in str(caught.value)
    assert "hidden" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_key_does_not_show_its_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("FLEET_SECRET_ACCESS_KEY", "hidden")
    monkeypatch.setenv("FLEET_SESSION_TOKEN", "hidden too")
    assert "hidden" not in repr(read_access_key({"env": "FLEET"}))


def test_a_ca_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match=r"ca\.pem does not exist"):
        open_driver(account(caFile=str(tmp_path / "ca.pem")), clock=SystemClock())


def test_a_config_of_another_version_names_the_field_that_it_lacks() -> None:
    with pytest.raises(InvalidRequest, match="no region"):
        EksSettings.of({})
