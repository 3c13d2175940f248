# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shipped example document as plain data, changed at one place or another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "fleet-aws.json"


def example() -> dict[str, Any]:
    """The example document, fresh for each caller."""
    data: dict[str, Any] = json.loads(EXAMPLE.read_text())
    return data


def put(data: Any, path: str, value: Any) -> Any:
    """Set what stands at a dotted path (numbers are indexes) and return the whole."""
    *steps, last = [int(step) if step.isdigit() else step for step in path.split(".")]
    place = data
    for step in steps:
        place = place[step]
    place[last] = value
    return data


def changed(path: str, value: Any) -> dict[str, Any]:
    """The example with one value put at a dotted path."""
    result: dict[str, Any] = put(example(), path, value)
    return result


def account_of(provider: str, name: str, **config: Any) -> dict[str, Any]:
    """An account of a provider, with what its config cannot do without and what a test wants."""
    needed: dict[str, Any] = {
        "aws": example()["providerAccounts"][0]["config"],
        "gcp": {"projectId": "my-project"},
        "digitalocean": {"region": "nyc1", "credential": {"env": "DIGITALOCEAN_TOKEN"}},
    }[provider]
    return {"name": name, "provider": provider, "config": needed | config}


def on_account(provider: str, location: str, flavor: dict[str, Any], **config: Any) -> dict[str, Any]:
    """The example with its pool on an account of another provider, with one flavor."""
    data = example()
    data["providerAccounts"] = [account_of(provider, "managed-k8s", **config)]
    substrate = data["pools"][0]["policy"]["substrate"]
    substrate["cluster"]["create"]["location"] = location
    substrate["flavors"] = [{"name": "gpu", "machineType": "a3-highgpu-8g", "nodes": 1} | flavor]
    return data
