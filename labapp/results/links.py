"""Addresses of the trials behind a number: the trials list with the filters that give exactly those trials."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse

from labapp.studies.arms import Arm
from labapp.studies.models import Study


@dataclass(frozen=True)
class TrialLinks:
    """Links into one study's trials list; `until` is the page's own limit."""

    base: str
    until: datetime | None = None

    @classmethod
    def of(cls, study: Study, until: datetime | None) -> "TrialLinks":
        return cls(reverse("studies:trials", args=[study.slug]), until)

    def to(self, arms: Sequence[Arm], conditions: Sequence[str], **more: str) -> str:
        """The scored trials of these arms in these conditions (slugs), further filters by name."""
        which_arms = "arm" if len(arms) == 1 else "arms"
        which_conditions = "condition" if len(conditions) == 1 else "conditions"
        query = {
            which_arms: ",".join(arm.code for arm in arms),
            which_conditions: ",".join(conditions),
            "status": "confirmed",
            **more,
        }
        if self.until:
            query["until"] = self.until.isoformat()
        return f"{self.base}?{urlencode(query, safe=',')}"
