"""Wire forms of studies and trials. What a person may not know is left out, not emptied."""

from typing import Any

from rest_framework import serializers

from labapp.cells.models import Cell
from labapp.policies.models import Checkpoint
from labapp.studies.forms import PRESETS
from labapp.studies.models import FailureMode, Stage, Study, Trial
from labapp.studies.selectors import sees_policies


class StudySerializer(serializers.ModelSerializer):
    cell = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    arms = serializers.SerializerMethodField()
    conditions = serializers.SerializerMethodField()

    class Meta:
        model = Study
        fields = (
            "slug", "name", "status", "cell", "is_simulated", "is_imported", "time_limit_s", "design_sha256",
            "created_at", "locked_at", "unblinded_at", "finished_at", "arms", "conditions",
        )  # fmt: skip

    def get_arms(self, study: Study) -> list[dict[str, Any]]:
        arms = [{"code": arm.code, "is_withdrawn": arm.withdrawn_at is not None} for arm in study.arms.all()]
        if sees_policies(self.context["request"].user, study):
            for facts, arm in zip(arms, study.arms.all(), strict=True):
                facts |= {"label": arm.label, "policy": arm.policy.name if arm.policy else None}
        return arms

    def get_conditions(self, study: Study) -> list[dict[str, Any]]:
        return list(study.conditions.values("slug", "label", "is_shifted", "trials_per_arm"))


class StudyCreateSerializer(serializers.Serializer):
    name = serializers.CharField(max_length=120)
    question = serializers.CharField(required=False, allow_blank=True, default="")
    cell = serializers.SlugRelatedField(slug_field="slug", queryset=Cell.objects.all())
    policies = serializers.ListField(
        child=serializers.SlugField(), min_length=1, help_text="Names; each final checkpoint becomes an arm."
    )
    preset = serializers.ChoiceField(choices=list(PRESETS), default="paper")
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    time_limit_s = serializers.FloatField(min_value=1, max_value=600, default=12.0)

    def validate_policies(self, names: list[str]) -> list[Checkpoint]:
        found = {c.policy.name: c for c in Checkpoint.objects.filter(policy__name__in=names, is_final=True)}
        missing = [name for name in names if name not in found]
        if missing:
            raise serializers.ValidationError(f"No final checkpoint of: {', '.join(missing)}.")
        return [found[name] for name in names]


class TrialSerializer(serializers.ModelSerializer):
    position = serializers.IntegerField(source="slot.position", default=None)
    block = serializers.IntegerField(source="slot.block", default=None)
    code = serializers.CharField(source="arm.code")
    condition = serializers.CharField(source="condition.slug")
    object = serializers.CharField(source="slot.object.name", default=None)
    operator = serializers.CharField(source="operator.username", default=None)
    videos = serializers.SerializerMethodField()

    class Meta:
        model = Trial
        fields = (
            "id", "position", "block", "code", "condition", "object", "status", "version", "is_success",
            "furthest_stage", "failure_mode", "note", "invalid_reason", "is_automatic", "operator", "duration_s",
            "started_at", "ended_at", "confirmed_at", "videos",
        )  # fmt: skip

    def get_videos(self, trial: Trial) -> dict[str, str]:
        return {video.camera: video.media.get_absolute_url() for video in trial.videos.all()}


class StartSerializer(serializers.Serializer):
    id = serializers.UUIDField(help_text="Chosen by the client: sent twice, the trial starts once.")
    slot = serializers.IntegerField(required=False, help_text="The slot that the client saw as next.")
    session = serializers.IntegerField(required=False)


class VersionSerializer(serializers.Serializer):
    version = serializers.IntegerField(min_value=1, help_text="The version that the client saw.")


class OutcomeSerializer(VersionSerializer):
    is_success = serializers.BooleanField()
    furthest_stage = serializers.ChoiceField(choices=Stage.choices)
    failure_mode = serializers.ChoiceField(choices=FailureMode.choices, required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)


class CorrectionSerializer(OutcomeSerializer):
    reason = serializers.CharField(max_length=2000)


class InvalidSerializer(VersionSerializer):
    reason = serializers.CharField(max_length=2000)


class ReasonSerializer(serializers.Serializer):
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class SessionSerializer(serializers.Serializer):
    device_id = serializers.UUIDField(help_text="Drawn once by the device.")
    checklist = serializers.DictField(child=serializers.BooleanField(), required=False, default=dict)
    take_over = serializers.BooleanField(
        required=False, default=False, help_text="End the session that is open on another device."
    )
