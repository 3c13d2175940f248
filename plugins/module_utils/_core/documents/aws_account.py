# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The closed model of an AWS account's `config`: where things are, and where its credential is; never a secret."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from . import patterns
from .pydantic_shim import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from .spelling import camel

_CLOSED = ConfigDict(extra="forbid", strict=True, frozen=True, alias_generator=camel, hide_input_in_errors=True)
_ENV_PREFIX = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

CREDENTIAL_ADVICE = (
    'a secret never stands in a document: leave credential out (or "ambient") for the surroundings\' own, '
    'or say where it is with {"env": PREFIX} or {"file": "/PATH"}'
)

SECRET_WORDS = ("secret", "password", "token", "accesskey", "privatekey", "credentials")
"""A key with one of these in it (case and underscores aside) is somebody's secret that went astray."""


def looks_secret(key: str) -> bool:
    """Whether an unknown key's name says that a secret stands there."""
    bare = key.replace("_", "").replace("-", "").lower()
    return any(word in bare for word in SECRET_WORDS)


def _credential(value: Any) -> Any:
    """Refuse whatever is not a place of a credential, without repeating it."""
    if value == "ambient":
        return value
    if isinstance(value, dict) and len(value) == 1:
        [(kind, where)] = value.items()
        if kind == "env" and isinstance(where, str):
            if _ENV_PREFIX.fullmatch(where):
                return value
            raise ValueError("env must be the prefix of environment variables' names: letters, digits and '_'")
        if kind == "file" and isinstance(where, str):
            if where.startswith("/") and where.isprintable():
                return value
            raise ValueError("file must be an absolute path")
    raise ValueError(CREDENTIAL_ADVICE)


def web_address(value: str) -> str:
    """Take an https URL, or an http one on this machine, without user, query or fragment. Errors do not repeat it."""
    expected = "expected an https URL without user, query and fragment (http only on 127.0.0.1)"
    try:
        parts = urlsplit(value)
        host, _port = parts.hostname, parts.port
    except ValueError:
        raise ValueError(expected) from None
    plain = host is not None and "@" not in parts.netloc and not parts.query and not parts.fragment
    trusted = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not (plain and trusted and value.isascii() and value.isprintable() and " " not in value):
        raise ValueError(expected)
    return value


def absolute_path(value: str) -> str:
    """Take an absolute path."""
    if not value.startswith("/") or not value.isprintable():
        raise ValueError("expected an absolute path")
    return value


class EnvCredential(BaseModel):
    """PREFIX_ACCESS_KEY_ID, PREFIX_SECRET_ACCESS_KEY and, if set, PREFIX_SESSION_TOKEN of the environment."""

    model_config = _CLOSED
    env: str


class FileCredential(BaseModel):
    """A file in the format of AWS's shared credentials."""

    model_config = _CLOSED
    file: str


class AwsConfig(BaseModel):
    """providerAccounts[].config of an AWS account."""

    model_config = _CLOSED
    region: Annotated[str, Field(pattern=patterns.AWS_REGION)]
    zones: Annotated[list[Annotated[str, Field(pattern=patterns.PLACE)]], Field(min_length=1)] | None = None
    eks_cluster_role_arn: Annotated[str, Field(pattern=patterns.AWS_ROLE_ARN)]
    eks_node_role_arn: Annotated[str, Field(pattern=patterns.AWS_ROLE_ARN)]
    # EKS wants at least two subnets, in two zones, for a cluster (provider-behaviours: EKS, cluster).
    eks_subnet_ids: Annotated[
        list[Annotated[str, Field(pattern=patterns.AWS_SUBNET)]], Field(min_length=2, max_length=16)
    ]
    endpoint_url: Annotated[str, AfterValidator(web_address)] | None = None
    ca_file: Annotated[str, AfterValidator(absolute_path)] | None = None
    credential: Annotated[Literal["ambient"] | EnvCredential | FileCredential, BeforeValidator(_credential)] | None = (
        None
    )
