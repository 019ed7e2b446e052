"""Mark runs whose worker is gone as lost and resend those that the broker may not have; once or for ever."""

import signal
import threading
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, connection
from django.utils import timezone

from labapp.runs.services import runs_mark_lost, runs_resend


class Command(BaseCommand):
    help = "Mark runs whose worker is gone as lost, and resend queued runs that the broker may have lost."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--forever", action="store_true", help="sweep twice a lease until stopped")

    def handle(self, *args: Any, **options: Any) -> None:
        self.sweep(resend_all=True)
        stopped = threading.Event()
        if options["forever"]:
            for name in (signal.SIGTERM, signal.SIGINT):
                signal.signal(name, lambda *_: stopped.set())
            while not stopped.wait(settings.RUN_LEASE_SECONDS / 2):
                self.sweep()

    def sweep(self, *, resend_all: bool = False) -> None:
        try:
            for run_id in runs_mark_lost(now=timezone.now()):
                self.stdout.write(f"Run {run_id}: its worker is gone")
            for run_id in runs_resend(now=timezone.now(), resend_all=resend_all):
                self.stdout.write(f"Run {run_id}: sent to the broker again")
        except DatabaseError as error:
            self.stderr.write(f"The database is away: {error}")
            connection.close()
