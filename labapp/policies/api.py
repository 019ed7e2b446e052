"""Policies and checkpoints over REST; closed to operators."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labapp.api import MadeViewSet, checked, run_field
from labapp.datasets.models import SimulatedDataset
from labapp.demos.models import DemonstrationSet
from labapp.policies import selectors, services
from labapp.policies.models import Checkpoint, MixtureComponent, Policy
from labapp.policies.params import TrainOptions
from labapp.policies.services import Component


class MixtureComponentSerializer(serializers.ModelSerializer):
    demonstration_set = serializers.SlugRelatedField(slug_field="name", read_only=True)
    simulated_dataset = serializers.SlugRelatedField(slug_field="name", read_only=True)

    class Meta:
        model = MixtureComponent
        fields = ["demonstration_set", "simulated_dataset", "weight", "kind"]

    kind = serializers.CharField(read_only=True)


class PolicyCheckpointSerializer(serializers.ModelSerializer):
    class Meta:
        model = Checkpoint
        fields = ["id", "step", "sha256", "size_bytes", "metrics", "is_final", "created_at"]


class PolicySerializer(serializers.ModelSerializer):
    components = MixtureComponentSerializer(many=True, read_only=True)
    checkpoints = PolicyCheckpointSerializer(many=True, read_only=True)
    created_by = serializers.CharField(source="created_by.username", default=None, read_only=True)
    run = run_field()
    is_simulated = serializers.BooleanField(read_only=True)

    class Meta:
        model = Policy
        fields = [
            "name", "is_simulated", "preset", "embodiment", "configuration", "parameters", "components", "checkpoints",
            "run", "created_by", "created_at", "ready_at",
        ]  # fmt: skip


class ComponentSerializer(serializers.Serializer):
    """A demonstration set or a simulated dataset, and its weight."""

    demonstration_set = serializers.SlugRelatedField(
        slug_field="name", queryset=DemonstrationSet.objects.all(), required=False
    )
    simulated_dataset = serializers.SlugRelatedField(
        slug_field="name",
        queryset=SimulatedDataset.objects.select_related("configuration__world__cell"),
        required=False,
    )
    weight = serializers.FloatField(default=1.0)

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        if ("demonstration_set" in values) == ("simulated_dataset" in values):
            raise serializers.ValidationError("Name a demonstration_set or a simulated_dataset, one of both.")
        return values


class TrainSerializer(serializers.Serializer):
    name = serializers.CharField()
    components = ComponentSerializer(many=True)
    preset = serializers.CharField(default=TrainOptions.preset)
    seed = serializers.IntegerField(default=TrainOptions.seed)
    minutes = serializers.FloatField(default=TrainOptions.minutes, allow_null=True)
    steps = serializers.IntegerField(default=None, allow_null=True)
    image_size = serializers.IntegerField(default=TrainOptions.image_size)
    threads = serializers.IntegerField(default=TrainOptions.threads)


class PolicyViewSet(MadeViewSet):
    """Policies with their mixture and checkpoints. Posting trains one."""

    queryset = Policy.objects.all()
    serializer_class = PolicySerializer
    filterset_fields = ("configuration", "preset")

    def get_queryset(self) -> QuerySet[Policy]:
        return selectors.policies().prefetch_related("checkpoints")

    @extend_schema(request=TrainSerializer, responses={201: PolicySerializer})
    def create(self, request: Request) -> Response:
        """Train a policy on a mixture."""
        values = checked(request, TrainSerializer)
        components = [_component(dict(part)) for part in values.pop("components")]
        name = values.pop("name")
        made = services.policy_train(
            actor=request.user, name=name, components=components, options=TrainOptions(**values)
        )
        return Response(self.get_serializer(self.get_queryset().get(pk=made.pk)).data, status=201)


def _component(values: dict[str, Any]) -> Component:
    source = values.get("demonstration_set") or values["simulated_dataset"]
    return Component(source, values["weight"])
