"""What an agent reported of its trials."""

from django.db import models


class TrialEvent(models.Model):
    """One step of a trial as the agent saw it. The agent chooses the UUID and counts: a replay is one row."""

    id = models.UUIDField(primary_key=True)
    trial = models.ForeignKey("studies.Trial", on_delete=models.CASCADE, related_name="agent_events")
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    time_s = models.FloatField(default=0, help_text="Since the trial started on the robot.")
    payload = models.JSONField(default=dict, blank=True)
    received_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["trial", "sequence"]
        constraints = [models.UniqueConstraint(fields=["trial", "sequence"], name="trial_event_sequence_unique")]

    def __str__(self) -> str:
        return f"{self.sequence} {self.kind}"
