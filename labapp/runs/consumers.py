"""Live runs: ``ws/runs/<id>/`` sends a snapshot, then the changes; ``ws/runs/`` the state of every run that changes."""

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from labapp.accounts.roles import RESEARCH, RoleConsumerMixin
from labapp.runs.publish import ALL_RUNS, group_of
from labapp.runs.selectors import run_snapshot

NO_SUCH_RUN = 4404


class RunConsumer(RoleConsumerMixin, AsyncJsonWebsocketConsumer):
    roles = RESEARCH

    async def connect(self) -> None:
        """Joins the group before reading, so that nothing falls between; the page ignores lines it has."""
        self.run_id = self.scope["url_route"]["kwargs"]["run_id"]
        await self.channel_layer.group_add(group_of(self.run_id), self.channel_name)
        await self.accept()
        snapshot = await database_sync_to_async(run_snapshot)(self.run_id)
        if snapshot is None:
            await self.close(NO_SUCH_RUN)
            return
        await self.send_json(snapshot)

    async def disconnect(self, code: int) -> None:
        await self.channel_layer.group_discard(group_of(self.run_id), self.channel_name)

    async def run_changed(self, message: dict[str, Any]) -> None:
        await self.send_json(message["payload"])


class AllRunsConsumer(RoleConsumerMixin, AsyncJsonWebsocketConsumer):
    roles = RESEARCH
    groups = [ALL_RUNS]

    async def run_changed(self, message: dict[str, Any]) -> None:
        await self.send_json(message["payload"])
