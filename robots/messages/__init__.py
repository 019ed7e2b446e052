"""What processes of the lab say to each other: length-prefixed msgpack frames."""

from robots.messages.frames import (
    MAX_FRAME_BYTES,
    FrameError,
    async_recv_frame,
    async_send_frame,
    decode,
    encode,
    pack_frame,
    recv_frame,
    send_frame,
)

__all__ = [
    "MAX_FRAME_BYTES",
    "FrameError",
    "async_recv_frame",
    "async_send_frame",
    "decode",
    "encode",
    "pack_frame",
    "recv_frame",
    "send_frame",
]
