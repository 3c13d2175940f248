# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The join token's file: what is in it, or why there is no token in it, and how often that is said."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from pathlib import Path

from .secret import Secret

TOLD_AGAIN_SECONDS = 60.0
"""Of waiting for the same reason, after which it is said once more: whoever reads the log sees that bcd still waits."""

_TOKEN = re.compile(r"[A-Za-z0-9._~+/=-]{16,512}", re.ASCII)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class NoToken:
    """There is no token to be had now.

    Attributes:
        why: for a person. Nothing of what is in the file: it may be half a token.
    """

    why: str


def read_token(path: Path) -> Secret | NoToken:
    """The join token in a mounted Secret's file."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return NoToken("there is no such file")
    except OSError as error:
        return NoToken(f"the file cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        return NoToken("what is in the file is no token")
    if not text:
        return NoToken("the file is empty")
    return Secret(text) if _TOKEN.fullmatch(text) else NoToken("what is in the file is no token")


class Waiting:
    """Says that bcd waits for a token: when it begins to, when the reason is another, and once a minute."""

    def __init__(self, path: Path) -> None:
        """Nothing was said yet. Arguments: path: the file that is looked at."""
        self._path = path
        self._why: str | None = None
        self._seconds = 0.0

    def goes_on(self, why: str, *, seconds: float) -> None:
        """Nothing is there, and the next look is in so many seconds."""
        if why != self._why or self._seconds >= TOLD_AGAIN_SECONDS:
            logger.info("waiting for a join token in %s: %s", self._path, why)
            self._why, self._seconds = why, 0.0
        self._seconds += seconds

    def is_over(self) -> None:
        """A token is there. The next time that there is none is told anew."""
        self._why = None
