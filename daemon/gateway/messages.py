# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What bcd sends, checked: the request side of wire/bcd-gateway.v1.json as types. Unknown properties are ignored."""

from __future__ import annotations

from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import InvalidInput, Problem
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import Device

from ..web.whole_bodies import no_json, no_object

# pydantic matches patterns with Rust's regex, whose `$` is the very end: no newline slips in before it.
_CLOSED = ConfigDict(extra="ignore", strict=True, frozen=True, hide_input_in_errors=True)

Identity = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{43}$", repr=False)]
Nonce = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{22}$")]
NodeIdText = Annotated[str, Field(pattern=r"^node_[0-9a-hjkmnp-tv-z]{26,52}$")]
DeviceId = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{1,63}$")]
Version = Annotated[str, Field(pattern=r"^[A-Za-z0-9._:-]{0,64}$")]
NodeName = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]


def _not_null(value: object) -> object:
    if value is None:
        raise ValueError("null is no value: leave the property out")
    return value


class Gpu(BaseModel):
    """One GPU."""

    model_config = _CLOSED
    id: DeviceId
    model: Annotated[str, Field(pattern=r"^[ -~]{1,128}$")]


class OperatingSystem(BaseModel):
    """The `os` section of an inventory."""

    model_config = _CLOSED
    kubernetes_node_name: Annotated[NodeName | None, BeforeValidator(_not_null), Field(alias="kubernetesNodeName")] = (
        None
    )


def _each_once(gpus: list[Gpu]) -> list[Gpu]:
    """Refuse an id that stands twice: what is booked by it would be booked twice."""
    if len({gpu.id for gpu in gpus}) != len(gpus):
        raise ValueError("two GPUs have one id")
    return gpus


class Inventory(BaseModel):
    """What a machine has."""

    model_config = _CLOSED
    os: OperatingSystem
    gpus: Annotated[list[Gpu], Field(max_length=64), AfterValidator(_each_once)]

    @property
    def devices(self) -> tuple[Device, ...]:
        """The GPUs as the store knows them."""
        return tuple(Device(id=gpu.id, model=gpu.model) for gpu in self.gpus)


class JoinBody(BaseModel):
    """Of POST /v1/join."""

    model_config = _CLOSED
    nonce: Nonce
    identity: Identity
    hostname: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,253}$")]
    bcd_version: Annotated[str, Field(alias="bcdVersion", pattern=r"^[A-Za-z0-9.+-]{1,64}$")]
    inventory: Inventory


class HeartbeatBody(BaseModel):
    """Of POST /v1/heartbeat."""

    model_config = _CLOSED
    node_id: Annotated[NodeIdText, Field(alias="nodeId")]
    inventory: Annotated[Inventory | None, BeforeValidator(_not_null)] = None


class BookingsBody(BaseModel):
    """Of POST /v1/bookings."""

    model_config = _CLOSED
    node_id: Annotated[NodeIdText, Field(alias="nodeId")]
    version: Version
    wait_seconds: Annotated[int, Field(alias="waitSeconds", ge=0, le=60)]


Body = TypeVar("Body", bound=BaseModel)


def _found(content: bytes, error: ErrorDetails) -> str:
    """What came in the place of an object."""
    no_text = error["type"] == "json_invalid"
    return no_json(content, error["msg"].removeprefix("Invalid JSON: ")) if no_text else "something else"


def parse(kind: type[Body], content: bytes) -> Body:
    """Read a body.

    Raises:
        InvalidInput: every problem with its path, and never the value: it may be a secret.
    """
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        [first, *_others] = error.errors(include_input=False, include_url=False, include_context=False)
        if not first["loc"]:
            raise no_object(kind.model_fields, _found(content, first)) from None
        raise InvalidInput(
            [
                Problem(path=".".join(str(part) for part in problem["loc"]), message=problem["msg"])
                for problem in error.errors(include_input=False, include_url=False, include_context=False)
            ]
        ) from None
