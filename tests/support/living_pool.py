# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A pool whose machines come, speak, fall silent and go, second by second: the room of nodes on a real store.

Joining, hearing, matching, recording and tokens are the product's own; cluster, machines and the order of a pass are
made up here, because a whole world is too slow for thousands of turns. Whole worlds are in integration/three_providers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ansible_collections.better_compute.fleet.plugins.module_utils._core.booking.reserve import bind_pending
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.capabilities import CAPABILITIES
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.ids import NodeId
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.observed import ClusterNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.records import JoinToken, PoolNode
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.secret import Secret
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.heartbeat import Heartbeats, authenticate
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.join_token import carry_out, plan_token
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.joining import (
    JoinRefused,
    JoinRequest,
    join,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.matching import Matching, match
from ansible_collections.better_compute.fleet.plugins.module_utils._core.nodes.recording import record
from ansible_collections.better_compute.fleet.plugins.module_utils._core.reconcile.specs import (
    declared_total,
    node_pool_totals,
)
from ansible_collections.better_compute.fleet.plugins.module_utils._core.store import (
    Store,
    gateways,
    join_tokens,
    pool_nodes,
    work,
)
from ansible_collections.better_compute.fleet.tests.support.joining_machines import new_pool
from ansible_collections.better_compute.fleet.tests.support.machines_and_nodes import devices
from ansible_collections.better_compute.fleet.tests.support.rows import H100, HandClock, account, cluster, node_pool

TICK_SECONDS = 10
PASS_SECONDS = 30

BOOT = timedelta(seconds=2)
"""Between the end of a machine and the Node of the next of its name."""

_numbers = itertools.count(1)


@dataclass(kw_only=True, eq=False)
class LivingMachine:
    """A machine and its bcd.

    Attributes:
        gpus: what its GPUs are called after.
        uid, registered_at: its Node's; None while it has no Node.
        loses_reply: whether the answer to its next join is lost, and the network with it.
    """

    name: str
    gpus: str
    uid: str | None
    registered_at: datetime
    cut: bool = False
    loses_reply: bool = False
    node_id: NodeId | None = None
    spoke_at: datetime | None = None
    identity: Secret | None = None
    joining: tuple[str, Secret] | None = None

    @property
    def request(self) -> tuple[str, Secret]:
        """Nonce and identity of the join that is under way, kept until it is accepted."""
        if self.joining is None:
            number = next(_numbers)
            self.joining = f"nonce {number}", Secret(f"identity {number}")
        return self.joining


@dataclass(kw_only=True)
class LivingPool:
    """One pool with a flavor of a fixed size. `tick` lets ten seconds pass.

    Attributes:
        flavor_nodes: how many machines are declared; fewer than that are nobody's wish.
        lists: what the API answers the next passes: None fails, False is empty though it is not, True is the truth.
    """

    store: Store
    clock: HandClock
    flavor_nodes: int = 3
    machines: dict[str, LivingMachine] = field(default_factory=dict)
    lists: list[bool | None] = field(default_factory=list)
    gateway_up: bool = True
    secret: Secret | None = None
    vanished_at: datetime | None = None
    retired: list[PoolNode] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pool = new_pool(self.store, name=f"pool-{next(_numbers)}", quota=64)
        self._heartbeats = Heartbeats(clock=self.clock)
        self._next_pass = self.clock.now()
        self.tick()

    # What machines do.

    def boot(self, name: str, *, gpus: str | None = None) -> LivingMachine:
        """A machine and its Node, in place of one of that name."""
        number = next(_numbers)
        made = LivingMachine(
            name=name, gpus=gpus or f"{name}-{number}", uid=f"uid-{number}", registered_at=self.clock.now() + BOOT
        )
        self.machines[name] = made
        return made

    def register_anew(self, machine: LivingMachine) -> None:
        """Its kubelet registers the machine under the same name: a Node of another UID."""
        machine.uid, machine.registered_at = f"uid-{next(_numbers)}", self.clock.now()

    def tick(self, *, seconds: int = TICK_SECONDS) -> None:
        """Time passes; who can speak speaks; a pass runs when it is due."""
        for _turn in range(0, seconds, TICK_SECONDS):
            self.clock.advance(seconds=TICK_SECONDS)
            if self.gateway_up:
                for machine in list(self.machines.values()):
                    if not machine.cut:
                        self._speak(machine)
                self._heartbeats.flush(self.store)
            if self._due():
                self.one_pass()

    def _speak(self, machine: LivingMachine) -> None:
        if machine.identity is not None:
            with self.store.read() as tx:
                node = authenticate(tx, [machine.identity]).get(machine.identity)
            if node is not None:
                self._heartbeats.beat(node)
                machine.spoke_at = self.clock.now()
                return
        if self.secret is not None and machine.uid is not None:
            self._join(machine, self.secret)

    def _join(self, machine: LivingMachine, token: Secret) -> None:
        nonce, identity = machine.request
        try:
            joined = join(
                self.store,
                JoinRequest(
                    token=token,
                    nonce=nonce,
                    identity=identity,
                    hostname=machine.name.upper(),
                    reported_node_name=machine.name if len(machine.name) % 2 else None,
                    devices=devices(machine.gpus),
                ),
            )
        except JoinRefused:
            return
        if machine.loses_reply:
            machine.loses_reply, machine.cut = False, True
            return
        machine.identity, machine.joining = identity, None
        machine.node_id, machine.spoke_at = joined.node_id, self.clock.now()

    # What passes do.

    def _due(self) -> bool:
        with self.store.read() as tx:
            due = work.due_of(tx, self.pool.id)
        return self.clock.now() >= self._next_pass or (due is not None and due <= self.clock.now())

    def one_pass(self) -> Matching:
        """List, match, record, keep the token; as care_for_nodes and keep_join_token do."""
        truth = self.lists.pop(0) if self.lists else True
        listed = None if truth is None else self._listed() if truth else ()
        with self.store.read() as tx:
            found = match(
                pool_nodes.pool_nodes(tx, self.pool.id),
                listed,
                listening=gateways.listening(tx),
                desired_total=self._declared(),
                vanished_at=self.vanished_at,
                now=tx.now,
            )
            tokens = join_tokens.live_tokens(tx, self.pool.id)
        self.vanished_at = found.vanished_at
        plan = plan_token(
            tokens,
            secret_hash=None if self.secret is None else self.secret.sha256(),
            matching=found,
            now=self.clock.now(),
        )
        with self.store.write() as tx:
            self.retired += record(tx, pool=self.pool, matching=found)
            bind_pending(tx, self.pool)
            minted = carry_out(tx, plan, pool_id=self.pool.id)
            work.remove_unit(tx, self.pool.id)
            work.add_unit(tx, self.pool.id, tx.now + timedelta(hours=1))
        self.secret = None if plan.delete_secret else minted or self.secret
        self._next_pass = self.clock.now() + timedelta(seconds=PASS_SECONDS)
        return found

    def _declared(self) -> int | None:
        made, capabilities = cluster(self.pool.id), CAPABILITIES["digitalocean"]
        flavor = node_pool(made.id, shape=replace(H100, nodes=self.flavor_nodes))
        record = account(provider="digitalocean", places={})
        return declared_total(
            [node_pool_totals(flavor, cluster=made, account=record, capabilities=capabilities, found=None)]
        )

    def _listed(self) -> tuple[ClusterNode, ...]:
        return tuple(
            ClusterNode(
                name=machine.name,
                uid=machine.uid,
                spot=False,
                node_pool="h100",
                age=self.clock.now() - machine.registered_at,
            )
            for machine in self.machines.values()
            if machine.uid is not None
        )

    # What is.

    def nodes(self) -> tuple[PoolNode, ...]:
        """The nodes that are not retired."""
        with self.store.read() as tx:
            return pool_nodes.pool_nodes(tx, self.pool.id)

    def tokens(self) -> tuple[JoinToken, ...]:
        """The live tokens."""
        with self.store.read() as tx:
            return join_tokens.live_tokens(tx, self.pool.id)
