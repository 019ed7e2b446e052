"""What was never made can be taken back; what is ready stays."""

import pytest
from django.utils import timezone

from labapp.demos.models import DemonstrationSet
from labapp.policies.models import Policy
from labapp.runs.models import Run
from tests.labapp import made

pytestmark = pytest.mark.django_db


def fail(run):
    Run.objects.filter(pk=run.pk).update(status="failed", finished_at=timezone.now())


def message_of(browser, path):
    answer = browser.post(path, follow=True)
    return " ".join(str(message) for message in answer.context["messages"])


def test_a_policy_whose_training_failed_is_removed_and_its_name_is_free(browser_of, researcher):
    policy = made.policy(researcher, made.bench_set(researcher))
    Policy.objects.update(ready_at=None)
    fail(policy.run)
    assert "is removed" in message_of(browser_of(researcher), "/policies/learned/remove/")
    assert not Policy.objects.exists()
    assert Run.objects.filter(pk=policy.run_id).exists()


def test_what_is_ready_stays(browser_of, researcher):
    made.bench_set(researcher)
    assert "is ready and stays" in message_of(browser_of(researcher), "/demonstrations/shown/remove/")
    assert DemonstrationSet.objects.exists()


def test_what_is_being_made_stays(browser_of, researcher):
    made.bench_set(researcher)
    DemonstrationSet.objects.update(ready_at=None)
    assert "still being made" in message_of(browser_of(researcher), "/demonstrations/shown/remove/")


def test_what_something_rests_on_stays(browser_of, researcher):
    shown = made.bench_set(researcher)
    made.policy(researcher, shown)
    DemonstrationSet.objects.update(ready_at=None)
    fail(shown.run)
    assert "something rests on it" in message_of(browser_of(researcher), "/demonstrations/shown/remove/")
