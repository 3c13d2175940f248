# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every error that bcd raises on purpose.

::

    BcdError
    ├── SettingsError     the container's environment is wrong; every problem at once
    └── GatewayError      a call did not succeed
        ├── Unreachable   no answer, a server error, or a reply that makes no sense: nothing is concluded from it
        ├── WrongPin      the gateway's certificate has none of the pins: nothing was sent
        └── Refused       the gateway understood and said no, with a code

No text here holds a token or an identity.
"""

from __future__ import annotations

from collections.abc import Sequence

UNAUTHENTICATED = 401


class BcdError(Exception):
    """The root. Its text is for a person and never holds a secret."""


class SettingsError(BcdError):
    """The environment cannot be used; `problems` names each thing that is wrong with it."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Keep the problems; the text is one line for each."""
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class GatewayError(BcdError):
    """A call to the gateway did not succeed."""


class Unreachable(GatewayError):
    """No answer, a server error, or a reply that makes no sense. The call may have had its effect."""


class WrongPin(GatewayError):
    """The certificate shown has none of the pinned keys. Not one byte of HTTP was sent."""


class Refused(GatewayError):
    """The gateway said no."""

    def __init__(self, *, status: int, code: str, message: str) -> None:
        """Keep status and code beside the text."""
        super().__init__(f"the gateway refused ({status} {code}): {message}")
        self.status = status
        self.code = code

    @property
    def unauthenticated(self) -> bool:
        """Whether what was shown (token or identity) is not, or no longer, known to the gateway."""
        return self.status == UNAUTHENTICATED
