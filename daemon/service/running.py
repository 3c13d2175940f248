# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd run`: one process that runs due passes and is the gateway, until it is told to stop.

The scheduler ticks three jobs: the dispatcher, the flush of heartbeats, and the service manager's watchdog. Passes run
in the dispatcher's threads, the gateway in one of its own; the main thread waits for a signal.
"""

from __future__ import annotations

import gc
import logging
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from queue import Empty, SimpleQueue

from apscheduler.schedulers.background import BackgroundScheduler

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import Settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.counting import count_fleet
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.drivers import kept_drivers
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Session,
    open_session,
)

from ..api import api_of
from ..errors import GatewayEnded, PassesHang
from ..gateway import GatewayServer
from ..metrics import Metrics
from ..own_certificate import gateway_certificate, is_pinned
from ..web.server import WebServer
from .dispatcher import Dispatcher
from .housekeeping import FIRST_SECONDS, HOUSEKEEPING_SECONDS, Housekeeping
from .outage import Outage
from .service_manager import notify, watchdog_seconds

_LOG = logging.getLogger(__name__)

_TICK_SECONDS = 1.0
"""Between two looks for due passes: one cheap read. Nothing in a fleet needs to come sooner."""

_FLUSH_SECONDS = 2.0
"""Between two batches of heartbeats (nodes/heartbeat.py: FLUSH_SECONDS)."""

_TURN_SECONDS = 0.0001
"""For which a thread keeps the interpreter to itself while others want it. Each statement of a transaction and each
reading of a socket gives it up and asks for it again: at Python's own 5 ms a join of a dozen statements, which keeps
other writers of a SQLite file out, would take 60 ms beside a busy gateway, and a request 20 ms beside busy passes."""

_GARBAGE = (10_000, 20, 10)
"""How many new objects have the interpreter look for garbage, and how many such looks a look at older ones. By its own
700 and 10 it looks at everything that is under way a hundred times a second, at the gateway's full rate."""

_GRACE_SECONDS = 10.0
"""For the steps in hand when the daemon is told to stop (design, section 9)."""

_END_SECONDS = 25
"""After being told to stop, whatever hangs: the grace, and as long again for a flush that waits for the database (its
locks are waited for 10 s), the open requests (2 s) and the rest. Then the system ends the process."""

_ALIVE_SECONDS = 5.0
"""Between two looks whether all runs, where the service manager names no time of its own."""

Signals = SimpleQueue[int]

_GATEWAY_ENDED, _PASSES_HANG = 0, -1
"""What ends it beside signals: none has these numbers."""


def run(settings: Settings, *, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Arguments:
        say: told one line when everything answers.

    Raises:
        NoCertificate, CannotListen, SchemaMismatch: it cannot begin.
        GatewayEnded: the gateway stopped by itself.
        PassesHang: too many passes do not come back; whoever started the process is to start it again.
    """
    _open_many_files()
    sys.setswitchinterval(_TURN_SECONDS)
    gc.set_threshold(*_GARBAGE)
    with _signals() as signals, ExitStack() as stack:
        certificate = gateway_certificate(settings)
        outage = Outage()
        session = _open_session(settings, stack, signals=signals, outage=outage)
        if session is None:
            return
        metrics = Metrics(count=partial(count_fleet, session), workers=settings.reconcile.workers)
        session = replace(session, telemetry=metrics.passes)
        gateway = stack.enter_context(
            GatewayServer(
                store=session.store,
                clock=session.clock,
                certificate=certificate,
                host=settings.gateway.listen_host,
                port=settings.gateway.listen_port,
                metrics=metrics.gateway,
            )
        )
        api = stack.enter_context(api_of(session, certificate, metrics=metrics.render))
        servers: list[WebServer] = [gateway] if api is None else [gateway, api]
        dispatcher = Dispatcher(session, outage=outage)
        metrics.passes.count_hanging(lambda: dispatcher.hanging)
        flush = partial(_flush, session, gateway, outage, metrics)
        tidy = Housekeeping(session, outage, metrics).run
        # Before anybody is told that it is ready: whoever asks the doctor then is told the same.
        flush()
        with _ticking(dispatcher, flush, tidy, partial(_look_after, servers, dispatcher, signals)):
            address = f"https://{settings.gateway.listen_host}:{gateway.port}"
            _LOG.info("bc-fleetd runs", extra={"address": address})
            if not is_pinned(settings, certificate):
                _LOG.warning("the settings' [agent] pins do not name this gateway's key, %s", certificate.pin)
            notify(f"READY=1\nSTATUS=answers bcd at {address}")
            also = f"; its API is at https://{settings.api.listen_host}:{api.port}" if settings.api and api else ""
            say(f"bc-fleetd runs passes, and answers bcd at {address} (pin {certificate.pin}){also}")
            number = signals.get()
            session.stopping.set()
            # SIGALRM has no handler: it ends a process whose threads do not let it end.
            signal.alarm(_END_SECONDS)
            notify("STOPPING=1\nSTATUS=ending the steps in hand")
            if number in (_GATEWAY_ENDED, _PASSES_HANG):
                dispatcher.stop(grace_seconds=_GRACE_SECONDS)
                if number == _GATEWAY_ENDED:
                    raise GatewayEnded("the gateway or the API has stopped by itself: see the log")
                raise PassesHang(f"{dispatcher.hanging} passes hang: see the log; a new process is to go on")
            _LOG.info("told to stop (%s): steps in hand are ended", signal.Signals(number).name)
            # The gateway and the flush go on meanwhile: nobody's heartbeats are missed for a slow step.
            if not dispatcher.stop(grace_seconds=_GRACE_SECONDS):
                _LOG.warning("a step takes longer than %.0f s: its lease is left to lapse", _GRACE_SECONDS)
        flush()
        _leave(session, gateway, outage)
    _LOG.info("bc-fleetd has stopped")


@contextmanager
def _signals() -> Iterator[Signals]:
    """A queue into which SIGTERM and SIGINT put their numbers.

    A handler runs between any two instructions of the main thread; SimpleQueue.put is made for that (its documentation:
    reentrant), an Event is not.
    """
    signals: Signals = SimpleQueue()
    before = {
        number: signal.signal(number, lambda received, _: signals.put(received))
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _open_session(settings: Settings, stack: ExitStack, *, signals: Signals, outage: Outage) -> Session | None:
    """The session, as soon as the database answers; None when told to stop before."""
    while True:
        try:
            session = stack.enter_context(open_session(settings, drivers=kept_drivers))
        except StoreUnavailable as error:
            pause = outage.failed(error)
            notify(f"STATUS=waiting for the database\nEXTEND_TIMEOUT_USEC={int(pause + 60) * 1_000_000}")
        else:
            outage.over()
            return session
        try:
            signals.get(timeout=pause)
        except Empty:
            continue
        return None


@contextmanager
def _ticking(
    dispatcher: Dispatcher, flush: Callable[[], None], tidy: Callable[[], None], look_after: Callable[[], None]
) -> Iterator[None]:
    """The scheduler with its jobs, within the block."""
    scheduler = BackgroundScheduler(
        timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    )
    scheduler.add_job(dispatcher.tick, "interval", seconds=_TICK_SECONDS, id="dispatch")
    scheduler.add_job(flush, "interval", seconds=_FLUSH_SECONDS, id="heartbeats")
    first = datetime.now(UTC) + timedelta(seconds=FIRST_SECONDS)
    scheduler.add_job(tidy, "interval", seconds=HOUSEKEEPING_SECONDS, id="housekeeping", next_run_time=first)
    scheduler.add_job(look_after, "interval", seconds=watchdog_seconds() or _ALIVE_SECONDS, id="alive")
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown()


def _flush(session: Session, gateway: GatewayServer, outage: Outage, metrics: Metrics) -> None:
    if outage.lasts():
        return
    try:
        with metrics.gateway.flushes.time():
            gateway.heartbeats.flush(session.store)
    except StoreUnavailable as error:
        outage.failed(error)
    else:
        outage.over()


def _leave(session: Session, gateway: GatewayServer, outage: Outage) -> None:
    if outage.lasts():
        return
    try:
        gateway.heartbeats.leave(session.store)
    except StoreUnavailable as error:
        outage.failed(error)


def _look_after(servers: Sequence[WebServer], dispatcher: Dispatcher, signals: Signals) -> None:
    """The scheduler is alive, or this would not run; the servers and the dispatcher are asked."""
    if not all(server.answers for server in servers):
        signals.put(_GATEWAY_ENDED)
    elif dispatcher.is_stuck:
        signals.put(_PASSES_HANG)
    elif dispatcher.is_late:
        # Whatever holds the dispatcher would hold an orderly end as well: the service manager ends the process.
        _LOG.error("the dispatcher does not come back from the database: nothing is claimed")
    else:
        notify("WATCHDOG=1")


def _open_many_files() -> None:
    """Take as many file descriptors as the system allows: each node keeps up to two connections open (wire)."""
    _soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
