"""Studies: design, seeded schedule, blinded trials with their whole history.

The trial browser and designing keep their rows beside their code; they are listed here for Django to find them.
"""

from labapp.studies.browser.models import RigPicture, SavedFilter, TrialAttribution, TrialFlag, TrialNote
from labapp.studies.design.models import DraftVersion
from labapp.studies.models.plan import Condition, PolicyArm, TrialSlot
from labapp.studies.models.study import Study, StudyEvent
from labapp.studies.models.trial import FailureMode, OperatorSession, Stage, Trial, TrialRevision, TrialVideo

__all__ = [
    "Condition",
    "DraftVersion",
    "FailureMode",
    "OperatorSession",
    "PolicyArm",
    "RigPicture",
    "SavedFilter",
    "Stage",
    "Study",
    "StudyEvent",
    "Trial",
    "TrialAttribution",
    "TrialFlag",
    "TrialNote",
    "TrialRevision",
    "TrialSlot",
    "TrialVideo",
]
