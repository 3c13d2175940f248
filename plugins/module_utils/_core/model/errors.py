# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every error this product raises on purpose.

::

    FleetError
    ├── OperationError            told to a caller, with one of the API's codes
    │   └── InvalidInput          … INVALID_INPUT with every problem and its path
    │       └── InvalidSettings   … of the deployment's settings
    ├── ProviderError             typed by what the caller should do next, never by text
    │   ├── Throttled             come again, later
    │   ├── Unavailable           come again
    │   ├── OperationInProgress   wait: a state, not a failure
    │   ├── StockedOut            keep the row, try again after five minutes
    │   ├── ProviderQuotaExceeded keep the row, tell the owner
    │   ├── PermissionDenied      tell the owner
    │   ├── NotFound
    │   ├── AlreadyExists         somebody else's resource has our name
    │   ├── InUse                 the provider will not delete it yet
    │   └── InvalidRequest        the provider will never take it
    │       └── NeedsNodes        … for a cluster that is to be made together with nodes
    ├── ClusterError              the Kubernetes API side
    │   ├── ClusterUnreachable    no answer, or a 5xx: unknown, so nothing is concluded from it
    │   ├── ClusterAccessDenied   401 or 403
    │   │   └── ClusterCredentialRefused  401
    │   ├── ClusterConflict       409: changed under us; read again
    │   ├── ClusterObjectMissing  404
    │   ├── ClusterInvalid        422: it will never be taken as it is
    │   ├── NotOurs               an object of that name without our label stands there
    │   └── ClaimHeld             another pool or deployment holds the cluster
    ├── StaleLease                somebody else has the pool now: stop at once, write nothing
    ├── SchemaMismatch            the database is not of this version
    └── StoreUnavailable          the database cannot be reached or opened
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class FleetError(Exception):
    """The root. Its text is for a person and never holds a secret."""


class Code(StrEnum):
    """The API's error codes."""

    INVALID_INPUT = "INVALID_INPUT"
    INVALID_STATE = "INVALID_STATE"
    NOT_FOUND = "NOT_FOUND"
    CONFLICT = "CONFLICT"
    QUOTA_EXCEEDED = "QUOTA_EXCEEDED"
    UNSUPPORTED = "UNSUPPORTED"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    UNAVAILABLE = "UNAVAILABLE"


class OperationError(FleetError):
    """What a caller asked for cannot be done; `code` says in which way, the text says what to do."""

    def __init__(self, code: Code, message: str) -> None:
        """Keep the code beside the text."""
        super().__init__(message)
        self.code = code

    def of(self, source: str) -> OperationError:
        """The error with what it is about in each line: a file, an option, `standard input`."""
        return OperationError(self.code, "\n".join(f"{source}: {line}" for line in str(self).splitlines()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with something a person wrote.

    Attributes:
        path: where, as the document spells it: `pools[2].policy.substrate.flavors[0].nodes`; empty for the whole.
        message: what was expected, what was found, what to do.
    """

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message

    def of(self, source: str) -> str:
        """The problem in one line that names what it is a problem of: a file, an option, `standard input`."""
        text = str(self)
        return text if text.startswith(f"{source} ") else f"{source}: {text}"


class InvalidInput(OperationError):
    """Every problem of a document or call at once."""

    def __init__(self, problems: Sequence[Problem], *, source: str = "") -> None:
        """Keep the problems; the text is one line for each.

        Arguments:
            source: what a person wrote it in, named in each line: a file, an option. Empty where nobody has to ask.
        """
        lines = [problem.of(source) if source else str(problem) for problem in problems]
        super().__init__(Code.INVALID_INPUT, "\n".join(lines))
        self.problems = tuple(problems)

    def of(self, source: str) -> InvalidInput:
        """The same problems, each with what it is about."""
        return InvalidInput(self.problems, source=source)


class InvalidSettings(InvalidInput):
    """Every problem of the deployment's settings at once; each names the file or the variable that it came from."""


class ProviderError(FleetError):
    """A provider's refusal or failure, with the provider's own message as its text."""


class Throttled(ProviderError):
    """Too many calls. Come again later."""


class Unavailable(ProviderError):
    """The provider failed or did not answer. The call may have had its effect."""


class OperationInProgress(ProviderError):
    """Another operation holds the resource. Wait; nothing is wrong."""


class StockedOut(ProviderError):
    """The provider has no such machines at the moment."""


class ProviderQuotaExceeded(ProviderError):
    """The account's quota at the provider is used up."""


class PermissionDenied(ProviderError):
    """The account's credential is refused, or may not do this."""


class NotFound(ProviderError):
    """The provider does not know the resource."""


class AlreadyExists(ProviderError):
    """A resource of that name exists and is not ours."""


class InUse(ProviderError):
    """The provider refuses to delete the resource because something still uses it."""


class InvalidRequest(ProviderError):
    """The provider will never take this request as it is."""


class NeedsNodes(InvalidRequest):
    """The provider makes no cluster without nodes, and was given none: nothing was sent."""


class ClusterError(FleetError):
    """Something failed at a cluster's Kubernetes API."""


class ClusterUnreachable(ClusterError):
    """No answer, an answer that makes no sense, or a server error. What the cluster holds is unknown."""


class ClusterAccessDenied(ClusterError):
    """The API answered 401 or 403."""


class ClusterCredentialRefused(ClusterAccessDenied):
    """The API answered 401: the credential is unknown or has ended, and the request was not looked at."""


class ClusterConflict(ClusterError):
    """The API answered 409: the object changed or exists; read it again."""


class ClusterObjectMissing(ClusterError):
    """The API answered 404."""


class ClusterInvalid(ClusterError):
    """The API answered 422: what it was sent is not valid, or changes what nobody may change."""


class NotOurs(ClusterError):
    """An object of the wanted name stands there without our label: it is never taken over, changed or deleted."""


class ClaimHeld(ClusterError):
    """The cluster's claim names another pool."""


class StaleLease(FleetError):
    """The lease was lost to somebody else. The holder must stop and write nothing more."""


class SchemaMismatch(FleetError):
    """The database's schema is not the one this version needs. The text says what to run."""


class StoreUnavailable(FleetError):
    """The database cannot be opened or reached. The text names it without its password."""
