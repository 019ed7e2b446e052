"""Trials as rows of a table."""

import csv
from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.postgres.aggregates import StringAgg
from django.db.models import Count, IntegerField, OuterRef, QuerySet, Subquery, TextField, Value
from django.db.models.functions import Coalesce

from labapp.studies.browser.models import TrialFlag, TrialNote
from labapp.studies.history import put_back
from labapp.studies.models import Trial

HEADER = [
    "trial", "position", "block", "code", "condition", "object", "belt_speed_m_s", "bin", "seed", "status", "outcome",
    "furthest_stage", "failure_mode", "note", "invalid_reason", "is_automatic", "operator", "duration_s", "latency_ms",
    "started_at", "confirmed_at", "is_simulated", "flags", "notes",
]  # fmt: skip
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def trial_rows(found: QuerySet[Trial], *, with_policies: bool) -> Iterator[list[Any]]:
    """A header and one row a trial of `history.as_of`, as it was then.

    ``latency_ms`` says something of a policy, so it goes with the policies' names.
    """
    hidden = [] if with_policies else ["latency_ms"]
    yield [name for name in HEADER if name not in hidden] + (["policy"] if with_policies else [])
    for trial in put_back(with_remarks(found).iterator(chunk_size=2000)):
        row = dict(zip(HEADER, trial_row(trial), strict=True))
        values = [value for name, value in row.items() if name not in hidden]
        yield values + ([trial.arm.label] if with_policies else [])


def trial_row(trial: Trial) -> list[Any]:
    slot = trial.slot
    planned = [slot.object.name, slot.belt_speed, slot.bin, slot.seed] if slot else ["", "", "", ""]
    return [
        trial.pk,
        slot.position if slot else "",
        slot.block if slot else trial.block_label,
        trial.arm.code,
        trial.condition.slug,
        *planned,
        trial.status,
        outcome_word(trial),
        trial.furthest_stage,
        trial.failure_mode,
        trial.note,
        trial.invalid_reason,
        trial.is_automatic,
        trial.operator.get_username() if trial.operator else trial.operator_label,
        trial.duration_s,
        trial.latency_ms,
        trial.started_at.isoformat() if trial.started_at else "",
        trial.confirmed_at.isoformat() if trial.confirmed_at else "",
        trial.study.is_simulated,
        trial.flag_words,
        trial.note_count,
    ]


def with_remarks(found: QuerySet[Trial]) -> QuerySet[Trial]:
    """Each trial with ``flag_words`` (its flags with semicolons between) and ``note_count``."""
    flags = TrialFlag.objects.filter(trial=OuterRef("pk"), deleted_at=None).order_by().values("trial")
    notes = TrialNote.objects.filter(trial=OuterRef("pk"), deleted_at=None).order_by().values("trial")
    words = flags.annotate(words=StringAgg("label", "; ", order_by="created_at")).values("words")
    counts = notes.annotate(n=Count("pk")).values("n")
    return found.annotate(
        flag_words=Coalesce(Subquery(words), Value(""), output_field=TextField()),
        note_count=Coalesce(Subquery(counts, output_field=IntegerField()), 0),
    )


class Echo:
    """A file of which the csv writer gets back what it writes."""

    def write(self, text: str) -> str:
        return text


def csv_lines(rows: Iterable[list[Any]]) -> Iterator[str]:
    """Lines of a CSV file; a text that a spreadsheet would run gets a leading quote."""
    writer = csv.writer(Echo())
    return (writer.writerow([_harmless(value) for value in row]) for row in rows)


def _harmless(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def outcome_word(trial: Trial) -> str:
    return {True: "success", False: "failure", None: ""}[trial.is_success]
