"""Make an agent if needed and print a fresh token for it, as JSON; without a cell: the bench cell's agent."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from labapp.cells.agents import agent_create, agent_token_renew
from labapp.cells.models import Cell
from labapp.cells.services import bench_cell_ensure


class Command(BaseCommand):
    help = "Print a fresh token of an agent, made if needed; the token it had before ends to work."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--cell", metavar="SLUG", help="cell the agent stands beside (default: the bench cell)")
        parser.add_argument("--name", default="bench", help="name of the agent (default bench)")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        cell = self.cell(options["cell"]) if options["cell"] else bench_cell_ensure()
        agent = cell.agents.filter(name=options["name"]).first()
        token = agent_token_renew(agent=agent) if agent else agent_create(cell=cell, name=options["name"])[1]
        self.stdout.write(json.dumps({"token": token, "cell": cell.slug, "bench_seed": cell.bench_seed}))

    @staticmethod
    def cell(slug: str) -> Cell:
        found = Cell.objects.filter(slug=slug).first()
        if found is None:
            known = ", ".join(Cell.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no cell {slug!r}; there are: {known}.")
        return found
