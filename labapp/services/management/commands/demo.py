"""The whole lab on one machine, under one supervisor, with the quick study; until Ctrl-C."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from labapp.services.stack import Stack, StackError, StackOptions


class Command(BaseCommand):
    help = "Start services, web server, workers and the bench-cell agent, run the quick study, serve until Ctrl-C."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000, help="0 takes any free one (default 8000)")
        parser.add_argument("--workers", type=int, default=2, help="processes that carry out runs (default 2)")
        parser.add_argument("--study", default="quick", metavar="PRESET", help="study to run (default quick)")
        parser.add_argument("--no-study", action="store_true", help="only serve")
        parser.add_argument("--no-agent", action="store_true", help="no bench cell")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = StackOptions(
            var=Path(settings.VAR_DIR).resolve(),
            root=Path(settings.BASE_DIR),
            host=options["host"],
            port=options["port"],
            workers=options["workers"],
            has_agent=not options["no_agent"],
            study="" if options["no_study"] else options["study"],
        )
        try:
            Stack(chosen, self.say).run()
        except StackError as error:
            raise CommandError(str(error)) from error

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()
