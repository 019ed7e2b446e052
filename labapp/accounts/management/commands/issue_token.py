"""Issue an API token for a user and print it, once."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from labapp.accounts.models import ApiToken, User


class Command(BaseCommand):
    help = "Issue an API token for a user; it is printed once and only its hash is kept."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")
        parser.add_argument("name", help="what will use the token")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(username=options["username"]).first()
        if user is None:
            raise CommandError(f"There is no user named {options['username']!r}.")
        _, token = ApiToken.issue(user=user, name=options["name"])
        self.stdout.write(token)
