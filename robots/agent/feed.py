"""The newest picture of the cell, from the control thread to the connection: older ones are simply replaced."""

import asyncio
import io
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PillowImage

from robots.agent.protocol import CAMERA_VIEWS, CameraFrame, Joints

FRAMES_PER_SECOND = 12.5
JPEG_QUALITY = 80


@dataclass(frozen=True)
class Snapshot:
    """What the cell looks like at one moment."""

    time_ns: int
    time_s: float
    position: NDArray[np.float64]
    images: Mapping[str, NDArray[np.uint8]]
    trial: str | None


class LiveFeed:
    """Holds one snapshot. `show` may be called from any thread; `newest` waits in the event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._fresh = asyncio.Event()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Name the event loop that waits for snapshots."""
        self._loop = loop

    def show(
        self, time_s: float, position: NDArray[np.float64], images: Mapping[str, NDArray[np.uint8]], trial: str | None
    ) -> None:
        """Put a snapshot in place of the one before."""
        with self._lock:
            was_empty = self._snapshot is None
            self._snapshot = Snapshot(time.time_ns(), time_s, position, images, trial)
        if was_empty and self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._fresh.set)

    async def newest(self) -> Snapshot:
        """The newest snapshot that was not taken yet."""
        while True:
            self._fresh.clear()
            with self._lock:
                snapshot, self._snapshot = self._snapshot, None
            if snapshot is not None:
                return snapshot
            await self._fresh.wait()


def jpeg(image: NDArray[np.uint8], quality: int = JPEG_QUALITY) -> bytes:
    """An RGB image (H, W, 3) as JPEG bytes."""
    buffer = io.BytesIO()
    PillowImage.fromarray(np.ascontiguousarray(image)).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def frames_of(snapshot: Snapshot) -> list[bytes]:
    """The snapshot's views as binary messages, in the order of CAMERA_VIEWS."""
    return [
        CameraFrame(index, snapshot.time_ns, jpeg(snapshot.images[view])).pack()
        for index, view in enumerate(CAMERA_VIEWS)
        if view in snapshot.images
    ]


def joints_of(snapshot: Snapshot) -> Joints:
    """The snapshot's joint positions as a message."""
    return Joints(time_s=snapshot.time_s, position=[float(q) for q in snapshot.position], trial=snapshot.trial)
