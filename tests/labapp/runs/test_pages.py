"""Pages and API of runs as researcher, PI, operator and stranger."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from labapp.accounts.models import ApiToken
from labapp.runs.models import Run, RunEvent, RunMetric
from labapp.runs.services import run_claim, run_create, run_finish
from tests.labapp.runs.counting import Counting

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def run(researcher) -> Run:
    return run_create(kind=Counting.name, params={"n": 2}, title="Count to two", created_by=researcher)


def fail(run: Run) -> None:
    owned = run_claim(run_id=run.pk, worker="here:1", now=timezone.now())
    now = timezone.now()
    run_finish(run_id=run.pk, claim=owned.claim, status=Run.Status.FAILED, now=now, error="no room", error_field="n")


def test_every_page_and_route_is_for_researchers_and_pis(run, operator, researcher, pi, browser_of):
    for url in ("/runs/", run.get_absolute_url(), "/api/runs/", f"/api/runs/{run.pk}/", f"/api/runs/{run.pk}/events/"):
        assert browser_of(operator).get(url).status_code == 403, url
        assert browser_of(researcher).get(url).status_code == 200, url
        assert browser_of(pi).get(url).status_code == 200, url
        assert Client().get(url).status_code in (302, 401), url


def test_only_researchers_cancel_and_retry(run, operator, pi, browser_of):
    for user in (operator, pi):
        for action in ("cancel", "retry"):
            assert browser_of(user).post(f"/runs/{run.pk}/{action}/").status_code == 403
            assert browser_of(user).post(f"/api/runs/{run.pk}/{action}/").status_code == 403
    run.refresh_from_db()
    assert run.status == "queued"


def test_the_list_is_filtered_and_sorted(run, researcher, browser_of):
    other = run_create(kind=Counting.name, params={}, title="Another")
    fail(other)
    browser = browser_of(researcher)
    assert "Another" in browser.get("/runs/").content.decode()
    failed = browser.get("/runs/?status=failed", headers=HTMX).content.decode()
    assert "Another" in failed
    assert "Count to two" not in failed
    assert "<html" not in failed
    by_title = browser.get("/runs/?sort=title").content.decode()
    assert by_title.index("Another") < by_title.index("Count to two")
    assert "No run" in browser.get("/runs/?search=nothing+like+it").content.decode()


def test_an_active_list_keeps_itself_fresh_and_a_finished_one_does_not(run, researcher, browser_of):
    browser = browser_of(researcher)
    assert "every 3s" in browser.get("/runs/").content.decode()
    fail(run)
    assert "every 3s" not in browser.get("/runs/").content.decode()


def test_the_page_of_a_run_shows_state_log_error_and_buttons(run, researcher, pi, browser_of):
    fail(run)
    page = browser_of(researcher).get(run.get_absolute_url()).content.decode()
    assert "no room" in page
    assert "Attempt 1 started on here:1." in page
    assert "Retry" in page
    assert "Retry" not in browser_of(pi).get(run.get_absolute_url()).content.decode()


def test_cancel_and_retry_from_the_page(run, researcher, browser_of):
    browser = browser_of(researcher)
    browser.post(f"/runs/{run.pk}/cancel/")
    run.refresh_from_db()
    assert run.status == "cancelled"
    browser.post(f"/runs/{run.pk}/retry/")
    run.refresh_from_db()
    assert run.status == "queued"
    answer = browser.post(f"/runs/{run.pk}/retry/", follow=True)
    assert "Only a run that failed" in answer.content.decode()


def test_a_change_needs_a_post(run, researcher, browser_of):
    assert browser_of(researcher).get(f"/runs/{run.pk}/cancel/").status_code == 405


def test_the_api_cancels_once_and_says_why_not_twice(run, researcher):
    _, token = ApiToken.issue(user=researcher, name="script")
    client = Client(headers={"Authorization": f"Bearer {token}"})
    first = client.post(f"/api/runs/{run.pk}/cancel/")
    assert (first.status_code, first.json()["status"]) == (200, "cancelled")
    again = client.post(f"/api/runs/{run.pk}/cancel/")
    assert again.status_code == 409
    assert "already ended" in again.json()["detail"]


def test_the_log_is_read_on_from_a_number(run, researcher, browser_of):
    RunEvent.objects.bulk_create([RunEvent(run=run, seq=seq, message=str(seq)) for seq in range(1, 6)])
    answer = browser_of(researcher).get(f"/api/runs/{run.pk}/events/?after=3").json()
    assert [row["seq"] for row in answer["results"]] == [4, 5]
    assert browser_of(researcher).get(f"/api/runs/{run.pk}/events/?after=x").status_code == 400


def test_a_metric_that_is_no_number_is_null_in_json_that_parses(run, researcher, browser_of):
    RunMetric.objects.create(run=run, step=1, name="loss", value=None, flag="nan")
    RunMetric.objects.create(run=run, step=2, name="loss", value=0.5)
    rows = browser_of(researcher).get(f"/api/runs/{run.pk}/metrics/").json()["results"]
    assert [(row["value"], row["flag"]) for row in rows] == [(None, "nan"), (0.5, "")]
    assert "nan" in browser_of(researcher).get(run.get_absolute_url()).content.decode()


def test_an_unknown_run_is_not_found(researcher, browser_of):
    assert browser_of(researcher).get("/runs/999999/").status_code == 404
    assert browser_of(researcher).get("/api/runs/999999/").status_code == 404


def test_a_lost_run_is_seen_as_lost_when_its_page_is_opened(run, researcher, browser_of):
    run_claim(run_id=run.pk, worker="here:1", now=timezone.now() - timedelta(minutes=5))
    browser_of(researcher).get(run.get_absolute_url())
    run.refresh_from_db()
    assert run.status == "lost"
