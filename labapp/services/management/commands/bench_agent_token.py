"""Make the bench cell's agent if needed, and print a fresh token for it with the cell's seed, as JSON."""

import json
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from labapp.cells.services import bench_cell_ensure
from labapp.live.agents import agent_create, agent_token_renew

NAME = "bench"


class Command(BaseCommand):
    help = "Print a fresh token of the bench cell's agent; the one it had before ends to work."

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        cell = bench_cell_ensure()
        agent = cell.agents.filter(name=NAME).first()
        token = agent_token_renew(agent=agent) if agent else agent_create(cell=cell, name=NAME)[1]
        self.stdout.write(json.dumps({"token": token, "bench_seed": cell.bench_seed}))
