# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A caller's way in: the store, the clock, the settings and who asks."""

from __future__ import annotations

import getpass
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ..documents.settings import Settings
from ..model.clock import Clock, SystemClock
from ..model.ids import TenantId
from ..model.permissions import Caller, Permission
from ..model.records import AccountRecord
from ..model.telemetry import UNHEARD, Telemetry
from ..store import Store, open_for_reading, open_store
from ..store.engine import masked, parse_url
from ..store.opening import not_there

if TYPE_CHECKING:
    from ..providers.contract import Driver


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What every operation takes.

    Attributes:
        caller: who asks: scopes idempotency keys.
        holder: names this process as the holder of leases.
        open_driver: gives the driver of an account.
        sleep: waits so many seconds; tests pass one that moves their clock.
        stopping: set when this process is told to end: passes then end after the step in hand.
        telemetry: told of passes, and of what they ask providers and clusters.
    """

    store: Store
    clock: Clock
    settings: Settings
    caller: str
    holder: str
    open_driver: Callable[[AccountRecord], Driver]
    sleep: Callable[[float], None]
    stopping: threading.Event = field(default_factory=threading.Event)
    telemetry: Telemetry = UNHEARD


Drivers = Callable[[Clock], "Callable[[AccountRecord], Driver]"]
"""Gives what opens drivers, by the clock that tells when credentials expire."""


def no_drivers(_clock: Clock) -> Callable[[AccountRecord], Driver]:
    """For a caller that never asks a provider: its process need not have the drivers at all."""

    def open_one(account: AccountRecord) -> Driver:
        raise AssertionError(f"nobody was to ask the provider of account {account.name}")

    return open_one


IfMissing = Literal["make", "refuse", "empty"]
"""What a SQLite database that is not there is: made; an error; or, for whoever only reads, an empty fleet of which
nothing stays."""


@contextmanager
def open_session(
    settings: Settings, *, drivers: Drivers = no_drivers, if_missing: IfMissing = "make"
) -> Iterator[Session]:
    """A session on the real clock; the store is closed at the end.

    Arguments:
        drivers: operations.drivers.drivers, where providers are asked or passes run.
        if_missing: unless it is "make", nothing is made or changed by opening the database.

    Raises:
        StoreUnavailable, SchemaMismatch: the database cannot be used; the text says what to do.
    """
    clock = SystemClock()
    store = _open(settings, if_missing)
    try:
        yield Session(
            store=store,
            clock=clock,
            settings=settings,
            caller=settings.operator or login_name(),
            holder=f"{socket.gethostname()}/{os.getpid()}",
            open_driver=drivers(clock),
            sleep=time.sleep,
        )
    finally:
        store.close()


def _open(settings: Settings, if_missing: IfMissing) -> Store:
    url = settings.store.database_url
    if if_missing == "empty":
        return open_for_reading(url)
    return open_store(url, create=if_missing == "make", make_folder=settings.store.by_default)


def database_address(settings: Settings) -> str:
    """Where the records are, without any password: for a person.

    Raises:
        StoreUnavailable: it is the address of no known kind of database.
    """
    return masked(parse_url(settings.store.database_url))


def database_is_new(settings: Settings) -> bool:
    """Whether it is a SQLite file that is not there yet, or holds nothing."""
    return not_there(settings.store.database_url) is not None


def acting_for(session: Session, caller: Caller, *, needs: Permission, tenant_id: TenantId) -> Session:
    """The session in which a call of the HTTP API is done: with its idempotency keys, once it may do it at all.

    Arguments:
        tenant_id: the owner of what the call is about.

    Returns:
        A session on the same store, whose caller is the token's name: a token that takes another's place under its
        name repeats that one's requests. No operator is called so: a login name has no slash.

    Raises:
        OperationError: FORBIDDEN.
    """
    caller.require(needs, tenant_id=tenant_id)
    return replace(session, caller=f"api/{caller.name}")


def login_name() -> str:
    """The login name of whoever runs this process; its uid where the system has no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid-{os.getuid()}"
