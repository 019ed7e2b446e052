from datetime import UTC, datetime

import pytest
from django.core.exceptions import ValidationError
from django.db.models import Count, Q

from labapp.studies.imports import study_import
from labapp.studies.models import Study
from labapp.studies.outcome_tables import ArmColumns, TableMapping, read_outcomes

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
