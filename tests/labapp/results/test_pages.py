"""The results page through Django: roles, blinding, CSRF, callbacks, filters."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from frontend.dashboards.filters import Filters
from labapp.accounts.models import User
from labapp.results.queries import study_content
from labapp.studies.models import PolicyArm, Study

BrowserOf = Callable[[User], Client]
POLICY_WORDS = ("policy GG", "grounded", "pick-and-sort-gg", "real-only")


def show(client: Client, slug: str, search: str = "", theme: str = "light", **headers: str) -> Any:
    """The callback that fills the page, as the browser asks for it."""
    body = {
        "output": "..body.children...version.data..",
        "outputs": [{"id": "body", "property": "children"}, {"id": "version", "property": "data"}],
        "inputs": [
            {"id": "address", "property": "search", "value": search},
            {"id": "theme", "property": "data", "value": theme},
            {"id": "newer", "property": "data", "value": None},
        ],
        "state": [{"id": "address", "property": "pathname", "value": f"/results/{slug}/"}],
        "changedPropIds": ["address.search"],
    }
    return client.post("/results/_dash-update-component", json.dumps(body), "application/json", headers=headers)


def shown(client: Client, slug: str, search: str = "", theme: str = "light") -> str:
    """What the callback put on the page, as one text."""
    answer = show(client, slug, search, theme)
    assert answer.status_code == 200, answer.content
    return json.dumps(answer.json(), ensure_ascii=False)


def test_the_page_has_the_sites_frame_and_dash_inside(study: Study, pi: User, browser_of: BrowserOf) -> None:
    page = browser_of(pi).get("/results/pick-and-sort/").content.decode()
    assert "Results of Pick and sort" in page
    assert 'class="simulated"' in page
    assert 'id="react-entry-point"' in page
    assert 'id="_dash-config"' in page


def test_every_script_is_local_and_there(study: Study, pi: User, browser_of: BrowserOf) -> None:
    client = browser_of(pi)
    page = client.get("/results/pick-and-sort/").content.decode()
    sources = [part.split('"')[0] for part in page.split('src="')[1:]]
    assert sources
    assert all(source.startswith("/") for source in sources)
    for source in sources:
        if source.startswith("/results/"):
            assert client.get(source).status_code == 200, source


def test_layout_and_callbacks_are_served_under_the_mount(study: Study, pi: User, browser_of: BrowserOf) -> None:
    client = browser_of(pi)
    assert client.get("/results/_dash-layout").json()["type"] == "Div"
    assert client.get("/results/_dash-dependencies").status_code == 200


def test_the_pi_reads_the_table_with_names_effects_and_links(study: Study, pi: User, browser_of: BrowserOf) -> None:
    text = shown(browser_of(pi), study.slug)
    arm = PolicyArm.objects.get(label="policy GG")
    for expected in (
        "policy GG", "world grounded, behavior grounded", "86%", " 43/50", "74% – 93%", "simulated",
        f"/studies/pick-and-sort/trials/?arm={arm.code}&condition=nominal",
        "World grounding raised success by 18.0 points",
        "No effect of behavior grounding shown: +10.0 points",
    ):  # fmt: skip
        assert expected in text, expected


def test_every_cell_opens_exactly_its_trials(study: Study, pi: User, browser_of: BrowserOf) -> None:
    content = study_content(study, pi, Filters())
    client = browser_of(pi)
    for row in content.rows[:2]:
        for cell in row.cells:
            trials = client.get(cell.href).context["filter"].qs
            assert (trials.count(), trials.filter(is_success=True).count()) == (cell.trials, cell.successes), cell.href


def test_a_researcher_of_a_blinded_study_sees_codes_and_no_identity(
    study: Study, researcher: User, browser_of: BrowserOf
) -> None:
    client = browser_of(researcher)
    answers = [show(client, study.slug), client.get("/results/pick-and-sort/table.csv")]
    answers.append(client.get("/results/pick-and-sort/rows.csv"))
    for answer in answers:
        text = b"".join(answer).decode() if answer.streaming else json.dumps(answer.json(), ensure_ascii=False)
        assert "K70" in text
        for word in POLICY_WORDS:
            assert word not in text, word


def test_once_unblinded_everyone_sees_names(
    study: Study, operator: User, browser_of: BrowserOf, unblind: Callable
) -> None:
    unblind(study)
    text = shown(browser_of(operator), study.slug)
    assert "policy GG" in text
    assert "Unblinded on" in text
    assert "before the study finished" in text


@pytest.mark.parametrize("path", ["", "table.csv", "rows.csv"])
def test_an_operator_is_refused_while_the_study_is_blinded(
    study: Study, operator: User, browser_of: BrowserOf, path: str
) -> None:
    assert browser_of(operator).get(f"/results/pick-and-sort/{path}").status_code == 403


def test_an_operator_is_refused_by_the_callback_too(study: Study, operator: User, browser_of: BrowserOf) -> None:
    answer = show(browser_of(operator), study.slug)
    assert answer.status_code == 403
    assert b"open to operators" in answer.content
    assert b"Traceback" not in answer.content


def test_strangers_are_sent_to_the_login(study: Study) -> None:
    client = Client()
    for path in ("", "_dash-layout", "pick-and-sort/", "pick-and-sort/rows.csv"):
        answer = client.get(f"/results/{path}")
        assert answer.status_code == 302, path
        assert "login" in answer["Location"]
    assert show(client, study.slug).status_code == 302


def test_an_unknown_study_is_404_everywhere(pi: User, browser_of: BrowserOf) -> None:
    client = browser_of(pi)
    assert client.get("/results/nothing/").status_code == 404
    assert show(client, "nothing").status_code == 404


def test_callbacks_need_the_csrf_token(study: Study, pi: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(pi)
    assert show(client, study.slug).status_code == 403
    client.get("/results/pick-and-sort/")
    token = client.cookies["csrftoken"].value
    assert show(client, study.slug, **{"X-CSRFToken": token}).status_code == 200


def test_filters_in_the_address_choose_conditions_and_confidence(study: Study, pi: User, browser_of: BrowserOf) -> None:
    text = shown(browser_of(pi), study.slug, "?conditions=nominal&confidence=0.9")
    assert " 22/24" in text
    assert "43/50" not in text
    assert "90% Wilson intervals" in text


def test_a_link_that_cannot_be_read_says_so(study: Study, pi: User, browser_of: BrowserOf) -> None:
    client = browser_of(pi)
    assert "confidence: '2' is not one of" in shown(client, study.slug, "?confidence=2")
    answer = client.get("/results/pick-and-sort/table.csv?until=yesterday")
    assert answer.status_code == 400
    assert b"until: 'yesterday'" in answer.content


def test_an_old_link_tells_that_the_data_changed(study: Study, pi: User, browser_of: BrowserOf) -> None:
    text = shown(browser_of(pi), study.slug, "?data=0a0b0c0d")
    assert "it showed version 0a0b0c0d" in text


def test_a_link_until_a_moment_leaves_out_later_trials(study: Study, pi: User, browser_of: BrowserOf) -> None:
    text = shown(browser_of(pi), study.slug, "?until=2026-09-30T09:09:30+00:00")
    assert " 20/20" in text  # ten nominal and ten red-light trials of the best arm, all within ten minutes


def test_one_persons_filter_never_shows_for_another(study: Study, pi: User, browser_of: BrowserOf, make_user) -> None:
    other = browser_of(make_user("pi", username="second-pi"))
    filtered = shown(browser_of(pi), study.slug, "?conditions=nominal")
    whole = shown(other, study.slug)
    assert "43/50" not in filtered
    assert "43/50" in whole


def test_a_study_without_trials_says_what_to_do(study: Study, pi: User, browser_of: BrowserOf) -> None:
    study.trials.all().delete()
    client = browser_of(pi)
    assert "No scored trials yet" in shown(client, study.slug)
    assert "No scored trial matches these filters" in shown(client, study.slug, "?conditions=nominal")


def test_the_list_shows_what_each_role_may_open(
    study: Study, operator: User, pi: User, browser_of: BrowserOf, unblind: Callable
) -> None:
    assert "Pick and sort" in browser_of(pi).get("/results/").content.decode()
    assert "No results to see yet" in browser_of(operator).get("/results/").content.decode()
    unblind(study)
    assert "Pick and sort" in browser_of(operator).get("/results/").content.decode()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_follow_the_theme(study: Study, pi: User, browser_of: BrowserOf, theme: str) -> None:
    text = shown(browser_of(pi), study.slug, theme=theme)
    assert {"light": "#0072b2", "dark": "#56b4e9"}[theme] in text
