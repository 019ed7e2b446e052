"""Attaching attributions over REST and seeing them: researchers, the trial's agent, operators of a blinded study."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from django.test import Client
from django.utils import timezone

from labapp.accounts.models import ApiToken
from labapp.cells.agents import agent_create, agent_token_renew
from labapp.studies import services
from labapp.studies.browser.models import TrialAttribution

SHARES = {"time_s": [0.0, 0.1], "shares": {"grounded demos": [0.25, 0.5], "real demos": [0.75, 0.5]}}


def url(trial, name="mixture") -> str:
    return f"/api/trials/{trial.pk}/attributions/{name}/" if name else f"/api/trials/{trial.pk}/attributions/"


def put(client, trial, body=SHARES, name="mixture", **headers):
    return client.put(url(trial, name), body, content_type="application/json", headers=headers)


def series(client, trial) -> list[dict]:
    return client.get(f"{trial.get_absolute_url()}series/").json()["attributions"]


def script(user) -> dict[str, str]:
    return {"authorization": f"Bearer {ApiToken.issue(user=user, name='off-line')[1]}"}


@pytest.fixture
def trial(lab, record):
    return record(lab.confirmed())


def test_a_researchers_script_attaches_and_replaces_it(lab, trial):
    headers = script(lab.researcher)
    made = put(Client(), trial, **headers)
    assert made.status_code == 200 and made.json()["author"] == lab.researcher.username
    assert put(Client(), trial, **headers).json()["sha256"] == made.json()["sha256"]
    assert series(lab.client("pi"), trial) == [
        {
            "name": "mixture", "kind": "shares", "components": ["grounded demos", "real demos"],
            "times_s": [0.0, 0.1], "values": [[0.25, 0.5], [0.75, 0.5]],
        }
    ]  # fmt: skip
    other = {"time_s": [0.0, 0.1], "scores": {"head": [0.9, None]}}
    assert put(Client(), trial, other, **headers).json()["kind"] == "scores"
    assert TrialAttribution.objects.get().components == ["head"]
    whole = lab.client("researcher").get(url(trial)).json()
    assert whole["scores"] == {"head": [0.9, None]} and whole["time_s"] == [0.0, 0.1]


@pytest.mark.parametrize(
    ("length", "status"), [("", 411), ("much", 411), (str(64 * 2**20 + 1), 413)], ids=["none", "no number", "too much"]
)
def test_a_body_without_a_length_or_too_long_is_not_read(lab, trial, length, status):
    client = lab.client("researcher")
    answer = client.put(url(trial), SHARES, content_type="application/json", CONTENT_LENGTH=length)
    assert answer.status_code == status and "64 MB" in answer.json()["detail"]
    assert not TrialAttribution.objects.exists()


def test_a_table_is_attached_as_it_is(lab, trial):
    file = io.BytesIO()
    pq.write_table(pa.table({"time_s": [0.0, 0.1], "head": [0.9, 0.9], "wrist": [0.5, 0.8]}), file)
    kind = "application/vnd.apache.parquet"
    client = lab.client("researcher")
    refused = client.put(url(trial), file.getvalue(), content_type=kind)
    assert refused.status_code == 400 and "row 1 (time_s 0): the shares sum to 1.4" in refused.json()["shares"][0]
    assert client.put(f"{url(trial)}?kind=scores", file.getvalue(), content_type=kind).status_code == 200
    assert series(client, trial)[0]["components"] == ["head", "wrist"]


def test_the_trials_own_agent_attaches_it_and_reads_nothing(lab, trial):
    own = {"authorization": f"Agent {agent_token_renew(agent=lab.agent)}"}
    assert put(Client(), trial, **own).json()["agent"] == lab.agent.name
    assert Client().get(url(trial), headers=own).status_code == 403
    _, token = agent_create(cell=lab.study.cell, name="another")
    assert put(Client(), trial, authorization=f"Agent {token}").status_code == 404


def test_it_is_taken_away_again(lab, trial):
    client = lab.client("researcher")
    put(client, trial)
    assert client.delete(url(trial)).status_code == 204
    assert series(client, trial) == [] and client.delete(url(trial)).status_code == 404


@pytest.mark.parametrize(
    ("body", "field", "words"),
    [
        (SHARES | {"time_s": [0.0, 99.0]}, "time_s", "row 2 (time_s 99) lies after the end of this trial"),
        ({"time_s": [0.0], "shares": {"a": [0.4]}}, "shares", "row 1 (time_s 0): the shares sum to 0.4; right is 1"),
        ([1], "shares", "Send an object"),
    ],
)
def test_what_is_wrong_is_said_by_field_and_nothing_is_kept(lab, trial, body, field, words):
    refused = put(lab.client("researcher"), trial, body)
    assert refused.status_code == 400 and words in refused.json()[field][0]
    assert not TrialAttribution.objects.exists()


@pytest.mark.parametrize("name", ["Mixture", "9", "a" * 41, "a-b"])
def test_a_name_that_is_none_is_refused(lab, trial, name):
    assert put(lab.client("researcher"), trial, name=name).status_code == 400


def test_operators_of_a_blinded_study_see_nothing_of_it(lab, trial):
    put(lab.client("researcher"), trial)
    client = lab.client("operator")
    assert client.get(url(trial)).status_code == client.get(url(trial, "")).status_code == 403
    assert put(client, trial).status_code == client.delete(url(trial)).status_code == 403
    page = client.get(trial.get_absolute_url()).content.decode()
    assert series(client, trial) == [] and "attribution" not in page and "grounded demos" not in page
    services.study_unblind(
        study=lab.study, actor=lab.pi, now=timezone.now(), reason="The attribution is to be discussed."
    )
    assert series(client, trial)[0]["name"] == "mixture"
    assert 'id="attributions"' in client.get(trial.get_absolute_url()).content.decode()
    assert put(client, trial).status_code == 403


def test_strangers_get_nothing(lab, trial):
    assert Client().get(url(trial)).status_code == put(Client(), trial).status_code == 401


def test_one_recorded_by_the_robot_is_shown_unless_another_of_its_name_is_attached(lab, record):
    rows = np.linspace(0, 1, 10, dtype=np.float32)
    recorded = {"views": {"head": rows, "wrist": 1 - rows}, "damaged": {"head": rows + 7}}
    trial = record(lab.confirmed(), attributions=recorded)
    found = series(lab.client("researcher"), trial)
    assert [(one["name"], one["kind"], one["components"]) for one in found] == [("views", "shares", ["head", "wrist"])]
    assert found[0]["values"][0][-1] == 1.0 and series(lab.client("operator"), trial) == []
    put(lab.client("researcher"), trial, name="views")
    assert series(lab.client("researcher"), trial)[0]["components"] == ["grounded demos", "real demos"]
