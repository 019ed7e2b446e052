"""Forms of the design page. Rates and margins are given in per cent and points, kept as shares."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.text import slugify

from labapp.cells.models import Cell, CellObject
from labapp.policies.models import Checkpoint, Policy
from labapp.studies.arms import Arm
from labapp.studies.design.plan import (
    ADJUSTMENTS,
    LARGEST_LOOKS,
    MARGIN_KINDS,
    SHAPES,
    STOPPING,
    TESTS,
    AnalysisPlan,
    Margin,
    PlanError,
)
from labapp.studies.models import Condition, Study
from labapp.studies.presets import ConditionPreset

SEED_LIMIT = 2**31 - 1


class PolicyChoice(forms.ModelMultipleChoiceField):
    def label_from_instance(self, policy: Policy) -> str:
        return policy.name if policy.is_trained else f"{policy.name} (no checkpoint yet)"


class DesignForm(forms.Form):
    """What is tried, with what, in which order."""

    version = forms.IntegerField(widget=forms.HiddenInput)
    name = forms.CharField(max_length=120, help_text="The study's address stays as it is.")
    cell = forms.ModelChoiceField(
        Cell.objects.all(), empty_label=None, help_text="Another cell has other objects, and other policies fit it."
    )
    question = forms.CharField(
        required=False, widget=forms.Textarea(attrs={"rows": 2}), help_text="What the study is to decide."
    )
    policies = PolicyChoice(
        Policy.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Each is an arm behind a drawn code; operators see only the code.",
    )
    object_names = forms.MultipleChoiceField(
        label="Objects",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Novel objects are used by conditions with novel objects, the others by all other conditions.",
    )
    time_limit_s = forms.FloatField(label="Time limit [s]", min_value=1, max_value=600)
    seed = forms.IntegerField(
        min_value=0, max_value=SEED_LIMIT, help_text="Draws the order of the trials: the same seed, the same order."
    )

    def __init__(self, study: Study, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["policies"].queryset = offered_policies(study)
        self.fields["object_names"].error_messages["invalid_choice"] = (
            f"{study.cell or 'This cell'} has no object “%(value)s”; choose among its own."
        )
        objects = list(study.cell.cell_objects.all()) if study.cell else []
        self.fields["object_names"].choices = [(o.name, object_label(o)) for o in objects]


def offered_policies(study: Study) -> QuerySet[Policy]:
    """Policies of the cell's embodiment, trained or under training; those of the study in any case."""
    embodiments = ["", study.cell.embodiment] if study.cell else [""]
    final = Checkpoint.objects.filter(policy=OuterRef("pk"), is_final=True)
    fitting = Policy.objects.filter(Q(embodiment__in=embodiments) | Q(arms__study=study))
    return fitting.annotate(is_trained=Exists(final)).distinct().order_by("name")


def object_label(row: CellObject) -> str:
    return f"{row.label} (novel)" if row.is_novel else row.label


def design_initial(study: Study) -> dict[str, Any]:
    objects = list(study.cell.cell_objects.values_list("name", flat=True)) if study.cell else []
    return {
        "version": study.draft_version,
        "name": study.name,
        "cell": study.cell_id,
        "question": study.question,
        "policies": [arm.policy_id for arm in study.arms.all()],
        "object_names": study.object_names or objects,
        "time_limit_s": study.time_limit_s,
        "seed": study.seed,
    }


class ConditionForm(forms.Form):
    """One row of the table of conditions; a row without a name is left out."""

    label = forms.CharField(
        max_length=60, required=False, widget=forms.TextInput(attrs={"placeholder": "Another condition"})
    )
    is_shifted = forms.BooleanField(label="Shifted", required=False)
    light = forms.ChoiceField(choices=Condition.Light.choices, initial="white")
    belt_speed_min = forms.FloatField(label="Belt from [m/s]", min_value=0, max_value=2, initial=0.08)
    belt_speed_max = forms.FloatField(label="Belt to [m/s]", min_value=0, max_value=2, initial=0.12)
    uses_novel_objects = forms.BooleanField(label="Novel objects", required=False)
    trials_per_arm = forms.IntegerField(label="Trials per arm", min_value=0, max_value=10_000, initial=0)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        low, high = values.get("belt_speed_min"), values.get("belt_speed_max")
        if low is not None and high is not None and high < low:
            self.add_error("belt_speed_max", "The belt's range ends below its start.")
        if not values.get("label") and values.get("trials_per_arm"):
            self.add_error("label", "Name the condition, or plan no trials under it.")
        return values

    def preset(self) -> ConditionPreset | None:
        values = self.cleaned_data
        if not values.get("label") or values.get("DELETE"):
            return None
        return ConditionPreset(
            slug=slugify(values["label"])[:40] or "condition",
            label=values["label"],
            trials_per_arm=values["trials_per_arm"],
            is_shifted=values["is_shifted"],
            light=values["light"],
            belt_speed=(values["belt_speed_min"], values["belt_speed_max"]),
            uses_novel_objects=values["uses_novel_objects"],
        )


class CopyForm(forms.Form):
    """A new study with the design of another one."""

    name = forms.CharField(label="Name of the new study", max_length=120)


ConditionFormSet = forms.formset_factory(ConditionForm, extra=1, can_delete=True)


def conditions_initial(study: Study) -> list[dict[str, Any]]:
    return list(study.conditions.values(*ConditionForm.base_fields))


class RatesForm(forms.Form):
    """One assumed success rate per arm, in per cent."""

    def __init__(self, arms: Sequence[Arm], rates: dict[str, float], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for arm in arms:
            self.fields[f"rate_{arm.code}"] = forms.FloatField(
                label=arm.name, min_value=0, max_value=100, initial=f"{100 * rates[arm.code]:g}"
            )
            self.fields[f"rate_{arm.code}"].required = f"rate_{arm.code}" in (self.data or {})  # an arm added meanwhile

    def rates(self) -> dict[str, float]:
        given = {name: value for name, value in self.cleaned_data.items() if value is not None}
        return {name.removeprefix("rate_"): round(value / 100, 6) for name, value in given.items()}


class PlanForm(forms.Form):
    """What will be concluded, how, and when the trials end."""

    primary = forms.MultipleChoiceField(
        label="Primary comparisons",
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="What the study is about. Everything else is secondary and reported as such.",
    )
    alpha = forms.FloatField(label="Level (two-sided)", min_value=0.0001, max_value=0.2, initial=0.05)
    adjustment = forms.ChoiceField(choices=ADJUSTMENTS.items(), label="Adjustment for several comparisons")
    test = forms.ChoiceField(choices=TESTS.items(), label="Test of two arms")
    stopping = forms.ChoiceField(choices=STOPPING.items(), label="Stopping rule", widget=forms.RadioSelect)
    looks = forms.IntegerField(min_value=1, max_value=LARGEST_LOOKS, initial=1, help_text="Group-sequential only.")
    shape = forms.ChoiceField(choices=SHAPES.items(), label="Boundary", help_text="Group-sequential only.")

    def __init__(self, comparisons: dict[str, str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["primary"].choices = list(comparisons.items())


class MarginForm(forms.Form):
    """One claim of equivalence or non-inferiority; a row without arms is left out."""

    first = forms.ChoiceField(label="Arm", required=False)
    kind = forms.ChoiceField(choices=MARGIN_KINDS.items(), label="Claim")
    second = forms.ChoiceField(label="Other arm", required=False)
    points = forms.FloatField(label="Margin [points]", required=False, min_value=0.1, max_value=99)

    def __init__(self, *args: Any, arms: Sequence[Arm], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "—"), *((arm.code, arm.name) for arm in arms)]
        self.fields["first"].choices = self.fields["second"].choices = choices

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if values.get("DELETE") or not (values.get("first") or values.get("second")):
            return values
        if not (values.get("first") and values.get("second")):
            raise ValidationError("A margin compares two arms: choose both.")
        if values.get("points") is None and "points" not in self.errors:
            self.add_error("points", "A claim needs its margin, declared before the data.")
        return values

    def margin(self) -> Margin | None:
        values = self.cleaned_data
        if values.get("DELETE") or not values.get("first"):
            return None
        return Margin(values["kind"], values["first"], values["second"], round(values["points"] / 100, 6))


MarginFormSet = forms.formset_factory(MarginForm, extra=1, can_delete=True)


def margins_initial(plan: AnalysisPlan) -> list[dict[str, Any]]:
    return [
        {"kind": m.kind, "first": m.first, "second": m.second, "points": round(100 * m.margin, 3)} for m in plan.margins
    ]


def plan_initial(plan: AnalysisPlan) -> dict[str, Any]:
    return {name: getattr(plan, name) for name in PlanForm.base_fields}


def plan_of(form: PlanForm, margins: Any, rates: RatesForm) -> AnalysisPlan:
    """The plan of three valid forms.

    Raises:
        ValidationError: keyed by field, where they contradict each other.
    """
    values = form.cleaned_data | {"primary": tuple(form.cleaned_data["primary"])}
    if values["stopping"] != "group-sequential":
        values["looks"] = 1
    try:
        claims = tuple(claim for row in margins.forms if (claim := row.margin()) is not None)
        return AnalysisPlan(**values, margins=claims, assumed_rates=rates.rates())
    except PlanError as error:
        raise ValidationError({error.field: str(error)}) from error
