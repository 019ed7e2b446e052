"""Take the hashes of locked designs again from their rows; ends with 1 where one differs."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labapp.studies.models import Study
from labapp.studies.verification import study_verify, verification_facts


class Command(BaseCommand):
    help = "Verify the design hashes of one study, or of all: 0 where they are found again, 1 where one differs."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", nargs="?", help="The study's address; all locked studies where it is left out.")
        parser.add_argument("--json", action="store_true", help="Print the result as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:
        studies = Study.objects.select_related("cell").exclude(status=Study.Status.DRAFT).order_by("slug")
        if options["slug"]:
            studies = studies.filter(slug=options["slug"])
            if not studies:
                raise CommandError(f"There is no locked study “{options['slug']}”.", returncode=2)
        found = [study_verify(study) for study in studies]
        if options["json"]:
            self.stdout.write(json.dumps([verification_facts(one) for one in found], default=str))
        else:
            self.stdout.writelines(f"{one}\n" for one in found)
        if not all(one.is_intact for one in found):
            raise SystemExit(1)
