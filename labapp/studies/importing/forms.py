"""Forms of an import: the files, then what their columns mean."""

from collections.abc import Sequence
from typing import Any

from django import forms

from labapp.studies.importing.guess import guess_levels, guess_mapping
from labapp.studies.importing.outcome_tables import ArmColumns, TableMapping, table_header
from labapp.studies.importing.staging import first_records
from labapp.studies.importing.tables import ImportMapping, TableFile

GUESSED_FROM = 50
FACTOR_ROWS = 3
SPARE_ARMS = 1
FEWEST_ARMS = 2
PARTS = ("success", "failure_mode", "furthest_stage", "duration_s")


class ManyFiles(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files, as a list."""

    widget = ManyFiles

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = data if isinstance(data, list | tuple) and data else [data or None]
        return [super(ManyFilesField, self).clean(file, initial) for file in files]


class UploadForm(forms.Form):
    files = ManyFilesField(
        label="Outcome tables",
        widget=ManyFiles(attrs={"accept": ".csv,text/csv", "multiple": True}),
        help_text="CSV with a header. Several files become one study: a factor can differ from file to file.",
    )


class MappingForm(forms.Form):
    """What the columns of the uploaded tables mean, filled with a guess."""

    name = forms.CharField(label="Name of the study", max_length=120)
    note = forms.CharField(
        label="Where it comes from", required=False, widget=forms.Textarea(attrs={"rows": 2}), max_length=2000
    )
    is_simulated = forms.BooleanField(
        label="Simulated trials", required=False, help_text="Marked so on every page, as everything simulated is."
    )
    layout = forms.ChoiceField(
        choices=[("long", "One outcome a row; a column names the arm"), ("wide", "Several arms side by side in a row")],
        widget=forms.RadioSelect,
    )

    def __init__(self, tables: Sequence[TableFile], data: Any = None) -> None:
        self.tables = tables
        self.header = table_header(tables[0].text)
        self.guess = guess_mapping(self.header, first_records(tables[0], GUESSED_FROM))
        super().__init__(data, initial={"layout": "wide" if self.guess.is_wide else "long"})
        self._add_long()
        self._add_wide()
        self._add_shared()
        self._add_factors()

    def _column(self, label: str, initial: str) -> forms.ChoiceField:
        choices = [("", "—"), *((name, name) for name in self.header)]
        return forms.ChoiceField(label=label, choices=choices, required=False, initial=initial)

    def _add_long(self) -> None:
        guess = self.guess.outcomes[0] if not self.guess.is_wide else ArmColumns("")
        self.fields["arm"] = self._column("Arm", self.guess.arm)
        for part in PARTS:
            self.fields[part] = self._column(part_label(part), getattr(guess, part))

    def _add_wide(self) -> None:
        guesses = list(self.guess.outcomes) if self.guess.is_wide else []
        self.arm_count = max(FEWEST_ARMS, len(guesses)) + SPARE_ARMS
        for number in range(self.arm_count):
            guess = guesses[number] if number < len(guesses) else ArmColumns("")
            self.fields[f"arm{number}_label"] = forms.CharField(
                label="Name of the arm", required=False, max_length=80, initial=guess.label
            )
            for part in PARTS:
                self.fields[f"arm{number}_{part}"] = self._column(part_label(part), getattr(guess, part))

    def _add_shared(self) -> None:
        self.fields["condition"] = self._column("Condition", self.guess.condition)
        self.fields["operator"] = self._column("Operator", self.guess.operator)
        self.fields["started_at"] = self._column("Start of the trial", self.guess.started_at)
        self.fields["block"] = forms.MultipleChoiceField(
            label="Pairing key",
            choices=[(name, name) for name in self.header],
            required=False,
            initial=list(self.guess.block),
            widget=forms.CheckboxSelectMultiple,
            help_text="Trials of different arms with the same values here are paired. In a wide table a row is a pair.",
        )
        if len(self.tables) > 1:
            self.fields["pairs_across_files"] = forms.BooleanField(
                label="The same key in two files is the same pair", required=False, initial=not self.guess.is_wide
            )

    def _add_factors(self) -> None:
        guessed = list(self.guess.factors.items())
        for number in range(FACTOR_ROWS):
            name, column = guessed[number] if number < len(guessed) else ("", "")
            self.fields[f"factor{number}_name"] = forms.CharField(
                label="Factor", required=False, max_length=40, initial=name
            )
            self.fields[f"factor{number}_column"] = self._column("Column with its levels", column)
        many = len(self.tables) > 1
        self.fields["arm_factor"] = forms.CharField(
            label="The arm itself is a factor called",
            required=False,
            max_length=40,
            initial="method" if self.guess.is_wide and many else "",
            help_text="Such as “method”. Two factors with two levels each give main effects and their interaction.",
        )
        if many:
            self.fields["file_factor"] = forms.CharField(
                label="The file is a factor called", required=False, max_length=40, initial="category"
            )
            levels = guess_levels([file.name for file in self.tables])
            for number, file in enumerate(self.tables):
                self.fields[f"level{number}"] = forms.CharField(
                    label=file.name, required=False, max_length=80, initial=levels.get(file.name, "")
                )

    def needed(self) -> list[forms.BoundField]:
        """What a long table cannot do without."""
        return [self["arm"], self["success"]]

    def arm_rows(self) -> list[list[forms.BoundField]]:
        """Fields of the wide layout, arm by arm."""
        return [[self[f"arm{n}_{part}"] for part in ("label", *PARTS)] for n in range(self.arm_count)]

    def factor_rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Name and column of each factor."""
        return [(self[f"factor{n}_name"], self[f"factor{n}_column"]) for n in range(FACTOR_ROWS)]

    def level_fields(self) -> list[forms.BoundField]:
        """The level of the file's factor, file by file."""
        return [self[f"level{n}"] for n in range(len(self.tables))] if len(self.tables) > 1 else []

    def clean(self) -> dict[str, Any]:
        values = super().clean()
        if values.get("file_factor"):
            for number, file in enumerate(self.tables):
                if not values.get(f"level{number}"):
                    self.add_error(f"level{number}", f"Say which level of “{values['file_factor']}” {file.name} holds.")
        for number in range(self.arm_count):
            if bool(values.get(f"arm{number}_label")) != bool(values.get(f"arm{number}_success")):
                self._miss(number, values)
        return values

    def _miss(self, number: int, values: dict[str, Any]) -> None:
        if values.get("layout") == "wide":
            missing = "label" if values.get(f"arm{number}_success") else "success"
            self.add_error(f"arm{number}_{missing}", "An arm needs a name and its success column.")

    def mapping(self) -> ImportMapping:
        """The mapping of a valid form; `read_files` says what it lacks."""
        values = self.cleaned_data
        factors = {
            values[f"factor{n}_name"].strip(): values[f"factor{n}_column"]
            for n in range(FACTOR_ROWS)
            if values[f"factor{n}_name"].strip() and values[f"factor{n}_column"]
        }
        is_wide = values["layout"] == "wide"
        table = TableMapping(
            outcomes=self._wide(values) if is_wide else (ArmColumns(**{part: values[part] for part in PARTS}),),
            arm="" if is_wide else values["arm"],
            condition=values["condition"],
            block=tuple(values["block"]),
            operator=values["operator"],
            started_at=values["started_at"],
            factors=factors,
            arm_factor=values["arm_factor"].strip(),
        )
        return ImportMapping(table, self._levels(values), values.get("pairs_across_files", False))

    def _wide(self, values: dict[str, Any]) -> tuple[ArmColumns, ...]:
        return tuple(
            ArmColumns(label=values[f"arm{n}_label"], **{part: values[f"arm{n}_{part}"] for part in PARTS})
            for n in range(self.arm_count)
            if values[f"arm{n}_label"]
        )

    def _levels(self, values: dict[str, Any]) -> dict[str, dict[str, str]]:
        factor = (values.get("file_factor") or "").strip()
        if not factor:
            return {}
        return {file.name: {factor: values[f"level{n}"]} for n, file in enumerate(self.tables)}


def part_label(part: str) -> str:
    return {"success": "Success", "failure_mode": "Failure mode", "furthest_stage": "Furthest stage"}.get(
        part, "Duration [s]"
    )
