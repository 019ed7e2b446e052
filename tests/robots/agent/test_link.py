"""The connection to the lab, against a small websocket server."""

import asyncio
from http import HTTPStatus

import pytest
from websockets.asyncio.server import serve

from robots.agent import link as module
from robots.agent.link import Link, RefusedError, socket_url
from robots.agent.protocol import Hello, Stop, Welcome, dump_text, load_message


@pytest.mark.parametrize(
    ("lab", "url"),
    [
        ("http://127.0.0.1:8000", "ws://127.0.0.1:8000/ws/agent/"),
        ("https://lab.example.org", "wss://lab.example.org/ws/agent/"),
    ],
)
def test_the_sockets_address_follows_from_the_labs(lab, url):
    assert socket_url(lab) == url


class Heard:
    """A link with everything that the lab said."""

    def __init__(self, port: int) -> None:
        self.messages: list = []
        self.ups = 0
        self.link = Link(
            f"http://127.0.0.1:{port}", "secret", greet=lambda: Hello("test"), on_message=self.hear, on_up=self.count
        )

    async def hear(self, message) -> None:
        self.messages.append(message)

    def count(self) -> None:
        self.ups += 1


async def until(is_true) -> None:
    async with asyncio.timeout(30):
        while not is_true():
            await asyncio.sleep(0.01)


async def test_it_greets_listens_and_comes_back_after_a_cut(monkeypatch):
    monkeypatch.setattr(module, "FIRST_PAUSE_S", 0.01)
    hellos = []

    async def lab(connection):
        assert connection.request.headers["Authorization"] == "Agent secret"
        hellos.append(load_message(await connection.recv()))
        await connection.send(dump_text(Welcome("bench", "toy")))
        await connection.send("nonsense")
        await connection.send(dump_text(Stop(True, "anna")))
        if len(hellos) > 1:
            await connection.wait_closed()

    async with serve(lab, "127.0.0.1", 0) as server:
        heard = Heard(server.sockets[0].getsockname()[1])
        task = asyncio.create_task(heard.link.run())
        await until(lambda: heard.ups == 2 and len(heard.messages) == 4)
        assert hellos == [Hello("test"), Hello("test")]
        assert heard.messages[:2] == [Welcome("bench", "toy"), Stop(True, "anna")]
        assert await heard.link.send(Hello("again"))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_without_a_connection_what_is_sent_is_dropped():
    assert await Heard(1).link.send(Hello("nobody hears")) is False


async def test_a_refused_token_ends_it():
    def refuse(connection, request):
        return connection.respond(HTTPStatus.FORBIDDEN, "no\n")

    async with serve(lambda connection: None, "127.0.0.1", 0, process_request=refuse) as server:
        with pytest.raises(RefusedError, match="token"):
            await asyncio.wait_for(Heard(server.sockets[0].getsockname()[1]).link.run(), timeout=30)
