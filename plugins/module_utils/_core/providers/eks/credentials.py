# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where an account's AWS credential comes from. No text made here holds a credential, or a line that may."""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...model.errors import PermissionDenied

_DEFAULT_PROFILE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessKey:
    """An access key, as `env` or `file` gives it or boto3's chain finds it. (boto3's own type shows it in its repr.)"""

    key_id: str
    secret: str = field(repr=False)
    session_token: str | None = field(repr=False, default=None)


def read_access_key(source: Mapping[str, str]) -> AccessKey:
    """The access key that a credential source names.

    Arguments:
        source: `{"env": PREFIX}`: the environment's PREFIX_ACCESS_KEY_ID, PREFIX_SECRET_ACCESS_KEY and, for temporary
            credentials, PREFIX_SESSION_TOKEN. `{"file": PATH}`: a file as ~/.aws/credentials is, of which the profile
            `default` is read, or the only one.

    Raises:
        PermissionDenied: the source is missing or incomplete; the text says what is missing.
    """
    if "env" in source:
        return _from_environment(source["env"], os.environ)
    return _from_file(Path(source["file"]).expanduser())


def _from_environment(prefix: str, environment: Mapping[str, str]) -> AccessKey:
    key_id, secret = f"{prefix}_ACCESS_KEY_ID", f"{prefix}_SECRET_ACCESS_KEY"
    missing = [name for name in (key_id, secret) if not environment.get(name)]
    if missing:
        raise PermissionDenied(f"the account's credential is to come from the environment, where {_not_set(missing)}")
    return AccessKey(
        key_id=environment[key_id],
        secret=environment[secret],
        session_token=environment.get(f"{prefix}_SESSION_TOKEN") or None,
    )


def _not_set(names: list[str]) -> str:
    return f"{' and '.join(names)} {'are' if len(names) > 1 else 'is'} not set"


def _from_file(path: Path) -> AccessKey:
    profile, values = _read_profile(path)
    missing = [key for key in ("aws_access_key_id", "aws_secret_access_key") if not values.get(key)]
    if missing:
        raise PermissionDenied(f"credentials file {path}: profile {profile!r} has no {' and no '.join(missing)}")
    return AccessKey(
        key_id=values["aws_access_key_id"],
        secret=values["aws_secret_access_key"],
        session_token=values.get("aws_session_token") or None,
    )


def _read_profile(path: Path) -> tuple[str, Mapping[str, str]]:
    # `default` is an ordinary section here; the parser's own default section would be merged into all others.
    parser = configparser.RawConfigParser(default_section="")
    problem = None
    try:
        parser.read_string(path.read_text(encoding="utf-8"))
    except OSError as error:
        problem = error.strerror or "cannot be read"
    except (configparser.Error, UnicodeDecodeError):
        # The parser's own text quotes the line, which may hold the secret.
        problem = "is not in the format of a shared credentials file"
    if problem:
        raise PermissionDenied(f"credentials file {path}: {problem}")
    sections = parser.sections()
    if _DEFAULT_PROFILE in sections:
        return _DEFAULT_PROFILE, parser[_DEFAULT_PROFILE]
    if len(sections) == 1:
        return sections[0], parser[sections[0]]
    raise PermissionDenied(f"credentials file {path}: has no profile {_DEFAULT_PROFILE!r}, and not just one other")
