# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Idempotency tokens: the same request gets the same token, whichever process sends it and however often."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def request_token(request: Mapping[str, Any], *, attempt: int = 0) -> str:
    """The `clientRequestToken` of a create.

    All that is asked for is part of it: the names and the owner's tags, with the cluster row's id in them, make it
    this fleet's own; and a node group that was deleted and is wanted again in another shape is another request, where
    AWS refuses an old token with new parameters.

    Arguments:
        request: the create's parameters.
        attempt: raised when a refused create is tried anew.
    """
    content = json.dumps([attempt, request], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(content.encode()).hexdigest()
