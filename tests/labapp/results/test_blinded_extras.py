"""What was added to results after the first leak tests: saved figures, second views, plan in words; still no names."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from frontend.dashboards.drawn import FIGURES
from labapp.studies.models import Study
from tests.labapp.results.conftest import build_study

pytestmark = pytest.mark.django_db
POLICY_WORDS = ("policy GG", "grounded", "pick-and-sort-gg", "real-only", "Does grounding help")
TELLING = {
    "primary": ["main_a", "K42:K70"],
    "margins": [{"kind": "non_inferiority", "first": "K70", "second": "K42", "margin": 0.1}],
    "assumed_rates": {"K70": 0.86, "K42": 0.52},
}


@pytest.fixture
def blinded() -> Study:
    return build_study(analysis_plan=TELLING, question="Does grounding help?")


def ask(client: Client, output: str, inputs: list[dict], state: list[dict], changed: str) -> Any:
    ident, _, prop = output.rpartition(".")
    body = {"output": output, "outputs": {"id": ident, "property": prop}, "inputs": inputs, "state": state,
            "changedPropIds": [changed]}  # fmt: skip
    return client.post("/results/_dash-update-component", json.dumps(body), "application/json")


ADDRESS = [
    {"id": "address", "property": "search", "value": ""},
    {"id": "address", "property": "pathname", "value": "/results/pick-and-sort/"},
]


def save(client: Client, name: str) -> Any:
    button = {"format": "svg", "save": name}
    pressed = [{"id": button, "property": "n_clicks", "value": 1}]
    changed = f"{json.dumps(button, separators=(',', ':'), sort_keys=True)}.n_clicks"
    return ask(client, "to-save.data", [pressed], ADDRESS, changed)


def check(client: Client) -> Any:
    return ask(client, "checks.children", [{"id": "run-checks", "property": "n_clicks", "value": 1}], ADDRESS,
               "run-checks.n_clicks")  # fmt: skip


def assert_no_policy(text: str) -> None:
    for word in POLICY_WORDS:
        assert word not in text, word


@pytest.mark.parametrize("name", [name for name in FIGURES if name not in ("looks-figure", "sim-beside-real")])
def test_a_saved_figure_has_codes_for_a_researcher_and_nothing_for_an_operator(
    blinded: Study, researcher, operator, browser_of: Callable, name: str
) -> None:
    answer = save(browser_of(researcher), name)
    assert answer.status_code == 200, answer.content
    assert f"pick-and-sort-{name}-" in answer.content.decode()
    assert_no_policy(answer.content.decode())
    assert save(browser_of(operator), name).status_code == 403


def test_the_logistic_model_is_for_those_who_see_names(blinded: Study, researcher, pi, operator, browser_of) -> None:
    assert "Logistic model" in check(browser_of(pi)).content.decode()
    hidden = check(browser_of(researcher)).content.decode()
    assert "Logistic model" not in hidden
    assert_no_policy(hidden)
    assert check(browser_of(operator)).status_code == 403


def test_a_blinded_report_hides_what_the_plan_says_of_single_arms(blinded: Study, researcher, pi, browser_of) -> None:
    def report(user) -> str:
        return b"".join(browser_of(user).get("/results/pick-and-sort/report.html")).decode()

    text = report(researcher)
    assert text.count("hidden until the study is unblinded") == 3
    assert "86%</dd>" not in text and "non-inferior" not in text
    assert_no_policy(text)
    told = report(pi)
    assert "policy GG 86%" in told and "Does grounding help?" in told
    assert told.count("<code>") > text.count("<code>")  # hashes of checkpoints


def test_second_views_of_a_blinded_study_are_those_that_tell_no_codes_apart(blinded: Study, researcher) -> None:
    from frontend.dashboards.filters import Filters
    from labapp.results.queries import study_content

    content = study_content(blinded, researcher, Filters())
    assert content.posterior == ()
    assert {line.first for line in content.progress} <= {"K70", "K63", "K56", "K49", "K42"}
