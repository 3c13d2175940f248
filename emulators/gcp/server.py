# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gRPC server: from a call to its effect and back, through the engine, and who is calling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import grpc
from google.cloud.container_v1.types import cluster_service as api
from grpc_status import rpc_status

from ..engine import Answer, Call, Engine, InjectedError, ReplyLost
from . import clusters, node_pool_changes, node_pools, operation_reads
from .errors import GcpError, of_http_status
from .project import Tokens
from .records import Message
from .state import CLOUD, State

SERVICE: Final = "google.container.v1.ClusterManager"

_THREADS: Final = 32
_STOP_SECONDS: Final = 0.2
"""How long calls that are under way may take to end."""

_SCOPE: Final = "gke"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Method:
    """A call of the API.

    Attributes:
        request: the type of its requests.
        effect: carries it out within the state's lock.
    """

    request: Any
    effect: Callable[[State, Message], Message]
    mutating: bool = False


_METHODS: Final[Mapping[str, _Method]] = {
    "CreateCluster": _Method(request=api.CreateClusterRequest, effect=clusters.create, mutating=True),
    "DeleteCluster": _Method(request=api.DeleteClusterRequest, effect=clusters.delete, mutating=True),
    "GetCluster": _Method(request=api.GetClusterRequest, effect=clusters.get),
    "ListClusters": _Method(request=api.ListClustersRequest, effect=clusters.list_all),
    "UpdateCluster": _Method(request=api.UpdateClusterRequest, effect=clusters.update, mutating=True),
    "GetServerConfig": _Method(request=api.GetServerConfigRequest, effect=clusters.server_config),
    "CreateNodePool": _Method(request=api.CreateNodePoolRequest, effect=node_pools.create, mutating=True),
    "DeleteNodePool": _Method(request=api.DeleteNodePoolRequest, effect=node_pools.delete, mutating=True),
    "GetNodePool": _Method(request=api.GetNodePoolRequest, effect=node_pools.get),
    "ListNodePools": _Method(request=api.ListNodePoolsRequest, effect=node_pools.list_all),
    "SetNodePoolAutoscaling": _Method(
        request=api.SetNodePoolAutoscalingRequest, effect=node_pool_changes.set_autoscaling, mutating=True
    ),
    "SetNodePoolSize": _Method(request=api.SetNodePoolSizeRequest, effect=node_pool_changes.set_size, mutating=True),
    "UpdateNodePool": _Method(request=api.UpdateNodePoolRequest, effect=node_pool_changes.update, mutating=True),
    "GetOperation": _Method(request=api.GetOperationRequest, effect=operation_reads.get),
    "ListOperations": _Method(request=api.ListOperationsRequest, effect=operation_reads.list_all),
}


class GkeServer:
    """Serves ClusterManager at `target`, without TLS."""

    def __init__(self, *, engine: Engine, state: State, tokens: Tokens) -> None:
        """Listen on a free loopback port; `start` serves it."""
        self._engine = engine
        self._state = state
        self._tokens = tokens
        self._server = grpc.server(ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="emulated-gke"))
        handlers = {
            name: grpc.unary_unary_rpc_method_handler(
                partial(self._serve, name, method), request_deserializer=method.request.pb().FromString
            )
            for name, method in _METHODS.items()
        }
        self._server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(SERVICE, handlers)])
        self.target = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    def start(self) -> None:
        """Begin to answer."""
        self._server.start()

    def stop(self) -> None:
        """Answer nobody any more."""
        self._server.stop(_STOP_SECONDS).wait()

    def _serve(self, name: str, method: _Method, request: Message, context: grpc.ServicerContext) -> bytes:
        call = Call(cloud=CLOUD, name=f"{_SCOPE}.{name}", target=_target(request), mutating=method.mutating)
        refused: list[GcpError] = []

        def effect() -> Answer:
            try:
                self._check_caller(context)
                with self._state.changing():
                    body = method.effect(self._state, request).SerializeToString()
            except GcpError as error:
                refused.append(error)
                return Answer(status=error.http_status)
            return Answer(status=200, body=body)

        answer = Answer(status=200)
        try:
            answer = self._engine.handle(call, effect)
        except InjectedError as error:
            refused.append(of_http_status(error.status, error.code, error.message))
        except ReplyLost:
            # What a client's own gRPC says of a connection that broke.
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        if refused:
            context.abort_with_status(rpc_status.to_status(refused[0].to_status()))
        return answer.body

    def _check_caller(self, context: grpc.ServicerContext) -> None:
        header = dict(context.invocation_metadata()).get("authorization", "")
        scheme, _space, token = str(header).partition(" ")
        if scheme.lower() != "bearer" or self._tokens.account(token) is None:
            text = "Request had invalid authentication credentials. Expected OAuth 2 access token."
            raise GcpError(grpc.StatusCode.UNAUTHENTICATED, text)


def _target(request: Message) -> str:
    """What a request is about: the last part of its name, or the name of what is to be made."""
    made = getattr(request, "cluster", None) or getattr(request, "node_pool", None)
    if made is not None and not isinstance(made, str) and made.name:
        return str(made.name)
    where: str = getattr(request, "name", "") or getattr(request, "parent", "")
    return where.rpartition("/")[2]
