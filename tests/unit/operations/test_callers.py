# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who a session's caller is: what idempotency keys are scoped to."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import load_settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import open_session


def caller(folder: Path, **environment: str) -> str:
    url = f"sqlite:///{folder / 'fleet.db'}"
    with open_session(load_settings(environ={"BC_FLEET_STORE_DATABASE_URL": url, **environment})) as session:
        return session.caller


def test_a_callers_name_is_the_operator_of_the_settings_else_the_login(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "ann")
    assert caller(tmp_path, BC_FLEET_OPERATOR="release-pipeline") == "release-pipeline"
    assert caller(tmp_path) == "ann"


@pytest.mark.parametrize("error", [KeyError("no such uid"), OSError("no login name")])
def test_whoever_has_no_login_name_is_known_by_the_uid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def nobody() -> str:
        raise error

    monkeypatch.setattr(getpass, "getuser", nobody)
    assert caller(tmp_path) == f"uid-{os.getuid()}"
