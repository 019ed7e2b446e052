"""What the lists of studies count."""

from django.utils import timezone

from labapp.studies.models import Study
from labapp.studies.selectors import studies_counted
from labapp.studies.trials import trial_invalidate


def test_arms_planned_and_scored_trials_are_counted_apart_in_one_query(lab, django_assert_num_queries) -> None:
    lab.confirmed()
    invalid = lab.confirmed()
    trial_invalidate(trial=invalid, reason="the belt stood", version=2, actor=lab.pi, now=timezone.now())
    lab.proposed()
    empty = Study.objects.create(name="Empty", slug="empty")
    with django_assert_num_queries(1):
        counts = {study.pk: (study.arm_count, study.planned, study.confirmed) for study in studies_counted()}
    assert counts == {lab.study.pk: (2, 12, 1), empty.pk: (0, 0, 0)}
