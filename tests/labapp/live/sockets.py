"""Sockets of agents and pages: text events between binary frames."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from labapp.accounts.models import User
from robots.agent.protocol import Hello, dump_text
from tests.websocket import WAIT_S, Websocket


class LiveSocket(Websocket):
    """A socket of the live view, on which frames come between the events."""

    async def receive_json(self, timeout: float = WAIT_S) -> Any:
        """The next text as JSON; frames in between are passed over."""
        while True:
            message = await self.receive(timeout)
            assert message["type"] == "websocket.send", message
            if message.get("text") is not None:
                return json.loads(message["text"])

    async def receive_kind(self, kind: str) -> Any:
        """The next event of a kind; others are passed over."""
        for _ in range(20):
            event = await self.receive_json()
            if event["type"] == kind:
                return event
        raise AssertionError(f"no event {kind!r} came")


def agent(token: str) -> LiveSocket:
    """The connection of an agent that shows this token."""
    return LiveSocket("/ws/agent/", origin=None, headers={"authorization": f"Agent {token}"})


@asynccontextmanager
async def agent_socket(token: str, hello: Hello | None = None) -> AsyncIterator[LiveSocket]:
    """An agent's connection, after its hello was answered."""
    async with agent(token) as connection:
        await connection.send_text(dump_text(hello or Hello("test agent")))
        assert (await connection.receive_json())["type"] == "welcome"
        yield connection


@asynccontextmanager
async def viewer_socket(user: User, cell: str) -> AsyncIterator[LiveSocket]:
    """A page's connection, after it was told whether the agent is there."""
    async with LiveSocket(f"/ws/live/{cell}/", user=user) as connection:
        assert (await connection.receive_json())["type"] == "agent"
        yield connection
