# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What somebody installs for an import that was missed. Libraries are imported where they are needed first."""

from __future__ import annotations

_LIBRARIES = {
    "azure": "pydo",
    "boto3": "boto3",
    "botocore": "boto3",
    "cryptography": "cryptography",
    "google": "google-cloud-container",
    "grpc": "google-cloud-container",
    "grpc_status": "google-cloud-container",
    "kubernetes": "kubernetes",
    "psycopg": "psycopg",
    "pydantic": "pydantic",
    "pydo": "pydo",
    "sqlalchemy": "sqlalchemy",
    "urllib3": "kubernetes",
    "yaml": "PyYAML",
}


def library_of(error: ImportError) -> str | None:
    """The library to install; None when the import is of none that users install."""
    return _LIBRARIES.get((error.name or "").partition(".")[0])


def not_installed(provider: str, library: str) -> str:
    """What is said of an account whose provider's library is missing."""
    return f"the library for {provider} is not installed here: {library}"
