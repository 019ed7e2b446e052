"""Newest frames through Redis: who is slow gets fewer, never older ones, and nothing piles up."""

import asyncio
import time

import pytest

from labapp.live.frames import FrameHub, Mailbox, frame_hub


async def test_a_newer_frame_replaces_an_unsent_one_and_is_counted():
    box = Mailbox()
    for number in range(5):
        box.put(0, bytes([number]))
    assert await box.take() == (0, b"\x04")
    assert box.dropped == 4


async def test_without_acknowledgement_only_the_credit_is_sent():
    box = Mailbox(credit=2)
    for number in range(3):
        box.put(0, bytes([number]))
        if number < 2:
            await box.take()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(box.take(), timeout=0.05)
    box.acknowledge(0)
    assert await box.take() == (0, b"\x02")


async def test_cameras_do_not_wait_for_each_other():
    box = Mailbox(credit=1)
    box.put(0, b"a")
    await box.take()
    box.put(0, b"b")
    box.put(1, b"c")
    assert await box.take() == (1, b"c")


async def test_a_mailbox_nobody_reads_holds_one_frame_a_camera():
    box = Mailbox()
    frame = bytes(30_000)
    for number in range(60 * 30):
        for camera in range(3):
            box.put(camera, frame + bytes([number % 256]))
    assert box.dropped == 3 * (60 * 30 - 1)
    assert sum(len(item) for item in box._items.values()) < 100_000


async def test_frames_reach_every_worker(services):
    """Two hubs stand for two web workers."""
    first, second = FrameHub(), FrameHub()
    boxes = [(hub, hub.join("bench-x")) for hub in (first, second)]
    await received(first, [box for _, box in boxes])
    for hub, box in boxes:
        await hub.leave("bench-x", box)
    assert not first._readers and not second._readers


async def received(publisher: FrameHub, boxes: list[Mailbox]) -> None:
    """Publish until every box has a frame: subscribing takes a moment."""
    deadline = time.monotonic() + 30
    waiting = list(boxes)
    while waiting and time.monotonic() < deadline:
        await publisher.publish("bench-x", 1, b"jpeg")
        await asyncio.sleep(0.02)
        waiting = [box for box in waiting if 1 not in box._items]
    assert not waiting
    for box in boxes:
        assert await box.take() == (1, b"jpeg")


async def test_other_cells_frames_do_not_come(services):
    hub = frame_hub()
    box = hub.join("bench-x")
    await received(hub, [box])
    await hub.publish("bench-y", 0, b"other")
    await asyncio.sleep(0.1)
    assert 0 not in box._items
    await hub.leave("bench-x", box)
