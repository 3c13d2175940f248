# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of text that a document or a settings file takes, each with the words that say what was expected.

All of them are ASCII and anchored at both ends. pydantic matches them with Rust's engine, whose `$` is the very end of
the text (no newline before it) and in which `[0-9]` is ten digits and no others.
"""

from __future__ import annotations

from ..model import limits

NAME = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
"""Names of sites, accounts and pools: what a Kubernetes label value takes."""

FLAVOR_NAME = limits.NODE_POOL_NAME
"""A flavor's name is its node pool's name at the provider (spec: node-pools API, `name`)."""

TENANT = limits.TENANT
"""spec: node-pools API, `tenantId`."""

MACHINE_TYPE = limits.MACHINE_TYPE
"""spec: node-pools API, `machineType`."""

DISK_TYPE = limits.DISK_TYPE
"""spec: node-pools API, `diskType`."""

ACCELERATOR = limits.ACCELERATOR
"""spec: node-pools API, `accelerators.type`."""

GPU_MODEL = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
"""What reservations ask for; a label value like every name, spelt as the vendor does."""

PLACE = limits.ZONE
"""A region, location or zone, of whichever provider."""

AWS_REGION = "^[a-z]{2,5}(-[a-z]{2,12}){1,3}-[0-9]{1,2}$"
"""us-east-1, us-gov-west-1, eusc-de-east-1."""

AWS_ROLE_ARN = "^arn:aws[a-z-]{0,16}:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$"
"""An IAM role, in any partition, with or without a path."""

AWS_SUBNET = "^subnet-[0-9a-f]{8}([0-9a-f]{9})?$"
"""Old (8 digits) and present (17 digits) subnet ids."""

GCP_PROJECT = "^([a-z0-9][a-z0-9.-]{0,61}:)?[a-z][a-z0-9-]{4,28}[a-z0-9]$"
"""A Google Cloud project's id, with or without the domain of an older one."""

GCP_REGION = "^[a-z]{2,20}(-[a-z]{2,20}){1,2}[0-9]{1,2}$"
"""us-central1, northamerica-northeast1."""

GCP_ZONE = "^[a-z]{2,20}(-[a-z]{2,20}){1,2}[0-9]{1,2}-([a-z]|ai[0-9]{1,2}[a-z])$"
"""us-central1-a, northamerica-northeast1-b, and the AI zones: us-central1-ai1a."""

DIGITALOCEAN_REGION = "^[a-z]{3}[0-9]{1,2}$"
"""nyc1, ams3."""

KUBERNETES_VERSION = "^1\\.[1-9][0-9]$"
"""A minor version. Providers bring the patches themselves."""

RESOURCE_NAME = "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
"""A Kubernetes extended resource."""

PIN = "^[A-Za-z0-9+/]{43}=$"
"""32 bytes in base64: the SHA-256 of a SubjectPublicKeyInfo."""

MEANING = {
    **limits.EXPECTED,
    NAME: "1 to 63 ASCII letters, digits, '.', '_' or '-', with a letter or digit at both ends",
    AWS_REGION: "an AWS region, e.g. us-east-1",
    AWS_ROLE_ARN: "an IAM role's ARN, e.g. arn:aws:iam::111111111111:role/eks-node",
    AWS_SUBNET: "a subnet's id, e.g. subnet-0123456789abcdef0",
    GCP_PROJECT: "a Google Cloud project's id, e.g. my-project",
    GCP_ZONE: "a Google Cloud zone, e.g. us-central1-a",
    DIGITALOCEAN_REGION: "a DigitalOcean region, e.g. nyc1",
    KUBERNETES_VERSION: 'a Kubernetes version without its patch, e.g. "1.34"',
    RESOURCE_NAME: "an extended resource, e.g. bc.dev/gpu",
    PIN: "the base64 of a SHA-256 (44 characters, the last '=')",
}
"""Pattern -> what it means, for a person. GPU_MODEL is NAME."""
