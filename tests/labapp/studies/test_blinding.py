"""Nothing that an operator can get names a policy: pages, JSON, CSV, media names, sockets and logs."""

import hashlib
import logging
import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from channels.db import database_sync_to_async
from django.test import Client
from django.utils import timezone

from labapp.cells.agents import agent_token_renew
from labapp.live import uploads
from labapp.live.trials import trial_report
from labapp.studies.dispatch import trial_dispatch
from labapp.studies.models import Trial
from labapp.studies.trials import Outcome, trial_confirm
from robots.agent.protocol import Heartbeat, Proposal, TrialEvent, dump_text
from tests.labapp import builders
from tests.labapp.evaluations.conftest import finished
from tests.labapp.live.sockets import agent_socket, viewer_socket
from tests.labapp.studies.conftest import Lab, make_lab

LINK = re.compile(r'(?:href|src|action|hx-get|data-[a-z-]*url|data-series)="(/[^"#]*)"')
API = (
    "/api/studies/", "/api/studies/{slug}/", "/api/studies/{slug}/console/", "/api/studies/{slug}/trials/",
    "/api/runs/", "/api/policies/", "/api/datasets/", "/api/worlds/", "/api/schema/",
)  # fmt: skip
MP4 = b"\x00\x00\x00\x18ftypmp42" + bytes(100)
PAGE_LIMIT = 300


def identities(lab: Lab) -> list[str]:
    """Everything that would tell an operator which policy is behind a code."""
    found = []
    for arm in lab.study.arms.select_related("policy", "checkpoint"):
        checkpoint = arm.checkpoint
        found += [arm.policy.name, arm.label, checkpoint.sha256, checkpoint.prefix, f"policies/{arm.policy.name}"]
    return found


def played(lab: Lab) -> Trial:
    """A whole trial with events, a recording and a confirmation, and one that is under way."""
    trial = lab.start()
    event = TrialEvent(
        str(trial.pk), str(uuid4()), 1, "failed", 1.0, {"reason": "The policy server stopped answering."}
    )
    trial_report(
        trial=trial,
        proposal=Proposal(success=True, furthest_stage="placed", time_s=5, latency_ms=31.5),
        events=[event],
        now=timezone.now(),
    )
    path = "videos/observation.images.head/chunk-000/file-000.mp4"
    uploads.episode_file_store(trial=trial, path=path, sha256=hashlib.sha256(MP4).hexdigest(), chunks=[MP4])
    uploads.episode_complete(trial=trial, files=uploads.episode_files(trial), videos={"head": path})
    trial.refresh_from_db()
    trial_confirm(trial=trial, outcome=Outcome(True, "placed"), version=1, actor=lab.operator, now=timezone.now())
    lab.start()
    return trial


def evaluated(lab: Lab) -> list[str]:
    """Every address of a finished evaluation in simulation, which tells policies apart by their success."""
    world = builders.world(lab.study.cell, "measured", is_grounded=True)
    pk = finished(lab.study, world, amount="each", rollouts=2, successes=(3, 1)).pk
    pages = ["/evaluations/", "/evaluations/new/", f"/evaluations/{pk}/", f"/evaluations/{pk}/rollouts/"]
    pages += [f"/evaluations/{pk}/rollouts.csv", f"/evaluations/{pk}/rollouts/?outcome=success&sort=policy"]
    for code in lab.study.arms.values_list("code", flat=True):
        pages += [f"/evaluations/{pk}/rollouts/{code}/1/{part}" for part in ("", "series/")]
    exports = [f"/results/{lab.study.slug}/{name}" for name in ("simulated.csv", "report.html")]
    return [*pages, *exports, "/api/evaluations/", f"/api/evaluations/{pk}/", f"/api/evaluations/{pk}/rollouts/"]


def crawl(client: Client, start: list[str]) -> Iterator[tuple[str, str]]:
    """Every address that can be reached by links, with all that its answer says."""
    waiting, seen = list(start), set()
    while waiting and len(seen) < PAGE_LIMIT:
        url = waiting.pop(0)
        if url in seen or url.startswith(("/static/", "/logout")):
            continue
        seen.add(url)
        answer = client.get(url)
        body = b"".join(answer.streaming_content) if answer.streaming else answer.content
        text = body.decode(errors="replace")
        yield url, text + "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
        if "html" in answer.headers.get("Content-Type", ""):
            waiting += [link.replace("&amp;", "&") for link in LINK.findall(text)]


@pytest.fixture
def lab(transactional_db) -> Lab:
    return make_lab()


def test_no_response_that_an_operator_can_get_names_a_policy(lab):
    trial = played(lab)
    client = lab.client("operator")
    start = ["/", "/studies/", "/live/", f"/live/{lab.study.cell.slug}/", trial.get_absolute_url()]
    start += [f"{lab.study.get_absolute_url()}{path}" for path in ("console/", "trials/", "trials.csv")]
    start += [f"{trial.get_absolute_url()}series/", f"/results/{lab.study.slug}/", "/results/"]
    start += [url.format(slug=lab.study.slug) for url in API]
    start += evaluated(lab)
    secrets = identities(lab)
    visited = dict(crawl(client, start))
    leaks = [(url, secret) for url, text in visited.items() for secret in secrets if secret in text]
    assert leaks == []
    assert f"/media/{trial.videos.get().media_id}/" in visited, "the crawl did not reach the video"
    assert len(visited) > 12


def test_answers_to_an_operators_changes_name_no_policy(lab):
    client = lab.client("operator")
    trial = lab.proposed()
    calls = [
        ("confirm", {"is_success": True, "furthest_stage": "placed", "version": 1}),
        ("undo", {"version": 2}),
        ("confirm", {"is_success": True, "furthest_stage": "placed", "version": 1}),
        ("invalidate", {"version": 3, "reason": "camera failed"}),
        ("stop", {}),
    ]
    texts = [
        client.post(f"/api/trials/{trial.pk}/{path}/", body, content_type="application/json").content.decode()
        for path, body in calls
    ]
    started = client.post(
        f"/api/studies/{lab.study.slug}/trials/", {"id": str(uuid4())}, content_type="application/json"
    )
    texts.append(started.content.decode())
    assert started.status_code == 201
    assert [secret for secret in identities(lab) for text in texts if secret in text] == []


async def test_no_event_on_an_operators_socket_and_no_log_line_names_a_policy(lab, caplog):
    caplog.set_level(logging.DEBUG)
    token = await database_sync_to_async(lambda: agent_token_renew(agent=lab.agent))()
    secrets = await database_sync_to_async(identities)(lab)
    async with agent_socket(token) as agent, viewer_socket(lab.operator, lab.study.cell.slug) as viewer:
        trial = await database_sync_to_async(lab.start)()
        await database_sync_to_async(trial_dispatch)(trial)
        await agent.receive_kind("trial.start")
        event = TrialEvent(str(trial.pk), str(uuid4()), 1, "stage", 1.0, {"stage": "lift", "policy": secrets[0]})
        await agent.send_text(dump_text(event))
        finished = TrialEvent(str(trial.pk), str(uuid4()), 2, "finished", 1.5, {"policy": secrets[0]})
        await agent.send_text(dump_text(finished))
        await agent.send_text(dump_text(Heartbeat("busy", str(trial.pk))))
        seen = [await viewer.receive_json() for _ in range(3)]
    assert {event["type"] for event in seen} == {"changed", "trial", "agent"}
    assert [event["kind"] for event in seen if event["type"] == "trial"] == ["finished"], "a stage was told"
    assert [secret for secret in secrets if secret in str(seen)] == []
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("labapp"))
    assert [secret for secret in secrets if secret in ours] == []


@pytest.mark.parametrize("url", ["/policies/", "/policies/grounded-world-adapt/", "/datasets/", "/worlds/"])
def test_research_pages_are_closed_to_operators(lab, url):
    assert lab.client("operator").get(url).status_code in (403, 404)
