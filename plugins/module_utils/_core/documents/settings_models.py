# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings file's sections as pydantic models: strict, closed, snake_case as TOML's authors write."""

from __future__ import annotations

from typing import Annotated

from . import patterns
from .addresses import absolute_path, web_address
from .pydantic_shim import AfterValidator, BaseModel, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

_DATABASES = ("sqlite:///", "postgresql+psycopg://")


def _database(value: str) -> str:
    """Take the URL of a kind of database that the store knows. The error does not repeat it: it may hold a password."""
    if not value.startswith(_DATABASES):
        raise ValueError(f"expected a URL that begins with one of {', '.join(_DATABASES)}")
    return value


def _https(value: str) -> str:
    if not value.startswith("https://"):
        raise ValueError("expected an https URL")
    return web_address(value)


def _printable(value: str) -> str:
    if not (value and value.isascii() and value.isprintable() and " " not in value):
        raise ValueError("expected one or more printable ASCII characters without spaces")
    return value


AbsolutePath = Annotated[str, AfterValidator(absolute_path)]
Seconds = Annotated[int, Field(ge=1, le=86_400)]


class StoreSection(BaseModel):
    """[store]"""

    model_config = _CLOSED
    database_url: Annotated[str, AfterValidator(_database)] | None = None


class AgentSection(BaseModel):
    """[agent]: model.agent.AgentSettings."""

    model_config = _CLOSED
    image: Annotated[str, AfterValidator(_printable)]
    gateway_url: Annotated[str, AfterValidator(_https)]
    pins: Annotated[list[Annotated[str, Field(pattern=patterns.PIN)]], Field(min_length=1)]
    control_plane_url: Annotated[str, AfterValidator(web_address)] | None = None
    runtime_class: Annotated[str, Field(pattern=patterns.PLACE)] | None = None
    resource_name: Annotated[str, Field(pattern=patterns.RESOURCE_NAME)] = "bc.dev/gpu"


class GatewaySection(BaseModel):
    """[gateway]"""

    model_config = _CLOSED
    listen_host: Annotated[str, AfterValidator(_printable)] = "127.0.0.1"
    listen_port: Annotated[int, Field(ge=0, le=65_535)] = 8443
    state_dir: AbsolutePath | None = None
    certificate_file: AbsolutePath | None = None
    key_file: AbsolutePath | None = None


class ReconcileSection(BaseModel):
    """[reconcile]. The defaults are the spec's."""

    model_config = _CLOSED
    converging_seconds: Seconds = 30
    settled_seconds: Seconds = 300
    deleting_seconds: Seconds = 120
    workers: Annotated[int, Field(ge=1, le=256)] = 4


class SettingsModel(BaseModel):
    """The whole file."""

    model_config = _CLOSED
    operator: Annotated[str, Field(pattern=patterns.TENANT)] | None = None
    store: StoreSection = Field(default_factory=StoreSection)
    agent: AgentSection | None = None
    gateway: GatewaySection = Field(default_factory=GatewaySection)
    reconcile: ReconcileSection = Field(default_factory=ReconcileSection)
