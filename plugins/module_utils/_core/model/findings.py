# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the self-check and `bc-fleetd doctor` find. Messages, documentation and checks share the spec's names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .agent import AgentSettings


class FindingCode(StrEnum):
    """Names of findings (spec)."""

    AGENT_MISSING = "kubernetes.substrate-agent-missing"
    NODES_NOT_JOINING = "kubernetes.substrate-nodes-not-joining"


AGENT_MISSING = (
    f"{FindingCode.AGENT_MISSING}: the settings do not say how bcd is run, so nothing is created: "
    "give image, gateway_url and pins in their [agent] section"
)
"""The message of a substrate that cannot be had for want of settings."""

ACCOUNT_UNUSABLE = "the provider account cannot be used: "
"""How the message of a substrate or cluster begins whose account is the trouble; the account's reason follows."""

_MOST_NAMED = 5
"""Names in a line about many: ten thousand pools may have one trouble."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """Something that a person should look at.

    Attributes:
        pools: the names of the pools that it is about.
        message: what is wrong and what to do, beginning with the code.
    """

    code: FindingCode
    pools: tuple[str, ...]
    message: str

    def to_data(self) -> dict[str, Any]:
        """Plain values, for module results."""
        return {"code": str(self.code), "pools": list(self.pools), "message": self.message}


def agent_missing(pools: Iterable[str], agent: AgentSettings | None) -> Finding | None:
    """That pools with a substrate stand, or are to come, and the settings do not say how bcd is run."""
    named = tuple(pools)
    if agent is not None or not named:
        return None
    return Finding(code=FindingCode.AGENT_MISSING, pools=named, message=AGENT_MISSING)


def some_of(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


class Verdict(StrEnum):
    """What a check came to. A warning may be as it should be; what is not checked is neither well nor wrong."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One line of the doctor's.

    Attributes:
        about: what was looked at, e.g. `account aws-main`.
        message: what was found; of what is not checked why. No secret.
        cure: what to do, a sentence that begins small; empty where nothing is to be done, or the message says it.
        code: the spec's name of what was found, where it has one.
    """

    about: str
    verdict: Verdict
    message: str
    cure: str = ""
    code: FindingCode | None = None

    def to_data(self) -> dict[str, Any]:
        """Plain values, for machines."""
        return {
            "about": self.about,
            "verdict": str(self.verdict).replace(" ", "_"),
            "message": self.message,
            "cure": self.cure or None,
            "code": None if self.code is None else str(self.code),
        }
