# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How DigitalOcean refuses: an HTTP status, a short id and a text."""

from __future__ import annotations


class Refusal(Exception):
    """A refusal. Nothing has happened."""

    def __init__(self, status: int, code: str, message: str, *, retry_after: int | None = None) -> None:
        """Arguments: code: the body's `id`; retry_after: seconds, for the header of that name."""
        super().__init__(f"{status} {code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after = retry_after


def not_found() -> Refusal:
    """404. It does not say what: whatever is asked for."""
    return Refusal(404, "not_found", "The resource you requested could not be found.")


def invalid(message: str) -> Refusal:
    """422: what is asked can never be."""
    return Refusal(422, "unprocessable_entity", f"validation error: {message}")


def conflict(message: str) -> Refusal:
    """409: not now."""
    return Refusal(409, "conflict", message)


def unauthorized() -> Refusal:
    """401: no token that is known and valid."""
    return Refusal(401, "unauthorized", "Unable to authenticate you")


def forbidden() -> Refusal:
    """403: the token's scopes do not reach so far."""
    return Refusal(403, "forbidden", "You are not authorized to perform this operation")


def too_many_requests(retry_after: int | None) -> Refusal:
    """429."""
    return Refusal(429, "too_many_requests", "API rate limit exceeded.", retry_after=retry_after)
