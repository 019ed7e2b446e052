import json

import pytest

from robots.agent.protocol import (
    CameraFrame,
    Heartbeat,
    Hello,
    Proposal,
    ProtocolError,
    Stop,
    TrialEvent,
    dump_message,
    dump_text,
    load_message,
)
from robots.errors import ConfigError
from tests.robots.agent.conftest import make_order

JPEG = b"\xff\xd8 picture"


@pytest.mark.parametrize(
    "message",
    [
        Hello("agent 1", "busy", "t", ["a", "b"]),
        Heartbeat("idle"),
        Stop(True, "anna"),
        TrialEvent("t", "e", 3, "stage", 1.5, {"stage": "lift"}),
        make_order(),
    ],
)
def test_a_message_survives_the_wire(message):
    assert load_message(dump_text(message)) == message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "no JSON"),
        ("[]", "no JSON object"),
        ('{"type": "hello", "v": 2, "software": "x"}', "version 2"),
        ('{"type": "dance", "v": 1}', "unknown message type 'dance'"),
        ('{"type": "hello", "v": 1}', "software"),
        ('{"type": "heartbeat", "v": 1, "state": "asleep"}', "state"),
    ],
)
def test_what_is_wrong_with_a_message_is_said(text, words):
    with pytest.raises(ProtocolError, match=words):
        load_message(text)


@pytest.mark.parametrize(
    ("field", "value"), [("time_limit_s", 0), ("belt_speed", -1), ("bin", "middle"), ("light", "blue")]
)
def test_an_impossible_order_is_refused_by_field(field, value):
    values = dump_message(make_order()) | {field: value}
    with pytest.raises(ProtocolError, match=field):
        load_message(json.dumps(values))


def test_a_frame_survives_the_wire():
    frame = CameraFrame(2, 1_700_000_000_000_000_001, JPEG)
    assert CameraFrame.unpack(frame.pack()) == frame


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x00" * 9, "shorter"),
        (b"\x09" + b"\x00" * 8 + JPEG, "camera 9"),
        (b"\x00" * 9 + b"GIF89a", "no JPEG"),
        (b"\x00" * 9 + b"\xff\xd8" + bytes(3 * 2**20), "limit"),
    ],
)
def test_a_broken_frame_is_refused(data, words):
    with pytest.raises(ProtocolError, match=words):
        CameraFrame.unpack(data)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"success": True, "failure_mode": "dropped"}, "failure_mode"),
        ({"failure_mode": "boredom"}, "failure_mode"),
        ({"furthest_stage": "moon"}, "furthest_stage"),
        ({"time_s": -0.1}, "time_s"),
    ],
)
def test_a_proposal_that_contradicts_itself_is_refused(values, field):
    with pytest.raises(ConfigError) as caught:
        Proposal(**values)
    assert caught.value.field == field
