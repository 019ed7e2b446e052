"""Every page and endpoint of cells, demonstrations, datasets and policies, as each role and as a stranger."""

import pytest
from django.test import Client

from labapp.cells.models import Calibration
from tests.labapp import made

pytestmark = pytest.mark.django_db

READ, WRITE, ALL = "read", "write", "all"  # researchers and PIs; researchers; everyone signed in
PAGES = {
    "/": ALL,
    "/demonstrations/": READ,
    "/demonstrations/record/": WRITE,
    "/demonstrations/import/": WRITE,
    "/demonstrations/shown/": READ,
    "/demonstrations/shown/0/": READ,
    "/demonstrations/shown/0/plots/": READ,
    "/worlds/": READ,
    "/worlds/new/": WRITE,
    "/worlds/compare/": READ,
    "/worlds/{world}/": READ,
    "/worlds/calibrations/{calibration}/": READ,
    "/worlds/cells/bench/": READ,
    "/configurations/": READ,
    "/configurations/{configuration}/": READ,
    "/datasets/": READ,
    "/datasets/new/": WRITE,
    "/datasets/simulated/": READ,
    "/datasets/simulated/0/": READ,
    "/datasets/simulated/0/plots/": READ,
    "/policies/": READ,
    "/policies/new/": WRITE,
    "/policies/learned/": READ,
    "/api/cells/": ALL,
    "/api/cells/bench/": ALL,
    "/api/calibrations/": READ,
    "/api/worlds/": READ,
    "/api/worlds/{world}/": READ,
    "/api/demonstration-sets/": READ,
    "/api/demonstration-sets/shown/": READ,
    "/api/demonstration-sets/shown/episodes/": READ,
    "/api/configurations/": READ,
    "/api/datasets/": READ,
    "/api/datasets/simulated/": READ,
    "/api/policies/": READ,
    "/api/policies/learned/": READ,
}
POSTS = (
    "/demonstrations/record/",
    "/demonstrations/import/",
    "/worlds/new/",
    "/datasets/new/",
    "/policies/new/",
    "/demonstrations/shown/remove/",
    "/datasets/simulated/remove/",
    "/policies/learned/remove/",
    "/api/uploads/",
    "/api/worlds/",
    "/api/demonstration-sets/",
    "/api/demonstration-sets/import/",
    "/api/datasets/",
    "/api/policies/",
)
ALLOWED = {READ: {"researcher", "pi", "admin"}, WRITE: {"researcher", "admin"}}
ALLOWED[ALL] = ALLOWED[READ] | {"operator"}


@pytest.fixture
def lab(researcher):
    """One of everything; returns what the addresses need."""
    dataset = made.dataset(researcher, made.bench_set(researcher))
    made.policy(researcher, dataset)
    return {
        "world": dataset.configuration.world_id,
        "configuration": dataset.configuration_id,
        "calibration": Calibration.objects.first().pk,
    }


@pytest.mark.parametrize("role", ["researcher", "pi", "operator", "admin"])
def test_each_page_answers_the_roles_it_is_for_and_403_to_others(lab, make_user, browser_of, role):
    user = make_user(role, username=f"a-{role}")
    browser = browser_of(user)
    expected = {path: 200 if role in ALLOWED[access] else 403 for path, access in PAGES.items()}
    assert {path: browser.get(path.format(**lab)).status_code for path in PAGES} == expected


def test_a_stranger_is_sent_to_the_login_or_refused(lab):
    browser = Client()
    for path in PAGES:
        answer = browser.get(path.format(**lab))
        if path.startswith("/api/"):
            assert answer.status_code == 401, path
        else:
            assert answer.status_code == 302, path
            assert answer.url.startswith("/login/"), path


@pytest.mark.parametrize("role", ["pi", "operator"])
def test_nobody_but_researchers_launches_anything(lab, make_user, browser_of, role):
    browser = browser_of(make_user(role, username=f"a-{role}"))
    assert {path: browser.post(path).status_code for path in POSTS} == dict.fromkeys(POSTS, 403)


def test_a_stranger_launches_nothing(lab):
    answers = {path: Client().post(path).status_code for path in POSTS}
    assert set(answers.values()) == {302, 401}


def test_an_operator_gets_no_video_of_a_dataset(lab, browser_of, researcher, operator):
    url = browser_of(researcher).get("/datasets/simulated/0/").context["videos"][0].url
    assert browser_of(operator).get(url).status_code == 403
    assert browser_of(researcher).get(url).status_code == 200
