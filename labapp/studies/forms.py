"""Forms of studies."""

from collections.abc import Sequence
from dataclasses import replace

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from labapp.cells.models import Cell
from labapp.policies.models import Checkpoint
from labapp.studies.models import FailureMode, Stage
from labapp.studies.presets import PAPER_CONDITIONS, ConditionPreset
from labapp.studies.trials import Outcome

QUICK_SHARE = 6
CHOOSE = ("", "choose …")  # an outcome is never a default
DIGITS = 9  # at most, of a draft's version
QUICK_CONDITIONS = tuple(
    replace(condition, trials_per_arm=max(1, round(condition.trials_per_arm / QUICK_SHARE)))
    for condition in PAPER_CONDITIONS
)
PRESETS: dict[str, Sequence[ConditionPreset]] = {"quick": QUICK_CONDITIONS, "paper": PAPER_CONDITIONS}


def preset_label(conditions: Sequence[ConditionPreset]) -> str:
    nominal = sum(c.trials_per_arm for c in conditions if not c.is_shifted)
    shifted = sum(c.trials_per_arm for c in conditions if c.is_shifted)
    return f"{nominal} nominal + {shifted} shifted trials per policy"


def version_in(sent: str) -> int | None:
    """The version of a draft that a request names; None where it names none."""
    return int(sent) if sent.isdecimal() and len(sent) <= DIGITS else None


class CheckpointChoice(forms.ModelMultipleChoiceField):
    def label_from_instance(self, checkpoint: Checkpoint) -> str:
        return f"{checkpoint.policy.name}, step {checkpoint.step}"


class StudyForm(forms.Form):
    """A new study: its policies, its conditions, and the seed of its order."""

    name = forms.CharField(max_length=120)
    question = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="What the study is to decide."
    )
    cell = forms.ModelChoiceField(Cell.objects.all(), empty_label=None)
    checkpoints = CheckpointChoice(
        Checkpoint.objects.none(),
        label="Policies",
        widget=forms.CheckboxSelectMultiple,
        help_text="Each becomes an arm behind a drawn code; operators see only the code.",
    )
    preset = forms.ChoiceField(
        label="Conditions",
        choices=[
            ("paper", f"Paper: {preset_label(PAPER_CONDITIONS)}"),
            ("quick", f"Quick: {preset_label(QUICK_CONDITIONS)}"),
        ],
        widget=forms.RadioSelect,
        initial="quick",
    )
    time_limit_s = forms.FloatField(label="Time limit [s]", min_value=1, max_value=600, initial=12)
    seed = forms.IntegerField(min_value=0, max_value=2**31 - 1, initial=0, help_text="Draws the order of the trials.")

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.fields["checkpoints"].queryset = checkpoints_offered()

    def clean(self) -> dict:
        values = super().clean()
        cell, chosen = values.get("cell"), values.get("checkpoints")
        strange = [c.policy.name for c in chosen or [] if c.policy.embodiment not in ("", cell and cell.embodiment)]
        if cell and strange:
            self.add_error("checkpoints", f"Made for another embodiment than {cell.embodiment}: {', '.join(strange)}.")
        return values


def checkpoints_offered() -> QuerySet[Checkpoint]:
    """Final checkpoints; a policy under training is not tried."""
    return Checkpoint.objects.filter(is_final=True).select_related("policy").order_by("policy__name")


class ReasonForm(forms.Form):
    reason = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))


class OutcomeForm(forms.Form):
    """An outcome with the reason of its correction."""

    is_success = forms.TypedChoiceField(
        label="Outcome", choices=[CHOOSE, ("true", "success"), ("false", "failure")], coerce=lambda text: text == "true"
    )
    furthest_stage = forms.ChoiceField(choices=[CHOOSE, *Stage.choices])
    failure_mode = forms.ChoiceField(choices=[("", "none"), *FailureMode.choices], required=False)
    note = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 2}))
    reason = forms.CharField(help_text="Why it is corrected; the old outcome is kept beside it.")

    def outcome(self) -> Outcome:
        """The outcome of a valid form; raises ValidationError when its parts contradict each other."""
        if not self.is_valid():
            raise ValidationError("The form has errors.")
        names = ("is_success", "furthest_stage", "failure_mode", "note")
        return Outcome(**{name: self.cleaned_data[name] for name in names})
