# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the parts of the EKS emulator share: the clusters, the lock, the neighbours, the memory of requests."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ...engine import Changing, Engine
from ...neighbours import ClusterApis, MachineHost
from ..account import Account, Credentials
from ..errors import AwsError, invalid_parameter, not_found
from .capacity import Capacity
from .failures import Failures
from .records import Cluster, Document, NodeGroup
from .timings import Timings

CLOUD: Final = "aws"
CLUSTER_KIND: Final = "cluster"
NODE_GROUP_KIND: Final = "node-group"
ACCESS_ENTRY_KIND: Final = "access-entry"

_PAGE: Final = 100
"""The longest page, and the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to EKS: the parameters by their names in the API's model, and who asks."""

    parameters: Mapping[str, Any]
    caller: Credentials

    def __getitem__(self, name: str) -> Any:
        """A parameter that is there."""
        return self.parameters[name]

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter, or the default."""
        return self.parameters.get(name, default)


class State(Changing):
    """The state of EKS in the one account and region. Everything is read and changed within `changing`."""

    def __init__(
        self, *, engine: Engine, account: Account, apis: ClusterApis, machines: MachineHost, timings: Timings
    ) -> None:
        """Nothing exists."""
        super().__init__(engine)
        self.account = account
        self.apis = apis
        self.machines = machines
        self.timings = timings
        self.capacity = Capacity()
        self.failures = Failures()
        self.clusters: dict[str, Cluster] = {}
        self.kept_names: set[str] = set()
        self.launched = 0
        self._requests: dict[tuple[str, str], tuple[str, Callable[[], Document | None]]] = {}

    def cluster(self, name: str) -> Cluster:
        """The cluster, or 404."""
        cluster = self.clusters.get(name)
        if cluster is None:
            raise not_found(f"No cluster found for name: {name}.", clusterName=name)
        return cluster

    def node_group(self, cluster: str, name: str) -> NodeGroup:
        """The node group, or 404."""
        group = self.cluster(cluster).node_groups.get(name)
        if group is None:
            raise not_found(f"No node group found for name: {name}.", clusterName=cluster, nodegroupName=name)
        return group

    def once(
        self, operation: str, asked: Asked, *, current: Callable[[], Document | None], do: Callable[[], Document]
    ) -> Document:
        """Do something only once for one clientRequestToken.

        The same token with the same parameters gets the present description of what the first request made, as long as
        that exists; with other parameters it is refused.

        Arguments:
            current: that description, or None when it is gone: then the token is forgotten.
            do: carries the request out.
        """
        token = asked.get("clientRequestToken")
        if token is None:
            return do()
        rest = {name: value for name, value in asked.parameters.items() if name != "clientRequestToken"}
        digest = json.dumps(rest, sort_keys=True)
        remembered = self._requests.get((operation, token))
        if remembered is not None:
            before = remembered[1]()
            if before is not None and remembered[0] != digest:
                raise invalid_parameter("The client request token was used before with other parameters.")
            if before is not None:
                return before
        answer = do()
        self._requests[operation, token] = (digest, current)
        return answer


def page(names: Sequence[str], asked: Asked, *, key: str) -> Document:
    """One page of names.

    Arguments:
        names: all of them.
        key: what the list is called in the answer.
    """
    ordered = sorted(names)
    start = 0
    token = asked.get("nextToken")
    if token:
        last = _read_token(token)
        start = sum(1 for name in ordered if name <= last)
    shown = ordered[start : start + asked.get("maxResults", _PAGE)]
    answer: Document = {key: shown, "nextToken": None}
    if start + len(shown) < len(ordered):
        answer["nextToken"] = base64.urlsafe_b64encode(shown[-1].encode()).decode()
    return answer


def _read_token(token: str) -> str:
    try:
        return base64.b64decode(token, altchars=b"-_", validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise invalid_parameter("Invalid nextToken.") from None


def check_tags(tags: Mapping[str, str]) -> None:
    """Refuse tags in AWS's own name space."""
    for key in tags:
        if key.lower().startswith("aws:"):
            raise AwsError(400, "BadRequestException", "The tag key prefix aws: is reserved.")
