"""A run carried out: events, metrics, artifacts, errors, cancel, stop, resume."""

import shutil
import threading
from pathlib import Path

import psutil
import pytest
from django.conf import settings
from django.utils import timezone

from labapp import storage
from labapp.accounts.models import User
from labapp.runs.executor import run_execute
from labapp.runs.models import Run, RunMetric
from labapp.runs.services import run_cancel, run_retry

pytestmark = pytest.mark.django_db(transaction=True)


def out_of(run: Run) -> Path:
    return Path(settings.RUNS_DIR) / str(run.pk) / "out"


def in_background(run: Run, stop: threading.Event | None = None) -> threading.Thread:
    from django.db import connection

    def work() -> None:
        run_execute(run.pk, stop=stop)
        connection.close()

    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_a_run_is_carried_out_with_its_events_metrics_and_shards(make_run):
    run = make_run(n=3)
    assert run_execute(run.pk) == "succeeded"
    run.refresh_from_db()
    assert run.result == {"count": 3, "odd": None, "shards": 3}
    assert (run.progress_done, run.progress_total, run.progress_unit) == (3, 3, "numbers")
    messages = list(run.events.values_list("message", flat=True))
    assert "not an event at all" in messages
    assert "counted with a  in it" in messages
    assert messages[-1] == "Succeeded."
    assert run.metrics.filter(name="loss").count() == 3
    assert run.artifacts.count() == 3
    assert storage.get_bytes(f"runs/{run.pk}/shard-001.txt") == b"number 1"


def test_a_run_is_carried_out_once_however_often_it_is_delivered(make_run):
    run = make_run(n=2)
    assert [run_execute(run.pk), run_execute(run.pk)] == ["succeeded", "skipped"]
    assert (out_of(run) / "made.log").read_text() == "0\n1\n"


def test_two_workers_at_the_same_time_do_the_work_once(make_run):
    run = make_run(n=3, pause=0.1)
    threads = [in_background(run) for _ in range(2)]
    for thread in threads:
        thread.join()
    run.refresh_from_db()
    assert (run.status, run.attempt) == ("succeeded", 1)
    assert (out_of(run) / "made.log").read_text() == "0\n1\n2\n"


def test_a_metric_that_is_no_number_is_kept_with_a_flag_and_the_others_survive(make_run):
    run = make_run(n=3, extra="nan")
    run_execute(run.pk)
    bad = RunMetric.objects.get(run=run, name="loss", step=1)
    assert (bad.value, bad.flag) == (None, "nan")
    assert run.metrics.filter(name="accuracy", value__isnull=False).count() == 3


def test_a_step_reported_again_after_a_resume_has_one_value(make_run):
    run = make_run(n=3, extra="says no")
    run_execute(run.pk)
    Run.objects.filter(pk=run.pk).update(params={"n": 3})
    run_retry(run_id=run.pk, by=None)
    assert run_execute(run.pk) == "succeeded"
    assert run.metrics.filter(name="loss").count() == 3


def test_a_command_that_says_no_fails_the_run_with_its_words_and_field(make_run):
    run = make_run(n=1, extra="says no")
    assert run_execute(run.pk) == "failed"
    run.refresh_from_db()
    assert (run.error, run.error_field) == ("n must be even", "n")


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("crash", "ended with status 7. ValueError: the number is too round"),
        ("silent", "without reporting a result"),
    ],
)
def test_a_command_that_breaks_fails_the_run_with_what_is_known(make_run, extra, words):
    run = make_run(n=1, extra=extra)
    assert run_execute(run.pk) == "failed"
    run.refresh_from_db()
    assert words in run.error


def test_a_run_that_cannot_be_prepared_names_the_parameter(make_run):
    run = make_run(unprepared=True)
    assert run_execute(run.pk) == "failed"
    run.refresh_from_db()
    assert (run.error, run.error_field) == ("there is nothing to count", "n")


def test_a_finish_that_breaks_leaves_nothing_behind_and_no_detail_on_the_page(make_run):
    run = make_run(n=1, breaks=True)
    assert run_execute(run.pk) == "failed"
    run.refresh_from_db()
    assert not User.objects.filter(username="half-made").exists()
    assert "Unexpected RuntimeError" in run.error
    assert "secret" not in run.error


def test_cancelling_ends_the_whole_process_group(make_run, eventually):
    run = make_run(n=6, extra="grandchild held-2")
    thread = in_background(run)
    pid = int(eventually(lambda: _text(out_of(run) / "grandchild.pid")))
    group = int(eventually(lambda: _text(out_of(run).parent / ".group")))
    run_cancel(run_id=run.pk, by=None, now=timezone.now())
    thread.join(60)
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert not psutil.pid_exists(group)
    eventually(lambda: not psutil.pid_exists(pid))


def test_a_command_deaf_to_sigterm_is_killed(make_run, eventually, settings):
    settings.RUN_STOP_GRACE_SECONDS = 0.5
    run = make_run(n=6, extra="deaf held-2")
    thread = in_background(run)
    eventually((out_of(run) / "shard-001.txt").exists)
    run_cancel(run_id=run.pk, by=None, now=timezone.now())
    thread.join(60)
    run.refresh_from_db()
    assert run.status == "cancelled"


def test_a_cancelled_run_can_be_retried_and_resumes(make_run, eventually):
    run = make_run(n=6, extra="held-2")
    thread = in_background(run)
    eventually((out_of(run) / "shard-001.txt").exists)
    run_cancel(run_id=run.pk, by=None, now=timezone.now())
    thread.join(60)
    retry_without_pauses(run)
    assert (out_of(run) / "made.log").read_text().split() == [str(i) for i in range(6)]


def test_a_worker_that_stops_gives_the_run_back_and_the_next_one_resumes_it(make_run, eventually):
    run = make_run(n=6, extra="held-2")
    stop = threading.Event()
    thread = in_background(run, stop)
    eventually((out_of(run) / "shard-001.txt").exists)
    stop.set()
    thread.join(60)
    run.refresh_from_db()
    assert run.status == "queued"
    Run.objects.filter(pk=run.pk).update(params={"n": 6})
    assert run_execute(run.pk) == "succeeded"
    assert len((out_of(run) / "made.log").read_text().split()) == 6


def test_a_worker_whose_run_was_taken_away_stops_its_command_and_writes_nothing(make_run, eventually):
    run = make_run(n=6, extra="held-2")
    thread = in_background(run)
    eventually((out_of(run) / "shard-000.txt").exists)
    Run.objects.filter(pk=run.pk).update(
        status="lost", claim=None, finished_at=timezone.now(), lease_expires_at=None, error="taken"
    )
    thread.join(60)
    run.refresh_from_db()
    assert (run.status, run.error) == ("lost", "taken")


def test_another_machine_resumes_from_the_stored_shards(make_run, eventually):
    run = make_run(n=6, extra="held-2")
    thread = in_background(run)
    eventually(lambda: run.artifacts.count() >= 2)
    run_cancel(run_id=run.pk, by=None, now=timezone.now())
    thread.join(60)
    stored = run.artifacts.count()
    shutil.rmtree(out_of(run).parent)
    retry_without_pauses(run)
    assert len((out_of(run) / "made.log").read_text().split()) == 6 - stored
    assert run.artifacts.count() == 6


def test_a_piece_that_was_finished_but_not_stored_is_stored_by_the_next_attempt(make_run, eventually):
    run = make_run(n=6, extra="held-2")
    thread = in_background(run)
    eventually(lambda: run.artifacts.count() >= 2)
    run_cancel(run_id=run.pk, by=None, now=timezone.now())
    thread.join(60)
    run.artifacts.all().delete()
    retry_without_pauses(run)
    assert run.artifacts.count() == 6


def test_progress_is_seen_while_the_run_works(make_run, eventually):
    run = make_run(n=6, extra="held-2")
    thread = in_background(run)
    eventually(lambda: Run.objects.get(pk=run.pk).progress_done == 2)
    (out_of(run) / "go-2").touch()
    thread.join(60)
    run.refresh_from_db()
    assert (run.status, run.progress_done) == ("succeeded", 6)


def retry_without_pauses(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(params={"n": run.params["n"]})
    run_retry(run_id=run.pk, by=None)
    assert run_execute(run.pk) == "succeeded"


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""
