"""Reading studies: what is next, how far it is, who may know what."""

from datetime import datetime, timedelta

from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from labapp.accounts.models import Role, User
from labapp.accounts.roles import has_role
from labapp.cells.agents import agents_present
from labapp.studies.models import OperatorSession, PolicyArm, Study, Trial, TrialSlot

UNFINISHED = (Trial.Status.RUNNING, Trial.Status.PROPOSED)
SESSION_LONGEST = timedelta(hours=8)  # a checklist holds for a shift; a session left open over night is none any more


def studies_at_rig(now: datetime) -> QuerySet[Study]:
    """Studies with what a console asks about the rig, in one query: cell, agent that is there, session that is held."""
    there = agents_present(now).filter(cell=OuterRef("cell"))
    return Study.objects.select_related("cell").annotate(
        agent_name=Subquery(there.values("name")[:1]),
        held=FilteredRelation(
            "sessions", condition=Q(sessions__ended_at=None, sessions__started_at__gt=now - SESSION_LONGEST)
        ),
        session_id=F("held__pk"),
        session_since=F("held__started_at"),
        session_device=F("held__device_id"),
        session_operator=F("held__operator__username"),
    )


def studies_counted() -> QuerySet[Study]:
    """Newest first, with ``arm_count``, ``planned`` and ``confirmed`` trials, each counted apart, from its own index.

    Counted over joins, every trial would be read once for every arm and every slot.
    """
    return (
        Study.objects.select_related("cell")
        .annotate(
            arm_count=_count(PolicyArm.objects.all()),
            planned=_count(TrialSlot.objects.filter(reschedules=None)),
            confirmed=_count(Trial.objects.filter(status=Trial.Status.CONFIRMED)),
        )
        .order_by("-created_at")
    )


def _count(rows: QuerySet) -> Coalesce:
    counted = rows.filter(study=OuterRef("pk")).order_by().values("study").annotate(n=Count("*"))
    return Coalesce(Subquery(counted.values("n")), 0)


def slots_open(study: Study) -> QuerySet[TrialSlot]:
    """Slots still to run, in running order: a repeated slot comes within its block."""
    return study.slots.filter(is_open()).select_related("arm", "condition", "object").order_by("block", "position")


def is_open() -> Q:
    """No valid trial yet, nor repeated by another slot, nor of an arm that was withdrawn."""
    valid_trial = Trial.objects.filter(slot=OuterRef("pk")).exclude(status=Trial.Status.INVALID)
    return Q(~Exists(valid_trial), arm__withdrawn_at__isnull=True, rescheduled_as__isnull=True)


def slot_next(study: Study) -> TrialSlot | None:
    return slots_open(study).first()


def trial_unfinished(study: Study) -> Trial | None:
    """The trial that is running or waits for its outcome; a new one starts only after it."""
    return study.trials.filter(status__in=UNFINISHED).select_related("slot", "arm", "condition").first()


def trial_running_at(study: Study) -> Trial | None:
    """What the robot is doing for another study of the same cell."""
    others = Trial.objects.filter(study__cell=study.cell_id, status=Trial.Status.RUNNING).exclude(study=study)
    return others.select_related("slot", "study").first()


def session_open(study: Study) -> OperatorSession | None:
    """The session that is held on a study now; there is one at most."""
    return study.sessions.filter(ended_at=None).select_related("operator").first()


def session_is_over(now: datetime) -> Q:
    """Ended, or left open for longer than a session lasts."""
    return Q(ended_at__isnull=False) | Q(started_at__lte=now - SESSION_LONGEST)


def study_progress(study: Study) -> dict[str, int]:
    trials = study.trials.aggregate(
        confirmed=Count("pk", filter=Q(status=Trial.Status.CONFIRMED)),
        invalid=Count("pk", filter=Q(status=Trial.Status.INVALID)),
        unfinished=Count("pk", filter=Q(status__in=UNFINISHED)),
    )
    return trials | study.slots.aggregate(
        open=Count("pk", filter=is_open()), planned=Count("pk", filter=Q(reschedules=None))
    )


def sees_policies(user: User, study: Study) -> bool:
    """Whether a person may know which policy is behind a code of this study.

    Once unblinded, everyone; before that only those who do not run trials: researchers and PIs design studies and
    already know their policies, operators never do.
    """
    return not study.is_blinded or user.effective_role != Role.OPERATOR


def may_see_results(user: User, study: Study) -> bool:
    """Operators see results only once the study is unblinded: they score its trials."""
    return has_role(user, Role.RESEARCHER, Role.PI) or not study.is_blinded


def sees_names(user: User, study: Study) -> bool:
    """Whether results carry policy names. Of a blinded study only the PI's do: whoever analyses stays blind too."""
    return not study.is_blinded or has_role(user, Role.PI)
