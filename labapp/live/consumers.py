"""The two live sockets: the agent's, and the pages that watch its cell."""

import asyncio
import contextlib
import json
import logging
import struct
from collections.abc import Awaitable, Callable, Collection
from datetime import datetime
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer, AsyncWebsocketConsumer
from django.db import DataError, IntegrityError
from django.utils import timezone

from labapp.accounts.roles import RoleConsumerMixin
from labapp.cells import agents
from labapp.cells.models import Agent, Cell
from labapp.hints import tell
from labapp.live import trials
from labapp.live.frames import JOINTS, FrameHub, Mailbox, frame_hub
from labapp.origins import header
from labapp.studies.dispatch import start_message
from labapp.studies.models import Trial
from robots.agent.protocol import (
    CameraFrame,
    Heartbeat,
    Hello,
    Joints,
    ProtocolError,
    StopState,
    TrialEvent,
    Welcome,
    dump_text,
    load_message,
)

logger = logging.getLogger(__name__)

BAD_MESSAGE = 4400
VIEWER_HEADER = struct.Struct(">BQI")


class AgentConsumer(AsyncWebsocketConsumer):
    """The agent's connection: known by its token, never by a session."""

    agent: Agent | None = None
    connected_at: datetime | None = None

    async def connect(self) -> None:
        authorization = header(self.scope, b"authorization")
        self.agent = await database_sync_to_async(agents.agent_of_header)(authorization)
        if self.agent is None:
            logger.warning("Agent refused: unknown or inactive token")
            await self.close()
            return
        self.cell = self.agent.cell
        self.hub: FrameHub = frame_hub()
        await self.channel_layer.group_add(agents.Groups.agent(self.agent.pk), self.channel_name)
        await self.accept()

    async def disconnect(self, code: int) -> None:
        if self.agent is None:
            return
        await self.channel_layer.group_discard(agents.Groups.agent(self.agent.pk), self.channel_name)
        if self.connected_at is not None and await database_sync_to_async(agents.agent_left)(
            agent=self.agent, connected_at=self.connected_at
        ):
            await self._tell({"type": "agent", "is_connected": False, "name": self.agent.name, "state": "away"})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            if bytes_data is not None:
                await self._on_frame(CameraFrame.unpack(bytes_data))
            else:
                await self._on_message(load_message(text_data or ""))
        except ProtocolError as error:
            logger.warning("Agent %s: %s", self.agent, error)
            await self.close(code=BAD_MESSAGE, reason=str(error)[:120])

    async def agent_message(self, event: dict[str, Any]) -> None:
        """A message from the lab, through the agent's group."""
        await self.send(text_data=event["text"])

    async def _on_message(self, message: Any) -> None:
        handlers: dict[type, Callable[[Any], Awaitable[None]]] = {
            Hello: self._on_hello,
            Heartbeat: self._on_heartbeat,
            TrialEvent: self._on_trial_event,
            Joints: self._on_joints,
            StopState: self._on_stop_state,
        }
        if type(message) not in handlers:
            raise ProtocolError(f"an agent does not send {type(message).__name__}")
        await handlers[type(message)](message)

    async def _on_hello(self, hello: Hello) -> None:
        self.connected_at = timezone.now()
        await database_sync_to_async(agents.agent_connected)(
            agent=self.agent, version=hello.software, now=self.connected_at
        )
        await self.send(text_data=dump_text(Welcome(cell=self.cell.slug, embodiment=self.cell.embodiment)))
        await self._send_missed(known={hello.trial, *hello.spooled})
        await self._tell_state(hello.state)

    async def _send_missed(self, known: Collection[str | None]) -> None:
        for message in await database_sync_to_async(self._messages_missed)(known):
            await self.send(text_data=message)

    def _messages_missed(self, known: Collection[str | None]) -> list[str]:
        pending = [trial for trial in trials.trials_pending(self.agent) if str(trial.pk) not in known]
        return [dump_text(start_message(trial)) for trial in pending]

    async def _on_heartbeat(self, heartbeat: Heartbeat) -> None:
        await database_sync_to_async(agents.agent_seen)(agent=self.agent, now=timezone.now())
        if heartbeat.state == "idle" and not heartbeat.spooled:
            await self._send_missed(known=())
        await self._tell_state(heartbeat.state)

    async def _on_trial_event(self, event: TrialEvent) -> None:
        await database_sync_to_async(self._store_event)(event)
        if (told := trials.viewer_event(event)) is not None:
            await self._tell(told)

    def _store_event(self, event: TrialEvent) -> None:
        try:
            if Trial.objects.filter(pk=UUID(event.trial), agent=self.agent).exists():
                trials.events_store(trial_id=UUID(event.trial), events=[event])
        except (ValueError, IntegrityError, DataError) as error:
            raise ProtocolError(f"trial event with trial {event.trial!r}, event {event.event!r}: {error}") from error

    async def _on_joints(self, joints: Joints) -> None:
        position = [round(value, 4) for value in joints.position]
        item = {"type": "joints", "time_s": joints.time_s, "position": position}
        await self.hub.publish(self.cell.slug, JOINTS, json.dumps(item).encode())

    async def _on_stop_state(self, state: StopState) -> None:
        logger.warning("Software stop of %s %s by %s", self.cell, "pressed" if state.pressed else "released", state.by)
        await self._tell({"type": "stop", "is_pressed": state.pressed, "by": state.by})

    async def _on_frame(self, frame: CameraFrame) -> None:
        await self.hub.publish(self.cell.slug, frame.camera, frame.time_ns.to_bytes(8, "big") + frame.jpeg)

    async def _tell_state(self, state: str) -> None:
        await self._tell({"type": "agent", "is_connected": True, "name": self.agent.name, "state": state})

    async def _tell(self, event: dict[str, Any]) -> None:
        group = agents.Groups.viewers(self.cell.slug)
        await tell(group, {"type": "viewer.event", "event": event})


class ViewerConsumer(RoleConsumerMixin, AsyncJsonWebsocketConsumer):
    """A page that watches a cell. It acknowledges each frame it has shown; only then does it get newer ones."""

    box: Mailbox
    stream: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self.cell = await database_sync_to_async(Cell.objects.filter(slug=self._slug).first)()
        if self.cell is None:
            await self.close()
            return
        await self.channel_layer.group_add(agents.Groups.viewers(self.cell.slug), self.channel_name)
        await self.accept()
        await self.send_json(await database_sync_to_async(self._agent_state)())
        self.box = frame_hub().join(self.cell.slug)
        self.stream = asyncio.create_task(self._stream())

    async def disconnect(self, code: int) -> None:
        if self.stream is None:
            return
        self.stream.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self.stream
        await frame_hub().leave(self.cell.slug, self.box)
        await self.channel_layer.group_discard(agents.Groups.viewers(self.cell.slug), self.channel_name)

    async def receive_json(self, content: Any, **kwargs: Any) -> None:
        kind = content.get("type") if isinstance(content, dict) else None
        if kind == "ack" and isinstance(content.get("camera"), int):
            self.box.acknowledge(content["camera"])
        elif kind == "stop" and isinstance(content.get("pressed"), bool):
            await database_sync_to_async(agents.stop_cell)(
                self.cell, content["pressed"], self.scope["user"].get_username()
            )
        else:
            await self.close(code=BAD_MESSAGE, reason="unknown message: ack {camera} or stop {pressed}")

    @classmethod
    async def decode_json(cls, text_data: str) -> Any:
        try:
            return json.loads(text_data)
        except ValueError:
            return None

    async def viewer_event(self, event: dict[str, Any]) -> None:
        await self.send_json(event["event"])

    @property
    def _slug(self) -> str:
        return self.scope["url_route"]["kwargs"]["cell"]

    def _agent_state(self) -> dict[str, Any]:
        agent = agents.agent_for(self.cell, timezone.now())
        state = {"type": "agent", "is_connected": agent is not None, "state": "" if agent else "away"}
        return state | {"name": agent.name if agent else ""}

    async def _stream(self) -> None:
        while True:
            key, item = await self.box.take()
            if key == JOINTS:
                await self.send(text_data=item.decode())
            else:
                await self.send(bytes_data=viewer_frame(key, item, self.box.dropped))


def viewer_frame(camera: int, item: bytes, dropped: int) -> bytes:
    """1 byte camera, 8 bytes time in nanoseconds, 4 bytes frames dropped for this viewer so far, JPEG."""
    return VIEWER_HEADER.pack(camera, int.from_bytes(item[:8], "big"), min(dropped, 2**32 - 1)) + item[8:]
