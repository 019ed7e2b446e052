"""Pages of studies: each role sees what is for it; the URL of a list is a permalink."""

import csv
import io

import pytest
from django.test import Client

from labapp.studies.models import Study
from labapp.studies.trials import Outcome

ROLES = ("operator", "researcher", "pi")


def test_every_role_may_look_at_studies(lab):
    trial = lab.confirmed()
    for role in ROLES:
        client = lab.client(role)
        for url in ("/studies/", lab.study.get_absolute_url(), trial.get_absolute_url(), "/live/"):
            assert client.get(url).status_code == 200, (role, url)


@pytest.mark.parametrize("path", ["", "console/", "console/worker.js", "trials/", "trials.csv"])
def test_strangers_are_sent_to_the_login(lab, path):
    answer = Client().get(f"{lab.study.get_absolute_url()}{path}")
    assert answer.status_code == 302 and "/login/" in answer["Location"]


def test_the_console_brings_its_worker_and_leaves_no_copy_to_the_browsers_own_cache(lab):
    client, url = lab.client("operator"), f"{lab.study.get_absolute_url()}console/"
    page, worker = client.get(url), client.get(f"{url}worker.js")
    assert f'data-worker-url="{url}worker.js"' in page.content.decode() and "no-store" in page["Cache-Control"]
    assert worker["Content-Type"].startswith("text/javascript") and "no-cache" in worker["Cache-Control"]
    assert "Service-Worker-Allowed" not in worker  # it answers for no address but the console's
    assert client.get("/studies/none/console/worker.js").status_code == 404


@pytest.mark.parametrize(("role", "status"), [("operator", 403), ("researcher", 200), ("pi", 403)])
def test_who_may_design_studies(lab, role, status):
    assert lab.client(role).get("/studies/new/").status_code == status


def test_a_study_is_designed_by_form_and_locked(lab):
    client = lab.client("researcher")
    checkpoint = lab.study.arms.first().checkpoint
    form = {
        "name": "Formed study", "cell": lab.study.cell.pk, "checkpoints": [checkpoint.pk], "preset": "quick",
        "time_limit_s": "9", "seed": "3",
    }  # fmt: skip
    answer = client.post("/studies/new/", form)
    study = Study.objects.get(slug="formed-study")
    assert answer["Location"] == study.get_absolute_url() and study.status == Study.Status.DRAFT
    client.post(f"{study.get_absolute_url()}lock/")
    study.refresh_from_db()
    assert study.status == Study.Status.LOCKED and study.slots.count() == 9


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"name": "Blinded study"}, "exists already"),
        ({"checkpoints": []}, "required"),
        ({"time_limit_s": "0"}, "greater than or equal to 1"),
        ({"seed": "-1"}, "greater than or equal to 0"),
    ],
)
def test_a_form_with_something_impossible_says_so_and_makes_nothing(lab, change, words):
    checkpoint = lab.study.arms.first().checkpoint
    form = {
        "name": "Other", "cell": lab.study.cell.pk, "checkpoints": [checkpoint.pk], "preset": "quick",
        "time_limit_s": "9", "seed": "3",
    }  # fmt: skip
    answer = lab.client("researcher").post("/studies/new/", form | change)
    assert answer.status_code == 200 and words in answer.content.decode()
    assert Study.objects.count() == 1


def test_a_policy_of_another_embodiment_is_not_tried_here(lab):
    checkpoint = lab.study.arms.first().checkpoint
    checkpoint.policy.embodiment = "g1"
    checkpoint.policy.save()
    form = {
        "name": "X",
        "cell": lab.study.cell.pk,
        "checkpoints": [checkpoint.pk],
        "preset": "quick",
        "time_limit_s": "9",
        "seed": "3",
    }
    answer = lab.client("researcher").post("/studies/new/", form)
    assert "another embodiment" in answer.content.decode()


def test_the_pi_unblinds_on_the_page_and_everyone_reads_the_names_then(lab):
    page = lab.study.get_absolute_url()
    assert "grounded-world-adapt" not in lab.client("operator").get(page).content.decode()
    assert lab.client("researcher").post(f"{page}unblind/", {"reason": "x"}).status_code == 403
    lab.client("pi").post(f"{page}unblind/", {"reason": "all seen"})
    shown = lab.client("operator").get(page).content.decode()
    assert "grounded-world-adapt" in shown and "Unblinded by" in shown


def test_a_list_of_trials_is_a_permalink_with_its_csv(lab):
    lab.confirmed()
    lab.confirmed(Outcome(is_success=False, furthest_stage="carry", failure_mode="dropped"))
    client = lab.client("researcher")
    url = f"{lab.study.get_absolute_url()}trials"
    shown = client.get(f"{url}/?outcome=dropped").content.decode()
    assert "Trial 2" in shown and "Trial 1<" not in shown
    text = b"".join(client.get(f"{url}.csv?outcome=dropped").streaming_content).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["position"] for row in rows] == ["2"] and rows[0]["policy"] and rows[0]["failure_mode"] == "dropped"


def test_an_operators_csv_has_codes_only(lab):
    lab.confirmed()
    answer = lab.client("operator").get(f"{lab.study.get_absolute_url()}trials.csv")
    header = next(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode())))
    assert "policy" not in header and "latency_ms" not in header and "code" in header


def test_a_correction_by_form_keeps_the_history(lab):
    trial = lab.confirmed()
    form = {
        "is_success": "false",
        "furthest_stage": "lift",
        "failure_mode": "dropped",
        "note": "",
        "version": trial.version,
    }
    url = f"{trial.get_absolute_url()}correct/"
    assert lab.client("operator").post(url, form).status_code == 422
    lab.client("operator").post(url, form | {"reason": "seen on video"})
    shown = lab.client("operator").get(trial.get_absolute_url()).content.decode()
    assert "seen on video" in shown and "Corrected" in shown


def test_a_correction_starts_from_no_outcome(lab):
    trial = lab.confirmed()
    client = lab.client("operator")
    page = client.get(trial.get_absolute_url()).content.decode()
    assert '<option value="" selected>choose …</option>' in page
    assert '<option value="true" selected>' not in page
    answer = client.post(f"{trial.get_absolute_url()}correct/", {"reason": "a slip", "version": trial.version})
    assert answer.status_code == 422
    trial.refresh_from_db()
    assert trial.revisions.count() == 1


@pytest.mark.parametrize("version", ["abc", "²", "9" * 30, "0"])
def test_a_correction_of_a_version_that_there_is_not_changes_nothing(lab, version):
    trial = lab.confirmed()
    form = {"is_success": "false", "furthest_stage": "lift", "failure_mode": "dropped", "reason": "seen on video"}
    answer = lab.client("operator").post(f"{trial.get_absolute_url()}correct/", form | {"version": version})
    shown = answer.content.decode()
    assert answer.status_code == 409 and "was changed meanwhile" in shown and "seen on video" in shown
    trial.refresh_from_db()
    assert trial.is_success and trial.revisions.count() == 1


def test_a_trial_without_a_recording_says_so(lab):
    trial = lab.confirmed()
    client = lab.client("operator")
    assert "No recording" in client.get(trial.get_absolute_url()).content.decode()
    answer = client.get(f"{trial.get_absolute_url()}series/")
    assert answer.status_code == 404 and "no recording" in answer.json()["detail"]


def test_a_finished_study_opens_no_trials(lab):
    lab.client("pi").post(f"{lab.study.get_absolute_url()}finish/", {"reason": "enough"})
    shown = lab.client("operator").get(f"/api/studies/{lab.study.slug}/console/").json()
    assert shown["study"]["status"] == "finished" and shown["next"] is None
