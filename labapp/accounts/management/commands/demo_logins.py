"""Create the three demo logins and print their passwords, once."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from labapp.accounts.services import demo_logins_create


class Command(BaseCommand):
    help = "Create the demo logins operator, researcher and pi; prints the passwords of those that are new."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--reset", action="store_true", help="draw new passwords for existing ones")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        passwords = demo_logins_create(reset=options["reset"])
        if options["json"]:
            self.stdout.write(json.dumps(passwords))
            return
        for username, password in passwords.items():
            self.stdout.write(f"{username:12}{password}")
        if not passwords:
            self.stdout.write("The demo logins exist; --reset draws new passwords.")
