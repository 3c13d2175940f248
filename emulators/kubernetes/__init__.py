# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One emulated Kubernetes API per cluster, on loopback with its own CA, real TLS and real tokens.

It answers exactly the requests that the product sends (kinds.py has the table) as a kube-apiserver would, and refuses
everything else. The cloud whose cluster it is starts and stops it (`KubernetesApis`) and says who a bearer token is
(`Authenticator`); emulated machines use `EmulatedCluster` directly, as kubelets that need no wire.
"""

from __future__ import annotations

from .access import Authenticator, ClusterUser
from .apis import KubernetesApis
from .cluster import EmulatedCluster
from .objects import Change, Object

__all__ = ["Authenticator", "Change", "ClusterUser", "EmulatedCluster", "KubernetesApis", "Object"]
