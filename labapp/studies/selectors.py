"""Reading studies: what is next, how far it is, who may know what."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from labapp.accounts.models import Role, User
from labapp.studies.models import OperatorSession, Study, Trial, TrialSlot


def slots_open(study: Study) -> QuerySet[TrialSlot]:
    """Slots still to run, in running order: a repeated slot comes within its block."""
    valid_trial = Trial.objects.filter(slot=OuterRef("pk")).exclude(status=Trial.Status.INVALID)
    return (
        study.slots.filter(~Exists(valid_trial), arm__withdrawn_at__isnull=True, rescheduled_as__isnull=True)
        .select_related("arm", "condition", "object")
        .order_by("block", "position")
    )


def slot_next(study: Study) -> TrialSlot | None:
    return slots_open(study).first()


def trial_unfinished(study: Study) -> Trial | None:
    """The trial that is running or waits for its outcome; a new one starts only after it."""
    waiting = [Trial.Status.RUNNING, Trial.Status.PROPOSED]
    return study.trials.filter(status__in=waiting).select_related("slot", "arm", "condition").first()


def session_open(study: Study) -> OperatorSession | None:
    """The session that is held on a study now; there is one at most."""
    return study.sessions.filter(ended_at=None).select_related("operator").first()


def study_progress(study: Study) -> dict[str, int]:
    counts = study.trials.aggregate(
        confirmed=Count("pk", filter=Q(status=Trial.Status.CONFIRMED)),
        invalid=Count("pk", filter=Q(status=Trial.Status.INVALID)),
        unfinished=Count("pk", filter=Q(status__in=[Trial.Status.RUNNING, Trial.Status.PROPOSED])),
    )
    return counts | {"open": slots_open(study).count(), "planned": study.slots.filter(reschedules=None).count()}


def sees_policies(user: User, study: Study) -> bool:
    """Whether a person may know which policy is behind a code of this study.

    Once unblinded, everyone; before that only those who do not run trials: researchers and PIs design studies and
    already know their policies, operators never do.
    """
    return not study.is_blinded or user.effective_role != Role.OPERATOR
