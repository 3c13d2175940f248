# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an account's API token comes from. No text made here holds a token."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from ...model.errors import PermissionDenied
from ...model.secret import Secret


def read_token(source: Mapping[str, str]) -> Secret:
    """The API token that a credential source names.

    Arguments:
        source: `{"env": NAME}`: the environment's variable of that name. `{"file": PATH}`: a file with the token in
            it, and nothing else.

    Raises:
        PermissionDenied: the source is missing or empty, or what is there cannot be a token.
    """
    if "env" in source:
        where = f"environment variable {source['env']}"
        text = os.environ.get(source["env"])
        if text is None:
            raise PermissionDenied(f"the account's API token is to come from {where}, which is not set")
    else:
        path = Path(source["file"]).expanduser()
        where = f"file {path}"
        text = _read(path)
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise PermissionDenied(f"{where} holds no API token: expected one word, and nothing else")
    return Secret(token)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        problem = error.strerror or "cannot be read"
    except UnicodeDecodeError:
        problem = "is no text"
    raise PermissionDenied(f"the account's API token is to come from file {path}: {problem}")
