"""Policies rolled out in a simulated world: what was asked, and how every rollout ended."""

from django.conf import settings
from django.db import models
from django.db.models import Count, F, Q
from django.urls import reverse

from labapp.studies.models import Condition, FailureMode, Stage


class Video(models.TextChoices):
    """What the videos of rollouts hold; states and actions are recorded in any case."""

    SEEN = "seen", "The frames that the policy sees, four a second: nothing further is rendered"
    SMOOTH = "smooth", "Smooth, 12.5 frames a second: three times as much is rendered"
    NONE = "none", "No video: joints alone"


class Evaluation(models.Model):
    """Policies compared from the same starts in one world, under the conditions of a study or of a preset."""

    study = models.ForeignKey(
        "studies.Study", null=True, blank=True, on_delete=models.PROTECT, related_name="evaluations"
    )
    world = models.ForeignKey("cells.World", on_delete=models.PROTECT, related_name="evaluations")
    seed = models.BigIntegerField(
        default=0, help_text="Of starts that the study's schedule does not give, and of noise."
    )
    time_limit_s = models.FloatField(default=12.0)
    image_size = models.PositiveIntegerField(default=128)
    video = models.CharField(max_length=10, choices=Video, default=Video.SEEN)
    run = models.OneToOneField("runs.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="evaluation")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ready_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [models.CheckConstraint(condition=Q(time_limit_s__gt=0), name="evaluation_time_limit_positive")]

    def __str__(self) -> str:
        return f"Evaluation of {self.created_at:%Y-%m-%d %H:%M}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:evaluation", args=[self.pk])


class EvaluatedPolicy(models.Model):
    """One checkpoint of an evaluation; ``arm`` where it stands for an arm of the study that is still there."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="policies")
    checkpoint = models.ForeignKey("policies.Checkpoint", on_delete=models.PROTECT, related_name="evaluated")
    arm = models.ForeignKey(
        "studies.PolicyArm", null=True, blank=True, on_delete=models.SET_NULL, related_name="evaluated"
    )

    class Meta:
        ordering = ["evaluation", "id"]
        verbose_name_plural = "evaluated policies"
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "checkpoint"], name="evaluated_checkpoint_unique"),
        ]

    def __str__(self) -> str:
        return self.arm.code if self.arm else f"Policy {self.pk}"

    @property
    def key(self) -> str:
        """What the command calls it: no name, so that no log of a blinded study has one."""
        return f"policy-{self.pk}"

    @property
    def word(self) -> str:
        """What an address calls it: its arm's code, or the policy's name where there never was an arm."""
        if self.evaluation.study_id:
            return self.arm.code if self.arm else self.key
        return self.checkpoint.policy.name


class EvaluatedCondition(models.Model):
    """A condition as it was when the evaluation was launched: an amendment of the study leaves it alone."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="conditions")
    condition = models.ForeignKey(
        "studies.Condition", null=True, blank=True, on_delete=models.SET_NULL, related_name="evaluated"
    )
    slug = models.SlugField(max_length=40)
    label = models.CharField(max_length=80)
    order = models.PositiveSmallIntegerField(default=0)
    light = models.CharField(max_length=10, choices=Condition.Light, default=Condition.Light.WHITE)
    belt_speed_min = models.FloatField(help_text="m/s")
    belt_speed_max = models.FloatField(help_text="m/s")
    object_names = models.JSONField(help_text="Objects that take turns.")
    rollouts = models.PositiveIntegerField(help_text="Of each policy.")
    starts = models.JSONField(
        default=list, blank=True, help_text="Object, bin, belt speed and seed of the study's own trials, tried first."
    )

    class Meta:
        ordering = ["evaluation", "order"]
        constraints = [
            models.UniqueConstraint(fields=["evaluation", "slug"], name="evaluated_condition_unique"),
            models.CheckConstraint(condition=Q(rollouts__gt=0), name="evaluated_condition_has_rollouts"),
            models.CheckConstraint(
                condition=Q(belt_speed_min__gte=0) & Q(belt_speed_max__gte=F("belt_speed_min")),
                name="evaluated_condition_belt_speed_range",
            ),
        ]

    def __str__(self) -> str:
        return self.label


class RolloutFolder(models.Model):
    """An episodes folder in the store: what a block of rollouts left, one episode a rollout."""

    evaluation = models.ForeignKey(Evaluation, on_delete=models.CASCADE, related_name="folders")
    path = models.CharField(max_length=200, help_text="In the run's output.")
    prefix = models.CharField(max_length=300)
    sha256 = models.CharField(max_length=64)
    size_bytes = models.PositiveBigIntegerField()

    class Meta:
        ordering = ["evaluation", "path"]
        constraints = [models.UniqueConstraint(fields=["evaluation", "path"], name="rollout_folder_unique")]

    def __str__(self) -> str:
        return f"{self.path} of {self.evaluation}"


# Flags of the physics engine, in words.
INVALID = {"overflow": "invalid: too many contacts", "nan": "invalid: the physics diverged"}


class RolloutQuerySet(models.QuerySet["SimulatedRollout"]):
    def counted(self) -> "RolloutQuerySet":
        """Those whose physics held; an invalid one counts for nothing."""
        return self.filter(invalid_reason="")

    def tallies(self) -> "RolloutQuerySet":
        """Successes and rollouts as ``k`` and ``n``, for whatever is grouped by."""
        return self.annotate(k=Count("pk", filter=Q(is_success=True)), n=Count("pk"))


class SimulatedRollout(models.Model):
    """How one rollout ended, in the words of a trial."""

    policy = models.ForeignKey(EvaluatedPolicy, on_delete=models.CASCADE, related_name="rollouts")
    condition = models.ForeignKey(EvaluatedCondition, on_delete=models.CASCADE, related_name="rollouts_made")
    number = models.PositiveIntegerField(help_text="The same number is the same start, for every policy.")
    object_name = models.CharField(max_length=40)
    bin = models.CharField(max_length=5, choices=[("left", "left"), ("right", "right")])
    belt_speed = models.FloatField(help_text="m/s")
    seed = models.BigIntegerField()
    is_success = models.BooleanField()
    furthest_stage = models.CharField(max_length=10, choices=Stage, blank=True)
    failure_mode = models.CharField(max_length=40, choices=FailureMode, blank=True)
    time_s = models.FloatField()
    invalid_reason = models.CharField(max_length=40, blank=True, help_text="Why its physics cannot be trusted.")
    folder = models.ForeignKey(RolloutFolder, null=True, blank=True, on_delete=models.SET_NULL, related_name="rollouts")
    episode = models.PositiveIntegerField(null=True, blank=True, help_text="Its episode in the folder.")

    objects = RolloutQuerySet.as_manager()

    class Meta:
        ordering = ["policy", "number"]
        constraints = [models.UniqueConstraint(fields=["policy", "number"], name="rollout_number_unique")]

    def __str__(self) -> str:
        return f"Rollout {self.number + 1}"

    def get_absolute_url(self) -> str:
        return reverse("evaluations:rollout", args=[self.policy.evaluation_id, self.policy.word, self.number + 1])

    @property
    def invalid_words(self) -> str:
        return INVALID.get(self.invalid_reason, f"invalid: {self.invalid_reason}")

    @property
    def is_recorded(self) -> bool:
        return self.folder_id is not None and self.episode is not None
