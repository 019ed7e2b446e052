"""The form that adds a world."""

from django import forms

from labapp.cells.models import Cell, World


class WorldForm(forms.Form):
    """Measured through the cell's drivers, or nominal: as the cell is described."""

    MEASURE, NOMINAL = "measure", "nominal"

    cell = forms.ModelChoiceField(Cell.objects.all(), empty_label=None)
    source = forms.ChoiceField(
        label="Where its values come from",
        choices=[(MEASURE, "Measure the cell (grounded)"), (NOMINAL, "As the cell is described (ungrounded)")],
        widget=forms.RadioSelect,
        initial=MEASURE,
    )
    name = forms.SlugField(
        max_length=World._meta.get_field("name").max_length,
        initial="grounded",
        help_text="A name that exists gets a new version; worlds never change.",
    )
    seed = forms.IntegerField(
        min_value=0, initial=0, required=False, help_text="Seeds the measuring motions; the same seed measures alike."
    )

    def clean_seed(self) -> int:
        return self.cleaned_data["seed"] or 0


class CompareForm(forms.Form):
    """Two worlds to look at side by side."""

    a = forms.ModelChoiceField(World.objects.select_related("cell"), label="World A")
    b = forms.ModelChoiceField(World.objects.select_related("cell"), label="World B")
