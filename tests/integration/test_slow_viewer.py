"""A browser that reads nothing must cost the web server next to nothing."""

import struct
import time

import psutil
import pytest
import redis
from django.conf import settings
from websockets.sync.client import connect

from labapp.live.frames import channel_name
from tests.integration.web_server import answers, wait_until
from tests.labapp import builders
from tests.websocket import OWN_ORIGIN, session_cookie

pytestmark = pytest.mark.slow

FRAME = bytes([0]) + bytes(8) + b"\xff\xd8" + bytes(60_000)
FRAMES = 60 * 30
LIMIT_BYTES = 50 * 2**20


def test_sixty_seconds_at_thirty_frames_unread_cost_under_fifty_megabytes(web):
    port, process = web
    cell = builders.cell()
    publisher = redis.from_url(settings.REDIS_URL)
    server = psutil.Process(process.pid)
    with connect(
        f"ws://127.0.0.1:{port}/ws/live/{cell.slug}/",
        additional_headers={"cookie": session_cookie(builders.user("operator"))},
        origin=OWN_ORIGIN,
        max_queue=1,
        max_size=2**20,
    ) as viewer:
        assert "is_connected" in viewer.recv()
        channel = channel_name(cell.slug)
        wait_until(lambda: publisher.pubsub_numsub(channel)[0][1] == 1)
        before = server.memory_info().rss
        for number in range(FRAMES):
            publisher.publish(channel, FRAME)
            if number % 50 == 0:
                time.sleep(0.05)
        wait_until(lambda: answers(port))
        grown = server.memory_info().rss - before
        assert grown < LIMIT_BYTES, f"grew by {grown / 2**20:.0f} MB"
        assert dropped_after_acknowledging(viewer, publisher, channel) > FRAMES / 2


def dropped_after_acknowledging(viewer, publisher, channel) -> int:
    """Read on: the count of what was left out stands in the frame's head."""
    counts = []
    for _ in range(6):
        viewer.send('{"type": "ack", "camera": 0}')
        publisher.publish(channel, FRAME)
        message = viewer.recv(timeout=5)
        counts.append(struct.unpack(">BQI", message[:13])[2])
    return max(counts)
