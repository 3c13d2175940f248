# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends a document's accounts to the emulated clouds: their addresses go into a copy of it, keys into the environment.

What `emulators/__main__.py` prints is read here alone. On real accounts the document is used as it is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

REAL_ACCOUNTS = ("AWS_", "GOOGLE_", "CLOUDSDK_", "DIGITALOCEAN_")
"""Variables that begin so may lead to somebody's real account: the quickstart takes none of them over."""

NAMES = {"aws": "AWS", "gcp": "Google Cloud", "digitalocean": "DigitalOcean"}
"""What people call the providers."""


def environment(endpoints: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """The variables by which the product finds the emulated accounts' keys, and boto3 the emulated AWS.

    Arguments:
        endpoints: what the emulators printed.
        folder: where the key of Google's service account is put, for its owner alone.
    """
    key = folder / "google-key.json"
    key.touch(mode=0o600)
    key.write_text(json.dumps(endpoints["gcp"]["service_account_key"]), encoding="utf-8")
    aws = endpoints["aws"]
    return {
        "AWS_ENDPOINT_URL": aws["endpoint_url"],
        "AWS_ACCESS_KEY_ID": aws["access_key_id"],
        "AWS_SECRET_ACCESS_KEY": aws["secret_access_key"],
        "AWS_DEFAULT_REGION": aws["region"],
        "AWS_EC2_METADATA_DISABLED": "true",
        "GOOGLE_APPLICATION_CREDENTIALS": str(key),
        "DIGITALOCEAN_TOKEN": endpoints["digitalocean"]["token"],
    }


def emulated(document: Mapping[str, Any], endpoints: Mapping[str, Any]) -> dict[str, Any]:
    """A document with its accounts at the emulated clouds; for the rest it is the same.

    Arguments:
        document: plain data; its accounts' credentials come from the surroundings or from DIGITALOCEAN_TOKEN.
        endpoints: what the emulators printed.
    """
    where = {
        "aws": {},
        "gcp": {"endpointUrl": endpoints["gcp"]["endpoint_url"]},
        "digitalocean": {
            "endpointUrl": endpoints["digitalocean"]["endpoint_url"],
            "caFile": endpoints["digitalocean"]["ca_file"],
        },
    }
    accounts = [
        {**account, "config": {**account["config"], **where[account["provider"]]}}
        for account in document["providerAccounts"]
    ]
    return {**{key: value for key, value in document.items() if key != "$schema"}, "providerAccounts": accounts}
