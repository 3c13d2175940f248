# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The quickstart's copy of the document goes to the emulated clouds, and is otherwise the one that is shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.load import load_file, parse_document
from ansible_collections.better_compute.fleet.quickstart import clouds
from ansible_collections.better_compute.fleet.tests.support.fleet_documents import EXAMPLE

ENDPOINTS: dict[str, Any] = {
    "aws": {"endpoint_url": "http://a", "access_key_id": "AK", "secret_access_key": "s", "region": "us-east-1"},
    "gcp": {"endpoint_url": "http://127.0.0.1:1", "service_account_key": {"type": "service_account"}},
    "digitalocean": {"endpoint_url": "https://127.0.0.1:2", "ca_file": "/ca.pem", "token": "t"},
}


def test_the_copy_is_valid_and_differs_from_the_example_in_addresses_alone() -> None:
    example: Any = load_file(EXAMPLE.with_name("fleet.json"))
    copy = clouds.emulated(example, ENDPOINTS)
    parse_document(copy)
    added = [
        {key: value for key, value in new["config"].items() if key not in old["config"]}
        for old, new in zip(example["providerAccounts"], copy["providerAccounts"], strict=True)
    ]
    assert added == [
        {},
        {"endpointUrl": "http://127.0.0.1:1"},
        {"endpointUrl": "https://127.0.0.1:2", "caFile": "/ca.pem"},
    ]
    assert [copy[key] for key in ("sites", "pools", "quotas")] == [example[key] for key in ("sites", "pools", "quotas")]


def test_googles_key_is_in_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    found = Path(clouds.environment(ENDPOINTS, tmp_path)["GOOGLE_APPLICATION_CREDENTIALS"])
    assert json.loads(found.read_text()) == {"type": "service_account"}
    assert found.stat().st_mode & 0o777 == 0o600
