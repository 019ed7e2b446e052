"""``ws/trials/<id>/``: an open trial page hears that something was said of its trial.

The message has no content: the page fetches what changed over HTTP, with its own rights. So nothing that a blinded
operator may not see can come this way.
"""

from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer

from labapp.accounts.roles import EVERYONE, RoleConsumerMixin
from labapp.studies.browser.publish import group_of
from labapp.studies.models import Trial

BAD_MESSAGE, NO_SUCH_TRIAL = 4400, 4404


class TrialConsumer(RoleConsumerMixin, AsyncJsonWebsocketConsumer):
    roles = EVERYONE
    group = ""

    async def connect(self) -> None:
        trial_id = self.scope["url_route"]["kwargs"]["trial_id"]
        self.group = group_of(trial_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        if not await database_sync_to_async(Trial.objects.filter(pk=trial_id).exists)():
            await self.close(NO_SUCH_TRIAL)

    async def disconnect(self, code: int) -> None:
        if self.group:  # else it was refused before it joined
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, **message: Any) -> None:
        await self.close(code=BAD_MESSAGE, reason="a page only listens here")

    async def trial_remarks(self, message: dict[str, Any]) -> None:
        await self.send_json({"type": "remarks"})
