"""The connection that goes out to the lab and comes back by itself."""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from robots.agent.protocol import AgentMessage, LabMessage, ProtocolError, dump_text, load_message

logger = logging.getLogger(__name__)

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 15.0


class RefusedError(Exception):
    """The lab refuses this agent (wrong or withdrawn token): trying again would not help."""


def socket_url(lab: str) -> str:
    """`https://lab.example/x` -> `wss://lab.example/ws/agent/`."""
    parts = urlsplit(lab)
    return urlunsplit(("wss" if parts.scheme == "https" else "ws", parts.netloc, "/ws/agent/", "", ""))


class Link:
    """One WebSocket at a time. What is sent while there is none is dropped: the spool delivers what counts.

    Args:
        on_message: awaited for each message of the lab, in order.
        greet: the first message of every connection.
        on_up: called when a connection stands.
    """

    def __init__(
        self,
        lab: str,
        token: str,
        *,
        greet: Callable[[], AgentMessage],
        on_message: Callable[[LabMessage], Awaitable[None]],
        on_up: Callable[[], None],
    ) -> None:
        self._url, self._token = socket_url(lab), token
        self._greet, self._on_message, self._on_up = greet, on_message, on_up
        self._socket: ClientConnection | None = None
        self._pause = FIRST_PAUSE_S

    @property
    def is_up(self) -> bool:
        return self._socket is not None

    async def run(self) -> None:
        """Connect, listen, reconnect with growing pauses, for ever.

        Raises:
            RefusedError: the lab does not know the token.
        """
        while True:
            try:
                await self._session()
            except InvalidStatus as error:
                if error.response.status_code in (401, 403):
                    raise RefusedError("The lab refuses this agent's token.") from error
                logger.warning("lab answers %s", error.response.status_code)
            except (OSError, WebSocketException, TimeoutError) as error:
                logger.warning("no connection to the lab: %s", error)
            await asyncio.sleep(self._pause * random.uniform(0.7, 1.3))
            self._pause = min(LONGEST_PAUSE_S, 2 * self._pause)

    async def send(self, message: AgentMessage | bytes) -> bool:
        """Send a message or a packed frame now, or drop it; says which."""
        if self._socket is None:
            return False
        try:
            await self._socket.send(message if isinstance(message, bytes) else dump_text(message))
        except ConnectionClosed:
            return False
        return True

    async def drop(self) -> None:
        """Cut the connection; `run` builds a new one."""
        if self._socket is not None:
            await self._socket.close()

    async def _session(self) -> None:
        headers = {"Authorization": f"Agent {self._token}"}
        async with connect(
            self._url, additional_headers=headers, open_timeout=10, ping_interval=5, ping_timeout=10, max_size=2**20
        ) as socket:
            await socket.send(dump_text(self._greet()))
            self._socket, self._pause = socket, FIRST_PAUSE_S
            logger.info("connected to the lab")
            self._on_up()
            try:
                async for text in socket:
                    await self._receive(text)
            finally:
                self._socket = None
                logger.warning("connection to the lab ended")

    async def _receive(self, text: str | bytes) -> None:
        try:
            message = load_message(text)
        except ProtocolError as error:
            logger.error("the lab sent something unknown: %s", error)
            return
        if isinstance(message, LabMessage):
            await self._on_message(message)
