# Copyright (c) 2026 better_compute.fleet contributors
# GNU General Public License v3.0-or-later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""bcd's device plugin and a kubelet over real sockets: registration, the list, allocation, restarts of either."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from threading import Event

import grpc
import pytest

from ansible_collections.better_compute.fleet.tests.support.bcd_bench import BriskClock
from ansible_collections.better_compute.fleet.tests.support.kubelet_double import KubeletDouble, kubelet_double
from bcd.device_plugin import registration
from bcd.device_plugin.contents import Platform
from bcd.device_plugin.devices import Devices
from bcd.device_plugin.service import Service
from bcd.device_plugin.task import device_plugin
from bcd.gateway import Booked, Booking
from bcd.host import Host
from bcd.inventory import Gpu
from bcd.serving import Served
from bcd.settings import Settings
from bcd.state import StateFolder

RESERVATION = "rsv_" + "1" * 26
OTHER = "rsv_" + "2" * 26
GPUS = tuple(
    Gpu(id=f"GPU-{number}", model="NVIDIA H100 80GB HBM3", nodes=(f"/dev/nvidia{number}",)) for number in (0, 1)
)


class Machine:
    """What bcd's plugin works on: bookings, GPUs, and a kubelet's folder."""

    def __init__(self, state: Path, kubelet: KubeletDouble) -> None:
        self.kubelet = kubelet
        self.gpus: tuple[Gpu, ...] | None = GPUS
        self.unhealthy: frozenset[str] = frozenset()
        self.fault: Exception | None = None
        self.slow_driver = False
        self._looks = 0
        self.served = Served(state=StateFolder(state), node_id="node_" + "1" * 26)
        self._version = 0

    def book(self, **devices: tuple[str, ...]) -> None:
        """These are all bookings from now on."""
        self._version += 1
        bookings = tuple(Booking(reservation_id=name, device_ids=ids) for name, ids in devices.items())
        self.served.take(Booked(version=str(self._version), bookings=bookings))

    async def until_looked_at(self) -> None:
        """Wait for a look that has begun from now on, and for the end of it."""
        target = self._looks + 2
        async with asyncio.timeout(30):
            while self._looks < target:
                await BriskClock().sleep(1)

    def _read_gpus(self) -> tuple[Gpu, ...] | None:
        self._looks += 1
        if self.slow_driver:
            Event().wait(0.3)
        if self.fault is not None:
            raise self.fault
        return self.gpus

    @asynccontextmanager
    async def plugin(self) -> AsyncIterator[None]:
        host = Host(
            read_gpus=self._read_gpus,
            read_unhealthy=lambda: self.unhealthy,
            device_plugins=self.kubelet.folder,
            clock=BriskClock(),
        )
        settings = Settings(
            gateway_host="gateway.invalid",
            gateway_port=443,
            gateway_path="",
            pins=frozenset(),
            node_name="ip-10-0-0-1.ec2.internal",
            state_dir=Path("/nowhere"),
            join_token_file=Path("/nowhere"),
            resource_name="bc.dev/gpu",
            control_plane_url="https://compute.example",
            driver_dir=Path("/home/kubernetes/bin/nvidia"),
        )
        async with device_plugin(settings=settings, served=self.served, host=host):
            yield


@asynccontextmanager
async def machine(folder: Path, *, started: bool = True) -> AsyncIterator[Machine]:
    async with kubelet_double(started=started) as kubelet:
        yield Machine(folder, kubelet)


def registered(times: int) -> Callable[[KubeletDouble], bool]:
    return lambda kubelet: len(kubelet.registered) == times


async def _registers(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        await m.kubelet.until_listed()
        (request,) = m.kubelet.registered
        assert (request.version, request.resource_name) == ("v1beta1", "bc.dev/gpu")
        assert m.kubelet.sockets() == [request.endpoint]


def test_the_plugin_registers_and_lists_nothing_while_nothing_is_booked(tmp_path: Path) -> None:
    asyncio.run(_registers(tmp_path))


async def _whole_at_once(folder: Path) -> None:
    async with machine(folder) as m:
        m.slow_driver = True
        m.book(one=("GPU-0", "GPU-1"))
        for _restart in (1, 2):
            async with m.plugin():
                await m.kubelet.until_listed(GPU_0="Healthy", GPU_1="Healthy")
        assert {} not in m.kubelet.lists


def test_the_first_list_after_a_start_is_whole(tmp_path: Path) -> None:
    asyncio.run(_whole_at_once(tmp_path))


async def _changed_meanwhile(folder: Path) -> None:
    async with machine(folder) as m:
        host = Host(read_gpus=lambda: GPUS, read_unhealthy=frozenset)
        devices = Devices(served=m.served, host=host)
        await devices.look()
        lists = Service(devices=devices, platform=Platform())._list_and_watch(None, None)
        assert len((await anext(lists)).devices) == 0
        # The first one is still on its way to the kubelet.
        m.book(one=("GPU-0",))
        async with asyncio.timeout(5):
            assert [device.ID for device in (await anext(lists)).devices] == ["GPU-0"]


def test_what_changes_while_a_list_is_sent_is_in_the_next_one(tmp_path: Path) -> None:
    asyncio.run(_changed_meanwhile(tmp_path))


async def _follows_bookings(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        await m.kubelet.until_listed()
        m.book(one=("GPU-0",))
        await m.kubelet.until_listed(GPU_0="Healthy")
        m.book(one=("GPU-0",), two=("GPU-1",))
        await m.kubelet.until_listed(GPU_0="Healthy", GPU_1="Healthy")
        m.book(two=("GPU-1",))
        await m.kubelet.until_listed(GPU_1="Healthy")
        m.book()
        await m.kubelet.until_listed()
        assert len(m.kubelet.registered) == 1


def test_a_booked_device_is_advertised_at_once_and_gone_when_the_reservation_has_ended(tmp_path: Path) -> None:
    asyncio.run(_follows_bookings(tmp_path))


async def _allocates(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        m.book(**{RESERVATION: ("GPU-0",), OTHER: ("GPU-1",)})
        await m.kubelet.until_listed(GPU_0="Healthy", GPU_1="Healthy")
        first, second = await m.kubelet.allocate(("GPU-0",), ("GPU-1",))
        assert dict(first.envs) == {
            "NVIDIA_VISIBLE_DEVICES": "GPU-0",
            "BC_RESERVATION_IDS": RESERVATION,
            "BC_CONTROL_PLANE_URL": "https://compute.example",
        }
        assert [(d.host_path, d.container_path, d.permissions) for d in second.devices] == [
            ("/dev/nvidia1", "/dev/nvidia1", "rw")
        ]
        assert [(d.host_path, d.container_path, d.read_only) for d in first.mounts] == [
            ("/home/kubernetes/bin/nvidia", "/usr/local/nvidia", True)
        ]
        assert await m.kubelet.prefer(("GPU-0", "GPU-1"), needed=("GPU-1",), size=1) == ["GPU-1"]


def test_a_container_gets_the_gpus_of_its_reservation(tmp_path: Path) -> None:
    asyncio.run(_allocates(tmp_path))


async def _refuses(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        m.book(**{RESERVATION: ("GPU-0",)})
        await m.kubelet.until_listed(GPU_0="Healthy")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await m.kubelet.allocate(("GPU-0",), ("GPU-1",))
        assert refused.value.code() == grpc.StatusCode.FAILED_PRECONDITION
        assert refused.value.details() == "GPU-1 is held by no reservation on this machine"
        # The kubelet's list is older than the end of the reservation.
        m.book()
        with pytest.raises(grpc.aio.AioRpcError, match="GPU-0 is held by no reservation"):
            await m.kubelet.allocate(("GPU-0",))


def test_a_device_that_is_not_booked_or_no_longer_is_refused(tmp_path: Path) -> None:
    asyncio.run(_refuses(tmp_path))


async def _goes_bad(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        m.book(**{RESERVATION: ("GPU-0", "GPU-1")})
        await m.kubelet.until_listed(GPU_0="Healthy", GPU_1="Healthy")
        m.unhealthy = frozenset({"GPU-1"})
        await m.kubelet.until_listed(GPU_0="Healthy", GPU_1="Unhealthy")
        with pytest.raises(grpc.aio.AioRpcError, match="GPU-1 has gone bad"):
            await m.kubelet.allocate(("GPU-1",))


def test_a_gpu_that_has_gone_bad_is_unhealthy_and_not_given(tmp_path: Path) -> None:
    asyncio.run(_goes_bad(tmp_path))


async def _without_driver(folder: Path) -> None:
    async with machine(folder) as m:
        m.gpus = None
        m.book(**{RESERVATION: ("GPU-0", "GPU-1")})
        async with m.plugin():
            await m.kubelet.until_listed()
            m.gpus = GPUS[:1]
            await m.kubelet.until_listed(GPU_0="Healthy")
            m.gpus = None
            await m.until_looked_at()
            m.book(**{OTHER: ("GPU-0",)})
            await m.until_looked_at()
            m.gpus = GPUS
            m.book(**{RESERVATION: ("GPU-0", "GPU-1")})
            await m.kubelet.until_listed(GPU_0="Healthy", GPU_1="Healthy")
        assert m.kubelet.lists[0] == {}
        assert {} not in m.kubelet.lists[1:]


def test_gpus_that_cannot_be_told_are_those_that_were_there_before(tmp_path: Path) -> None:
    asyncio.run(_without_driver(tmp_path))


async def _driver_fails(folder: Path) -> None:
    async with machine(folder) as m:
        m.fault = RuntimeError("the driver's library is of another version")
        async with m.plugin():
            m.book(**{RESERVATION: ("GPU-0",)})
            await m.kubelet.until_listed()
            m.fault = None
            await m.kubelet.until_listed(GPU_0="Healthy")


def test_a_look_that_fails_is_not_the_last_one(tmp_path: Path) -> None:
    asyncio.run(_driver_fails(tmp_path))


async def _kubelet_restarts(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        m.book(**{RESERVATION: ("GPU-0",)})
        for times in (1, 2, 3):
            await m.kubelet.until(registered(times))
            await m.kubelet.until_listed(GPU_0="Healthy")
            m.kubelet.lists.clear()
            await m.kubelet.stop()
            await m.kubelet.start()
        await m.kubelet.until_listed(GPU_0="Healthy")
        (socket,) = m.kubelet.sockets()
        assert socket == m.kubelet.registered[-1].endpoint


def test_the_plugin_registers_again_with_a_kubelet_that_has_restarted(tmp_path: Path) -> None:
    asyncio.run(_kubelet_restarts(tmp_path))


async def _new_kubelet_at_the_old_connection(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        await m.kubelet.until_listed()
        second = KubeletDouble(m.kubelet.folder)
        # The old process hangs: its connections stand, and only the sockets tell that another one is there.
        await second.start()
        try:
            await second.until_listed()
            assert len(m.kubelet.registered) == 1
        finally:
            await second.stop()


def test_a_new_socket_is_a_new_kubelet_although_the_old_one_still_listens_to_the_list(tmp_path: Path) -> None:
    asyncio.run(_new_kubelet_at_the_old_connection(tmp_path))


async def _forgotten(folder: Path) -> None:
    async with machine(folder) as m, m.plugin():
        await m.kubelet.until_listed()
        await m.kubelet.forget()
        await m.kubelet.until(registered(2))


def test_the_plugin_registers_again_when_the_kubelet_follows_the_list_no_more(tmp_path: Path) -> None:
    asyncio.run(_forgotten(tmp_path))


async def _late(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with machine(folder, started=False) as m, m.plugin():
        m.book(**{RESERVATION: ("GPU-0",)})
        await BriskClock().sleep(10 * registration.LOOK_SECONDS)
        waiting = [record.getMessage() for record in caplog.records if "no kubelet" in record.getMessage()]
        assert waiting == [f"no kubelet in {m.kubelet.folder}: waiting for one"]
        await m.kubelet.start()
        await m.kubelet.until_listed(GPU_0="Healthy")


def test_a_kubelet_or_a_folder_that_comes_late_is_waited_for_quietly(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, logger="bcd"):
        asyncio.run(_late(tmp_path, caplog))


async def _bcd_restarts(folder: Path) -> None:
    async with machine(folder) as m:
        # Killed, twice: what it listened on is left.
        for name in ("bcd-00000000.sock", "bcd-11111111.sock"):
            (m.kubelet.folder / name).touch()
        neighbour = m.kubelet.folder / "nvidia.sock"
        neighbour.touch()
        for times in (1, 2):
            async with m.plugin():
                await m.kubelet.until(registered(times))
                assert m.kubelet.sockets() == [m.kubelet.registered[-1].endpoint, neighbour.name]
            assert m.kubelet.sockets() == [neighbour.name]


def test_restarts_of_bcd_leave_no_socket_behind_and_touch_no_other_plugins(tmp_path: Path) -> None:
    asyncio.run(_bcd_restarts(tmp_path))


async def _refused(folder: Path) -> None:
    async with machine(folder) as m:
        m.kubelet.refusing = "the name is taken"
        async with m.plugin():
            await m.kubelet.until(registered(3))
            assert len(m.kubelet.sockets()) <= 1
            m.kubelet.refusing = ""
            await m.kubelet.until_listed()


def test_a_kubelet_that_says_no_is_asked_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="bcd"):
        asyncio.run(_refused(tmp_path))
    told = [record.getMessage() for record in caplog.records if "does not take" in record.getMessage()]
    assert told == ["the kubelet does not take the device plugin: kubelet.sock answered UNKNOWN: the name is taken"]


async def _garbage(folder: Path) -> None:
    async with machine(folder, started=False) as m:
        m.kubelet.folder.mkdir()

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            with suppress(OSError):
                await writer.drain()
            writer.close()
            asked.set()

        asked = asyncio.Event()
        server = await asyncio.start_unix_server(answer, m.kubelet.socket)
        async with m.plugin():
            await asyncio.wait_for(asked.wait(), 30)
            server.close()
            await server.wait_closed()
            await m.kubelet.start()
            await m.kubelet.until_listed()


def test_a_socket_that_is_no_kubelets_is_tried_again(tmp_path: Path) -> None:
    asyncio.run(_garbage(tmp_path))


async def _never_follows(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(KubeletDouble, "_follow", lambda _self, _plugin: asyncio.sleep(0))
    async with machine(folder) as m, m.plugin():
        await m.kubelet.until(registered(2))


def test_a_kubelet_that_never_asks_for_the_list_is_told_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asyncio.run(_never_follows(tmp_path, monkeypatch))
