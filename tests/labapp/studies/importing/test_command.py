"""``manage.py import_outcomes``."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from labapp.studies.models import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "past.csv"
    path.write_text("policy,seed,success\nA,1,1\nB,1,0\n")
    return path


def run(*arguments) -> str:
    out = StringIO()
    call_command("import_outcomes", *map(str, arguments), stdout=out, stderr=StringIO())
    return out.getvalue()


def test_it_imports_and_says_what(table):
    assert "A: 1 of 1\nB: 0 of 1\n2 trials, 1 pairs: imported as /studies/past/" in run("Past", table)


def test_a_dry_run_stores_nothing(table):
    assert json.loads(run("Past", table, "--dry-run", "--json"))["trials"] == 2
    assert Study.objects.count() == 0


def test_a_mapping_file_overrides_the_guess(table, tmp_path):
    mapping = tmp_path / "mapping.json"
    mapping.write_text(json.dumps({"outcomes": [{"success": "success"}], "arm": "seed"}))
    assert json.loads(run("Past", table, "--mapping", mapping, "--json"))["arms"] == {"1": [1, 2]}


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("policy,success\nA,perhaps\n", [], "cannot be read; nothing was imported"),
        ("policy\nA\n", [], "whether a trial succeeded"),
        ("policy,success\nA,1\n", ["--user", "nobody"], "no user nobody"),
        ("policy,success\nA,1\n", ["--mapping", "missing.json"], "missing.json is no mapping"),
    ],
)
def test_what_is_wrong_ends_it_with_words(table, text, arguments, message):
    table.write_text(text)
    with pytest.raises(CommandError, match=message):
        run("Past", table, *arguments)
    assert Study.objects.count() == 0
