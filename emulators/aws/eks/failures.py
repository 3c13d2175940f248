# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EKS accepts and then fails at: scripted, because what it refuses at once is a matter of the fault script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from threading import Lock
from typing import Final, Literal

from . import shapes
from .records import Document

Step = Literal["create", "update", "delete"]

_CODES: Final[dict[Step, tuple[str, ...]]] = {
    "create": ("NodegroupIssueCode", "ClusterIssueCode"),
    "update": ("ErrorCode",),
    "delete": ("NodegroupIssueCode",),
}
"""The enums of the API's model that say what a step can fail with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why something failed: a code of the API's model, a text, and what it is about."""

    code: str
    message: str
    resource_ids: tuple[str, ...] = ()

    def issue(self) -> Document:
        """As an issue of a cluster's or node group's health."""
        return {"code": self.code, "message": self.message, "resourceIds": list(self.resource_ids)}

    def update_error(self) -> Document:
        """As an error of an update."""
        return {"errorCode": self.code, "errorMessage": self.message, "resourceIds": list(self.resource_ids)}


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
        code: str,
        message: str,
        resource_ids: Sequence[str] = (),
        target: str = "*",
        times: int = 1,
    ) -> None:
        """Let what is accepted fail.

        Arguments:
            step: `create` of a cluster (it ends FAILED) or node group (CREATE_FAILED, without machines), `update` of
                either (it is ACTIVE again as it was, and only the update says why), `delete` of a node group
                (DELETE_FAILED, its machines gone).
            code: why: NodegroupIssueCode or ClusterIssueCode of the API's model; for updates its ErrorCode.
            message: the text beside it.
            resource_ids: what it is about.
            target: pattern (fnmatch) of `<cluster>` or `<cluster>/<node group>`.
            times: at how many that fit.

        Raises:
            ValueError: the model has no such code.
        """
        known = [choice for name in _CODES[step] for choice in shapes.choices(name)]
        if code not in known:
            raise ValueError(f"{code} is not one of {', '.join(known)}")
        failure = Failure(code=code, message=message, resource_ids=tuple(resource_ids))
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
