# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an account's credential is, in each provider's ways. A credential itself never stands in a document."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .closed import CLOSED
from .pydantic_shim import BaseModel
from .wording import CREDENTIAL_ADVICE

_ENV_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)

_OR_AMBIENT = ', or "ambient" for the surroundings\' own'


def place_of_credential(*, ambient: bool) -> Callable[[Any], Any]:
    """A validator that refuses whatever is not a place of a credential, without repeating it.

    Arguments:
        ambient: whether the provider has a chain of its own that finds one.
    """

    def check(value: Any) -> Any:
        if ambient and value == "ambient":
            return value
        if isinstance(value, dict) and len(value) == 1:
            [(kind, where)] = value.items()
            if kind == "env" and isinstance(where, str):
                if _ENV_NAME.fullmatch(where):
                    return value
                raise ValueError("env must be the name of environment variables: letters, digits and '_'")
            if kind == "file" and isinstance(where, str):
                if where.startswith("/") and where.isprintable():
                    return value
                raise ValueError("file must be an absolute path")
        raise ValueError(CREDENTIAL_ADVICE + (_OR_AMBIENT if ambient else ""))

    return check


class AwsEnv(BaseModel):
    """NAME_ACCESS_KEY_ID, NAME_SECRET_ACCESS_KEY and, if set, NAME_SESSION_TOKEN of the environment."""

    model_config = CLOSED
    env: str


class AwsFile(BaseModel):
    """A file in the format of AWS's shared credentials."""

    model_config = CLOSED
    file: str


class GcpEnv(BaseModel):
    """The variable that holds a service account's key (JSON)."""

    model_config = CLOSED
    env: str


class GcpFile(BaseModel):
    """A file with a service account's key (JSON)."""

    model_config = CLOSED
    file: str


class TokenEnv(BaseModel):
    """The variable that holds an API token."""

    model_config = CLOSED
    env: str


class TokenFile(BaseModel):
    """A file with an API token in it, and nothing else."""

    model_config = CLOSED
    file: str
