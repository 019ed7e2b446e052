"""The home page: the loop with its counts, what runs, what is missing."""

import pytest

from labapp.runs.models import Run
from tests.labapp import made

pytestmark = pytest.mark.django_db


def counts(page):
    return {box.place.key: (box.count, box.url) for box in page.context["boxes"]}


def test_an_empty_lab_is_told_to_start_with_demonstrations(browser_of, researcher):
    page = browser_of(researcher).get("/")
    assert page.context["next_step"].url == "/demonstrations/record/"
    assert {count for count, _ in counts(page).values()} == {0}


def test_the_next_step_follows_the_loop(browser_of, researcher):
    browser = browser_of(researcher)
    shown = made.bench_set(researcher)
    assert browser.get("/").context["next_step"].url == "/worlds/new/"
    dataset = made.dataset(researcher, shown)
    assert browser.get("/").context["next_step"].url == "/policies/new/"
    made.policy(researcher, shown, dataset)
    assert browser.get("/").context["next_step"] is None


def test_the_counts_are_those_of_the_lab_and_each_box_is_a_link(browser_of, researcher):
    made.policy(researcher, made.dataset(researcher, made.bench_set(researcher)))
    found = counts(browser_of(researcher).get("/"))
    assert (found["demos"], found["datasets"], found["policies"]) == (
        (2, "/demonstrations/"),
        (1, "/datasets/"),
        (1, "/policies/"),
    )


def test_operators_see_counts_but_no_names_and_no_links_into_the_research(browser_of, researcher, operator):
    made.policy(researcher, made.dataset(researcher, made.bench_set(researcher)), name="secret-policy")
    page = browser_of(operator).get("/")
    text = page.content.decode()
    assert counts(page)["policies"] == (1, "")
    assert "secret-policy" not in text
    assert "/policies/" not in text
    assert "/datasets/" not in text
    assert page.context["runs"] == []


def test_a_refresh_brings_the_live_part_alone(browser_of, researcher):
    answer = browser_of(researcher).get("/", headers={"HX-Request": "true"}).content.decode()
    assert "<svg" in answer
    assert "<html" not in answer


def test_what_runs_moves_in_the_picture(browser_of, researcher):
    run = Run.objects.create(kind="datasets.generate", title="Generate", created_by=researcher)
    Run.objects.filter(pk=run.pk).update(
        status="running", claim="12345678123456781234567812345678", lease_expires_at=run.created_at,
        started_at=run.created_at,
    )  # fmt: skip
    wires = browser_of(researcher).get("/").context["wires"]
    assert {wire.flow for wire, is_live in wires if is_live} == {"datasets.generate"}


def test_a_waiting_page_loads_anew_when_the_run_has_ended(browser_of, researcher):
    waiting = {"HX-Request": "true", "HX-Target": "being-made"}
    made.bench_set(researcher)
    Run.objects.update(status="succeeded", finished_at="2026-01-01T00:00Z")
    assert browser_of(researcher).get("/demonstrations/shown/", headers=waiting).headers["HX-Refresh"] == "true"


def test_a_waiting_page_waits_while_the_run_goes_on(browser_of, researcher):
    waiting = {"HX-Request": "true", "HX-Target": "being-made"}
    made.bench_set(researcher)
    answer = browser_of(researcher).get("/demonstrations/shown/", headers=waiting)
    assert "HX-Refresh" not in answer.headers


def test_the_icon_is_where_browsers_look_for_it_and_on_the_admins_pages(client):
    assert client.get("/favicon.ico")["Location"] == "/static/favicon.svg"
    assert '<link rel="icon" href="/static/favicon.svg">' in client.get("/admin/login/").content.decode()


def test_every_page_where_people_sign_in_forgets_what_the_device_kept_of_a_console(client, admin_client):
    for url in ("/login/", "/admin/login/"):
        assert "/static/js/sign_in.js" in client.get(url).content.decode()
    assert "sign_in.js" not in admin_client.get("/admin/").content.decode()
