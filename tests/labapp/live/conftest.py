"""A locked study with two blinded arms, an agent, and sockets that talk to the real ASGI application."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from django.db import connections
from django.utils import timezone

from labapp.accounts.models import Role, User
from labapp.cells.agents import agent_create
from labapp.cells.models import Agent
from labapp.studies import services
from labapp.studies.models import Study
from labapp.studies.presets import ConditionPreset
from tests.labapp import builders

POLICIES = ("grounded-world-adapt", "ungrounded-world-synthesize")
CONDITIONS = (
    ConditionPreset("nominal", "Nominal", 4, is_shifted=False),
    ConditionPreset("red-light", "Red light", 2, light="red"),
)


@dataclass(frozen=True)
class Bench:
    """Everything a trial needs."""

    study: Study
    agent: Agent
    token: str
    operator: User
    researcher: User
    pi: User


@pytest.fixture
def bench(transactional_db: Any) -> Bench:
    people = {role: builders.user(role) for role in (Role.OPERATOR, Role.RESEARCHER, Role.PI)}
    cell = builders.cell()
    study = services.study_create(
        name="Blinded study",
        cell=cell,
        checkpoints=[builders.checkpoint(name) for name in POLICIES],
        actor=people[Role.PI],
        seed=4,
        conditions=CONDITIONS,
    )
    study = services.study_lock(study=study, actor=people[Role.PI], now=timezone.now())
    agent, token = agent_create(cell=cell, name="bench agent")
    return Bench(study, agent, token, people[Role.OPERATOR], people[Role.RESEARCHER], people[Role.PI])


@pytest.fixture
def start_trial(bench: Bench) -> Callable[..., Any]:
    """Start the next trial on the agent, as the console does."""
    from uuid import uuid4

    from labapp.studies.dispatch import trial_dispatch
    from labapp.studies.trials import trial_start

    def start(**values: Any) -> Any:
        trial = trial_start(
            **{
                "trial_id": uuid4(), "study": bench.study, "operator": bench.operator, "agent": bench.agent,
                "now": timezone.now(),
            } | values
        )  # fmt: skip
        trial_dispatch(trial)
        return trial

    return start


@pytest.fixture(autouse=True)
async def close_connections_of_threads() -> AsyncIterator[None]:
    """Async tests reach the database from a thread; its connection must not outlive the test."""
    yield
    await sync_to_async(connections.close_all)()
