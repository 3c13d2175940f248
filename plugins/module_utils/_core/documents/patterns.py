# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The shapes of text that a document or a settings file takes, each with the words that say what was expected.

All of them are ASCII and anchored at both ends. pydantic matches them with Rust's engine, whose `$` is the very end of
the text (no newline before it) and in which `[0-9]` is ten digits and no others.
"""

from __future__ import annotations

NAME = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
"""Names of sites, accounts and pools: what a Kubernetes label value takes."""

FLAVOR_NAME = "^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$"
"""A flavor's name is its node pool's name at the provider (spec: node-pools API, `name`)."""

TENANT = "^[A-Za-z0-9._:-]{1,128}$"
"""spec: node-pools API, `tenantId`."""

MACHINE_TYPE = "^[a-z0-9][a-z0-9.-]{0,62}$"
"""spec: node-pools API, `machineType`."""

ACCELERATOR = "^[a-z0-9][a-z0-9-]{0,62}$"
"""spec: node-pools API, `accelerators.type`."""

GPU_MODEL = "^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
"""What reservations ask for; a label value like every name, spelt as the vendor does."""

PLACE = "^[a-z0-9][a-z0-9-]{0,62}$"
"""A region, location or zone, of whichever provider."""

AWS_REGION = "^[a-z]{2,5}(-[a-z]{2,12}){1,3}-[0-9]{1,2}$"
"""us-east-1, us-gov-west-1, eusc-de-east-1."""

AWS_ROLE_ARN = "^arn:aws[a-z-]{0,16}:iam::[0-9]{12}:role/[A-Za-z0-9+=,.@_/-]{1,512}$"
"""An IAM role, in any partition, with or without a path."""

AWS_SUBNET = "^subnet-[0-9a-f]{8}([0-9a-f]{9})?$"
"""Old (8 digits) and present (17 digits) subnet ids."""

RESOURCE_NAME = "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$"
"""A Kubernetes extended resource."""

PIN = "^[A-Za-z0-9+/]{43}=$"
"""32 bytes in base64: the SHA-256 of a SubjectPublicKeyInfo."""

MEANING = {
    NAME: "1 to 63 ASCII letters, digits, '.', '_' or '-', with a letter or digit at both ends",
    FLAVOR_NAME: "1 to 40 lower-case ASCII letters, digits or '-', a letter first and no '-' last",
    TENANT: "1 to 128 ASCII letters, digits, '.', '_', ':' or '-'",
    MACHINE_TYPE: "a machine type in lower case, e.g. p5.48xlarge",
    ACCELERATOR: "an accelerator's name in lower case, e.g. nvidia-h100",
    PLACE: "a place's name in lower case, e.g. us-east-1",
    AWS_REGION: "an AWS region, e.g. us-east-1",
    AWS_ROLE_ARN: "an IAM role's ARN, e.g. arn:aws:iam::111111111111:role/eks-node",
    AWS_SUBNET: "a subnet's id, e.g. subnet-0123456789abcdef0",
    RESOURCE_NAME: "an extended resource, e.g. bc.dev/gpu",
    PIN: "the base64 of a SHA-256 (44 characters, the last '=')",
}
"""Pattern -> what it means, for a person. GPU_MODEL is NAME."""
