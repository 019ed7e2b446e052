"""Hints are lost rather than waited for, and the log tells of a silent Redis once; the last test freezes a real one."""

import psutil
import pytest
from redis import asyncio as redis

from labapp.hints import PAUSE_S, Line
from labapp.services.redis_server import RedisServer


class Wire:
    """Sends, or fails as Redis does; counts what was tried."""

    def __init__(self, error: Exception | None = None) -> None:
        self.is_up, self.tried, self.now = True, 0, 0.0
        self.error = error or TimeoutError("no word")
        self.line = Line(clock=lambda: self.now)

    async def message(self) -> None:
        self.tried += 1
        if not self.is_up:
            raise self.error

    async def send(self, **options: bool) -> bool:
        return await self.line.send(self.message, **options)


async def test_after_one_wait_in_vain_the_next_hints_are_dropped_without_a_try():
    wire = Wire()
    wire.is_up = False
    assert [await wire.send() for _ in range(3)] == [False] * 3
    assert wire.tried == 1


async def test_a_refusal_costs_no_time_and_the_next_hint_is_tried():
    wire = Wire(ConnectionRefusedError("nobody there"))
    wire.is_up = False
    assert [await wire.send() for _ in range(3)] == [False] * 3
    assert wire.tried == 3


async def test_what_is_urgent_is_tried_all_the_same():
    wire = Wire()
    wire.is_up = False
    await wire.send()
    wire.is_up = True
    assert await wire.send(is_urgent=True)


async def test_after_the_pause_it_is_tried_again():
    wire = Wire()
    wire.is_up = False
    await wire.send()
    wire.is_up, wire.now = True, PAUSE_S
    assert await wire.send()


async def test_the_log_tells_of_the_change_not_of_each_message(caplog):
    wire = Wire()
    wire.is_up = False
    for wire.now in (0.0, PAUSE_S, 2 * PAUSE_S):
        await wire.send()
    wire.is_up, wire.now = True, 3 * PAUSE_S
    assert await wire.send() and await wire.send()
    assert [record.message.split(",")[0] for record in caplog.records] == [
        "Redis does not answer",
        "Redis answers again",
    ]


@pytest.fixture
def frozen_redis(own_service):
    server = own_service(RedisServer)
    process = psutil.Process(server.facts["pid"])
    process.suspend()
    yield server.addresses()["REDIS_URL"]
    process.resume()


async def test_a_frozen_redis_holds_nobody_up(settings, frozen_redis):
    settings.REDIS_WAIT_SECONDS = 0.2
    async with redis.from_url(frozen_redis, socket_timeout=None) as client:
        assert not await Line().send(lambda: client.publish("channel", b"hint"))
