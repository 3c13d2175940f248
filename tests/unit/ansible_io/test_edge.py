# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors as a module's result."""

from __future__ import annotations

import pytest

from ansible_collections.better_compute.fleet.plugins.module_utils._core.ansible_io.edge import failure, missing
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import (
    Code,
    InvalidInput,
    InvalidSettings,
    OperationError,
    Problem,
    Throttled,
)


@pytest.mark.parametrize(
    ("imported", "library"),
    [
        ("boto3", "boto3"),
        ("botocore.exceptions", "boto3"),
        ("cryptography.hazmat", "cryptography"),
        ("kubernetes.client", "kubernetes"),
        ("psycopg", "psycopg"),
        ("pydantic", "pydantic"),
        ("sqlalchemy.dialects", "sqlalchemy"),
        ("yaml", "PyYAML"),
    ],
)
def test_a_missing_library_is_named_as_it_is_installed(imported: str, library: str) -> None:
    told = missing(ModuleNotFoundError(name=imported))
    assert told is not None
    assert f"({library})" in told


def test_an_import_that_fails_within_our_own_code_is_no_library_of_the_users() -> None:
    assert missing(ModuleNotFoundError(name="ansible_collections.better_compute.fleet.plugins.nothing")) is None
    assert missing(ImportError("no pq wrapper available")) is None


def test_an_error_is_told_with_its_code_and_every_problem() -> None:
    assert failure(Throttled("slower, please")) == {"msg": "slower, please"}
    assert failure(OperationError(Code.NOT_FOUND, "no such pool")) == {"msg": "no such pool", "code": "NOT_FOUND"}
    problems = [Problem(path="a.b", message="expected c"), Problem(path="", message="expected d")]
    assert failure(InvalidInput(problems)) == {
        "msg": "a.b: expected c\nexpected d",
        "code": "INVALID_INPUT",
        "problems": [{"path": "a.b", "message": "expected c"}, {"path": "", "message": "expected d"}],
    }


def test_what_is_wrong_with_the_settings_is_told_of_them_and_of_a_document_with_its_file() -> None:
    problems = [Problem(path="a.b", message="expected c"), Problem(path="", message="x.json is not UTF-8 text")]
    assert failure(InvalidSettings(problems[:1]))["msg"] == "the settings are not right:\na.b: expected c"
    told = failure(InvalidInput(problems, source="x.json"))
    assert told["msg"] == "x.json: a.b: expected c\nx.json is not UTF-8 text"
    assert told["problems"][0] == {"path": "a.b", "message": "expected c"}
