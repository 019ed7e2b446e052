"""Evaluations in simulation over REST."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ReadOnlyModelViewSet

from labapp.accounts.models import Role
from labapp.accounts.roles import RESEARCH, HasRole
from labapp.api import ServiceErrorsMixin, checked, run_field
from labapp.cells.models import World
from labapp.evaluations import selectors, services
from labapp.evaluations.models import Evaluation, SimulatedRollout
from labapp.evaluations.params import AMOUNTS, VIDEOS, EvaluateOptions
from labapp.evaluations.rollouts import ROWS
from labapp.options import field_names
from labapp.policies.models import Checkpoint
from labapp.studies.models import Study


class PolicyRateSerializer(serializers.Serializer):
    """How often a policy succeeded under a condition; the empty condition is all of them together."""

    policy = serializers.CharField()
    condition = serializers.CharField()
    successes = serializers.IntegerField()
    rollouts = serializers.IntegerField()
    rate = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class EvaluationSerializer(serializers.ModelSerializer):
    study = serializers.SlugRelatedField(slug_field="slug", read_only=True)
    created_by = serializers.CharField(source="created_by.username", default=None, read_only=True)
    run = run_field()
    rates = serializers.SerializerMethodField()

    class Meta:
        model = Evaluation
        fields = [
            "id", "study", "world", "seed", "time_limit_s", "image_size", "video", "run", "rates", "created_by",
            "created_at", "ready_at",
        ]  # fmt: skip

    @extend_schema_field(PolicyRateSerializer(many=True))
    def get_rates(self, evaluation: Evaluation) -> list[dict[str, Any]]:
        """By policy and condition; of a blinded study the arms keep their codes."""
        with_names = selectors.shows_names(self.context["request"].user, evaluation)
        return [
            {"policy": row.name, "condition": slug, "successes": r.successes, "rollouts": r.trials}
            | {"rate": r.rate, "low": r.low, "high": r.high}
            for row in selectors.table_of(evaluation, with_names)
            for slug, r in row.cells
        ]


class RolloutSerializer(serializers.ModelSerializer):
    policy = serializers.SerializerMethodField()
    condition = serializers.CharField(source="condition.slug", read_only=True)
    url = serializers.CharField(source="get_absolute_url", read_only=True, help_text="Its page, with its videos.")
    is_recorded = serializers.BooleanField(read_only=True)

    class Meta:
        model = SimulatedRollout
        fields = [
            "policy", "condition", "number", "object_name", "bin", "belt_speed", "seed", "is_success",
            "furthest_stage", "failure_mode", "time_s", "invalid_reason", "url", "is_recorded",
        ]  # fmt: skip

    def get_policy(self, rollout: SimulatedRollout) -> str:
        return self.context["names"][rollout.policy_id]


class EvaluateSerializer(serializers.Serializer):
    """Either ``study`` or ``checkpoint``."""

    study = serializers.SlugRelatedField(slug_field="slug", queryset=Study.objects.all(), required=False)
    checkpoint = serializers.PrimaryKeyRelatedField(queryset=Checkpoint.objects.all(), required=False)
    world = serializers.PrimaryKeyRelatedField(queryset=World.objects.select_related("cell"))
    amount = serializers.ChoiceField(AMOUNTS, default=EvaluateOptions.amount)
    rollouts = serializers.IntegerField(default=EvaluateOptions.rollouts)
    seed = serializers.IntegerField(default=0)
    image_size = serializers.IntegerField(default=EvaluateOptions.image_size)
    video = serializers.ChoiceField(VIDEOS, default=EvaluateOptions.video)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if ("study" in values) == ("checkpoint" in values):
            raise serializers.ValidationError("Name either a study or a checkpoint.")
        return values


class EvaluationViewSet(ServiceErrorsMixin, ReadOnlyModelViewSet):
    """Policies rolled out in a simulated world. Posting launches an evaluation."""

    queryset = Evaluation.objects.all()
    serializer_class = EvaluationSerializer
    permission_classes = [HasRole.of(Role.RESEARCHER, read=RESEARCH)]
    filterset_fields = ("study__slug", "world")

    def get_queryset(self) -> QuerySet[Evaluation]:
        return selectors.evaluations()

    @extend_schema(request=EvaluateSerializer, responses={201: EvaluationSerializer})
    def create(self, request: Request) -> Response:
        """Evaluate a study's arms, or one checkpoint."""
        values = checked(request, EvaluateSerializer)
        options = EvaluateOptions(**{name: values.pop(name) for name in field_names(EvaluateOptions)})
        launch = services.study_evaluate if "study" in values else services.checkpoint_evaluate
        made = launch(actor=request.user, options=options, **values)
        return Response(self.get_serializer(made).data, status=201)

    @extend_schema(responses=RolloutSerializer(many=True))
    @action(detail=True)
    def rollouts(self, request: Request, pk: str) -> Response:
        """Every rollout, in pages."""
        evaluation = self.get_object()
        with_names = selectors.shows_names(request.user, evaluation)
        names = {policy.pk: name for policy, name, _ in selectors.policies_of(evaluation, with_names)}
        rows = selectors.rollouts_of(evaluation).select_related(*ROWS).order_by("number", "policy_id")
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(RolloutSerializer(page, many=True, context={"names": names}).data)
