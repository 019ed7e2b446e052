import csv
from datetime import UTC, datetime
from io import BytesIO

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Count, Q
from pyarrow.parquet import read_table

from labapp.studies.browser.neighbours import neighbours
from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, read_outcomes
from labapp.studies.importing.services import study_import
from labapp.studies.models import Study
from labapp.studies.trials import trial_undo

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
MAPPING = TableMapping(
    outcomes=(ArmColumns(label="baseline", success="a"), ArmColumns(label="new", success="b")),
    block=("episode",),
    constants={"category": "control"},
)
TEXT = "episode,a,b\n1,0,1\n2,1,1\n3,0,0\n"


def test_an_imported_study_is_finished_open_and_marked():
    study = study_import(name="Elsewhere", rows=read_outcomes(TEXT, MAPPING), actor=None, is_simulated=True, now=NOW)
    assert (study.status, study.is_imported, study.is_blinded, study.is_simulated) == ("finished", True, False, True)
    counts = study.trials.values("arm__label").annotate(n=Count("pk"), k=Count("pk", filter=Q(is_success=True)))
    assert sorted((c["arm__label"], c["k"], c["n"]) for c in counts) == [
        ("baseline / control", 1, 3),
        ("new / control", 2, 3),
    ]
    assert study.arms.first().factors == {"category": "control"}


def test_a_name_already_taken_imports_nothing():
    rows = read_outcomes(TEXT, MAPPING)
    study_import(name="Elsewhere", rows=rows, actor=None, is_simulated=True, now=NOW)
    with pytest.raises(ValidationError, match="exists already"):
        study_import(name="elsewhere", rows=rows, actor=None, is_simulated=True, now=NOW)
    assert Study.objects.count() == 1


def test_a_trial_without_a_start_is_imported_without_one_and_stands_last():
    rows = read_outcomes("policy,ok,day\nA,1,\nB,0,2020-01-01T10:00:00+00:00\nA,0,\n", TableMapping(
        outcomes=(ArmColumns("ok"),), arm="policy", started_at="day"))  # fmt: skip
    study = study_import(name="Elsewhere", rows=rows, actor=None, is_simulated=True, now=NOW)
    first, *rest = study.trials.order_by("started_at", "pk")
    assert first.started_at == datetime(2020, 1, 1, 10, tzinfo=UTC)
    assert [trial.started_at for trial in rest] == [None, None]
    seen = [first]
    while (after := neighbours(seen[-1], "").next) is not None:
        assert neighbours(after, "").previous == seen[-1]
        seen.append(after)
    assert seen == [first, *rest]


def test_an_imported_outcome_is_corrected_and_never_taken_back(pi):
    study = study_import(name="Elsewhere", rows=read_outcomes(TEXT, MAPPING), actor=None, is_simulated=True, now=NOW)
    with pytest.raises(ValidationError, match="correct the trial with a reason"):
        trial_undo(trial=study.trials.first(), version=1, actor=pi, now=NOW)


def test_a_start_that_is_unknown_is_said_on_pages_and_empty_in_exports(pi, client):
    rows = read_outcomes(TEXT, MAPPING)
    study = study_import(name="Elsewhere", rows=rows, actor=pi, is_simulated=True, now=NOW)
    client.force_login(pi)
    assert client.get(f"/studies/{study.slug}/trials/").content.decode().count("not given") == 6
    assert "<dt>Started</dt><dd>not given</dd>" in client.get(study.trials.first().get_absolute_url()).content.decode()
    text = b"".join(client.get(f"/studies/{study.slug}/trials.csv").streaming_content).decode()
    assert {row["started_at"] for row in csv.DictReader(text.splitlines())} == {""}
    parquet = b"".join(client.get(f"/results/{study.slug}/rows.parquet").streaming_content)
    assert read_table(BytesIO(parquet)).column("started_at").null_count == 6
