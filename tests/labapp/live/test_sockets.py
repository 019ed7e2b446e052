"""The agent's and the viewers' sockets against the real application, channel layer and database."""

import asyncio
import struct
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from django.conf import settings
from django.utils import timezone
from redis import asyncio as redis

from labapp.cells.agents import agent_for, is_connected
from labapp.cells.models import Agent
from labapp.live.frames import channel_name
from labapp.live.models import TrialEvent as TrialEventRow
from labapp.studies.models import Trial
from robots.agent.protocol import CameraFrame, Heartbeat, Hello, Joints, StopState, TrialEvent, dump_text
from tests.labapp.live.sockets import LiveSocket, agent_socket, viewer_socket
from tests.labapp.live.sockets import agent as agent_with
from tests.websocket import WAIT_S

JPEG = b"\xff\xd8" + bytes(2000)


async def test_an_unknown_token_is_refused(bench):
    assert not await agent_with("wrong").connect()


async def test_an_inactive_agent_is_refused(bench):
    await Agent.objects.filter(pk=bench.agent.pk).aupdate(is_active=False)
    assert not await agent_with(bench.token).connect()


async def test_an_agent_is_present_while_connected_and_away_after(bench):
    async with agent_socket(bench.token):
        found = await in_thread(agent_for)(bench.study.cell, timezone.now())
        assert found == bench.agent and is_connected(found, timezone.now())
        assert found.version == "test agent"
    assert await in_thread(agent_for)(bench.study.cell, timezone.now()) is None


async def test_an_old_connection_that_ends_late_does_not_hide_the_new_one(bench):
    async with agent_socket(bench.token) as _old:
        connection = agent_socket(bench.token)
        await connection.__aenter__()
    assert await in_thread(agent_for)(bench.study.cell, timezone.now()) == bench.agent
    await connection.__aexit__(None, None, None)


async def test_a_foreign_origin_is_refused_and_named_in_the_log(bench, caplog):
    path = f"/ws/live/{bench.study.cell.slug}/"
    assert not await LiveSocket(path, user=bench.operator, origin="https://evil.example").connect()
    assert "evil.example" in caplog.text


async def test_a_stranger_is_refused(bench):
    assert not await LiveSocket(f"/ws/live/{bench.study.cell.slug}/").connect()


async def test_an_unknown_cell_is_refused(bench):
    assert not await LiveSocket("/ws/live/no-such-cell/", user=bench.operator).connect()


async def test_a_frame_reaches_a_viewer_with_the_dropped_count(bench):
    async with agent_socket(bench.token) as agent, viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        await subscribed(bench.study.cell.slug)
        await agent.send_bytes(CameraFrame(1, 7, JPEG).pack())
        while not (frame := (await viewer.receive()).get("bytes")):
            pass
        camera, time_ns, dropped = struct.unpack(">BQI", frame[:13])
        assert (camera, time_ns, dropped, frame[13:]) == (1, 7, 0, JPEG)


async def subscribed(cell: str) -> None:
    """Until the web server reads the cell's frames: what was sent before reaches nobody."""
    async with asyncio.timeout(WAIT_S), redis.from_url(settings.REDIS_URL) as client:
        while (await client.pubsub_numsub(channel_name(cell)))[0][1] != 1:
            await asyncio.sleep(0.01)


async def test_joints_come_as_numbers(bench):
    async with agent_socket(bench.token) as agent, viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        await subscribed(bench.study.cell.slug)
        await agent.send_text(dump_text(Joints(1.25, [0.1, 0.2])))
        event = await viewer.receive_kind("joints")
        assert event["position"] == [0.1, 0.2] and event["time_s"] == 1.25


async def test_a_message_that_is_no_message_closes_the_connection_with_a_reason(bench):
    async with agent_socket(bench.token) as agent:
        await agent.send_text('{"type": "hello"}')
        closed = await agent.receive()
        assert closed["type"] == "websocket.close" and closed["code"] == 4400
        assert "protocol version" in closed["reason"]


async def test_something_that_is_no_jpeg_is_not_passed_on(bench):
    async with agent_socket(bench.token) as agent:
        await agent.send_bytes(b"\x00" * 30)
        assert (await agent.receive())["code"] == 4400


async def test_a_started_trial_reaches_the_agent_without_the_policys_name(bench, start_trial):
    async with agent_socket(bench.token) as agent:
        trial = await in_thread(start_trial)()
        order = await agent.receive_kind("trial.start")
        assert order["trial"] == str(trial.pk) and order["code"] == trial.arm.code
        assert order["checkpoint"]["sha256"] == trial.arm.checkpoint.sha256
        assert "grounded" not in str(order)
        following = await agent.receive_kind("trial.prepare")
        assert len(following["checkpoint"]["sha256"]) == 64


async def test_a_trial_started_while_the_agent_was_away_is_sent_when_it_is_back(bench, start_trial):
    trial = await in_thread(start_trial)()
    async with agent_socket(bench.token) as agent:
        assert (await agent.receive_kind("trial.start"))["trial"] == str(trial.pk)


async def test_a_start_that_was_lost_on_the_way_is_sent_again_to_an_idle_agent(bench, start_trial, monkeypatch):
    async with agent_socket(bench.token) as agent:
        with monkeypatch.context() as patch:
            patch.setattr("labapp.cells.agents.tell_now", lambda *message, **options: False)
            trial = await in_thread(start_trial)()
        await agent.send_text(dump_text(Heartbeat("idle")))
        assert (await agent.receive_kind("trial.start"))["trial"] == str(trial.pk)


async def test_a_trial_that_the_agent_has_in_its_spool_is_not_sent_again(bench, start_trial):
    trial = await in_thread(start_trial)()
    async with agent_socket(bench.token, Hello("test agent", spooled=[str(trial.pk)])) as agent:
        assert await agent.receives_nothing(0.2)


async def test_a_trial_event_sent_twice_is_one_row(bench, start_trial):
    trial = await in_thread(start_trial)()
    event = TrialEvent(str(trial.pk), str(uuid4()), 1, "started", 0.0)
    async with agent_socket(bench.token) as agent, viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        for _ in range(3):
            await agent.send_text(dump_text(event))
        shown = await viewer.receive_kind("trial")
        assert shown["kind"] == "started" and "payload" not in shown
        for _ in range(2):
            await viewer.receive_kind("trial")
    assert await TrialEventRow.objects.filter(trial=trial).acount() == 1


async def test_an_event_of_another_agents_trial_is_not_stored(bench, start_trial):
    trial = await in_thread(start_trial)(agent=None)
    async with agent_socket(bench.token) as agent, viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        await agent.send_text(dump_text(TrialEvent(str(trial.pk), str(uuid4()), 1, "started", 0.0)))
        await viewer.receive_kind("trial")
    assert await TrialEventRow.objects.acount() == 0


async def test_stop_goes_from_the_page_to_the_robot_and_its_state_comes_back(bench):
    async with agent_socket(bench.token) as agent, viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        await viewer.send_json({"type": "stop", "pressed": True})
        order = await agent.receive_kind("stop")
        assert order["pressed"] is True and order["by"] == bench.operator.username
        await agent.send_text(dump_text(StopState(pressed=True, by=order["by"])))
        assert (await viewer.receive_kind("stop")) == {
            "type": "stop", "is_pressed": True, "by": bench.operator.username,
        }  # fmt: skip


async def test_a_heartbeat_tells_viewers_what_the_robot_does(bench):
    async with agent_socket(bench.token) as agent, viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        await agent.send_text(dump_text(Heartbeat("busy", "x")))
        event = await viewer.receive_kind("agent")
        while event["state"] != "busy":
            event = await viewer.receive_kind("agent")
        assert event["is_connected"] is True


@pytest.mark.parametrize("text", ["nonsense", '{"type": "else"}', '["ack"]', '{"type": "stop", "pressed": 1}'])
async def test_a_page_that_sends_something_else_is_closed(bench, text):
    async with viewer_socket(bench.operator, bench.study.cell.slug) as viewer:
        await viewer.send_text(text)
        assert (await viewer.receive())["code"] == 4400


async def test_the_trial_stays_running_until_the_report(bench, start_trial):
    trial = await in_thread(start_trial)()
    async with agent_socket(bench.token) as agent:
        await agent.send_text(dump_text(TrialEvent(str(trial.pk), str(uuid4()), 1, "finished", 4.0)))
        await asyncio.sleep(0.1)
    assert (await Trial.objects.aget(pk=trial.pk)).status == Trial.Status.RUNNING
