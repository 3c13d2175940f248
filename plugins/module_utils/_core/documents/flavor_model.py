# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""pools[].policy.substrate.flavors[]: the shape of one flavor. What lies between its parts is in flavor_rules.py."""

from __future__ import annotations

from typing import Annotated, Any, Final

from ..model import limits
from . import patterns
from .closed import CLOSED
from .pydantic_shim import BaseModel, Field

_MARK_KEY = "^(?:[a-z0-9.-]{1,253}/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
_MARK_VALUE = "^(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?$"
"""For editors alone: model.node_marks checks, and says why."""

LABELS_SCHEMA: Final[dict[str, Any]] = {
    "maxProperties": limits.MOST_LABELS,
    "propertyNames": {"pattern": _MARK_KEY},
    "additionalProperties": {"type": "string", "pattern": _MARK_VALUE},
}
"""What editors, and readers of the API's description, are told of labels."""


class GpusModel(BaseModel):
    """The GPUs of one machine."""

    model_config = CLOSED
    type: Annotated[
        str, Field(pattern=patterns.ACCELERATOR, description="The provider's name of the accelerator: nvidia-h100.")
    ]
    count: Annotated[int, Field(ge=1, le=limits.MOST_ACCELERATORS, description="GPUs of one machine.")]


class AutoscalingModel(BaseModel):
    """The bounds within which the cluster's own autoscaler moves the size."""

    model_config = CLOSED
    min_nodes: Annotated[
        int, Field(ge=0, le=limits.MOST_NODES, description="The fewest nodes, counted as nodes is; not above maxNodes.")
    ]
    max_nodes: Annotated[int, Field(ge=1, le=limits.MOST_NODES, description="The most nodes, counted as nodes is.")]


class TaintModel(BaseModel):
    """A Kubernetes taint."""

    model_config = CLOSED
    key: Annotated[
        str, Field(description="A name, with or without a DNS name and '/'.", json_schema_extra={"pattern": _MARK_KEY})
    ]
    value: Annotated[str, Field(description="May be left out.", json_schema_extra={"pattern": _MARK_VALUE})] = ""
    effect: Annotated[
        str,
        Field(
            description="What happens to pods that do not tolerate it.",
            json_schema_extra={"enum": list(limits.TAINT_EFFECTS)},
        ),
    ]


class FlavorModel(BaseModel):
    """A node shape. Each becomes one node pool of the cluster."""

    model_config = CLOSED
    name: Annotated[
        str,
        Field(pattern=patterns.FLAVOR_NAME, description="The node pool's name at the provider."),
    ]
    machine_type: Annotated[
        str, Field(pattern=patterns.MACHINE_TYPE, description="The provider's name of the machine: p5.48xlarge.")
    ]
    nodes: Annotated[
        int,
        Field(
            ge=0,
            le=limits.MOST_NODES,
            description="On EKS and GKE per zone, on DOKS the total. With autoscaling: the size to begin with.",
        ),
    ]
    autoscaling: AutoscalingModel | None = Field(
        default=None, description="Bounds for the cluster's own autoscaler; left out, the size is fixed."
    )
    gpus: GpusModel | None = Field(default=None, description="The GPUs of one machine; left out for none.")
    spot: bool = Field(default=False, description="Spot machines: the provider may take them back at any time.")
    disk_gib: Annotated[int, Field(ge=limits.LEAST_DISK_GIB, le=limits.MOST_DISK_GIB)] | None = Field(
        default=None, alias="diskGiB", description="Each node's disk in GiB; left out, the provider's choice."
    )
    disk_type: Annotated[str, Field(pattern=patterns.DISK_TYPE)] | None = Field(
        default=None, description="GKE alone: the kind of disk, e.g. pd-balanced; left out, the provider's choice."
    )
    zones: (
        Annotated[
            list[Annotated[str, Field(pattern=patterns.PLACE)]], Field(min_length=1, max_length=limits.MOST_ZONES)
        ]
        | None
    ) = Field(default=None, description="The zones to spread over; left out, all of the account's or the cluster's.")
    labels: dict[str, str] | None = Field(
        default=None,
        description="Kubernetes labels of the nodes, beside our own. All there are to be; left out, left alone.",
        json_schema_extra=LABELS_SCHEMA,
    )
    taints: list[TaintModel] | None = Field(
        default=None,
        description="Kubernetes taints of the nodes. All there are to be; left out, left alone.",
        json_schema_extra={"maxItems": limits.MOST_TAINTS},
    )
