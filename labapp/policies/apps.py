from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_save


class PoliciesConfig(AppConfig):
    name = "labapp.policies"

    def ready(self) -> None:
        post_save.connect(_note_checkpoint, sender="runs.RunArtifact", dispatch_uid="policies.checkpoints")


def _note_checkpoint(instance: Any, **_: Any) -> None:
    from labapp.policies.kinds import checkpoint_note

    if instance.kind == "checkpoint":
        checkpoint_note(instance)
