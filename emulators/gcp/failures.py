# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What GKE accepts and then fails at: scripted, because what it refuses at once is a matter of the fault script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from threading import Lock
from typing import Any, Final, Literal

from google.cloud.container_v1.types import cluster_service as api
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

Step = Literal["create", "update", "delete"]

_CODES: Final[Mapping[str, int]] = {name: code.value for name, code in api.StatusCondition.Code.__members__.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why something failed: a condition's code, the canonical code beside it, and a text."""

    code: str
    canonical: str
    message: str

    def status(self) -> Any:
        """As the error of an operation."""
        return Status(code=Code.Value(self.canonical), message=self.message)

    def condition(self) -> Any:
        """As a condition of a cluster or node pool."""
        return api.StatusCondition.pb()(
            code=_CODES[self.code], canonical_code=Code.Value(self.canonical), message=self.message
        )

    def mark(self, shown: Any, status: int) -> None:
        """Show it at a cluster or node pool. The condition stays when the status is a better one again."""
        shown.status = status
        shown.status_message = self.message
        shown.conditions.append(self.condition())


@dataclass(slots=True, kw_only=True)
class _Line:
    step: Step
    target: str
    left: int
    failure: Failure


class Failures:
    """The script. Thread-safe."""

    def __init__(self) -> None:
        """An empty script: what is accepted succeeds."""
        self._lines: list[_Line] = []
        self._lock = Lock()

    def add(
        self,
        step: Step,
        *,
        message: str,
        code: str = "UNKNOWN",
        canonical: str = "INTERNAL",
        target: str = "*",
        times: int = 1,
    ) -> None:
        """Let what is accepted fail.

        Arguments:
            step: `create` of a cluster or node pool (it ends in ERROR, without machines), `update` of either (it is as
                it was, and only the operation says why), `delete` of either (ERROR, and GKE tries again by itself).
            message: the text of the operation's error and of the condition.
            code: the condition's code (StatusCondition.Code).
            canonical: the code of google.rpc beside it.
            target: pattern (fnmatch) of `<cluster>` or `<cluster>/<node pool>`.
            times: at how many that fit.

        Raises:
            ValueError: there is no such code.
        """
        if code not in _CODES:
            raise ValueError(f"{code} is not one of {', '.join(_CODES)}")
        Code.Value(canonical)
        failure = Failure(code=code, canonical=canonical, message=message)
        with self._lock:
            self._lines.append(_Line(step=step, target=target, left=times, failure=failure))

    def take(self, step: Step, target: str) -> Failure | None:
        """What the step that begins now is going to fail with, None when it succeeds."""
        with self._lock:
            for line in self._lines:
                if line.left and line.step == step and fnmatchcase(target, line.target):
                    line.left -= 1
                    return line.failure
        return None
