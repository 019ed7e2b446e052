"""Rollouts as a table that sorts, filters and exports, and each of them to be watched."""

import csv
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from labapp import storage
from labapp.evaluations.models import Evaluation, RolloutFolder, SimulatedRollout
from labapp.evaluations.recordings import folders_store, videos_of
from labapp.evaluations.services import evaluation_remove
from labapp.lineage import lineage_of
from labapp.media.models import Media
from labapp.runs.artifacts import artifact_store
from labapp.runs.events import Artifact
from labapp.runs.models import Run
from labapp.studies.services import study_unblind
from tests.labapp.evaluations.conftest import write_episodes

pytestmark = pytest.mark.django_db


def listed(client: Client, evaluation: Evaluation, query: str = "") -> list[Any]:
    page = client.get(f"{evaluation.get_absolute_url()}rollouts/?{query}").context["page"]
    return list(page.object_list)


def code_of(lab) -> str:
    return lab.study.arms.order_by("code").first().code


def address(lab, evaluation: Evaluation, number: int = 1) -> str:
    return f"{evaluation.get_absolute_url()}rollouts/{code_of(lab)}/{number}/"


def first(evaluation: Evaluation) -> SimulatedRollout:
    return SimulatedRollout.objects.filter(policy__evaluation=evaluation).order_by("policy__arm__code", "number")[0]


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("rollout", lambda r: r.number),
        ("policy", lambda r: r.policy.arm.code),
        ("condition", lambda r: r.condition.order),
        ("outcome", lambda r: not r.is_success),
        ("stage", lambda r: r.furthest_stage == "placed"),
        ("seed", lambda r: r.seed),
    ],
)
def test_every_column_sorts_both_ways(lab, evaluation, sort, key) -> None:
    client = lab.client("researcher")
    up, down = (list(map(key, listed(client, evaluation, f"sort={sign}{sort}"))) for sign in ("", "-"))
    assert up == sorted(up) and down == sorted(down, reverse=True) and up != down


def test_filters_narrow_the_list_and_stay_in_every_link(lab, evaluation) -> None:
    client, code = lab.client("researcher"), code_of(lab)
    query = f"policy={code}&condition=red-light&object=box&outcome=missed_pick&stage=contact"
    rows = listed(client, evaluation, query)
    assert {(r.policy.arm.code, r.condition.slug, r.failure_mode) for r in rows} == {(code, "red-light", "missed_pick")}
    text = client.get(f"{evaluation.get_absolute_url()}rollouts/?{query}&bogus=1&page=1").content.decode()
    assert f"{rows[0].get_absolute_url()}?{query}".replace("&", "&amp;") in text
    assert f"rollouts.csv?{query}".replace("&", "&amp;") in text


def test_the_csv_has_all_filtered_rows_in_their_order_not_only_a_page(lab, evaluation, monkeypatch) -> None:
    monkeypatch.setattr("labapp.evaluations.rollouts.PER_PAGE", 2)
    client = lab.client("researcher")
    answer = client.get(f"{evaluation.get_absolute_url()}rollouts.csv?outcome=success&sort=-rollout")
    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    good = SimulatedRollout.objects.filter(is_success=True)
    assert [int(row["rollout"]) - 1 for row in rows] == sorted(good.values_list("number", flat=True), reverse=True)
    assert {(row["outcome"], row["is_simulated"]) for row in rows} == {("success", "True")}
    assert {row["code"] for row in rows} == {row["policy"] for row in rows}, "a blinded study shows codes"


def test_a_csv_of_a_filter_that_cannot_be_applied_leads_to_the_list_that_says_so(lab, evaluation) -> None:
    answer = lab.client("researcher").get(f"{evaluation.get_absolute_url()}rollouts.csv?policy=nobody", follow=True)
    assert answer.redirect_chain == [(f"{evaluation.get_absolute_url()}rollouts/?policy=nobody", 302)]
    assert "Select a valid choice" in answer.content.decode()


def test_an_empty_list_says_what_to_do_next(lab, evaluation) -> None:
    client, url = lab.client("researcher"), f"{evaluation.get_absolute_url()}rollouts/"
    assert "Show all rollouts" in client.get(f"{url}?outcome=invalid").content.decode()
    wrong = client.get(f"{url}?policy=nobody")
    assert wrong.status_code == 200 and "Select a valid choice" in wrong.content.decode()
    Evaluation.objects.update(ready_at=None)
    SimulatedRollout.objects.all().delete()
    assert "See how far it is" in client.get(url).content.decode()


def test_a_rollout_is_watched_as_a_trial_is(lab, watched) -> None:
    client = lab.client("researcher")
    answer = client.get(address(lab, watched))
    text, media = answer.content.decode(), Media.objects.get()
    assert f'src="{media.get_absolute_url()}"' in text and 'class="simulated"' in text
    assert client.get(media.get_absolute_url()).status_code == 200
    assert [(e["label"], e["time_s"]) for e in answer.context["events"]] == [("approach", 0.0), ("contact", 0.1)]
    series = client.get(f"{address(lab, watched)}series/").json()
    assert (series["names"], series["duration_s"], len(series["times_s"])) == (["joint_1", "joint_2"], 0.2, 10)
    assert series["action"][0][0] == pytest.approx(0.1)
    other = lab.study.arms.order_by("code").last().code
    assert f"/rollouts/{other}/1/" in text, "the other policy from the same start"


def test_a_rollout_without_video_has_its_joints_and_one_without_a_recording_says_so(lab, watched) -> None:
    client = lab.client("researcher")
    second = client.get(address(lab, watched, 2)).content.decode()
    assert "no video" in second and "<video" not in second
    assert client.get(f"{address(lab, watched, 2)}series/").status_code == 200
    assert "broke off before anything could be recorded" in client.get(address(lab, watched, 3)).content.decode()
    SimulatedRollout.objects.filter(number=2).update(folder=None)
    assert "Only the outcome of this rollout is here" in client.get(address(lab, watched, 3)).content.decode()
    assert client.get(f"{address(lab, watched, 3)}series/").status_code == 404
    for missing in (f"{watched.get_absolute_url()}rollouts/nobody/1/", address(lab, watched, 999)):
        assert client.get(missing).status_code == 404


def test_previous_and_next_keep_to_the_filter(lab, watched) -> None:
    client = lab.client("researcher")
    around = client.get(f"{address(lab, watched, 2)}?policy={code_of(lab)}&outcome=success&sort=-rollout").context[
        "around"
    ]
    assert (around.previous.number + 1, around.next.number + 1, around.number, around.count) == (3, 1, 4, 5)


def test_while_blinded_an_operator_reaches_no_file_of_a_rollout_and_afterwards_all(lab, watched) -> None:
    operator, researcher = lab.client("operator"), lab.client("researcher")
    (video,) = videos_of(first(watched))
    urls = [video.media.get_absolute_url(), address(lab, watched), f"{address(lab, watched)}series/"]
    assert [operator.get(url).status_code for url in urls] == [403] * 3
    assert [researcher.get(url).status_code for url in urls] == [200] * 3
    study_unblind(study=lab.study, actor=lab.pi, reason="done", now=timezone.now())
    assert [operator.get(url).status_code for url in reversed(urls)] == [200] * 3


def test_stored_twice_the_recordings_are_there_once(lab, watched, tmp_path) -> None:
    before = list(RolloutFolder.objects.values_list("pk", "sha256"))
    paths = {folder.path for folder in watched.folders.all()}
    folders_store(run=watched.run, evaluation=watched, out=tmp_path / "out", paths=paths)
    assert list(RolloutFolder.objects.values_list("pk", "sha256")) == before


@pytest.fixture
def failed(watched: Evaluation, tmp_path: Path) -> Evaluation:
    """An evaluation whose run failed after it had stored a block's episodes."""
    out = tmp_path / "part"
    write_episodes(out / "episodes" / "policy-1-0000", with_video=(True,))
    artifact_store(run_id=watched.run_id, out=out, artifact=Artifact("episodes/policy-1-0000", "episodes"))
    Evaluation.objects.update(ready_at=None)
    Run.objects.filter(pk=watched.run_id).update(status="failed", finished_at=timezone.now())
    watched.refresh_from_db()
    return watched


def test_an_evaluation_is_removed_while_the_store_is_away_and_its_run_tells_what_stayed(
    lab, failed, monkeypatch, django_capture_on_commit_callbacks
) -> None:
    def away(prefix: str) -> int:
        raise storage.StoreUnavailable(prefix)

    monkeypatch.setattr(storage, "delete_prefix", away)
    with django_capture_on_commit_callbacks(execute=True):
        answer = lab.client("researcher").post(f"{failed.get_absolute_url()}remove/")
    assert answer.url == "/evaluations/" and not Evaluation.objects.exists()
    assert failed.run.artifacts.get().path == "episodes/policy-1-0000"


def test_what_a_removed_evaluation_recorded_leaves_the_store(failed, django_capture_on_commit_callbacks) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        evaluation_remove(failed)
    assert storage.list_keys(f"runs/{failed.run_id}/") == [] and not failed.run.artifacts.exists()
    assert not SimulatedRollout.objects.exists() and not RolloutFolder.objects.exists()


def test_lineage_counts_the_rollouts_that_rest_on_a_world(lab, watched, world) -> None:
    counts = {group.title: group.count for group in lineage_of(world).carries}
    assert counts["Simulated rollouts"] == SimulatedRollout.objects.count()
