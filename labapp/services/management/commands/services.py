"""Start, stop and show the embedded PostgreSQL, Redis and object store."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from labapp.services.base import ServiceError
from labapp.services.embedded import EmbeddedServices


class Command(BaseCommand):
    help = "Manage the embedded services: up (idempotent), down, status (exit 1 unless all answer)."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("action", choices=["up", "down", "status"])

    def handle(self, *args: Any, **options: Any) -> None:
        services = EmbeddedServices(settings.VAR_DIR)
        getattr(self, options["action"])(services)

    def up(self, services: EmbeddedServices) -> None:
        try:
            started = services.up(self.stdout.write)
        except ServiceError as error:
            raise CommandError(str(error)) from error
        if not started:
            self.stdout.write("All services were running.")

    def down(self, services: EmbeddedServices) -> None:
        if not services.down(self.stdout.write):
            self.stdout.write("No service was running.")

    def status(self, services: EmbeddedServices) -> None:
        rows = services.status()
        for row in rows:
            where = f"port {row.port}, pid {row.pid}" if row.pid else ""
            self.stdout.write(f"{row.label:14}{row.state:10}{where}")
        if any(row.state in ("silent", "stopped") for row in rows):
            raise SystemExit(1)
