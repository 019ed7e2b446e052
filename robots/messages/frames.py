"""Msgpack frames over a stream socket: 4-byte big-endian length, then one msgpack object.

Arrays travel as `{"shape", "dtype", "data"}`; nothing is ever pickled. A received array shares memory with the frame
and is read-only: copy it before writing into it.
"""

import asyncio
import math
import socket
import struct
from typing import Any

import msgpack
import numpy as np

MAX_FRAME_BYTES = 64 * 1024 * 1024
_LENGTH = struct.Struct(">I")
_ARRAY_KEYS = frozenset({"shape", "dtype", "data"})
_ARRAY_KINDS = "biuf"


class FrameError(ValueError):
    """Bytes that are not a frame of ours, or an object that does not fit in one."""


def encode(obj: Any) -> bytes:
    """One object as msgpack bytes, without the length prefix.

    Raises:
        FrameError: the object holds something other than numbers, text, bytes, lists, dicts and numeric arrays.
    """
    try:
        packed: bytes = msgpack.packb(obj, default=_pack_array)
    except (TypeError, ValueError, OverflowError) as error:
        raise FrameError(f"cannot send this object: {error}") from error
    return packed


def decode(payload: bytes | bytearray | memoryview) -> Any:
    """The object that `encode` packed.

    Raises:
        FrameError: the bytes are no msgpack object, or an array's shape, dtype and data disagree.
    """
    try:
        return msgpack.unpackb(payload, object_hook=_unpack_array, strict_map_key=False)
    except FrameError:
        raise
    except Exception as error:  # msgpack raises many kinds for broken input; all mean the same to a receiver
        raise FrameError(f"received {len(payload)} bytes that are no msgpack object: {error}") from error


def pack_frame(obj: Any, limit: int = MAX_FRAME_BYTES) -> bytes:
    """One object as a whole frame, length prefix included.

    Raises:
        FrameError: larger than `limit` bytes.
    """
    payload = encode(obj)
    if len(payload) > limit:
        raise FrameError(f"message of {len(payload)} bytes is over the limit of {limit}")
    return _LENGTH.pack(len(payload)) + payload


def send_frame(sock: socket.socket, obj: Any, limit: int = MAX_FRAME_BYTES) -> None:
    """Send one object on a blocking socket."""
    sock.sendall(pack_frame(obj, limit))


def recv_frame(sock: socket.socket, limit: int = MAX_FRAME_BYTES) -> Any:
    """Receive one object from a blocking socket.

    Raises:
        EOFError: the other side closed between two frames.
        FrameError: it closed inside one, or announced more than `limit` bytes.
    """
    header = _recv_exactly(sock, _LENGTH.size)
    return decode(_recv_exactly(sock, _announced(header, limit), inside=True))


async def async_send_frame(writer: asyncio.StreamWriter, obj: Any, limit: int = MAX_FRAME_BYTES) -> None:
    """Send one object on a stream and wait until the buffer has drained."""
    writer.write(pack_frame(obj, limit))
    await writer.drain()


async def async_recv_frame(reader: asyncio.StreamReader, limit: int = MAX_FRAME_BYTES) -> Any:
    """Receive one object from a stream; raises as `recv_frame`."""
    try:
        header = await reader.readexactly(_LENGTH.size)
    except asyncio.IncompleteReadError as error:
        raise _closed(len(error.partial), _LENGTH.size, inside=False) from error
    try:
        return decode(await reader.readexactly(_announced(header, limit)))
    except asyncio.IncompleteReadError as error:
        raise _closed(len(error.partial), error.expected or 0, inside=True) from error


def _announced(header: bytes | bytearray, limit: int) -> int:
    (size,) = _LENGTH.unpack(header)
    if size > limit:
        raise FrameError(
            f"frame announces {size} bytes, over the limit of {limit}: is the other side speaking msgpack?"
        )
    return int(size)


def _recv_exactly(sock: socket.socket, size: int, inside: bool = False) -> bytearray:
    buffer = bytearray(size)
    view, got = memoryview(buffer), 0
    while got < size:
        count = sock.recv_into(view[got:])
        if count == 0:
            raise _closed(got, size, inside)
        got += count
    return buffer


def _closed(got: int, size: int, inside: bool) -> Exception:
    if got == 0 and not inside:
        return EOFError("the connection was closed")
    return FrameError(f"the connection was closed after {got} of {size} bytes of a frame")


def _pack_array(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in _ARRAY_KINDS:
            raise TypeError(f"arrays of dtype {value.dtype} do not travel, only numbers and booleans")
        little = np.ascontiguousarray(value, dtype=value.dtype.newbyteorder("<"))
        return {"shape": list(value.shape), "dtype": little.dtype.str, "data": little.tobytes()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"no wire form for {type(value).__name__}")


def _unpack_array(value: dict[Any, Any]) -> Any:
    if value.keys() != _ARRAY_KEYS:
        return value
    shape, data = value["shape"], value["data"]
    try:
        dtype = np.dtype(value["dtype"])
    except TypeError as error:
        raise FrameError(f"array of unknown dtype {value['dtype']!r}") from error
    if dtype.kind not in _ARRAY_KINDS or not isinstance(data, bytes):
        raise FrameError(f"array of dtype {dtype} is not accepted, only numbers and booleans")
    if not isinstance(shape, list) or not all(isinstance(n, int) and n >= 0 for n in shape):
        raise FrameError(f"array shape {shape!r} is not a list of sizes")
    if math.prod(shape) * dtype.itemsize != len(data):
        raise FrameError(f"array of shape {shape} and dtype {dtype} does not fill {len(data)} bytes")
    return np.frombuffer(data, dtype=dtype).reshape(shape)
