# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""`bc-fleetd run`: one process that runs due passes and is the gateway, until it is told to stop.

The scheduler ticks three jobs: the dispatcher, the flush of heartbeats, and the service manager's watchdog. Passes run
in the dispatcher's threads, the gateway in one of its own; the main thread waits for a signal.
"""

from __future__ import annotations

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from queue import Empty, SimpleQueue

from apscheduler.schedulers.background import BackgroundScheduler

from ansible_collections.better_compute.fleet.plugins.module_utils._core.documents.settings import Settings
from ansible_collections.better_compute.fleet.plugins.module_utils._core.model.errors import StoreUnavailable
from ansible_collections.better_compute.fleet.plugins.module_utils._core.operations.session import (
    Session,
    open_session,
)

from .dispatcher import Dispatcher
from .errors import CannotListen
from .gateway import Certificate, GatewayServer
from .outage import Outage
from .own_certificate import gateway_certificate, is_pinned
from .service_manager import notify, watchdog_seconds

_LOG = logging.getLogger(__name__)

_TICK_SECONDS = 1.0
"""Between two looks for due passes: one cheap read. Nothing in a fleet needs to come sooner."""

_FLUSH_SECONDS = 2.0
"""Between two batches of heartbeats (nodes/heartbeat.py: FLUSH_SECONDS)."""

_GRACE_SECONDS = 10.0
"""For the steps in hand when the daemon is told to stop (design, section 9)."""

Signals = SimpleQueue[int]


def run(settings: Settings, *, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT.

    Arguments:
        say: told one line when everything answers.

    Raises:
        NoCertificate, CannotListen, SchemaMismatch: it cannot begin.
    """
    with _signals() as signals, ExitStack() as stack:
        certificate = gateway_certificate(settings)
        outage = Outage()
        session = _open_session(settings, stack, signals=signals, outage=outage)
        if session is None:
            return
        gateway = stack.enter_context(_listen(settings, session, certificate))
        dispatcher = Dispatcher(session, outage=outage)
        flush = partial(_flush, session, gateway, outage)
        with _ticking(dispatcher, gateway, flush):
            address = f"https://{settings.gateway.listen_host}:{gateway.port}"
            _LOG.info("bc-fleetd runs", extra={"address": address})
            if not is_pinned(settings, certificate):
                _LOG.warning("the settings' [agent] pins do not name this gateway's key, %s", certificate.pin)
            notify("READY=1")
            say(f"bc-fleetd runs passes, and answers bcd at {address} (pin {certificate.pin})")
            number = signals.get()
            notify("STOPPING=1")
            _LOG.info("told to stop (%s): steps in hand are ended", signal.Signals(number).name)
            # The gateway and the flush go on meanwhile: nobody's heartbeats are missed for a slow step.
            if not dispatcher.stop(grace_seconds=_GRACE_SECONDS):
                _LOG.warning("a step takes longer than %.0f s: its lease is left to lapse", _GRACE_SECONDS)
        flush()
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
            session = stack.enter_context(open_session(settings))
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


def _listen(settings: Settings, session: Session, certificate: Certificate) -> GatewayServer:
    host, port = settings.gateway.listen_host, settings.gateway.listen_port
    try:
        return GatewayServer(store=session.store, clock=session.clock, certificate=certificate, host=host, port=port)
    except OSError as error:
        raise CannotListen(f"the gateway cannot listen on {host}:{port}: {error.strerror or error}") from error


@contextmanager
def _ticking(dispatcher: Dispatcher, gateway: GatewayServer, flush: Callable[[], None]) -> Iterator[None]:
    """The scheduler with its jobs, within the block."""
    scheduler = BackgroundScheduler(
        timezone="UTC", job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
    )
    scheduler.add_job(dispatcher.tick, "interval", seconds=_TICK_SECONDS, id="dispatch")
    scheduler.add_job(flush, "interval", seconds=_FLUSH_SECONDS, id="heartbeats")
    if (seconds := watchdog_seconds()) is not None:
        scheduler.add_job(partial(_tell_alive, gateway), "interval", seconds=seconds, id="watchdog")
    scheduler.start()
    try:
        yield
    finally:
        scheduler.shutdown()


def _flush(session: Session, gateway: GatewayServer, outage: Outage) -> None:
    if outage.lasts:
        return
    try:
        gateway.heartbeats.flush(session.store)
    except StoreUnavailable as error:
        outage.failed(error)
    else:
        outage.over()


def _tell_alive(gateway: GatewayServer) -> None:
    """The scheduler is alive, or this would not run; the gateway is asked."""
    if gateway.answers:
        notify("WATCHDOG=1")
