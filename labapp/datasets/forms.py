"""The form that generates a simulated dataset."""

from typing import Any

from django import forms

from labapp.cells.models import World
from labapp.datasets.models import BehaviorSource, SimulatedDataset
from labapp.datasets.params import GenerateOptions
from labapp.demos.forms import EpisodeOptionsForm
from labapp.demos.models import DemonstrationSet
from labapp.forms import NameField
from labapp.names import free_name


class WorldChoice(forms.ModelChoiceField):
    def label_from_instance(self, world: World) -> str:
        return f"{world} ({world.grounding}), {world.cell}"


class GenerateForm(EpisodeOptionsForm):
    """A world, where the motion comes from, and how many trajectories are wanted."""

    options_class = GenerateOptions
    name = NameField(SimulatedDataset)
    world = WorldChoice(World.objects.select_related("cell"), empty_label=None)
    behavior = forms.ChoiceField(
        label="Where the motion comes from",
        choices=[
            (BehaviorSource.Method.ADAPT, "Demonstrations, adapted to new scenes (grounded)"),
            (BehaviorSource.Method.SYNTHESIZE, "Grasps and routes of its own (ungrounded)"),
        ],
        widget=forms.RadioSelect,
        initial=BehaviorSource.Method.ADAPT,
    )
    demonstration_set = forms.ModelChoiceField(
        DemonstrationSet.objects.filter(ready_at__isnull=False),
        required=False,
        help_text="Needed for adapted motion, recorded on the world's robot.",
    )
    workers = forms.IntegerField(label="Processes", initial=GenerateOptions.workers)

    field_order = (
        "name", "world", "behavior", "demonstration_set", "n", "objects", "belt_speed", "seed", "image_size",
        "camera_fps", "workers",
    )  # fmt: skip

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["n"].label = "Accepted trajectories"
        self.fields["n"].initial = GenerateOptions.n
        self.fields["name"].initial = free_name(SimulatedDataset, "simulated")
        self.fields["demonstration_set"].initial = self.fields["demonstration_set"].queryset.first()
