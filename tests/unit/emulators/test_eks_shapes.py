# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The emulated EKS's answers are held against the API's model."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.better_compute.fleet.emulators.aws.eks import shapes
from ansible_collections.better_compute.fleet.emulators.aws.errors import AwsError

DESCRIBE, _PATH = shapes.route("GET", "/clusters/one")


def test_an_answer_that_the_model_knows_passes_also_with_empty_tags() -> None:
    shapes.check_answer(DESCRIBE, {"cluster": {"name": "one", "status": "ACTIVE", "tags": {}, "endpoint": None}})


@pytest.mark.parametrize(
    "cluster", [{"colour": "red"}, {"status": "SLEEPING"}, {"tags": "none"}, {"health": {"issues": [{"code": "Bad"}]}}]
)
def test_an_answer_that_the_model_does_not_know_is_the_emulator_s_own_error(cluster: dict[str, Any]) -> None:
    with pytest.raises(AwsError, match="answer to DescribeCluster is wrong") as error:
        shapes.check_answer(DESCRIBE, {"cluster": cluster})
    assert error.value.status == 500
