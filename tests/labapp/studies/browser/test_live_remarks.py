"""Open pages of a trial hear that something was said; the message itself says nothing."""

from uuid import uuid4

import pytest
from channels.db import database_sync_to_async as in_thread
from django.db import transaction
from django.utils import timezone

from labapp.hints import Line
from labapp.studies.browser import remarks
from labapp.studies.browser.models import TrialFlag, TrialNote
from tests.labapp.studies.conftest import Lab, make_lab
from tests.websocket import Websocket


@pytest.fixture
def lab(transactional_db) -> Lab:
    return make_lab()


@pytest.fixture
def trial(lab):
    return lab.confirmed()


def path(trial) -> str:
    return f"/ws/trials/{trial.pk}/"


def say(trial, author, text="Look here", model=TrialNote, **values):
    return remarks.remark_create(model, remark_id=uuid4(), trial=trial, author=author, text=text, **values)


@pytest.mark.parametrize("role", ["operator", "researcher", "pi"])
async def test_a_page_hears_every_change_and_never_what_it_is(lab, trial, role):
    async with Websocket(path(trial), user=getattr(lab, role)) as page:
        note = await in_thread(say)(trial, lab.researcher)
        now, who = timezone.now(), {"remark_id": note.pk, "actor": lab.researcher}
        await in_thread(remarks.remark_edit)(TrialNote, now=now, text="Look there", **who)
        await in_thread(remarks.remark_delete)(TrialNote, now=now, **who)
        await in_thread(remarks.remark_restore)(TrialNote, **who)
        await in_thread(say)(trial, lab.pi, model=TrialFlag, label="odd")
        heard = [await page.receive_json() for _ in range(5)]
        assert heard == [{"type": "remarks"}] * 5
        assert await page.receives_nothing()


async def test_what_was_said_is_fetched_with_ones_own_rights(lab, trial):
    def post() -> int:
        body = {"text": "Look here", "time_s": 0.2}
        address = f"/api/trials/{trial.pk}/notes/"
        return lab.client("researcher").post(address, body, content_type="application/json").status_code

    def fetch() -> tuple[str, str]:
        part = lab.client("operator").get(f"{trial.get_absolute_url()}remarks/")
        return part.content.decode(), trial.arm.label

    async with Websocket(path(trial), user=lab.operator) as page:
        assert await in_thread(post)() == 201
        assert await page.receive_json() == {"type": "remarks"}
        text, secret = await in_thread(fetch)()
    assert "Look here" in text and secret not in text


async def test_a_replay_and_a_rollback_tell_nothing(lab, trial):
    def fail() -> None:
        with pytest.raises(ZeroDivisionError), transaction.atomic():
            say(trial, lab.pi)
            raise ZeroDivisionError

    note = await in_thread(say)(trial, lab.pi)
    async with Websocket(path(trial), user=lab.pi) as page:
        await in_thread(remarks.remark_create)(TrialNote, remark_id=note.pk, trial=trial, author=lab.pi, text="again")
        await in_thread(fail)()
        assert await page.receives_nothing(0.2)


async def test_a_page_of_another_trial_hears_nothing(lab, trial):
    other = await in_thread(lab.confirmed)()
    async with Websocket(path(other), user=lab.pi) as page:
        await in_thread(say)(trial, lab.pi)
        assert await page.receives_nothing(0.2)


async def test_strangers_and_foreign_pages_are_refused(lab, trial):
    stranger = Websocket(path(trial))
    assert not await stranger.connect()
    await stranger.disconnect()  # as the server tells it once it is refused
    assert not await Websocket(path(trial), user=lab.pi, origin="https://evil.example.org").connect()
    await in_thread(lambda: type(lab.pi).objects.filter(pk=lab.pi.pk).update(is_active=False))()
    assert not await Websocket(path(trial), user=lab.pi).connect()


async def test_a_trial_that_is_not_there_closes_with_its_own_code(lab):
    page = Websocket(f"/ws/trials/{uuid4()}/", user=lab.pi)
    assert await page.connect()
    await page.receive()
    assert page.close_code == 4404


@pytest.mark.parametrize("address", ["/ws/trials/x/", "/ws/nothing/", "/"])
async def test_an_address_without_a_socket_is_refused(lab, address):
    page = Websocket(address, user=lab.pi)
    assert not await page.connect()
    assert page.close_code == 4404


async def test_a_page_that_speaks_is_closed(lab, trial):
    page = Websocket(path(trial), user=lab.pi)
    assert await page.connect()
    await page.send_json({"type": "remarks"})
    await page.receive()
    assert page.close_code == 4400


async def test_without_a_channel_layer_the_note_is_kept(lab, trial, monkeypatch):
    class Down:
        async def group_send(self, group: str, message: dict) -> None:
            raise OSError("no Redis")

    monkeypatch.setattr("labapp.hints.get_channel_layer", Down)
    monkeypatch.setattr("labapp.hints.line", Line())
    note = await in_thread(say)(trial, lab.pi)
    assert await TrialNote.objects.filter(pk=note.pk).aexists()
