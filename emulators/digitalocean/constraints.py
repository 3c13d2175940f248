# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What DigitalOcean refuses of what a request says, whatever there is: names, sizes, counts, tags, labels, taints."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from .catalogue import SIZES
from .readings import Readings
from .refusals import invalid

_NAME: Final = re.compile(r"[a-z]([a-z0-9-]*[a-z0-9])?")
_LONGEST_CLUSTER_NAME: Final = 63
"""The maxima are not known: a DNS label is the safe guess."""
_LONGEST_POOL_NAME: Final = 57
"""A Node's name is the pool's, a hyphen and five characters, and a DNS label at most."""
_TAG: Final = re.compile(r"[a-zA-Z0-9_\-:]{1,255}")
_LABEL_KEY: Final = re.compile(r"([a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")
_LABEL_VALUE: Final = re.compile(r"([A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?")
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def cluster_name(asked: object) -> str:
    """A cluster's name, if it may be one."""
    return _name(asked, longest=_LONGEST_CLUSTER_NAME, what="cluster")


def pool_name(asked: object) -> str:
    """A node pool's name, if it may be one."""
    return _name(asked, longest=_LONGEST_POOL_NAME, what="node pool")


def size(asked: object) -> str:
    """A size's slug, if there is one."""
    if not isinstance(asked, str) or asked not in SIZES:
        raise invalid("invalid size slug")
    return asked


def tags(asked: object) -> list[str]:
    """Tags, if they may be some; the automatic ones are no part of an owner's."""
    if not isinstance(asked, list):
        raise invalid("tags must be a list")
    for tag in asked:
        if not isinstance(tag, str) or _TAG.fullmatch(tag) is None:
            raise invalid(f"invalid tag name: {tag}")
    return [tag for tag in asked if tag != "k8s" and not tag.startswith("k8s:")]


def labels(asked: object) -> dict[str, str]:
    """Labels, if they may be some."""
    if not isinstance(asked, dict):
        raise invalid("labels must be an object")
    for key, value in asked.items():
        if _LABEL_KEY.fullmatch(key) is None or not isinstance(value, str) or _LABEL_VALUE.fullmatch(value) is None:
            raise invalid(f"invalid label: {key}={value}")
    return dict(asked)


def taints(asked: object) -> list[dict[str, str]]:
    """Taints, if they may be some."""
    if not isinstance(asked, list):
        raise invalid("taints must be a list")
    found = []
    for taint in asked:
        if not isinstance(taint, dict) or _LABEL_KEY.fullmatch(str(taint.get("key", ""))) is None:
            raise invalid("invalid taint key")
        if taint.get("effect") not in _EFFECTS:
            raise invalid("invalid taint effect")
        found.append({"key": taint["key"], "value": str(taint.get("value") or ""), "effect": taint["effect"]})
    return found


def flag(asked: Mapping[str, Any], name: str, *, default: bool) -> bool:
    """A switch of a request."""
    found = asked.get(name, default)
    if not isinstance(found, bool):
        raise invalid(f"{name} must be a boolean")
    return found


def number(asked: Mapping[str, Any], name: str, *, default: int | None = None) -> int:
    """A number of a request; without a default it must be there."""
    found = asked.get(name, default)
    if isinstance(found, bool) or not isinstance(found, int) or found < 0:
        raise invalid(f"{name} must be a number that is not negative")
    return found


def scaling(*, auto_scale: bool, count: int | None, least: int, most: int, readings: Readings) -> None:
    """Refuse a size or bounds that cannot be.

    Arguments:
        count: what the request asks for; None where it leaves the size alone.
    """
    if not auto_scale:
        if count is None or count < 1:
            raise invalid("node pool count must be greater than or equal to 1")
        return
    if least < 1 and not readings.scale_to_zero:
        raise invalid("min nodes must be greater than or equal to 1")
    if most < 1 or most < least:
        raise invalid("max nodes must be greater than or equal to 1 and to min nodes")
    if count is not None and not least <= count <= most:
        raise invalid("node pool count must be between min nodes and max nodes")


def _name(asked: object, *, longest: int, what: str) -> str:
    if not isinstance(asked, str) or not asked:
        raise invalid(f"{what} name is required")
    if len(asked) > longest:
        raise invalid(f"{what} name is too long (maximum is {longest} characters)")
    if _NAME.fullmatch(asked) is None:
        raise invalid(f"invalid {what} name")
    return asked
