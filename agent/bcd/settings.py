# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bcd is told by its DaemonSet, through the container's environment. Every problem is named at once."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from urllib.parse import urlsplit

from .errors import SettingsError

DEFAULT_RESOURCE_NAME = "bc.dev/gpu"
SHA256_BYTES = 32

DEVICE_PLUGINS = Path("/var/lib/kubelet/device-plugins")
"""Fixed in the kubelet's API, v1beta1, unless it was started with another root folder."""

_NODE_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", re.ASCII)
_RESOURCE_NAME = re.compile(
    r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII
)


class Variable(Enum):
    """Every variable that bcd reads, with its line in `bcd --help`. There is no other way to read one."""

    BCD_GATEWAY_URL = "required: where the gateway is, https://host[:port][/prefix]"
    BCD_PINS = "required: base64 SHA-256 of each public key that the gateway may show, comma-separated"
    BCD_NODE_NAME = "required: the Kubernetes Node that the pod runs on"
    BCD_STATE_DIR = "required: the folder where identity and bookings are kept"
    BCD_JOIN_TOKEN_FILE = "required: the file with the join token; it may come, change and go at any time"  # noqa: S105 -- says what it is
    BCD_RESOURCE_NAME = f"the extended resource to advertise (default: {DEFAULT_RESOURCE_NAME})"
    BCD_CONTROL_PLANE_URL = "the platform's API, which pods with GPUs are told (default: none)"
    BCD_DRIVER_DIR = "where NVIDIA's driver lies on the host, where the container runtime does not bring it"
    BCD_DEVICE_PLUGIN_DIR = f"the folder of the kubelet's socket (default: {DEVICE_PLUGINS})"

    @classmethod
    def table(cls) -> str:
        """A line for each, for a person."""
        width = max(len(one.name) for one in cls)
        return "\n".join(f"  {one.name:<{width}}  {one.value}" for one in cls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What one bcd works with.

    Attributes:
        gateway_host, gateway_port: where the gateway is; always https.
        gateway_path: a prefix before `/v1/…`, empty or `/something`.
        pins: SHA-256 digests of the public keys that the gateway may show.
        node_name: the Kubernetes Node that the pod runs on.
        state_dir: where identity and bookings are kept over restarts.
        join_token_file: where the join token is while there is one.
        resource_name: the extended resource that the device plugin advertises.
        control_plane_url: passed on to workloads; None when there is none.
        driver_dir: where NVIDIA's driver lies on the host, for workloads; None where the container runtime brings it.
        device_plugin_dir: where the kubelet's socket is; None for the machine's own place.
    """

    gateway_host: str
    gateway_port: int
    gateway_path: str
    pins: frozenset[bytes]
    node_name: str
    state_dir: Path
    join_token_file: Path
    resource_name: str
    control_plane_url: str | None
    driver_dir: Path | None = None
    device_plugin_dir: Path | None = None

    @property
    def gateway(self) -> str:
        """The gateway's address, for a person."""
        return f"https://{self.gateway_host}:{self.gateway_port}{self.gateway_path}"


def read_settings(environ: Mapping[str, str]) -> Settings:
    """Read the `BCD_…` variables.

    Arguments:
        environ: the container's environment.

    Raises:
        SettingsError: with every variable that is missing or makes no sense.
    """
    reader = _Reader(environ)
    host, port, path = reader.url(Variable.BCD_GATEWAY_URL, schemes=("https",)) or ("", 0, "")
    pins = reader.pins(Variable.BCD_PINS)
    settings = Settings(
        gateway_host=host,
        gateway_port=port,
        gateway_path=path,
        pins=pins,
        node_name=reader.matching(Variable.BCD_NODE_NAME, _NODE_NAME, "the name of a Kubernetes Node"),
        state_dir=reader.absolute_path(Variable.BCD_STATE_DIR),
        join_token_file=reader.absolute_path(Variable.BCD_JOIN_TOKEN_FILE),
        resource_name=reader.matching(
            Variable.BCD_RESOURCE_NAME,
            _RESOURCE_NAME,
            "an extended resource such as bc.dev/gpu",
            default=DEFAULT_RESOURCE_NAME,
        ),
        control_plane_url=reader.optional(Variable.BCD_CONTROL_PLANE_URL),
        driver_dir=reader.optional_path(Variable.BCD_DRIVER_DIR),
        device_plugin_dir=reader.optional_path(Variable.BCD_DEVICE_PLUGIN_DIR),
    )
    if settings.control_plane_url:
        reader.url(Variable.BCD_CONTROL_PLANE_URL, schemes=("https", "http"))
    if reader.problems:
        raise SettingsError(reader.problems)
    return settings


class _Reader:
    """Reads variables and collects what is wrong with them. What it returns beside a problem is never used."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self.problems: list[str] = []

    def url(self, name: Variable, *, schemes: tuple[str, ...]) -> tuple[str, int, str] | None:
        """Host, port and path prefix of a URL without user, query or fragment."""
        value = self._present(name)
        if value is None:
            return None
        try:
            parts = urlsplit(value)
            port = parts.port or (443 if parts.scheme == "https" else 80)
        except ValueError:
            parts, port = urlsplit(""), 0
        plain = parts.username is None and not parts.query and not parts.fragment
        if parts.scheme not in schemes or not parts.hostname or not plain or not value.isascii() or " " in value:
            # The value is not repeated: somebody may have put a password into it.
            self._problem(name, f"must be a URL {' or '.join(s + '://host[:port]' for s in schemes)}")
            return None
        return parts.hostname, port, parts.path.rstrip("/")

    def pins(self, name: Variable) -> frozenset[bytes]:
        """Comma-separated base64 SHA-256 digests, at least one."""
        value = self._present(name)
        digests = set()
        for pin in (value or "").split(","):
            if not pin.strip():
                continue
            try:
                digest = base64.b64decode(pin.strip(), validate=True)
            except (binascii.Error, ValueError):
                digest = b""
            if len(digest) != SHA256_BYTES:
                self._problem(name, f"{pin.strip()[:64]!r} is not the base64 of a SHA-256 (32 bytes)")
            else:
                digests.add(digest)
        if value is not None and not digests and not any(problem.startswith(name.name) for problem in self.problems):
            self._problem(name, "must hold at least one pin")
        return frozenset(digests)

    def matching(self, name: Variable, pattern: re.Pattern[str], meaning: str, *, default: str | None = None) -> str:
        """A value that matches the whole pattern."""
        value = self.optional(name) or default or self._present(name)
        if value is None:
            return ""
        if pattern.fullmatch(value) is None:
            self._problem(name, f"must be {meaning}, not {value[:64]!r}")
        return value

    def absolute_path(self, name: Variable) -> Path:
        """An absolute path."""
        value = self._present(name)
        if value is not None and not value.startswith("/"):
            self._problem(name, f"must be an absolute path, not {value[:64]!r}")
        return Path(value or "/")

    def optional_path(self, name: Variable) -> Path | None:
        """An absolute path; None for one that is not set, or empty."""
        return self.absolute_path(name) if self.optional(name) else None

    def optional(self, name: Variable) -> str | None:
        """A value; None for one that is not set, or empty."""
        return self._environ.get(name.name) or None

    def _present(self, name: Variable) -> str | None:
        value = self.optional(name)
        if value is None:
            self._problem(name, "is not set")
            return None
        return value

    def _problem(self, name: Variable, message: str) -> None:
        self.problems.append(f"{name.name}: {message}")
