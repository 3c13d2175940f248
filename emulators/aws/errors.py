# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""AWS's refusals, as the emulator raises them; each protocol renders them in its own way (rendering.py)."""

from __future__ import annotations


class AwsError(Exception):
    """A refusal.

    Attributes:
        status: HTTP status.
        code: AWS's error code, e.g. `ResourceInUseException`.
        message: AWS's text.
        about: further fields of EKS's error bodies: clusterName, nodegroupName, validZones.
    """

    def __init__(self, status: int, code: str, message: str, **about: object) -> None:
        """See the attributes."""
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.about = about


def not_found(message: str, **about: str) -> AwsError:
    """404 ResourceNotFoundException."""
    return AwsError(404, "ResourceNotFoundException", message, **about)


def in_use(message: str, **about: str) -> AwsError:
    """409 ResourceInUseException: it exists, or something else is going on with it."""
    return AwsError(409, "ResourceInUseException", message, **about)


def invalid_parameter(message: str, **about: str) -> AwsError:
    """400 InvalidParameterException: no such request can be right."""
    return AwsError(400, "InvalidParameterException", message, **about)


def invalid_request(message: str, **about: str) -> AwsError:
    """400 InvalidRequestException: not in the state that things are in."""
    return AwsError(400, "InvalidRequestException", message, **about)


def limit_exceeded(message: str, **about: str) -> AwsError:
    """400 ResourceLimitExceededException: a quota of the account."""
    return AwsError(400, "ResourceLimitExceededException", message, **about)


def unsupported_zone(message: str, *, cluster: str, valid: list[str]) -> AwsError:
    """400 UnsupportedAvailabilityZoneException: a zone that has no room for control planes."""
    return AwsError(400, "UnsupportedAvailabilityZoneException", message, clusterName=cluster, validZones=valid)
