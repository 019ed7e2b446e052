"""Plan, power and amendments over REST."""

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def client(researcher, browser_of):
    return browser_of(researcher)


def put(client, study, plan):
    return client.put(f"/api/studies/{study.slug}/plan/", plan, content_type="application/json")


def test_the_plan_of_a_draft_is_declared_and_answers_with_its_power(client, draft):
    code = draft.arms.get(label="gg").code
    answer = put(client, draft, {"primary": ["main_a"], "assumed_rates": {code: 0.9}}).json()
    assert answer["plan"]["primary"] == ["main_a"]
    assert answer["assumed_rates"][code] == 0.9
    world = next(effect for effect in answer["effects"] if effect["key"] == "main_a")
    assert world["is_primary"] and world["powers"][0] > 0.86
    assert answer["problems"] == []


@pytest.mark.parametrize(
    ("plan", "field"),
    [
        ({"alpha": 5}, "alpha"),
        ({"primary": ["A1:B2"]}, "analysis_plan"),
        ({"primary": "all"}, "primary"),
        ({"colour": "red"}, "colour"),
        ({"margins": ["ten"]}, "margins"),
    ],
)
def test_an_impossible_plan_names_its_field(client, draft, plan, field):
    answer = put(client, draft, plan)
    assert (answer.status_code, list(answer.json())) == (400, [field])


def test_a_locked_plan_is_read_only(client, study):
    assert put(client, study, {"alpha": 0.01}).status_code == 400
    assert client.get(f"/api/studies/{study.slug}/plan/").json()["trials_per_arm"]["all"] == 50


def test_amendments_are_made_and_listed(client, study):
    address = f"/api/studies/{study.slug}/amendments/"
    code = study.arms.first().code
    sent = [
        {"kind": "trials", "reason": "more", "extra": {"nominal": 1}},
        {"kind": "time-limit", "reason": "slow", "time_limit_s": 20},
        {"kind": "withdraw", "reason": "unsafe", "arm": code},
        {"kind": "note", "reason": "lamp"},
    ]
    for amendment in sent:
        assert client.post(address, amendment, content_type="application/json").status_code == 201
    found = client.get(address).json()
    assert [deviation["reason"] for deviation in found] == ["more", "slow", "unsafe", "lamp"]
    assert found[1]["changes"] == [["time limit [s]", "12", "20"]]


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"kind": "note"}, "reason"),
        ({"kind": "withdraw", "reason": "x", "arm": "??"}, "arm"),
        ({"kind": "time-limit", "reason": "x"}, "time_limit_s"),
        ({"kind": "trials", "reason": "x"}, "extra"),
        ({"kind": "rename", "reason": "x"}, "kind"),
    ],
)
def test_an_incomplete_amendment_names_its_field(client, study, values, field):
    answer = client.post(f"/api/studies/{study.slug}/amendments/", values, content_type="application/json")
    assert (answer.status_code, list(answer.json())) == (400, [field])


def test_operators_get_neither_plan_nor_deviations(operator, study, browser_of):
    client = browser_of(operator)
    assert client.get(f"/api/studies/{study.slug}/plan/").status_code == 403
    assert client.get(f"/api/studies/{study.slug}/amendments/").status_code == 403
