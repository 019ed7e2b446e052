"""What a study plans: its arms, its conditions, and the order in which they are tried."""

from django.db import models
from django.db.models import F, Q

from labapp.studies.models.study import Study


class PolicyArm(models.Model):
    """A policy under test, hidden from operators behind a code."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="arms")
    code = models.CharField(max_length=20, help_text="What operators see.")
    policy = models.ForeignKey("policies.Policy", null=True, blank=True, on_delete=models.PROTECT, related_name="arms")
    checkpoint = models.ForeignKey(
        "policies.Checkpoint", null=True, blank=True, on_delete=models.PROTECT, related_name="arms"
    )
    label = models.CharField(max_length=120, help_text="Name of the policy, seen once unblinded.")
    factors = models.JSONField(
        default=dict, blank=True, help_text='Factor levels of an arm without a policy row, e.g. {"world": "grounded"}.'
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["study", "code"]
        constraints = [
            models.UniqueConstraint(fields=["study", "code"], name="arm_code_unique"),
            models.UniqueConstraint(fields=["study", "checkpoint"], name="arm_checkpoint_unique"),
        ]

    def __str__(self) -> str:
        return self.code


class Condition(models.Model):
    """How the cell is set for a trial: nominal, or shifted in one way or in all."""

    class Light(models.TextChoices):
        WHITE = "white"
        RED = "red"

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="conditions")
    slug = models.SlugField(max_length=40)
    label = models.CharField(max_length=80)
    order = models.PositiveSmallIntegerField(default=0)
    is_shifted = models.BooleanField(default=False)
    light = models.CharField(max_length=10, choices=Light, default=Light.WHITE)
    belt_speed_min = models.FloatField(default=0.08, help_text="m/s")
    belt_speed_max = models.FloatField(default=0.12, help_text="m/s")
    uses_novel_objects = models.BooleanField(default=False)
    trials_per_arm = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["study", "order", "slug"]
        constraints = [
            models.UniqueConstraint(fields=["study", "slug"], name="condition_unique_in_study"),
            models.CheckConstraint(
                condition=Q(belt_speed_min__gte=0) & Q(belt_speed_max__gte=F("belt_speed_min")),
                name="condition_belt_speed_range",
            ),
        ]

    def __str__(self) -> str:
        return self.label


class TrialSlot(models.Model):
    """One planned trial: which arm, under which condition, with which object, at which place in the order."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="slots")
    position = models.PositiveIntegerField()
    block = models.PositiveIntegerField()
    arm = models.ForeignKey(PolicyArm, on_delete=models.PROTECT, related_name="slots")
    condition = models.ForeignKey(Condition, on_delete=models.PROTECT, related_name="slots")
    object = models.ForeignKey("cells.CellObject", on_delete=models.PROTECT, related_name="+")
    belt_speed = models.FloatField(help_text="m/s")
    bin = models.CharField(max_length=5, choices=[("left", "left"), ("right", "right")])
    seed = models.BigIntegerField(help_text="Same for every arm of the block: initial states are paired.")
    reschedules = models.OneToOneField(
        "self",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="rescheduled_as",
        help_text="The slot whose trial was invalid and that this one repeats.",
    )

    class Meta:
        ordering = ["study", "position"]
        constraints = [models.UniqueConstraint(fields=["study", "position"], name="slot_position_unique")]

    def __str__(self) -> str:
        return f"Trial {self.position}"
