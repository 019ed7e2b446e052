"""Forms that record and import demonstrations."""

from typing import Any

from django import forms

from labapp.cells.models import Cell, CellObject
from labapp.demos.models import DemonstrationSet
from labapp.demos.params import EpisodeOptions
from labapp.forms import NameField, OptionsForm, RangeField
from labapp.names import free_name


class EpisodeOptionsForm(OptionsForm):
    """What recording and generating have in common; the objects are those of the bench cells."""

    options_class = EpisodeOptions
    n = forms.IntegerField(label="How many", initial=EpisodeOptions.n)
    objects = forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple)
    belt_speed = RangeField(
        label="Belt speed [m/s]", initial=EpisodeOptions.belt_speed, help_text="Lowest and highest."
    )
    seed = forms.IntegerField(initial=0, help_text="The same seed draws the same scenes.")
    image_size = forms.IntegerField(label="Image size [px]", initial=EpisodeOptions.image_size)
    camera_fps = forms.FloatField(label="Camera frames a second", initial=EpisodeOptions.camera_fps)

    allows_novel = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        found = CellObject.objects.filter(cell__bench_seed__isnull=False)
        if not self.allows_novel:
            found = found.filter(is_novel=False)
        names = {o.name: f"{o.label} (novel)" if o.is_novel else o.label for o in found}
        self.fields["objects"].choices = list(names.items())
        self.fields["objects"].initial = [o.name for o in found if not o.is_novel]

    def clean_objects(self) -> tuple[str, ...]:
        return tuple(self.cleaned_data["objects"])


class RecordForm(EpisodeOptionsForm):
    """A set that the scripted demonstrator records on the bench cell."""

    name = NameField(DemonstrationSet)
    cell = forms.ModelChoiceField(Cell.objects.filter(bench_seed__isnull=False), empty_label=None)

    field_order = ("name", "cell", "n", "objects", "belt_speed", "seed", "image_size", "camera_fps")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["n"].label = "Demonstrations"
        self.fields["name"].initial = free_name(DemonstrationSet, "bench-demonstrations")


class ImportForm(forms.Form):
    """An uploaded folder: as a token of files that the browser sent before, or as one zip file."""

    name = NameField(DemonstrationSet, help_text="How the lab will call this set.")
    files = forms.FileField(
        label="Zip of the dataset folder",
        required=False,
        widget=forms.ClearableFileInput(attrs={"accept": ".zip,application/zip"}),
        help_text="The folder with meta, data and videos in it: LeRobot v2.0, v2.1 or v3.0.",
    )
    units = forms.ChoiceField(
        label="Unit of state and action",
        choices=[("", "not known"), ("rad", "radians"), ("deg", "degrees")],
        required=False,
        help_text="Degrees and radians never mix in one policy.",
    )
    cell = forms.ModelChoiceField(
        Cell.objects.all(),
        required=False,
        empty_label="another lab's",
        help_text="If it was recorded on a cell of this lab.",
    )
    upload = forms.CharField(required=False, widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if not values.get("files") and not values.get("upload") and "files" not in self.errors:
            self.add_error("files", "Choose the dataset's folder, or a zip of it.")
        return values
