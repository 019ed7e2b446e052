"""The form that trains a policy."""

from typing import Any

from django import forms

from labapp.forms import NameField, OptionsForm
from labapp.names import free_name
from labapp.policies.mixture import MixtureField, sources
from labapp.policies.models import Policy
from labapp.policies.params import PRESETS, TrainOptions


class TrainForm(OptionsForm):
    """A mixture, a network and a budget."""

    options_class = TrainOptions
    name = NameField(Policy)
    components = MixtureField(
        label="Mixture",
        required=False,
        help_text="Weights are relative: 1 and 3 give a quarter and three quarters of the training samples.",
    )
    preset = forms.ChoiceField(choices=[(name, name) for name in PRESETS], initial=TrainOptions.preset)
    minutes = forms.FloatField(
        required=False, initial=TrainOptions.minutes, help_text="Training time. With steps too, whichever comes first."
    )
    steps = forms.IntegerField(required=False)
    image_size = forms.IntegerField(
        label="Image size [px]",
        initial=TrainOptions.image_size,
        help_text="A multiple of 16; views are squeezed to it",
    )
    seed = forms.IntegerField(initial=TrainOptions.seed)
    threads = forms.IntegerField(label="CPU threads", initial=TrainOptions.threads)

    def __init__(self, *args: Any, start_with: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = free_name(Policy, "policy")
        keys = [source.key for source in sources()]
        first = start_with if start_with in keys else next(iter(keys), "")
        self.fields["components"].initial = {first: "1"}
