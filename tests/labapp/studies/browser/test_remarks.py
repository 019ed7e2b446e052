"""Notes and flags: shared with everyone, changed only by their author, deleted with a way back."""

from uuid import uuid4

import pytest
from django.test import Client

from labapp.studies.browser.models import TrialFlag, TrialNote

NAMED = "Looks like grounded-world-adapt to me"


@pytest.fixture
def trial(lab):
    return lab.confirmed()


def send(client: Client, method: str, url: str, body: dict | None = None):
    return getattr(client, method)(url, body or {}, content_type="application/json")


def note(client: Client, trial, **body):
    return send(client, "post", f"/api/trials/{trial.pk}/notes/", {"text": "The belt stuttered", "time_s": 1.5} | body)


def test_a_note_is_read_by_everyone_who_sees_the_trial(lab, trial):
    made = note(lab.client("operator"), trial)
    assert made.status_code == 201
    for role in ("operator", "researcher", "pi"):
        (found,) = lab.client(role).get(f"/api/trials/{trial.pk}/notes/").json()
        assert (found["text"], found["time_s"], found["author"]) == ("The belt stuttered", 1.5, lab.operator.username)
        assert "The belt stuttered" in lab.client(role).get(trial.get_absolute_url()).content.decode()


def test_strangers_read_and_write_nothing(trial):
    client = Client()
    assert client.get(f"/api/trials/{trial.pk}/notes/").status_code in (401, 403)
    assert note(client, trial).status_code in (401, 403)
    assert client.post(f"{trial.get_absolute_url()}remarks/", {"text": "x"}).status_code == 302
    assert TrialNote.objects.count() == 0


def test_a_note_sent_twice_is_one_note(lab, trial):
    body = {"id": str(uuid4())}
    answers = [note(lab.client("operator"), trial, **body) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201] and TrialNote.objects.count() == 1


def test_nobody_takes_over_the_id_of_another_ones_note(lab, trial):
    body = {"id": str(uuid4())}
    note(lab.client("operator"), trial, **body)
    assert note(lab.client("researcher"), trial, **body, text="mine").status_code == 403
    assert TrialNote.objects.get().text == "The belt stuttered"


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_only_the_author_changes_or_deletes(lab, trial, method):
    url = f"/api/notes/{note(lab.client('operator'), trial).json()['id']}/"
    assert send(lab.client("pi"), method, url, {"text": "other"}).status_code == 403
    assert TrialNote.objects.get().text == "The belt stuttered" and TrialNote.objects.get().deleted_at is None


def test_the_author_changes_deletes_and_restores(lab, trial):
    client = lab.client("operator")
    url = f"/api/notes/{note(client, trial).json()['id']}/"
    changed = send(client, "patch", url, {"text": "The belt stopped"}).json()
    assert changed["text"] == "The belt stopped" and changed["time_s"] == 1.5 and changed["edited_at"]
    assert client.delete(url).status_code == 204
    assert client.get(f"/api/trials/{trial.pk}/notes/").json() == []
    assert send(client, "post", f"{url}restore/").status_code == 200
    assert len(client.get(f"/api/trials/{trial.pk}/notes/").json()) == 1


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("notes", {"text": " "}, "text"),
        ("notes", {"text": "x", "time_s": -1}, "time_s"),
        ("flags", {"label": "maybe"}, "label"),
        ("flags", {"text": "no label"}, "label"),
        ("flags", {"label": "check", "text": "x" * 201}, "text"),
    ],
)
def test_what_cannot_be_said_is_refused_by_field(lab, trial, path, body, field):
    answer = send(lab.client("operator"), "post", f"/api/trials/{trial.pk}/{path}/", body)
    assert answer.status_code == 400 and field in answer.json()


@pytest.mark.parametrize("path", ["notes", "flags"])
def test_a_moment_after_the_trials_end_is_refused_with_its_length(lab, trial, path):
    client, body = lab.client("operator"), {"text": "x", "label": "check", "time_s": trial.duration_s + 1.01}
    answer = send(client, "post", f"/api/trials/{trial.pk}/{path}/", body)
    assert answer.status_code == 400 and f"took {trial.duration_s:.2f} s" in answer.json()["time_s"][0]
    made = send(client, "post", f"/api/trials/{trial.pk}/{path}/", body | {"time_s": trial.duration_s}).json()
    changed = send(client, "patch", f"/api/{path}/{made['id']}/", {"time_s": body["time_s"]})
    assert changed.status_code == 400 and "time_s" in changed.json()
    assert send(client, "patch", f"/api/{path}/{made['id']}/", {"text": "y"}).status_code == 200


@pytest.mark.parametrize("path", ["notes", "flags"])
def test_a_researcher_cannot_tell_operators_what_a_code_hides(lab, trial, path):
    body = {"text": NAMED, "label": "check"}
    answer = send(lab.client("researcher"), "post", f"/api/trials/{trial.pk}/{path}/", body)
    assert answer.status_code == 400 and "blinded" in answer.json()["text"][0]
    assert TrialNote.objects.count() == TrialFlag.objects.count() == 0


def test_an_operators_guess_is_not_answered_by_a_refusal(lab, trial):
    assert note(lab.client("operator"), trial, text=NAMED).status_code == 201


def test_an_unblinded_study_may_be_spoken_of_freely(lab, trial):
    lab.client("pi").post(f"{lab.study.get_absolute_url()}unblind/", {"reason": "done"})
    assert note(lab.client("researcher"), trial, text=NAMED).status_code == 201


def test_the_page_adds_edits_deletes_and_offers_undo(lab, trial):
    client, url = lab.client("operator"), f"{trial.get_absolute_url()}remarks/"
    added = client.post(url, {"id": str(uuid4()), "text": "Slipped", "label": "odd", "time_s": "2.25"})
    flag = TrialFlag.objects.get()
    assert flag.label == "odd" and 'data-time="2.25"' in added.content.decode()
    edited = client.post(f"{url}flag/{flag.pk}/edit/", {"text": "Slid", "label": "check", "time_s": "2.25"})
    assert "The flag is changed" in edited.content.decode() and 'value="Slipped"' in edited.content.decode()
    deleted = client.post(f"{url}flag/{flag.pk}/delete/").content.decode()
    assert "The flag is deleted" in deleted and f"{url}flag/{flag.pk}/restore/" in deleted
    client.post(f"{url}flag/{flag.pk}/restore/")
    flag.refresh_from_db()
    assert flag.deleted_at is None and flag.text == "Slid"


def test_an_empty_remark_is_told_so_and_kept_out(lab, trial):
    answer = lab.client("operator").post(f"{trial.get_absolute_url()}remarks/", {"id": str(uuid4()), "text": ""})
    assert answer.status_code == 200 and "Write something, or choose a flag." in answer.content.decode()
    assert TrialNote.objects.count() == 0


def test_markup_in_a_note_is_text(lab, trial):
    note(lab.client("operator"), trial, text="<script>alert(1)</script>")
    page = lab.client("pi").get(trial.get_absolute_url()).content.decode()
    assert "<script>alert(1)" not in page and "&lt;script&gt;alert(1)" in page
