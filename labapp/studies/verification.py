"""Whether a locked design is still the one that was locked: its hashes, taken again from the rows.

The rows are walked back through the amendments, newest first, so that the hash after each of them and the locked one
are all found again. Trials are compared with the slots they were run for.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from labapp.studies.amendments import TIME_LIMIT, TRIALS, planned_slots
from labapp.studies.models import Study, StudyEvent
from labapp.studies.services import design_facts, facts_sha256


@dataclass(frozen=True)
class Hash:
    """One hash on record, and what the rows give now."""

    at: datetime
    what: str
    recorded: str
    found: str

    @property
    def is_intact(self) -> bool:
        return self.recorded == self.found


@dataclass(frozen=True)
class Verification:
    """``hashes`` in order of time: the lock, then every amendment. Empty for a study that has no design of ours."""

    study: str
    hashes: tuple[Hash, ...]
    strayed_trials: int

    @property
    def is_intact(self) -> bool:
        return all(found.is_intact for found in self.hashes) and not self.strayed_trials

    def __str__(self) -> str:
        if not self.hashes:
            return f"{self.study}: no locked design of this lab, so there is no hash to verify."
        if self.is_intact:
            return f"{self.study}: the hash of the design was taken again from its rows, and is the recorded one."
        broken = [f"{found.what} on {found.at:%Y-%m-%d}" for found in self.hashes if not found.is_intact]
        parts = [f"the rows do not give the hash recorded when it was {', '.join(broken)}"] if broken else []
        if self.strayed_trials:
            parts.append(f"{self.strayed_trials} trials name another arm or condition than their slot")
        return (
            f"{self.study}: {'; '.join(parts)}. Somebody changed the database past the lab: do not trust its results."
        )


def study_verify(study: Study) -> Verification:
    """Take every recorded hash of a study again from its rows."""
    if study.status == Study.Status.DRAFT or study.is_imported or study.cell is None:
        return Verification(study.slug, (), 0)
    is_other = ~Q(arm=F("slot__arm")) | ~Q(condition=F("slot__condition"))
    strayed = study.trials.filter(is_other, slot__isnull=False).count()
    return Verification(study.slug, tuple(_hashes(study))[::-1], strayed)


def _hashes(study: Study) -> Iterator[Hash]:
    """Newest first: what is there now, then what was there before each amendment."""
    facts = design_facts(study, planned_slots(study))
    kinds = (StudyEvent.Kind.AMENDED, StudyEvent.Kind.LOCKED)
    for event in study.events.filter(kind__in=kinds).order_by("-pk"):  # a clock may jump
        is_lock = event.kind == StudyEvent.Kind.LOCKED
        recorded = study.design_sha256 if is_lock else event.payload["sha256"]
        yield Hash(event.created_at, "locked" if is_lock else "amended", recorded, facts_sha256(facts))
        facts = _before(facts, event.payload)


def _before(facts: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """The design as it was before an amendment."""
    facts = dict(facts)
    for change in payload.get("changes", ()):
        if change["what"] == TIME_LIMIT:
            facts["time_limit_s"] = change["old"]
        elif change["what"].startswith(TRIALS):
            label = change["what"].removeprefix(TRIALS)
            facts["conditions"] = [
                c | {"trials_per_arm": change["old"]} if c["label"] == label else c for c in facts["conditions"]
            ]
            facts["slots"] = facts["slots"][: len(facts["slots"]) - payload.get("slots", 0)]
            payload = payload | {"slots": 0}
    return facts


def verification_facts(found: Verification) -> dict[str, Any]:
    """A verification as scripts get it."""
    hashes = [vars(one) | {"is_intact": one.is_intact} for one in found.hashes]
    return {
        "study": found.study,
        "is_intact": found.is_intact,
        "hashes": hashes,
        "strayed_trials": found.strayed_trials,
        "in_words": str(found),
    }
