"""Sockets of runs: who may listen, what they hear, and foreign origins."""

import logging

import pytest
from asgiref.sync import sync_to_async
from django.utils import timezone

from labapp.runs.services import LogLine, events_append, run_cancel, run_create
from tests.labapp.runs.counting import Counting
from tests.websocket import Websocket

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(db):
    made = run_create(kind=Counting.name, params={}, title="Count")
    events_append(run_id=made.pk, lines=[LogLine("info", "first line")])
    return made


async def cancel(run) -> None:
    await sync_to_async(run_cancel)(run_id=run.pk, by=None, now=timezone.now())


async def test_a_listener_gets_the_state_and_then_every_change(run, researcher):
    async with Websocket(f"/ws/runs/{run.pk}/", user=researcher) as listener:
        first = await listener.receive_json()
        assert first["run"]["status"] == "queued"
        assert [event["message"] for event in first["events"]] == ["first line"]
        await cancel(run)
        assert (await listener.receive_json())["run"]["status"] == "cancelled"


async def test_the_socket_of_all_runs_hears_each_change(run, pi):
    async with Websocket("/ws/runs/", user=pi) as listener:
        await cancel(run)
        heard = (await listener.receive_json())["run"]
        assert (heard["id"], heard["status"]) == (run.pk, "cancelled")


async def test_operators_and_strangers_are_refused(run, operator):
    assert not await Websocket(f"/ws/runs/{run.pk}/", user=operator).connect()
    assert not await Websocket(f"/ws/runs/{run.pk}/").connect()
    assert not await Websocket("/ws/runs/", user=operator).connect()


async def test_an_unknown_run_closes_with_its_own_code(researcher):
    listener = Websocket("/ws/runs/999999/", user=researcher)
    assert await listener.connect()
    await listener.receive()
    assert listener.close_code == 4404


async def test_a_foreign_origin_is_refused_with_a_log_line_that_names_it(run, researcher, caplog):
    with caplog.at_level(logging.WARNING, logger="labapp.origins"):
        foreign = Websocket(f"/ws/runs/{run.pk}/", user=researcher, origin="https://evil.example.org")
        assert not await foreign.connect()
    assert "https://evil.example.org" in caplog.text


async def test_a_session_without_origin_is_refused(run, researcher):
    """A client without Origin is no browser; it may not use a browser's cookie."""
    assert not await Websocket(f"/ws/runs/{run.pk}/", user=researcher, origin=None).connect()
