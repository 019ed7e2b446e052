"""What people add to recorded trials: notes, flags, saved filters, pictures of the empty rig."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.urls import reverse


class Remark(models.Model):
    """Something one person says of a trial to all who may see it. Deleted ones stay, so that deleting can be undone."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, help_text="Chosen by the client: a replay is one row.")
    trial = models.ForeignKey("studies.Trial", on_delete=models.CASCADE, related_name="%(class)ss")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    time_s = models.FloatField(null=True, blank=True, help_text="Moment of the recording [s]; empty: the whole trial.")
    created_at = models.DateTimeField(auto_now_add=True)
    edited_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True
        ordering = ["created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(time_s__isnull=True) | Q(time_s__gte=0), name="%(class)s_time_not_negative"
            )
        ]


class TrialNote(Remark):
    """A sentence about a trial."""

    text = models.TextField(max_length=4000)

    kind = "note"

    def __str__(self) -> str:
        return f"Note of {self.author} on {self.trial}"


class TrialFlag(Remark):
    """A mark that puts a trial on a list: filters find it."""

    class Label(models.TextChoices):
        CHECK = "check", "check again"
        EXAMPLE = "example", "good example"
        ODD = "odd", "odd behaviour"
        RECORDING = "recording", "bad recording"

    label = models.CharField(max_length=10, choices=Label)
    text = models.CharField(max_length=200, blank=True)

    kind = "flag"

    def __str__(self) -> str:
        return f"{self.get_label_display()}: {self.trial}"


class SavedFilter(models.Model):
    """A named list of a study's trials: the query of its page, for oneself or for everyone."""

    study = models.ForeignKey("studies.Study", on_delete=models.CASCADE, related_name="saved_filters")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_filters")
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=500)
    is_shared = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "owner", "name"], name="saved_filter_name_unique"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('studies:trials', args=[self.study.slug])}?{self.query}"


class TrialAttribution(models.Model):
    """Whose doing each step of a trial was, as somebody computed it after the recording: values over time, by name.

    One that the robot recorded itself is a feature ``attribution.<name>`` of the recording and has no row here.
    """

    class Kind(models.TextChoices):
        SHARES = "shares", "shares of one whole"
        SCORES = "scores", "scores of 0 to 1, each on its own"

    trial = models.ForeignKey("studies.Trial", on_delete=models.CASCADE, related_name="attributions")
    name = models.CharField(max_length=40)
    kind = models.CharField(max_length=6, choices=Kind)
    components = models.JSONField(help_text="Names of what is attributed to; they may tell a policy.")
    object_key = models.CharField(max_length=200, help_text="Parquet table: time_s and one column per component.")
    sha256 = models.CharField(max_length=64)
    row_count = models.PositiveIntegerField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    agent = models.ForeignKey("cells.Agent", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    stored_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["trial", "name"], name="trial_attribution_unique"),
            models.CheckConstraint(
                condition=Q(author__isnull=False) | Q(agent__isnull=False), name="trial_attribution_by_someone"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.trial}"


class RigPicture(models.Model):
    """The empty rig as the head camera saw it when a session began: drift is measured against it."""

    session = models.ForeignKey("studies.OperatorSession", on_delete=models.CASCADE, related_name="rig_pictures")
    media = models.OneToOneField("media.Media", on_delete=models.PROTECT, related_name="rig_picture")
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["taken_at"]

    def __str__(self) -> str:
        return f"Rig of {self.session}"
