"""The form that launches an evaluation, and the filters of its rollouts."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from labapp.cells.models import World
from labapp.datasets.forms import WorldChoice
from labapp.evaluations.models import Video
from labapp.evaluations.params import EvaluateOptions
from labapp.forms import OptionsForm
from labapp.policies.models import Checkpoint
from labapp.studies.forms import checkpoints_offered
from labapp.studies.models import Study
from robots.cell.bench import BENCH_CELL


class CheckpointChoice(forms.ModelChoiceField):
    def label_from_instance(self, checkpoint: Checkpoint) -> str:
        return f"{checkpoint.policy.name}, step {checkpoint.step}"


class EvaluateForm(OptionsForm):
    """A study's arms or one checkpoint, in one world."""

    options_class = EvaluateOptions
    study = forms.ModelChoiceField(
        Study.objects.filter(arms__checkpoint__isnull=False).distinct(),
        required=False,
        empty_label="none: one policy alone",
        help_text="All its arms, under its conditions, from the starts of its own trials.",
    )
    checkpoint = CheckpointChoice(
        Checkpoint.objects.none(),
        label="Policy",
        required=False,
        empty_label="none: a study's arms",
        help_text="One policy without a study, under the paper's conditions.",
    )
    world = WorldChoice(
        World.objects.select_related("cell").filter(cell__embodiment=BENCH_CELL.name),
        empty_label=None,
        help_text="The same for every policy. The measured world is the best model of the cell.",
    )
    amount = forms.ChoiceField(
        label="Rollouts of each policy",
        choices=[
            ("planned", "As many as the study plans under each condition"),
            ("run", "As many as its trials that have been run"),
            ("each", "The number below, under each condition"),
        ],
        widget=forms.RadioSelect,
        initial=EvaluateOptions.amount,
    )
    rollouts = forms.IntegerField(label="Rollouts per condition", initial=EvaluateOptions.rollouts)
    seed = forms.IntegerField(initial=0, help_text="Draws further starts, and the policies' noise: the same for all.")
    image_size = forms.IntegerField(
        label="Image size [px]", initial=EvaluateOptions.image_size, help_text="128 is what the agent shows policies."
    )

    video = forms.ChoiceField(
        label="Videos of the rollouts",
        choices=Video.choices,
        widget=forms.RadioSelect,
        initial=EvaluateOptions.video,
        help_text="Joints and commands of every rollout are recorded in any case.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["checkpoint"].queryset = checkpoints_offered()

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        chosen = [name for name in ("study", "checkpoint") if values.get(name)]
        if len(chosen) != 1 and not {"study", "checkpoint"} & set(self.errors):
            raise ValidationError("Choose either a study or one policy.")
        return values
