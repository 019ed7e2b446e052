"""Nothing of the trial browser tells an operator which policy is behind a code."""

from uuid import uuid4

import pytest

from labapp.studies.browser.models import SavedFilter
from tests.labapp.studies.conftest import Lab, make_lab
from tests.labapp.studies.test_blinding import crawl, identities, played


@pytest.fixture
def lab(transactional_db) -> Lab:
    return make_lab()


def test_no_page_of_the_browser_names_a_policy(lab):
    trial = played(lab)
    client, researcher = lab.client("operator"), lab.client("researcher")
    for role in (client, researcher):
        body = {"id": str(uuid4()), "text": "Look at the left hand", "label": "check", "time_s": "0.5"}
        role.post(f"{trial.get_absolute_url()}remarks/", body)
    query = {"name": "Successes", "query": "outcome=success", "is_shared": "on"}
    researcher.post(f"{lab.study.get_absolute_url()}filters/", query)
    base = f"/studies/{lab.study.slug}"
    running = lab.study.trials.exclude(pk=trial.pk).get()
    start = [
        f"{base}/compare/?a={trial.pk}", f"{base}/compare/?a={trial.pk}&b={running.pk}&t=1", f"{base}/screen/",
        f"{base}/trials/", f"{base}/trials/?outcome=success", f"{trial.get_absolute_url()}?outcome=success",
        f"{trial.get_absolute_url()}remarks/", f"/api/studies/{lab.study.slug}/reference/",
        f"/api/trials/{trial.pk}/notes/", f"/api/trials/{trial.pk}/flags/",
    ]  # fmt: skip
    visited = dict(crawl(client, start))
    leaks = [(url, secret) for url, text in visited.items() for secret in identities(lab) if secret in text]
    assert leaks == [] and SavedFilter.objects.count() == 1
    assert all("Look at the left hand" in visited[url] for url in (start[5], start[6], start[9]))
    assert "Successes" in visited[f"{base}/trials/"]
