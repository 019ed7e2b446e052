"""Sockets of agents and pages against the real ASGI application."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.testing import ApplicationCommunicator
from channels.db import database_sync_to_async
from django.conf import settings
from django.test import Client

from labapp.accounts.models import User
from robots.agent.protocol import Hello, dump_text

Headers = list[tuple[bytes, bytes]]


class Socket(ApplicationCommunicator):
    """One websocket of the application under test."""

    async def connect(self) -> bool:
        """Whether the application accepted."""
        await self.send_input({"type": "websocket.connect"})
        return (await self.receive_output(timeout=5))["type"] == "websocket.accept"

    async def send_text(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        await self.send_input({"type": "websocket.receive", "bytes": data})

    async def send_json(self, value: Any) -> None:
        await self.send_text(json.dumps(value))

    async def receive_json(self) -> Any:
        """The next text as JSON; frames in between are passed over."""
        while True:
            output = await self.receive_output(timeout=5)
            assert output["type"] == "websocket.send", output
            if output.get("text") is not None:
                return json.loads(output["text"])

    async def receive_kind(self, kind: str) -> Any:
        """The next event of a kind; others are passed over."""
        for _ in range(20):
            event = await self.receive_json()
            if event["type"] == kind:
                return event
        raise AssertionError(f"no event {kind!r} came")

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=5)


def sign_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def session_headers(user: User, origin: str = "http://testserver") -> Headers:
    cookie = sign_in(user).cookies[settings.SESSION_COOKIE_NAME].value
    return [(b"cookie", f"{settings.SESSION_COOKIE_NAME}={cookie}".encode()), (b"origin", origin.encode())]


def socket(path: str, headers: Headers | None = None) -> Socket:
    from labapp.asgi import application

    scope = {"type": "websocket", "path": path, "query_string": b"", "headers": headers or [], "subprotocols": []}
    return Socket(application, scope)


@asynccontextmanager
async def agent_socket(token: str, hello: Hello | None = None) -> AsyncIterator[Socket]:
    """An agent's connection, after its hello was answered."""
    connection = socket("/ws/agent/", [(b"authorization", f"Agent {token}".encode())])
    assert await connection.connect()
    await connection.send_text(dump_text(hello or Hello("test agent")))
    welcome = await connection.receive_json()
    assert welcome["type"] == "welcome"
    try:
        yield connection
    finally:
        await connection.disconnect()


@asynccontextmanager
async def viewer_socket(user: User, cell: str) -> AsyncIterator[Socket]:
    """A page's connection, after it was told whether the agent is there."""
    headers = await database_sync_to_async(session_headers)(user)
    connection = socket(f"/ws/live/{cell}/", headers)
    assert await connection.connect()
    first = await connection.receive_json()
    assert first["type"] == "agent"
    try:
        yield connection
    finally:
        await connection.disconnect()
