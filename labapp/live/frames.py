"""Newest camera frame from one agent to any number of browsers, over any number of web workers.

The worker that holds the agent's socket publishes each frame on a Redis channel of the cell; each worker with viewers
of that cell reads the channel once and puts the frame into each viewer's mailbox. A mailbox holds one item per key: a
newer one replaces an unsent one, which is counted as dropped. So nothing queues, however slow a viewer is.
"""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Collection
from weakref import WeakKeyDictionary

from django.conf import settings
from redis import asyncio as redis
from redis.exceptions import RedisError

from labapp.hints import line
from labapp.settings.backends import PATIENT_SOCKET

logger = logging.getLogger(__name__)

JOINTS = 255
RETRY_SECONDS = 1.0


class Mailbox:
    """Newest item per key for one viewer; `credit` of each key says how many sent items may be unacknowledged."""

    def __init__(self, credit: int = 2) -> None:
        self._credit = credit
        self._items: dict[int, bytes] = {}
        self._in_flight: dict[int, int] = defaultdict(int)
        self._changed = asyncio.Event()
        self.dropped = 0

    def put(self, key: int, item: bytes) -> None:
        """Leave an item; it replaces one of the same key that was not taken yet."""
        if key in self._items:
            self.dropped += 1
            del self._items[key]
        self._items[key] = item
        self._changed.set()

    def acknowledge(self, key: int) -> None:
        """The viewer has shown an item of this key."""
        if self._in_flight[key] > 0:
            self._in_flight[key] -= 1
            self._changed.set()

    async def take(self) -> tuple[int, bytes]:
        """The longest-waiting item whose key has credit; waits for one."""
        while True:
            self._changed.clear()
            for key in self._items:
                if self._in_flight[key] < self._credit:
                    self._in_flight[key] += 1
                    return key, self._items.pop(key)
            await self._changed.wait()


class FrameHub:
    """One per event loop: publishes frames, and reads each cell's channel once for all its local viewers."""

    def __init__(self) -> None:
        self._client = redis.from_url(settings.REDIS_URL)
        self._listener = redis.from_url(settings.REDIS_URL, **PATIENT_SOCKET, health_check_interval=15)
        self._boxes: dict[str, set[Mailbox]] = defaultdict(set)
        self._readers: dict[str, asyncio.Task[None]] = {}

    async def publish(self, cell: str, key: int, item: bytes) -> None:
        """Send one item to every viewer of a cell. Without Redis it is lost: the next one is newer anyway."""
        await line.send(lambda: self._client.publish(channel_name(cell), bytes([key]) + item))

    def join(self, cell: str) -> Mailbox:
        """A mailbox that gets the cell's items until `leave`."""
        box = Mailbox()
        self._boxes[cell].add(box)
        if cell not in self._readers:
            self._readers[cell] = asyncio.create_task(self._read(cell, self._boxes[cell]))
        return box

    async def leave(self, cell: str, box: Mailbox) -> None:
        """Deliver nothing more to this mailbox; the last one of a cell ends the reading of its channel."""
        self._boxes[cell].discard(box)
        if self._boxes[cell]:
            return
        del self._boxes[cell]
        reader = self._readers.pop(cell)
        reader.cancel()
        await asyncio.wait({reader})

    async def _read(self, cell: str, boxes: Collection[Mailbox]) -> None:
        while True:
            try:
                async with self._listener.pubsub(ignore_subscribe_messages=True) as pubsub:
                    await pubsub.subscribe(channel_name(cell))
                    async for message in pubsub.listen():
                        for box in boxes:
                            box.put(message["data"][0], message["data"][1:])
            except (RedisError, OSError) as error:
                logger.warning("Frames of %s interrupted, trying again: %s", cell, error)
                await asyncio.sleep(RETRY_SECONDS)


def channel_name(cell: str) -> str:
    return f"{settings.CHANNEL_LAYERS['default']['CONFIG']['prefix']}:frames:{cell}"


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, FrameHub] = WeakKeyDictionary()


def frame_hub() -> FrameHub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = FrameHub()
    return _hubs[loop]
