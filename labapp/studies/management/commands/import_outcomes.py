"""Import outcome tables as a finished study: ``manage.py import_outcomes NAME a.csv b.csv [--mapping m.json]``."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from labapp.accounts.models import User
from labapp.studies.importing.decoding import table_file
from labapp.studies.importing.defaults import guess_import
from labapp.studies.importing.outcome_tables import OutcomeRow, TableRefused
from labapp.studies.importing.services import study_import
from labapp.studies.importing.source import again_in_words, imported_before, source_facts
from labapp.studies.importing.tables import (
    ImportMapping,
    ImportRefused,
    Summary,
    TableFile,
    read_files,
    summary,
)
from labapp.studies.models import Study


class Command(BaseCommand):
    help = "Import CSV tables of trial outcomes as one finished study; every row is checked first."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="of the study")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE.csv")
        parser.add_argument("--mapping", type=Path, help="JSON that says what the columns mean; else they are guessed")
        parser.add_argument("--note", default="", help="where the tables come from")
        parser.add_argument("--simulated", action="store_true", help="mark the trials as simulated")
        parser.add_argument("--user", help="who imports them")
        parser.add_argument("--dry-run", action="store_true", help="check every row and store nothing")
        parser.add_argument("--json", action="store_true", help="answer in JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        files = [read_file(path) for path in options["files"]]
        mapping = self.meaning(files, options["mapping"])
        rows = self.checked(files, mapping)
        made = summary(rows)
        made = made._replace(oddities=(*made.oddities, *again_in_words(imported_before(files))))
        study = None
        if not options["dry_run"]:
            try:
                study = study_import(
                    name=options["name"],
                    rows=rows,
                    actor=user_named(options["user"]),
                    is_simulated=options["simulated"],
                    now=timezone.now(),
                    note=options["note"],
                    source=source_facts(files, mapping),
                )
            except ValidationError as error:
                raise CommandError(" ".join(error.messages)) from error
        self.stdout.write(as_json(made, study) if options["json"] else in_words(made, study))

    def meaning(self, files: list[TableFile], mapping: Path | None) -> ImportMapping:
        try:
            return read_mapping(mapping) if mapping else guess_import(files)
        except TableRefused as error:
            raise CommandError(str(error)) from error

    def checked(self, files: list[TableFile], mapping: ImportMapping) -> list[OutcomeRow]:
        try:
            return read_files(files, mapping)
        except ImportRefused as error:
            for problem in error.problems:
                self.stderr.write(str(problem))
            raise CommandError(str(error)) from error


def read_file(path: Path) -> TableFile:
    try:
        return table_file(path.name, path.read_bytes())
    except (OSError, TableRefused) as error:
        raise CommandError(f"{path} cannot be read: {error}") from error


def read_mapping(path: Path) -> ImportMapping:
    try:
        return ImportMapping.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} is no mapping: {error}") from error


def user_named(username: str | None) -> User | None:
    if not username:
        return None
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user {username}.")
    return user


def as_json(made: Summary, study: Study | None) -> str:
    return json.dumps(
        {
            "slug": study.slug if study else None,
            "trials": made.trials,
            "arms": {name: list(count) for name, count in made.arms},
            "conditions": list(made.conditions),
            "pairs": made.pairs,
            "oddities": list(made.oddities),
        }
    )


def in_words(made: Summary, study: Study | None) -> str:
    lines = [f"{name}: {count.successes} of {count.trials}" for name, count in made.arms]
    lines += [f"Note: {oddity}" for oddity in made.oddities]
    end = f"imported as {study.get_absolute_url()}" if study else "checked, nothing stored"
    return "\n".join([*lines, f"{made.trials} trials, {made.pairs} pairs: {end}"])
