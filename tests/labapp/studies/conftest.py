"""A blinded study on a bench cell with its cast, and an agent that is (by its row) connected."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from labapp.accounts.models import Role, User
from labapp.cells.agents import agent_connected, agent_create
from labapp.cells.models import Agent
from labapp.studies import services
from labapp.studies.models import Study, Trial
from labapp.studies.presets import ConditionPreset
from labapp.studies.trials import Outcome, trial_confirm, trial_propose, trial_start
from tests.labapp import builders

POLICIES = ("grounded-world-adapt", "ungrounded-world-synthesize")
CONDITIONS = (
    ConditionPreset("nominal", "Nominal", 4, is_shifted=False),
    ConditionPreset("red-light", "Red light", 2, light="red"),
)
PROPOSAL = {"success": False, "failure_mode": "dropped", "furthest_stage": "carry", "time_s": 6.0, "invalid_reason": ""}
SUCCESS = Outcome(is_success=True, furthest_stage="placed")


@dataclass(frozen=True)
class Lab:
    study: Study
    agent: Agent
    operator: User
    researcher: User
    pi: User

    def client(self, role: str) -> Client:
        client = Client()
        client.force_login(getattr(self, role))
        return client

    def start(self, **values: Any) -> Trial:
        facts = {"trial_id": uuid4(), "study": self.study, "operator": self.operator, "agent": self.agent}
        return trial_start(**(facts | {"now": timezone.now()} | values))

    def proposed(self, **values: Any) -> Trial:
        trial = self.start(**values)
        return trial_propose(trial_id=trial.pk, proposal=PROPOSAL, now=timezone.now(), duration_s=6.0, latency_ms=31.0)

    def confirmed(self, outcome: Outcome = SUCCESS) -> Trial:
        trial = self.proposed()
        return trial_confirm(
            trial=trial, outcome=outcome, version=trial.version, actor=self.operator, now=timezone.now()
        )


def make_lab(policies: Sequence[str] = POLICIES) -> Lab:
    people = {role: builders.user(role) for role in (Role.OPERATOR, Role.RESEARCHER, Role.PI)}
    cell = builders.cell()
    study = services.study_create(
        name="Blinded study",
        cell=cell,
        checkpoints=[builders.checkpoint(name) for name in policies],
        actor=people[Role.PI],
        seed=4,
        conditions=CONDITIONS,
        question=f"Does the {policies[0]} policy win?",
    )
    study = services.study_lock(study=study, actor=people[Role.PI], now=timezone.now())
    agent, _ = agent_create(cell=cell, name="bench agent")
    agent_connected(agent=agent, version="test", now=timezone.now())
    agent.refresh_from_db()
    return Lab(study, agent, people[Role.OPERATOR], people[Role.RESEARCHER], people[Role.PI])


@pytest.fixture
def lab(db: Any) -> Lab:
    return make_lab()
