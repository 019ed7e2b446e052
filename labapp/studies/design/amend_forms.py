"""Forms of amendments: each asks for its reason."""

from typing import Any

from django import forms

from labapp.studies.amendments import MOST_ADDED
from labapp.studies.models import Study


class AmendForm(forms.Form):
    """What every amendment asks; ``of`` makes the form for a study."""

    reason = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 2}), help_text="Every report of the study lists it with your name."
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study
        self.order_fields([name for name in self.fields if name != "reason"])


class NoteForm(AmendForm):
    """A deviation that changes nothing in the design."""


class TimeLimitForm(AmendForm):
    time_limit_s = forms.FloatField(label="New time limit [s]", min_value=1, max_value=600)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(study, *args, **kwargs)
        self.fields["time_limit_s"].initial = study.time_limit_s


class TrialsForm(AmendForm):
    """Further trials per arm for each condition."""

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(study, *args, **kwargs)
        for condition in study.conditions.all():
            self.fields[f"extra_{condition.slug}"] = forms.IntegerField(
                label=f"More trials per arm: {condition.label}",
                min_value=0,
                max_value=MOST_ADDED,
                initial=0,
                required=False,
            )
        self.order_fields([name for name in self.fields if name != "reason"])

    def extra(self) -> dict[str, int]:
        values = self.cleaned_data.items()
        return {name.removeprefix("extra_"): count or 0 for name, count in values if name.startswith("extra_")}


class WithdrawForm(AmendForm):
    arm = forms.ModelChoiceField(queryset=None, empty_label=None)

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(study, *args, **kwargs)
        field = self.fields["arm"]
        field.queryset = study.arms.filter(withdrawn_at=None)
        field.label_from_instance = lambda arm: f"{arm.code}: {arm.label}"
