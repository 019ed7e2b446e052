"""Agents: who they are, whether they are there, and how to reach them."""

import logging
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from labapp.accounts.models import token_digest
from labapp.cells.models import Agent, Cell
from labapp.hints import tell_now
from robots.agent.protocol import LabMessage, Stop, TrialCancel, dump_text

logger = logging.getLogger(__name__)
AWAY_AFTER = timedelta(seconds=15)
TOKEN_SCHEME = "Agent"


def agent_create(*, cell: Cell, name: str) -> tuple[Agent, str]:
    """A new agent and its token, which nobody can read again: only the SHA-256 is kept."""
    token = secrets.token_urlsafe(32)
    return Agent.objects.create(cell=cell, name=name, token_sha256=token_digest(token)), token


def agent_token_renew(*, agent: Agent) -> str:
    """A new token for an agent; the old one ends to work."""
    token = secrets.token_urlsafe(32)
    agent.token_sha256 = token_digest(token)
    agent.save(update_fields=["token_sha256"])
    return token


def agent_of_header(authorization: str) -> Agent | None:
    """The active agent whose token an ``Authorization: Agent TOKEN`` header carries."""
    scheme, _, token = authorization.partition(" ")
    if scheme != TOKEN_SCHEME or not token.strip():
        return None
    return Agent.objects.select_related("cell").filter(token_sha256=token_digest(token.strip()), is_active=True).first()


def is_connected(agent: Agent, now: datetime) -> bool:
    """Connected and heard of lately: a worker that died could not say goodbye for its agents."""
    return agent.connected_at is not None and agent.last_seen_at is not None and now - agent.last_seen_at < AWAY_AFTER


def agent_for(cell: Cell | None, now: datetime) -> Agent | None:
    """The agent that runs trials on a cell now, if one is connected."""
    return None if cell is None else agents_present(now).filter(cell=cell).first()


def agents_present(now: datetime) -> QuerySet[Agent]:
    """Agents that are connected and were heard of lately; of several on a cell, the one that came last is first."""
    heard_of = Agent.objects.filter(is_active=True, connected_at__isnull=False, last_seen_at__gt=now - AWAY_AFTER)
    return heard_of.order_by("-connected_at")


def agent_connected(*, agent: Agent, version: str, now: datetime) -> None:
    Agent.objects.filter(pk=agent.pk).update(connected_at=now, last_seen_at=now, version=version[:40])


def agent_seen(*, agent: Agent, now: datetime) -> None:
    Agent.objects.filter(pk=agent.pk).update(last_seen_at=now)


def agent_left(*, agent: Agent, connected_at: datetime) -> bool:
    """Note that a connection ended, unless the agent has a newer one; says whether it is away now."""
    return bool(Agent.objects.filter(pk=agent.pk, connected_at=connected_at).update(connected_at=None))


@dataclass(frozen=True)
class Groups:
    """Names of the channel groups."""

    @staticmethod
    def agent(agent_id: int) -> str:
        return f"agent.{agent_id}"

    @staticmethod
    def viewers(cell_slug: str) -> str:
        return f"viewers.{cell_slug}"


def send_to_agent(agent_id: int, message: LabMessage) -> None:
    """Hand a message to the agent's socket once the transaction is committed; a rollback sends nothing.

    A trial whose start is lost on the way is sent again when the agent says that it is idle.
    """
    event = {"type": "agent.message", "text": dump_text(message)}

    def send() -> None:
        if not tell_now(Groups.agent(agent_id), event, is_urgent=isinstance(message, Stop | TrialCancel)):
            logger.warning("Agent %s did not get %s: Redis does not answer", agent_id, type(message).__name__)

    transaction.on_commit(send)


def stop_cell(cell: Cell, pressed: bool, by: str) -> int:
    """Pass a software stop (or its release) to every connected agent of a cell; returns how many."""
    reached = list(Agent.objects.filter(cell=cell, is_active=True, connected_at__isnull=False))
    for agent in reached:
        send_to_agent(agent.pk, Stop(pressed=pressed, by=by))
    return len(reached)


def tell_viewers(cell_slug: str, event: dict[str, Any]) -> None:
    """Tell every page that watches a cell, once the transaction is committed."""
    transaction.on_commit(lambda: tell_now(Groups.viewers(cell_slug), {"type": "viewer.event", "event": event}))
