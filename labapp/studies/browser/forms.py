"""Forms of the trial browser."""

import uuid

from django import forms

from labapp.studies.browser.models import TrialFlag


class RemarkForm(forms.Form):
    """A note, or a flag with a few words; of the whole trial or of the moment that the playhead shows."""

    id = forms.UUIDField(widget=forms.HiddenInput)
    text = forms.CharField(max_length=4000, required=False, strip=True)
    label = forms.ChoiceField(choices=[("", "Note"), *TrialFlag.Label.choices], required=False)
    time_s = forms.FloatField(required=False, min_value=0)

    def clean(self) -> dict:
        values = super().clean()
        if not values.get("label") and not values.get("text") and "text" not in self.errors:
            self.add_error("text", "Write something, or choose a flag.")
        return values


def remark_form() -> RemarkForm:
    """An empty form with its own id: sent twice, it makes one remark."""
    return RemarkForm(initial={"id": uuid.uuid4()})


class EditForm(forms.Form):
    """Another text, flag or moment for one's own remark."""

    text = forms.CharField(max_length=4000, required=False, strip=True)
    label = forms.ChoiceField(choices=TrialFlag.Label.choices, required=False)
    time_s = forms.FloatField(required=False, min_value=0)


class SaveFilterForm(forms.Form):
    name = forms.CharField(max_length=60)
    query = forms.CharField(max_length=2000, required=False)
    is_shared = forms.BooleanField(required=False)
