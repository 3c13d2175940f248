# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who we are to EKS's access entries."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidRequest
from ansible_collections.better_compute.fleet.plugins.module_utils._core.providers.eks.principal import principal_of


@pytest.mark.parametrize(
    ("caller", "principal"),
    [
        ("arn:aws:iam::111111111111:user/ops/alice", "arn:aws:iam::111111111111:user/ops/alice"),
        ("arn:aws:sts::111111111111:assumed-role/fleetd/i-0123", "arn:aws:iam::111111111111:role/fleetd"),
        ("arn:aws-cn:sts::111111111111:assumed-role/fleetd/a@b.c", "arn:aws-cn:iam::111111111111:role/fleetd"),
    ],
)
def test_an_assumed_role_stands_for_its_role_and_a_user_for_itself(caller: str, principal: str) -> None:
    assert principal_of(caller).arn == principal


def test_the_partition_is_that_of_the_caller() -> None:
    assert principal_of("arn:aws-us-gov:iam::111111111111:user/alice").partition == "aws-us-gov"


@pytest.mark.parametrize("caller", ["arn:aws:iam::111111111111:root", "arn:aws:sts::111111111111:federated-user/bob"])
def test_a_principal_without_access_entries_is_refused_by_name(caller: str) -> None:
    with pytest.raises(InvalidRequest, match=caller):
        principal_of(caller)
