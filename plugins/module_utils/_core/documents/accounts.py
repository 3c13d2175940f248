# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""providerAccounts[]: one closed model for each provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from ..model.limits import MOST_ZONES
from . import patterns
from .addresses import absolute_path, web_address
from .closed import CLOSED
from .credentials import AwsEnv, AwsFile, GcpEnv, GcpFile, TokenEnv, TokenFile, place_of_credential
from .pydantic_shim import AfterValidator, BaseModel, BeforeValidator, Field

_NAME = "What pools refer to; unique among the document's accounts."
_OWNER = "The owner. Only this tenant's pools may use the account."
_ENDPOINT = "Where the provider's services are reached, if elsewhere: https, or http on 127.0.0.1."
_CA_FILE = "The certificates that the provider's are checked against: an absolute path to a PEM file."

Url = Annotated[str, AfterValidator(web_address)]
File = Annotated[str, AfterValidator(absolute_path)]


class AwsConfig(BaseModel):
    """The config of an AWS account, for EKS."""

    model_config = CLOSED
    region: Annotated[str, Field(pattern=patterns.AWS_REGION, description="Where all clusters of the account stand.")]
    zones: Annotated[list[Annotated[str, Field(pattern=patterns.PLACE)]], Field(min_length=1)] | None = Field(
        default=None, description="Zones of the region. Where they are given, flavors take theirs from among them."
    )
    eks_cluster_role_arn: Annotated[
        str, Field(pattern=patterns.AWS_ROLE_ARN, description="The role that EKS's control planes take on.")
    ]
    eks_node_role_arn: Annotated[str, Field(pattern=patterns.AWS_ROLE_ARN, description="The role that nodes take on.")]
    # EKS wants at least two subnets, in two zones, for a cluster (provider-behaviours: EKS, cluster).
    eks_subnet_ids: Annotated[
        list[Annotated[str, Field(pattern=patterns.AWS_SUBNET)]],
        Field(
            min_length=2,
            max_length=16,
            description="Subnets in at least two zones. Their distinct zones decide how large a flavor is.",
        ),
    ]
    endpoint_url: Url | None = Field(default=None, description=_ENDPOINT)
    ca_file: File | None = Field(default=None, description=_CA_FILE)
    credential: (
        Annotated[Literal["ambient"] | AwsEnv | AwsFile, BeforeValidator(place_of_credential(ambient=True))] | None
    ) = Field(default=None, description="Where the credential is; left out, boto3's own chain looks for one.")


class GcpConfig(BaseModel):
    """The config of a Google Cloud account, for GKE."""

    model_config = CLOSED
    project_id: Annotated[str, Field(pattern=patterns.GCP_PROJECT, description="The project's id (not its number).")]
    zones: (
        Annotated[list[Annotated[str, Field(pattern=patterns.GCP_ZONE)]], Field(min_length=1, max_length=MOST_ZONES)]
        | None
    ) = Field(default=None, description="Where they are given, clusters and flavors stand in these zones alone.")
    endpoint_url: Url | None = Field(default=None, description=_ENDPOINT)
    ca_file: File | None = Field(default=None, description=_CA_FILE)
    credential: (
        Annotated[Literal["ambient"] | GcpEnv | GcpFile, BeforeValidator(place_of_credential(ambient=True))] | None
    ) = Field(default=None, description="Where a service account's key is; left out, Google's own chain looks for one.")


class DigitaloceanConfig(BaseModel):
    """The config of a DigitalOcean account, for DOKS."""

    model_config = CLOSED
    region: Annotated[
        str, Field(pattern=patterns.DIGITALOCEAN_REGION, description="Where all clusters of the account stand.")
    ]
    allow_spot: bool = Field(default=False, description="Whether flavors may be Spot; needs previews as well.")
    previews: bool = Field(default=False, description="Whether the account may use what DigitalOcean previews.")
    endpoint_url: Url | None = Field(default=None, description=_ENDPOINT)
    ca_file: File | None = Field(default=None, description=_CA_FILE)
    credential: Annotated[
        TokenEnv | TokenFile,
        BeforeValidator(place_of_credential(ambient=False)),
        Field(description="Where the API token is: DigitalOcean has no other way to find one."),
    ]


class AwsAccountModel(BaseModel):
    """An AWS account, for EKS."""

    model_config = CLOSED
    name: Annotated[str, Field(pattern=patterns.NAME, description=_NAME)]
    provider: Literal["aws"] = Field(description="The provider: aws, gcp or digitalocean.")
    config: AwsConfig = Field(description="Where things are at AWS.")
    tenant_id: Annotated[str, Field(pattern=patterns.TENANT, description=_OWNER)] = "platform"


class GcpAccountModel(BaseModel):
    """A Google Cloud account, for GKE."""

    model_config = CLOSED
    name: Annotated[str, Field(pattern=patterns.NAME, description=_NAME)]
    provider: Literal["gcp"] = Field(description="The provider: aws, gcp or digitalocean.")
    config: GcpConfig = Field(description="Where things are at Google Cloud.")
    tenant_id: Annotated[str, Field(pattern=patterns.TENANT, description=_OWNER)] = "platform"


class DigitaloceanAccountModel(BaseModel):
    """A DigitalOcean account, for DOKS."""

    model_config = CLOSED
    name: Annotated[str, Field(pattern=patterns.NAME, description=_NAME)]
    provider: Literal["digitalocean"] = Field(description="The provider: aws, gcp or digitalocean.")
    config: DigitaloceanConfig = Field(description="Where things are at DigitalOcean.")
    tenant_id: Annotated[str, Field(pattern=patterns.TENANT, description=_OWNER)] = "platform"


ACCOUNT_MODELS: dict[str, type[BaseModel]] = {
    "aws": AwsAccountModel,
    "gcp": GcpAccountModel,
    "digitalocean": DigitaloceanAccountModel,
}
"""By `provider`."""


def provider_of(account: object) -> str | None:
    """An account's provider as written, if there is such a one; one that is missing is taken for aws.

    So that the rest of an account without a provider is checked too.
    """
    provider = account.get("provider", "aws") if isinstance(account, Mapping) else "aws"
    return provider if isinstance(provider, str) and provider in ACCOUNT_MODELS else None


def account_model(account: Any) -> type[BaseModel]:
    """The model that an account is to be checked with."""
    return ACCOUNT_MODELS[provider_of(account) or "aws"]
