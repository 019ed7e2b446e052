"""Pages and API of evaluations: as each role and as a stranger, and what a blinded study keeps hidden."""

import pytest
from django.http.response import HttpResponseBase
from django.test import Client
from django.utils import timezone

from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.evaluations.params import EvaluateOptions
from labapp.evaluations.services import checkpoint_evaluate
from labapp.runs.models import Run
from labapp.studies.services import study_unblind
from tests.labapp import builders
from tests.labapp.evaluations.conftest import complete, finished

pytestmark = pytest.mark.django_db
PAGES = (
    "/evaluations/", "/evaluations/new/", "/evaluations/{pk}/", "/evaluations/{pk}/rollouts/",
    "/evaluations/{pk}/rollouts.csv", "/evaluations/{pk}/rollouts/{code}/1/",
)  # fmt: skip
API = ("/api/evaluations/", "/api/evaluations/{pk}/", "/api/evaluations/{pk}/rollouts/")
POSTS = ("/evaluations/new/", "/evaluations/{pk}/remove/", "/api/evaluations/")


def statuses(client: Client, urls: tuple[str, ...], evaluation: Evaluation, method: str = "get") -> list[int]:
    code = evaluation.study.arms.order_by("code").first().code
    return [getattr(client, method)(url.format(pk=evaluation.pk, code=code)).status_code for url in urls]


def body(answer: HttpResponseBase) -> str:
    return (b"".join(answer.streaming_content) if answer.streaming else answer.content).decode()


def secrets(lab) -> list[str]:
    return [text for arm in lab.study.arms.select_related("policy") for text in (arm.label, arm.policy.name)]


@pytest.mark.parametrize(
    ("role", "pages", "api"),
    [
        ("operator", [403] * 6, [403, 403, 403]),
        ("researcher", [200] * 6, [200, 200, 200]),
        ("pi", [200, 403, 200, 200, 200, 200], [200, 200, 200]),
    ],
)
def test_each_page_of_a_blinded_studys_evaluation_is_for_its_roles(lab, evaluation, role, pages, api) -> None:
    assert statuses(lab.client(role), PAGES, evaluation) == pages
    assert statuses(lab.client(role), API, evaluation) == api


def test_a_stranger_is_sent_to_the_login_or_refused(evaluation) -> None:
    assert statuses(Client(), PAGES, evaluation) == [302] * 6
    assert statuses(Client(), API, evaluation) == [401] * 3


def test_nobody_but_researchers_launches_or_removes(lab, evaluation) -> None:
    for role in ("operator", "pi"):
        assert statuses(lab.client(role), POSTS, evaluation, "post") == [403, 403, 403]


def test_an_evaluation_without_a_study_is_never_for_operators(lab, world) -> None:
    options = EvaluateOptions(amount="each", rollouts=1)
    made = checkpoint_evaluate(actor=None, checkpoint=builders.checkpoint("alone"), world=world, options=options)
    study_unblind(study=lab.study, actor=lab.pi, reason="done", now=timezone.now())
    assert lab.client("operator").get(made.get_absolute_url()).status_code == 403
    assert "alone" in lab.client("researcher").get(made.get_absolute_url()).content.decode()


@pytest.mark.parametrize("url", PAGES[2:5] + API[1:])
def test_while_a_study_is_blinded_researchers_see_codes_and_the_pi_names(lab, evaluation, url) -> None:
    seen = body(lab.client("researcher").get(url.format(pk=evaluation.pk)))
    assert all(arm.code in seen for arm in lab.study.arms.all())
    assert [text for text in secrets(lab) if text in seen] == []
    assert lab.study.arms.first().label in body(lab.client("pi").get(url.format(pk=evaluation.pk)))


def test_once_unblinded_everyone_sees_names_and_operators_no_world_or_run(lab, evaluation) -> None:
    study_unblind(study=lab.study, actor=lab.pi, reason="done", now=timezone.now())
    seen = lab.client("operator").get(evaluation.get_absolute_url())
    text = seen.content.decode()
    assert seen.status_code == 200
    assert lab.study.arms.first().label in text
    assert "/runs/" not in text and "/worlds/" not in text


def test_every_number_of_the_page_opens_its_rollouts(lab, evaluation) -> None:
    client = lab.client("researcher")
    text = client.get(evaluation.get_absolute_url()).content.decode()
    code = lab.study.arms.order_by("code").first().code
    url = f"{evaluation.get_absolute_url()}rollouts/?policy={code}&condition=nominal&outcome=counted"
    assert url.replace("&", "&amp;") in text
    assert client.get(url).context["page"].paginator.count == 4
    SimulatedRollout.objects.filter(number=0).update(invalid_reason="nan")
    assert client.get(url).context["page"].paginator.count == 3, "an invalid one counts for nothing"
    broken = client.get(f"{evaluation.get_absolute_url()}rollouts/?outcome=invalid").content.decode()
    assert "invalid: the physics diverged" in broken
    both = client.get(f"{evaluation.get_absolute_url()}rollouts/?conditions=nominal,red-light&outcome=missed_pick")
    assert both.context["page"].paginator.count == SimulatedRollout.objects.filter(is_success=False).count()


def form(lab, chosen, **changed):
    values = {"study": lab.study.pk, "checkpoint": "", "world": chosen.pk, "amount": "planned", "rollouts": "5"}
    return values | {"seed": "0", "image_size": "64", "video": "seen"} | changed


def test_the_form_launches_and_leads_to_the_evaluation(lab, world) -> None:
    answer = lab.client("researcher").post("/evaluations/new/", form(lab, world))
    made = Evaluation.objects.get()
    assert answer.url == made.get_absolute_url()
    assert made.run.status == "queued"
    waiting = lab.client("researcher").get(answer.url).content.decode()
    assert "being-made" in waiting


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"study": ""}, "__all__"),
        ({"rollouts": "0", "amount": "each"}, "rollouts"),
        ({"seed": "-1"}, "seed"),
        ({"image_size": "9999"}, "image_size"),
        ({"amount": "some"}, "amount"),
        ({"amount": "run"}, "amount"),
        ({"world": "0"}, "world"),
    ],
)
def test_the_form_says_what_is_wrong_at_its_field_and_makes_nothing(lab, world, changed, field) -> None:
    answer = lab.client("researcher").post("/evaluations/new/", form(lab, world, **changed))
    assert list(answer.context["form"].errors) == [field]
    assert not Evaluation.objects.exists()
    assert not Run.objects.exists()


def test_the_address_names_the_study_and_its_measured_world_is_chosen(lab, world) -> None:
    initial = lab.client("researcher").get(f"/evaluations/new/?study={lab.study.slug}").context["form"].initial
    assert (initial["study"], initial["world"], initial["amount"]) == (lab.study, world, "planned")


def test_the_api_launches_and_tells_rates_by_condition(lab, world) -> None:
    client = lab.client("researcher")
    body = {"study": lab.study.slug, "world": world.pk, "amount": "each", "rollouts": 2}
    made = client.post("/api/evaluations/", body, content_type="application/json")
    assert made.status_code == 201
    assert made.json()["run"] == Run.objects.get().pk
    complete(Evaluation.objects.get(), (3, 1))
    rates = client.get(f"/api/evaluations/{made.json()['id']}/").json()["rates"]
    assert [(r["successes"], r["rollouts"]) for r in rates if r["condition"] == ""] == [(3, 4), (1, 4)]


@pytest.mark.parametrize("body", [{}, {"study": "x"}, {"rollouts": 0}])
def test_the_api_names_what_is_wrong(lab, world, body) -> None:
    values = {"world": world.pk} | body
    answer = lab.client("researcher").post("/api/evaluations/", values, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()


def test_a_failed_evaluation_is_taken_back_from_its_page(lab, evaluation, world) -> None:
    failed = finished(lab.study, world)
    Evaluation.objects.filter(pk=failed.pk).update(ready_at=None)
    Run.objects.filter(pk=failed.run_id).update(status="failed", finished_at=timezone.now())
    client = lab.client("researcher")
    assert client.post(f"{failed.get_absolute_url()}remove/").url == "/evaluations/"
    assert client.post(f"{evaluation.get_absolute_url()}remove/").url == evaluation.get_absolute_url()
    assert list(Evaluation.objects.all()) == [evaluation]
