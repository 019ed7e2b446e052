"""Make a server ready: tables, static files, bucket."""

from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand

from labapp import storage


class Command(BaseCommand):
    help = "Migrate the database, collect static files, make the bucket; safe to repeat."

    def handle(self, *args: Any, **options: Any) -> None:
        call_command("migrate", interactive=False)
        call_command("collectstatic", interactive=False)
        storage.ensure_bucket()
        self.stdout.write("Ready.")
