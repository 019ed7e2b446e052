"""Importing in the browser and over REST: mapping, check, all or nothing."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from labapp.studies.importing import staging
from labapp.studies.importing.forms import MappingForm
from labapp.studies.importing.tables import TableFile
from labapp.studies.models import Study, Trial

pytestmark = pytest.mark.django_db
GOOD = "policy,condition,seed,success\nA,nominal,1,1\nB,nominal,1,0\nA,red light,2,0\nB,red light,2,0\n"


def upload(client, *files: tuple[str, str | bytes]):
    sent = [SimpleUploadedFile(name, t.encode() if isinstance(t, str) else t) for name, t in files]
    return client.post("/studies/import/", {"files": sent})


def as_sent(files: list[TableFile], **changes) -> dict:
    form = MappingForm(files)
    values = {name: form.get_initial_for_field(field, name) for name, field in form.fields.items()}
    return {name: value for name, value in values.items() if value} | {"name": "Elsewhere"} | changes


@pytest.fixture
def client_of_researcher(researcher, browser_of):
    return browser_of(researcher)


@pytest.mark.parametrize("role", ["operator", "pi"])
def test_operators_do_not_import_and_pis_do(role, make_user, browser_of):
    client = browser_of(make_user(role))
    expected = 403 if role == "operator" else 200
    assert client.get("/studies/import/").status_code == expected
    assert client.post("/api/studies/import/", {}).status_code == (403 if role == "operator" else 400)


def test_a_table_goes_from_upload_over_its_check_to_a_finished_study(client_of_researcher):
    client = client_of_researcher
    address = upload(client, ("past.csv", GOOD)).url
    page = client.get(address).content.decode()
    assert "red light" in page and "What do the columns mean?" in page
    sent = as_sent([TableFile("past.csv", GOOD)])
    checked = client.post(address, sent | {"then": "check"}).content.decode()
    assert "Every row can be read" in checked and "4 trials, 2 pairs, 2 conditions" in checked
    assert Study.objects.count() == 0
    answer = client.post(address, sent | {"then": "import", "is_simulated": "on"})
    assert answer.url == "/results/elsewhere/"
    study = Study.objects.get()
    assert (study.status, study.is_imported, study.is_simulated, study.trials.count()) == ("finished", True, True, 4)
    assert client.get(address).url == "/studies/import/"
    assert client.get("/studies/elsewhere/").status_code == 200
    assert client.get("/studies/elsewhere/design/").status_code == 200


def test_a_bad_row_37_is_shown_with_its_line_and_nothing_is_created(client_of_researcher):
    lines = ["policy,seed,success", *[f"A,{n},1" for n in range(60)]]
    lines[36] = "A,36,nearly"
    text = "\n".join(lines)
    address = upload(client_of_researcher, ("past.csv", text)).url
    answer = client_of_researcher.post(address, as_sent([TableFile("past.csv", text)], success="success"))
    page = answer.content.decode()
    assert answer.status_code == 422
    assert "Nothing was imported" in page and ">37<" in page and "nearly" in page
    assert (Study.objects.count(), Trial.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([("x.csv", "")], "empty"),
        ([("x.csv", b"\xff\xfe\x00")], "x.csv is no table: it is no text"),
        ([("x.csv", "a,a\n1,1\n")], "names a column twice"),
        ([("x.csv", GOOD), ("x.csv", GOOD)], "Two files are called x.csv"),
        ([], "This field is required"),
    ],
)
def test_a_wrong_file_is_named_at_its_field(client_of_researcher, files, message):
    answer = upload(client_of_researcher, *files)
    assert answer.status_code == 422
    assert message in answer.content.decode()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"arm": ""}, "names the arm"),
        ({"success": ""}, "whether a trial succeeded"),
        ({"name": ""}, "This field is required"),
        ({"layout": "wide", "arm0_label": "A"}, "An arm needs a name and its success column"),
    ],
)
def test_a_mapping_that_lacks_something_says_what(client_of_researcher, changes, message):
    address = upload(client_of_researcher, ("past.csv", GOOD)).url
    answer = client_of_researcher.post(address, as_sent([TableFile("past.csv", GOOD)]) | changes)
    assert answer.status_code == 422
    assert message in answer.content.decode()


def test_a_name_already_taken_stands_at_the_name(client_of_researcher):
    for _ in range(2):
        address = upload(client_of_researcher, ("past.csv", GOOD)).url
        answer = client_of_researcher.post(address, as_sent([TableFile("past.csv", GOOD)]) | {"then": "import"})
    assert answer.status_code == 422
    assert "exists already" in answer.content.decode()
    assert Study.objects.count() == 1


def test_an_upload_is_its_own_persons(researcher, pi, browser_of):
    key = staging.keep([TableFile("past.csv", GOOD)], researcher)
    assert browser_of(pi).get(f"/studies/import/{key}/").status_code == 302
    assert browser_of(researcher).get(f"/studies/import/{key}/").status_code == 200


def test_the_api_imports_with_a_mapping(client_of_researcher):
    mapping = {"arm": "policy", "condition": "condition", "block": ["seed"], "outcomes": [{"success": "success"}]}
    sent = {"name": "Over REST", "files": SimpleUploadedFile("a.csv", GOOD.encode()), "mapping": json.dumps(mapping)}
    answer = client_of_researcher.post("/api/studies/import/", sent)
    assert answer.status_code == 201
    assert answer.json() == {
        "slug": "over-rest", "trials": 4, "arms": {"A": [1, 2], "B": [0, 2]}, "pairs": 2, "notes": [],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"mapping": "{"}, "mapping"),
        ({"mapping": "[1]"}, "mapping"),
        ({"mapping": '{"arm": "policy"}'}, "mapping"),
        ({"mapping": '{"arm": "robot", "outcomes": [{"success": "success"}]}'}, "files"),
        ({"name": ""}, "name"),
        ({"files": []}, "files"),
    ],
)
def test_the_api_names_the_field_and_creates_nothing(client_of_researcher, values, field):
    sent = {"name": "Over REST", "files": SimpleUploadedFile("a.csv", GOOD.encode())} | values
    answer = client_of_researcher.post("/api/studies/import/", sent)
    assert answer.status_code == 400
    assert field in answer.json()
    assert Study.objects.count() == 0


def test_the_api_lists_every_problem(client_of_researcher):
    sent = {"name": "Over REST", "files": SimpleUploadedFile("a.csv", b"policy,success\nA,1\nA,perhaps\n")}
    answer = client_of_researcher.post("/api/studies/import/", sent).json()
    assert answer["problems"][0].startswith("a.csv, line 3, column “success”: “perhaps”")


def test_a_file_too_large_for_the_browser_is_told_the_other_way(client_of_researcher, monkeypatch):
    monkeypatch.setattr(staging, "LARGEST_BYTES", 10)
    page = upload(client_of_researcher, ("past.csv", GOOD)).content.decode()
    assert "past.csv is larger than" in page and "import_outcomes" in page


def test_the_rows_that_a_study_exports_are_imported_with_the_same_counts(client_of_researcher):
    client = client_of_researcher
    client.post("/api/studies/import/", {"name": "First", "files": SimpleUploadedFile("a.csv", GOOD.encode())})
    exported = b"".join(client.get("/results/first/rows.csv").streaming_content)
    answer = client.post("/api/studies/import/", {"name": "Second", "files": SimpleUploadedFile("b.csv", exported)})
    assert answer.json()["arms"] == {"A": [1, 2], "B": [0, 2]}
    assert answer.json()["pairs"] == 2
