"""Frames between processes: what is sent arrives equal, and broken bytes are refused in words."""

import asyncio
import pickle
import socket
import struct
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robots.messages import (
    FrameError,
    async_recv_frame,
    async_send_frame,
    decode,
    encode,
    pack_frame,
    recv_frame,
    send_frame,
)

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)


@given(plain)
def test_plain_values_come_back_equal(value):
    if isinstance(value, dict) and value.keys() == {"shape", "dtype", "data"}:
        return
    assert decode(encode(value)) == value


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64", "int64", "bool", ">f4"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3, 4)])
def test_arrays_keep_shape_values_and_kind(dtype, shape):
    array = (np.arange(np.prod(shape, dtype=int)) % 2).reshape(shape).astype(dtype)
    back = decode(encode({"state": array}))["state"]
    assert back.shape == shape
    assert back.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(back, array)


def test_non_contiguous_arrays_and_numpy_scalars_travel():
    image = np.arange(24, dtype=np.uint8).reshape(4, 6)[::2, ::3]
    back = decode(encode([image, np.float32(0.5), np.int64(3)]))
    np.testing.assert_array_equal(back[0], image)
    assert back[1:] == [0.5, 3]


@pytest.mark.parametrize(
    ("array", "words"),
    [
        ({"shape": [3], "dtype": "<f4", "data": b"1234"}, "does not fill 4 bytes"),
        ({"shape": [-1], "dtype": "<f4", "data": b"1234"}, "not a list of sizes"),
        ({"shape": [1], "dtype": "O", "data": b"12345678"}, "not accepted"),
        ({"shape": [1], "dtype": "nonsense", "data": b"1234"}, "unknown dtype"),
        ({"shape": [1], "dtype": "<f4", "data": "text"}, "not accepted"),
    ],
)
def test_an_array_whose_parts_disagree_is_refused(array, words):
    with pytest.raises(FrameError, match=words):
        decode(encode(array))


def test_objects_and_object_arrays_are_never_sent():
    with pytest.raises(FrameError, match="no wire form for set"):
        encode({1, 2})
    with pytest.raises(FrameError, match="object"):
        encode(np.array([{}, None]))


def test_bytes_that_are_not_msgpack_are_refused():
    with pytest.raises(FrameError, match="no msgpack object"):
        decode(pickle.dumps({"a": 1}))


def test_a_message_over_the_limit_is_refused_before_sending():
    with pytest.raises(FrameError, match="over the limit of 100"):
        pack_frame(np.zeros(200, np.uint8), limit=100)


def test_frames_cross_a_socket_in_order():
    left, right = socket.socketpair()
    with left, right:
        big = np.random.default_rng(0).integers(0, 255, (3, 256, 256, 3), dtype=np.uint8)
        sender = threading.Thread(target=lambda: [send_frame(left, {"n": n, "image": big}) for n in range(3)])
        sender.start()
        for n in range(3):
            message = recv_frame(right)
            assert message["n"] == n
            np.testing.assert_array_equal(message["image"], big)
        sender.join()


def test_a_close_between_frames_is_an_end_and_inside_one_is_an_error():
    left, right = socket.socketpair()
    left.close()
    with right, pytest.raises(EOFError):
        recv_frame(right)
    left, right = socket.socketpair()
    left.sendall(pack_frame({"a": 1})[:-1])
    left.close()
    with right, pytest.raises(FrameError, match="closed after 3 of 4 bytes"):
        recv_frame(right)


def test_a_length_over_the_limit_is_refused_without_reading_it():
    left, right = socket.socketpair()
    with left, right:
        left.sendall(b"GET / HTTP/1.1\r\n")
        with pytest.raises(FrameError, match="announces 1195725856 bytes"):
            recv_frame(right)


async def test_frames_cross_an_asyncio_stream(tmp_path):
    async def echo(reader, writer):
        await async_send_frame(writer, await async_recv_frame(reader))
        writer.write(struct.pack(">I", 10) + b"half")
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_unix_server(echo, str(tmp_path / "socket"))
    async with server:
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / "socket"))
        await async_send_frame(writer, {"ping": 1})
        assert await async_recv_frame(reader) == {"ping": 1}
        with pytest.raises(FrameError, match="closed after 4 of 10"):
            await async_recv_frame(reader)
        with pytest.raises(EOFError):
            await async_recv_frame(reader)
        writer.close()
        await writer.wait_closed()
