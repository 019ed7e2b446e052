"""An imported study says where it comes from, is recognised when it comes again, shows its progress, can be undone."""

import hashlib
import time

import pytest
from django.core.exceptions import ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from redis import RedisError

from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping
from labapp.studies.importing.progress import Progress, progress_of
from labapp.studies.importing.services import import_undo, study_import
from labapp.studies.importing.source import source_facts
from labapp.studies.importing.tables import ImportMapping, TableFile, read_files
from labapp.studies.models import Study, StudyEvent, Trial
from labapp.studies.trials import Outcome, trial_correct
from tests.labapp.studies.importing.test_pages import GOOD, as_sent, upload

pytestmark = pytest.mark.django_db
BYTES = GOOD.encode()


@pytest.fixture
def client(researcher, browser_of):
    return browser_of(researcher)


@pytest.fixture
def study(client) -> Study:
    sent = {"name": "Elsewhere", "files": SimpleUploadedFile("past.csv", BYTES), "note": "From the old rig"}
    client.post("/api/studies/import/", sent)
    return Study.objects.get()


def test_the_source_is_kept_and_shown(study, client, researcher):
    event = study.events.get()
    assert (event.kind, event.actor, event.payload["trials"]) == (StudyEvent.Kind.IMPORTED, researcher, 4)
    (file,) = event.payload["files"]
    assert file == {"name": "past.csv", "sha256": hashlib.sha256(BYTES).hexdigest(), "encoding": "UTF-8", "lines": 4}
    page = client.get(f"/studies/{study.slug}/").content.decode()
    assert file["sha256"] in page and "From the old rig" in page and "Undo the import" in page
    assert ">imported</span>" in client.get("/studies/").content.decode()


def test_the_kept_mapping_makes_the_same_import_again(study):
    kept = study.events.get().payload["mapping"]
    rows = read_files([TableFile("past.csv", GOOD)], ImportMapping.from_json(kept))
    assert len(rows) == 4 and {row.arm for row in rows} == {"A", "B"}


def test_the_same_file_again_is_recognised_under_another_name(study, client):
    address = upload(client, ("copy.csv", GOOD)).url
    page = client.get(address).content.decode()
    assert "copy.csv was imported before, byte for byte, as" in page and study.get_absolute_url() in page
    again = client.post("/api/studies/import/", {"name": "Again", "files": SimpleUploadedFile("c.csv", BYTES)})
    assert again.json()["notes"] == ["c.csv was imported before, as “Elsewhere”."]
    other = upload(client, ("other.csv", GOOD + "A,nominal,3,1\n")).url
    assert "was imported before" not in client.get(other).content.decode()


def test_an_import_is_undone_with_all_that_was_said_of_it(study, client, researcher):
    trial = study.trials.first()
    common = {"actor": researcher, "now": timezone.now(), "reason": "typo", "version": trial.version}
    trial_correct(trial=trial, outcome=Outcome(True, "placed"), **common)
    answer = client.post(f"/studies/{study.slug}/undo-import/", follow=True)
    assert "The import of “Elsewhere” is undone: 4 trials are gone" in answer.content.decode()
    assert (Study.objects.count(), Trial.objects.count()) == (0, 0)
    client.post("/api/studies/import/", {"name": "Elsewhere", "files": SimpleUploadedFile("past.csv", BYTES)})
    assert Trial.objects.count() == 4


def test_an_import_is_undone_once(study):
    again = Study.objects.get(pk=study.pk)
    import_undo(study=study)
    with pytest.raises(ValidationError, match="The import of “Elsewhere” was undone meanwhile"):
        import_undo(study=again)


def test_trials_that_were_run_here_are_never_undone(lab):
    with pytest.raises(ValidationError, match="never deleted"):
        import_undo(study=lab.study)
    lab.client("researcher").post(f"/studies/{lab.study.slug}/undo-import/")
    assert Study.objects.filter(pk=lab.study.pk).exists()


def test_operators_undo_nothing(study, operator, browser_of):
    assert browser_of(operator).post(f"/studies/{study.slug}/undo-import/").status_code == 403
    assert browser_of(operator).get("/studies/import/abc/progress/").status_code == 403


def test_progress_is_told_at_most_five_times_a_second_and_at_the_end(researcher, pi):
    moments = iter([0.0, 0.1, 0.3, 0.35])
    told = Progress("abc", researcher, clock=lambda: next(moments)).of("rows read", 4000)
    seen = []
    for done in (1000, 2000, 3000, 4000):
        told(done)
        seen.append(progress_of("abc", researcher)["done"])
    assert seen == [1000, 1000, 3000, 4000]
    assert progress_of("abc", pi) == {} and progress_of("other", researcher) == {}


def test_an_import_goes_on_where_its_progress_cannot_be_told(researcher, monkeypatch):
    tried = []

    def silent(*values: object) -> None:
        tried.append(values)
        raise RedisError("silent")

    monkeypatch.setattr("labapp.studies.importing.progress.cache.set", silent)
    told = Progress("abc", researcher).of("rows read", 10)
    told(10)
    told(10)
    assert len(tried) == 1


def test_the_page_asks_how_far_it_is(client, researcher):
    Progress("abc", researcher).of("trials stored", 10)(10)
    assert client.get("/studies/import/abc/progress/").json() == {"what": "trials stored", "done": 10, "total": 10}


def test_storing_tells_how_far_it_is(db, monkeypatch):
    monkeypatch.setattr("labapp.studies.importing.services.BATCH", 3)
    table = ImportMapping(TableMapping(outcomes=(ArmColumns("success"),), arm="policy"))
    file, heard = TableFile("t.csv", GOOD), []
    rows = read_files([file], table)
    common = {"actor": None, "is_simulated": True, "now": timezone.now(), "source": source_facts([file], table)}
    study_import(name="Told", rows=rows, told=heard.append, **common)
    assert heard == [3, 4]


def test_nothing_is_claimed_of_an_imported_study_that_nobody_said(study, client):
    page = client.get(f"/studies/{study.slug}/").content.decode()
    for claim in ("real only", "Belt m/s", "Time limit", "Trials per arm", "<dt>Seed</dt>", "under way"):
        assert claim not in page, claim
    assert "not known here" in page


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_read_and_stored(client):
    head = "policy,condition,seed,success,failure_mode,duration_s\n"
    lines = (
        f"P{n % 4},nominal,{n // 4},{int(n % 3 > 0)},{'' if n % 3 else 'dropped'},{n % 12}" for n in range(100_000)
    )
    text = head + "\n".join(lines)
    address = upload(client, ("big.csv", text)).url
    sent = as_sent([TableFile("big.csv", text[:5000])], then="import")
    assert client.post(address, sent).status_code == 302
    assert Trial.objects.count() == 100_000
    started = time.monotonic()
    assert client.post("/studies/elsewhere/undo-import/").status_code == 302
    assert Trial.objects.count() == 0 and time.monotonic() - started < 20


def test_the_results_page_and_the_report_say_that_it_is_imported_and_from_which_file(study, client):
    page = client.get(f"/results/{study.slug}/").content.decode()
    assert ">imported</span>" in page and "past.csv" in page and f"/studies/{study.slug}/#source-title" in page
    report = b"".join(client.get(f"/results/{study.slug}/report.html").streaming_content).decode()
    assert ">imported</span>" in report and hashlib.sha256(BYTES).hexdigest() in report
    assert ">imported</span>" in client.get("/results/").content.decode()
