# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Parts of a node pool, as requests and answers both have them: a document's own, under the API's names."""

from __future__ import annotations

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.flavor_model import (
    AutoscalingModel,
    GpusModel,
    TaintModel,
)


class Autoscaling(AutoscalingModel):
    """The bounds within which the cluster's own autoscaler moves the size."""


class Accelerators(GpusModel):
    """The accelerators of one machine."""


class Taint(TaintModel):
    """A Kubernetes taint."""
