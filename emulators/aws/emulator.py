# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The AWS emulator as a whole: what tests, the world and the emulated Kubernetes APIs hold in their hands."""

from __future__ import annotations

from ..engine import Engine, Serving
from ..neighbours import ClusterApis, MachineHost
from . import bearer_token
from .account import OPERATOR, Account, Credentials
from .eks import Capacity, Console, EksService, Failures, Timings
from .server import AwsServer


class AwsEmulator(Serving):
    """AWS on loopback: one account, one region. A context manager that serves while it is open.

    Attributes:
        account: its users, roles and subnets.
    """

    def __init__(
        self,
        *,
        engine: Engine,
        apis: ClusterApis,
        machines: MachineHost,
        timings: Timings | None = None,
    ) -> None:
        """Seed the account and take a port.

        Arguments:
            apis: runs the clusters' Kubernetes APIs.
            machines: runs the node groups' instances.
            timings: how long things take; about as long as at AWS when none are given.
        """
        self._engine = engine
        self.account = Account()
        self._eks = EksService(
            engine=engine,
            account=self.account,
            apis=apis,
            machines=machines,
            timings=timings if timings is not None else Timings(),
        )
        self._server: AwsServer = AwsServer(engine=engine, account=self.account, eks=self._eks)

    @property
    def url(self) -> str:
        """The endpoint URL for every service."""
        return self._server.url

    @property
    def operator(self) -> Credentials:
        """The keys of the user whom the world gives to the product."""
        return self.account.user(OPERATOR)

    @property
    def capacity(self) -> Capacity:
        """Which instances can be launched: script stockouts here."""
        return self._eks.capacity

    @property
    def failures(self) -> Failures:
        """What EKS accepts and then fails at: script updates, creates and deletes that fail here."""
        return self._eks.failures

    @property
    def console(self) -> Console:
        """What others do to clusters and node groups: edits by hand, the autoscaler, AWS itself."""
        return self._eks.console

    def authenticate(self, token: str, cluster: str) -> Credentials | None:
        """Whose bearer token it is: for the emulated Kubernetes API of a cluster.

        Returns:
            The principal, or None: then the API answers 401. A principal without an access entry is nobody, too.
        """
        credentials = bearer_token.verify(token, cluster=cluster, account=self.account, now=self._engine.clock.now())
        if credentials is None or not self._eks.is_known(credentials.principal_arn, cluster):
            return None
        return credentials

    def is_admin(self, principal: Credentials, cluster: str) -> bool:
        """Whether the principal is an administrator of the whole cluster."""
        return self._eks.is_admin(principal.principal_arn, cluster)

    def lose_instance(self, instance_id: str) -> None:
        """An instance is reclaimed or breaks: the machine host is told, and its group replaces it after a while."""
        self._eks.lose_instance(instance_id)
