"""A websocket client for tests, talking straight to the ASGI application.

socket = Websocket("/ws/runs/1/", user=researcher)
async with socket: ...            # or: await socket.connect() -> bool, ... await socket.disconnect()
"""

import json
from typing import Any
from urllib.parse import unquote, urlsplit

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.test import Client

OWN_ORIGIN = "http://testserver"
WAIT_S = 30.0  # a message that is awaited comes at once, but for a busy machine


class Websocket:
    """One connection as a user's browser (session cookie and Origin), or with headers of one's own."""

    def __init__(
        self, path: str, *, user: Any = None, origin: str | None = OWN_ORIGIN, headers: dict[str, str] | None = None
    ) -> None:
        self.path = path
        self.user = user
        self.headers = {**({"origin": origin} if origin else {}), **(headers or {})}
        self.close_code: int | None = None

    async def connect(self) -> bool:
        """Whether the server accepted."""
        from labapp.asgi import application

        if self.user is not None:
            self.headers["cookie"] = await sync_to_async(self._cookie)()
        parts = urlsplit(self.path)
        scope = {
            "type": "websocket",
            "path": unquote(parts.path),
            "query_string": parts.query.encode(),
            "headers": [(name.lower().encode(), value.encode()) for name, value in self.headers.items()],
            "subprotocols": [],
        }
        self._application = ApplicationCommunicator(application, scope)
        await self._application.send_input({"type": "websocket.connect"})
        return (await self.receive())["type"] == "websocket.accept"

    async def receive(self, timeout: float = WAIT_S) -> dict[str, Any]:
        """The next ASGI message; a close is remembered in ``close_code``."""
        message = await self._application.receive_output(timeout)
        if message["type"] == "websocket.close":
            self.close_code = message.get("code", 1000)
        return message

    async def receive_json(self, timeout: float = WAIT_S) -> Any:
        message = await self.receive(timeout)
        assert message.get("text") is not None, f"expected text, got {message}"
        return json.loads(message["text"])

    async def receive_bytes(self, timeout: float = WAIT_S) -> bytes:
        message = await self.receive(timeout)
        assert message.get("bytes") is not None, f"expected bytes, got {message}"
        return message["bytes"]

    async def receives_nothing(self, within: float = 0.1) -> bool:
        return await self._application.receive_nothing(within)

    async def send_json(self, data: Any) -> None:
        await self.send_text(json.dumps(data))

    async def send_text(self, text: str) -> None:
        await self._application.send_input({"type": "websocket.receive", "text": text})

    async def send_bytes(self, data: bytes) -> None:
        await self._application.send_input({"type": "websocket.receive", "bytes": data})

    async def disconnect(self, code: int = 1000) -> None:
        await self._application.send_input({"type": "websocket.disconnect", "code": code})
        await self._application.wait(WAIT_S)

    async def __aenter__(self) -> "Websocket":
        assert await self.connect(), f"{self.path} refused the connection"
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.disconnect()

    def _cookie(self) -> str:
        return session_cookie(self.user)


def session_cookie(user: Any) -> str:
    """The Cookie header of a signed-in browser."""
    client = Client()
    client.force_login(user)
    return "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
